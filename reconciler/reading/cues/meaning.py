"""Finds from the words alone whether a text is about something that lasts.

Pleasantries, moods, questions, requests and machine output change nothing that an agent will do
later. A sentence of nothing but small words is one of these; so is one that asks for something and
tells nothing beside it. A sentence that says more is a statement, unless its words show that it is
temporary. In a chat it is a statement only if the speaker speaks of themselves or of something that
lasts, else a remark. An end, a change or a past event counts as lasting. The words are in
``config/lexicon/meaning.toml``. Never here: a model, a score, the use of the text, or whether a
statement is meant literally.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from functools import cache

from reconciler.frozen import Pattern, StringSet, in_order
from reconciler.reading.lexicon import cues_of, lexicon
from reconciler.reading.text_reading import read_text


class Meaning(StrEnum):
    """The purpose of a text; a statement is worth keeping, a remark for some days."""

    STATEMENT = "statement"
    """About something that lasts."""
    REMARK = "remark"
    """Says something, of nothing that is known to last."""
    FILLER = "filler"
    QUESTION = "question"
    REQUEST = "request"
    RAW_OUTPUT = "raw_output"


@in_order
class MeaningFinding:
    """The purpose of a text, and its evidence: the words, or the sense as a whole."""

    kind: Meaning
    cue: str
    is_whole: bool = False


_STATEMENT = MeaningFinding(Meaning.STATEMENT, "")


def classify_meaning(text: str) -> MeaningFinding:
    """Find the purpose of the text; a statement if one of its sentences is one.

    Case, punctuation, emoji and drawn-out letters do not matter. A text of several kinds is a
    remark if one of its sentences is, else of the first kind among them that is more than filler.
    """
    if cue := _find_raw_output(text):
        return MeaningFinding(Meaning.RAW_OUTPUT, cue)
    sentences = _sentences(text)
    if not sentences:
        if _the("emoji").search(text) or _the("emoticon").search(text):
            return MeaningFinding(Meaning.FILLER, text.strip())
        return _STATEMENT
    findings = []
    for sentence in sentences:
        kind = _kind_of(sentence, text)
        if kind is Meaning.STATEMENT:
            return _STATEMENT
        findings.append(MeaningFinding(kind, sentence.strip()))
    return min(findings, key=lambda finding: _WEIGHT.get(finding.kind, 1))


_WEIGHT = {Meaning.REMARK: 0, Meaning.FILLER: 2}
"""Which kind of sentence says what a text does."""


@cache
def _the(name: str) -> Pattern:
    """Return the only cue of a list."""
    return cues_of("meaning").pattern(name)


@cache
def _small_words() -> tuple[StringSet, StringSet]:
    """Return the small words of English, and of the other languages: no sentence mixes both."""
    read = lexicon("meaning").word_set
    return read("small", "small_everywhere"), read("small_in_languages", "small_everywhere")


# Machine output

_LINES_MAX = 200
_CUE_LENGTH_MAX = 60


def _find_raw_output(text: str) -> str | None:
    for line in text.splitlines()[:_LINES_MAX]:
        if match := _the("raw_line").match(line):
            return match.group().strip()
    match = _the("raw_text").match(text) or _the("dump").match(text)
    return match.group().strip()[:_CUE_LENGTH_MAX] if match else None


# Sentences

_APOSTROPHES = re.compile("['’‘`´]")
_LETTER = re.compile(r"[^\W_]")
_NOT_A_WORD = re.compile(r"[\W_]+")
_COMBINING = re.compile("[\u0300-\u036f]")
_DRAWN_OUT = re.compile(r"(\w)\1{2,}")


def _sentences(text: str) -> list[str]:
    plain = _the("emoticon").sub(" ", text)
    return [
        sentence.text for sentence in read_text(plain).sentences if _LETTER.search(sentence.text)
    ]


def _spell(sentence: str) -> str:
    """Write a sentence in small plain letters: no accents, marks or drawn-out letters."""
    plain = _APOSTROPHES.sub("", sentence).casefold()
    if not plain.isascii():
        folded = unicodedata.normalize("NFKD", plain)
        plain = unicodedata.normalize("NFC", _COMBINING.sub("", folded))
    words = _NOT_A_WORD.sub(" ", plain).strip()
    if not _DRAWN_OUT.search(words):
        return words
    return " ".join(map(_undrawn, words.split()))


def _undrawn(word: str) -> str:
    twice = _DRAWN_OUT.sub(r"\1\1", word)
    return twice if any(twice in words for words in _small_words()) else _DRAWN_OUT.sub(r"\1", word)


def _unaddressed(sentence: str) -> str:
    for name in ("vocative", "addressed_at_the_end"):
        if match := _the(name).match(sentence):
            sentence = match[1] + sentence[match.end() :]
    return sentence


# What a sentence does


def _kind_of(sentence: str, text: str) -> Meaning:
    spelled = _spell(_unaddressed(sentence.strip()))
    if _is_filler(spelled):
        return Meaning.FILLER
    told = _the("turned_round").sub("|", spelled)
    asked = _asked(sentence, spelled)
    if asked is not None:
        return Meaning.STATEMENT if _the("told").search(told) else asked
    if _the("order").match(spelled) or _the("lasts").search(told):
        return Meaning.STATEMENT
    if cues_of("meaning", "passes").read(told).first("passes"):
        return Meaning.REMARK
    # A person talks to another; a note about a person does not.
    if "?" in text or _the("chat").search(text) is not None:
        is_own = not _the("mulls").match(spelled) and _the("own").search(told)
        return Meaning.STATEMENT if is_own else Meaning.REMARK
    return Meaning.REMARK if _the("says_of_it").match(spelled) else Meaning.STATEMENT


_SMALL_WORDS_MAX = 12
"""The most words of a sentence that says nothing; a longer sentence says something, even with small
words."""


def _is_filler(spelled: str) -> bool:
    if _the("order").match(spelled) or _the("trait").match(spelled):
        return False
    if _the("venting").match(spelled):
        return True
    words = _the("pleasantry").sub(" ", spelled).split()
    said = [word for word in words if not _the("laughter").match(word)]
    return len(words) <= _SMALL_WORDS_MAX and any(map(frozenset(said).issubset, _small_words()))


def _asked(sentence: str, spelled: str) -> Meaning | None:
    """Whether its beginning asks, or wants something of the reader; else None."""
    spelled = _the("opening").sub("", spelled)
    if "?" in sentence[-3:] or "？" in sentence[-3:]:
        if _the("asked").match(spelled) or _the("asked_of_a_name").match(sentence):
            return Meaning.QUESTION
    elif _the("asked_unmarked").match(spelled):
        return Meaning.QUESTION
    if _the("request").match(spelled) and not _the("lasting").search(spelled):
        return Meaning.REQUEST
    return None
