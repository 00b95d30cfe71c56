"""Whether a text is about something that lasts, told from its words alone.

Pleasantries, moods, what is over in an hour, questions, requests and machine output change nothing
that an agent will do later. They are recognised here as whole sentences made of known phrases. What
says more is a statement where its words show something that lasts: what somebody has, does, prefers
or is bound to, since when, until when. In a note about somebody a sentence counts as one anyway,
unless its words show that it passes; where somebody chats it is a remark. The phrases and cues are
in ``config/lexicon/meaning.toml``. A model, a score or what becomes of the text must not live here,
nor whether a statement is meant literally.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from reconciler.domain.text_reading import read_text
from reconciler.lexicon import Cues, joined, lexicon

__all__ = ["Meaning", "MeaningFinding", "classify_meaning"]


class Meaning(StrEnum):
    """What a text does; a statement is worth keeping, a remark for some days."""

    STATEMENT = "statement"
    """About something that lasts."""
    REMARK = "remark"
    """Says something, of nothing that is known to last."""
    FILLER = "filler"
    MOOD = "mood"
    PASSING_STATE = "passing_state"
    QUESTION = "question"
    REQUEST = "request"
    VENTING = "venting"
    RAW_OUTPUT = "raw_output"


@dataclass(frozen=True, slots=True)
class MeaningFinding:
    """What a text does, and its words that gave it away; no words for a statement."""

    kind: Meaning
    cue: str


_STATEMENT = MeaningFinding(Meaning.STATEMENT, "")


def classify_meaning(text: str) -> MeaningFinding:
    """What the text does; a statement as soon as one of its sentences is one.

    Case, punctuation, emoji and drawn-out letters do not matter. A text of several kinds is a
    remark if one of its sentences is, else of the first kind among them that is more than filler.
    """
    if found := _find_raw_output(text):
        return MeaningFinding(Meaning.RAW_OUTPUT, found)
    sentences = _sentences(text)
    if not sentences:
        return _wordless(text)
    findings = []
    is_chat = None
    for sentence in sentences:
        kind = _kind_of(sentence)
        if kind is None:
            is_chat = _is_chat(text, sentences) if is_chat is None else is_chat
            kind = Meaning.REMARK if is_chat else Meaning.STATEMENT
        if kind is Meaning.STATEMENT:
            return _STATEMENT
        findings.append(MeaningFinding(kind, sentence.strip()))
    return min(findings, key=lambda finding: _WEIGHT.get(finding.kind, 1))


_WEIGHT = {Meaning.REMARK: 0, Meaning.FILLER: 2}
"""Which kind of sentence says what a text does."""


# The phrases, in the form that a sentence is compared with

_PHRASES = (
    (Meaning.FILLER, "filler"),
    (Meaning.PASSING_STATE, "passing"),
    (Meaning.MOOD, "mood"),
    (Meaning.VENTING, "venting"),
)
"""Where the phrases of a kind are listed; the longest phrase that fits counts."""


def _compiled(name: str, pattern: str) -> re.Pattern[str]:
    if name in (phrase for _, phrase in _PHRASES):
        pattern = rf"(?<![^\W_])(?:{pattern})(?![^\W_])"
    return re.compile(pattern)


@cache
def _lexicon() -> Cues:
    return Cues(lexicon("meaning"), _compiled)


@cache
def _the(name: str) -> re.Pattern[str]:
    """The only cue of a list."""
    return _lexicon().pattern(name)


@cache
def _known_words() -> frozenset[str]:
    """The words of all phrases: a sentence with another word is more than phrases."""
    listed = lexicon("meaning")
    return frozenset(
        word
        for _, name in _PHRASES
        for cue in listed.cues[name]
        for phrase in (listed.written_out(joined(cue.pattern)),)
        for spelled in (phrase, phrase.replace(" ?", ""))
        for word in re.findall(r"[^\W\d_]{2,}", spelled) + re.findall(r"([a-z]+)[a-z]\?", spelled)
    )


@cache
def _word_set(name: str) -> frozenset[str]:
    return lexicon("meaning").word_set(name)


_Phrases = list[tuple[Meaning, re.Pattern[str]]]

_PHRASES_MAX = 12
"""A sentence of more phrases than anybody says in one counts as a statement."""

_SEVERITY = (Meaning.VENTING, Meaning.PASSING_STATE, Meaning.MOOD, Meaning.FILLER)


# Machine output

_LINES_MAX = 200
_CUE_LENGTH_MAX = 60


def _find_raw_output(text: str) -> str | None:
    for line in text.splitlines()[:_LINES_MAX]:
        if found := _the("raw_line").match(line):
            return found.group().strip()
    found = _the("raw_text").match(text) or _the("dump").match(text)
    return found.group().strip()[:_CUE_LENGTH_MAX] if found else None


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


def _wordless(text: str) -> MeaningFinding:
    if _the("emoji").search(text) or _the("emoticon").search(text):
        return MeaningFinding(Meaning.FILLER, text.strip())
    return _STATEMENT


def _spell(sentence: str) -> str:
    """The sentence in small plain letters: no accents, marks or drawn-out letters."""
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
    return twice if twice in _known_words() else _DRAWN_OUT.sub(r"\1", word)


# What a sentence does


def _is_chat(text: str, sentences: list[str]) -> bool:
    """Whether somebody talks to somebody or thinks aloud; a note about somebody does not."""
    if "?" in text or _the("chat").search(text):
        return True
    return len(sentences) > 1 and any(
        _the("mulls").match(_spell(sentence)) for sentence in sentences
    )


def _kind_of(sentence: str) -> Meaning | None:
    """What it does; None for a statement of which its words do not show whether it lasts."""
    spelled = _spell(_unaddressed(sentence.strip()))
    words = spelled.split()
    is_asked = "?" in sentence[-3:] or "？" in sentence[-3:]
    is_phrases = all(map(_is_known, words)) or not _word_set("thanks").isdisjoint(words)
    if not (is_asked or is_phrases or not _word_set("orders").isdisjoint(words)):
        asks = _the("asked_unmarked").match(spelled) is not None
        return Meaning.QUESTION if asks else _kind_of_statement(sentence, spelled)
    if not is_phrases and _asks(sentence, spelled, is_asked=is_asked):
        return Meaning.STATEMENT if _tells(sentence, spelled) else Meaning.QUESTION
    kinds, rest = _known_phrases(spelled)
    if not rest:
        return next((kind for kind in _SEVERITY if kind in kinds), Meaning.FILLER)
    if any(_asks(sentence, form, is_asked=is_asked) for form in (spelled, rest)):
        return Meaning.STATEMENT if _tells(sentence, spelled) else Meaning.QUESTION
    if _is_request(spelled) or _is_request(rest):
        return Meaning.STATEMENT if _tells(sentence, spelled) else Meaning.REQUEST
    return _kind_of_statement(sentence, spelled)


def _kind_of_statement(sentence: str, spelled: str) -> Meaning | None:
    told = _weigh(sentence, spelled)
    if told == "suggests":
        return None if _the("mulls").match(spelled) else Meaning.STATEMENT
    if told in _TELLING:
        return Meaning.STATEMENT
    words = spelled.split()
    if 1 < len(words) <= _SMALL_WORDS_MAX and _word_set("small").issuperset(words):
        return Meaning.FILLER
    if told == "passes" or _the("says_of_it").match(spelled) or _the("mulls").match(spelled):
        return Meaning.REMARK
    return Meaning.STATEMENT if told == "tells" else None


_SMALL_WORDS_MAX = 10
"""A longer sentence says something, however small its words; a single word may be an answer."""

_TELLING = ("lasts", "states", "suggests")


_WEIGHED = ("passes", "states", "suggests", "tells")
"""The lists of what is no sure sign, the weightiest first."""


@cache
def _weights() -> Cues:
    """The cues that are tried on what says more than phrases."""
    return Cues(lexicon("meaning"), names=("lasts", *_WEIGHED))


@cache
def _phrase_cues() -> Cues:
    return Cues(lexicon("meaning"), _compiled, [name for _, name in _PHRASES])


def _tells(sentence: str, spelled: str) -> bool:
    """Whether a question or a request tells something in passing: "for my dog, who is deaf"."""
    return _weigh(sentence, spelled) in _TELLING


def _weigh(sentence: str, spelled: str) -> str | None:
    """The list of the weightiest cue in the sentence; None where it holds none."""
    held = _weights().read(_the("turned_round").sub("|", spelled))
    if held.first("lasts") or ("my " in spelled and _the("own_named").search(sentence)):
        return "lasts"
    return next((name for name in _WEIGHED if held.first(name)), None)


def _unaddressed(sentence: str) -> str:
    for name in ("vocative", "addressed_at_the_end"):
        if found := _the(name).match(sentence):
            sentence = found[1] + sentence[found.end() :]
    return sentence


def _is_known(word: str) -> bool:
    return (
        word in _known_words()
        or word.removesuffix("s") in _known_words()
        or not (len(word) > 1 and word.isalpha())
        or _the("laughter").match(word) is not None
    )


def _known_phrases(spelled: str) -> tuple[set[Meaning], str]:
    """The kinds of the phrases that the sentence begins with, and what is left of it."""
    if not _begins_known(spelled):
        return set(), spelled
    held = _phrase_cues().read(spelled)
    phrases = [(kind, pattern) for kind, name in _PHRASES for _, pattern in held.worth_trying(name)]
    kinds: set[Meaning] = set()
    place = 0
    for _ in range(_PHRASES_MAX):
        kind, end = _longest_phrase(phrases, spelled, place)
        if kind is None and (after := _glue_end(spelled, place)) > place:
            place = after
            kind, end = _longest_phrase(phrases, spelled, place)
        if kind is None:
            break
        kinds.add(kind)
        place = end + 1
    return kinds, spelled[place:].strip()


def _begins_known(spelled: str) -> bool:
    """Whether a phrase may stand at its beginning; of most questions and requests none does."""
    word = spelled[_glue_end(spelled, 0) :].partition(" ")[0]
    return _is_known(word) or _is_known(spelled.partition(" ")[0])


def _glue_end(spelled: str, place: int) -> int:
    found = _the("glue").match(spelled, place)
    return found.end() if found else place


def _longest_phrase(phrases: _Phrases, spelled: str, place: int) -> tuple[Meaning | None, int]:
    best: tuple[Meaning | None, int] = (None, place)
    for kind, phrase in phrases if place < len(spelled) else ():
        found = phrase.match(spelled, place)
        if found and found.end() > best[1]:
            best = kind, found.end()
    return best


def _asks(sentence: str, spelled: str, *, is_asked: bool) -> bool:
    """How it begins, which is quickly looked at."""
    if not is_asked:
        return _the("asked_unmarked").match(spelled) is not None
    return bool(_the("asked").match(spelled) or _the("asked_of_a_name").match(sentence))


def _is_request(spelled: str) -> bool:
    return bool(_the("request").match(spelled)) and not _the("lasting").search(spelled)
