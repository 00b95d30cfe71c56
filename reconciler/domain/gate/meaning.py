"""Whether a text says anything that is worth recalling, told from its words alone.

Pleasantries, moods, what is over in an hour, questions, requests and machine output change nothing
that an agent will do later. They are recognised here as whole sentences made of known phrases; a
sentence with anything else in it states something. The phrases themselves are in
``meaning_vocabulary``. A model, a score or what becomes of the text must not live here, nor whether
a statement is meant literally.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from reconciler.domain.gate.meaning_vocabulary import (
    ADDRESSED_AT_THE_END,
    ASKED,
    ASKED_OF_A_NAME,
    ASKED_UNMARKED,
    DUMP,
    EMOJI,
    EMOTICON,
    FACT_IN_PASSING,
    FILLER,
    GLUE,
    LASTING,
    LAUGHTER,
    MOOD,
    NAMED_IN_PASSING,
    ORDERS,
    PASSING,
    RAW_LINE,
    RAW_TEXT,
    REQUEST,
    THANKS,
    VENTING,
    VOCATIVE,
)

__all__ = ["Meaning", "MeaningFinding", "classify_meaning"]


class Meaning(StrEnum):
    """What a text does; only a statement is worth keeping."""

    STATEMENT = "statement"
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
    """What the text does; a statement as soon as one of its sentences states anything.

    Case, punctuation, emoji and drawn-out letters do not matter. A text of several kinds is of the
    first among them that is more than filler.
    """
    if found := _find_raw_output(text):
        return MeaningFinding(Meaning.RAW_OUTPUT, found)
    findings = []
    for sentence in _sentences(text):
        kind = _kind_of(sentence)
        if kind is Meaning.STATEMENT:
            return _STATEMENT
        findings.append(MeaningFinding(kind, sentence.strip()))
    if not findings:
        return _wordless(text)
    return next((each for each in findings if each.kind is not Meaning.FILLER), findings[0])


# The phrases, in the form that a sentence is compared with

_PHRASES = tuple(
    (kind, re.compile(rf"(?:{phrase})(?![^\W_])"))
    for kind, phrases in (
        (Meaning.FILLER, FILLER),
        (Meaning.PASSING_STATE, PASSING),
        (Meaning.MOOD, MOOD),
        (Meaning.VENTING, VENTING),
    )
    for phrase in phrases
)
"""Every phrase, which ends where no letter or digit follows; the longest that fits counts."""

_KNOWN_WORDS = frozenset(
    word
    for _, phrase in _PHRASES
    for spelled in (phrase.pattern, phrase.pattern.replace(" ?", ""))
    for word in re.findall(r"[^\W\d_]{2,}", spelled) + re.findall(r"([a-z]+)[a-z]\?", spelled)
)
"""The words of all phrases: a sentence with another word is more than phrases."""

_PHRASES_MAX = 12
"""A sentence of more phrases than anybody says in one counts as a statement."""

_SEVERITY = (Meaning.VENTING, Meaning.PASSING_STATE, Meaning.MOOD, Meaning.FILLER)


# Machine output

_LINES_MAX = 200
_CUE_LENGTH_MAX = 60


def _find_raw_output(text: str) -> str | None:
    for line in text.splitlines()[:_LINES_MAX]:
        if found := RAW_LINE.match(line):
            return found.group().strip()
    found = RAW_TEXT.match(text) or DUMP.match(text)
    return found.group().strip()[:_CUE_LENGTH_MAX] if found else None


# Sentences

_SENTENCE = re.compile(r"[^.!?…。！？\n]+[.!?…。！？]*")
_APOSTROPHES = re.compile("['’‘`´]")
_NOT_A_WORD = re.compile(r"[\W_]+")
_COMBINING = re.compile("[\u0300-\u036f]")
_DRAWN_OUT = re.compile(r"(\w)\1{2,}")


def _sentences(text: str) -> list[str]:
    plain = EMOTICON.sub(" ", text)
    return [each for each in _SENTENCE.findall(plain) if re.search(r"[^\W_]", each)]


def _wordless(text: str) -> MeaningFinding:
    if EMOJI.search(text) or EMOTICON.search(text):
        return MeaningFinding(Meaning.FILLER, text.strip())
    return _STATEMENT


def _spell(sentence: str) -> str:
    """The sentence in small plain letters: no accents, marks or drawn-out letters."""
    folded = unicodedata.normalize("NFKD", _APOSTROPHES.sub("", sentence).casefold())
    plain = unicodedata.normalize("NFC", _COMBINING.sub("", folded))
    words = _NOT_A_WORD.sub(" ", plain).strip()
    if not _DRAWN_OUT.search(words):
        return words
    return " ".join(map(_undrawn, words.split()))


def _undrawn(word: str) -> str:
    twice = _DRAWN_OUT.sub(r"\1\1", word)
    return twice if twice in _KNOWN_WORDS else _DRAWN_OUT.sub(r"\1", word)


# What a sentence does


def _kind_of(sentence: str) -> Meaning:
    spelled = _spell(_unaddressed(sentence.strip()))
    words = spelled.split()
    is_asked = "?" in sentence[-3:] or "？" in sentence[-3:]
    is_phrases = all(map(_is_known, words)) or not THANKS.isdisjoint(words)
    if not (is_asked or is_phrases or not ORDERS.isdisjoint(words)):
        return Meaning.QUESTION if ASKED_UNMARKED.match(spelled) else Meaning.STATEMENT
    kinds, rest = _known_phrases(spelled)
    if not rest:
        return next((kind for kind in _SEVERITY if kind in kinds), Meaning.FILLER)
    if any(_is_question(sentence, each, is_asked=is_asked) for each in (spelled, rest)):
        return Meaning.QUESTION
    return Meaning.REQUEST if _is_request(spelled) or _is_request(rest) else Meaning.STATEMENT


def _unaddressed(sentence: str) -> str:
    return ADDRESSED_AT_THE_END.sub(r"\1", VOCATIVE.sub(r"\1", sentence))


def _is_known(word: str) -> bool:
    return (
        word in _KNOWN_WORDS
        or word.removesuffix("s") in _KNOWN_WORDS
        or not (len(word) > 1 and word.isalpha())
        or LAUGHTER.fullmatch(word) is not None
    )


def _known_phrases(spelled: str) -> tuple[set[Meaning], str]:
    """The kinds of the phrases that the sentence begins with, and what is left of it."""
    kinds: set[Meaning] = set()
    place = 0
    for _ in range(_PHRASES_MAX):
        kind, end = _longest_phrase(spelled, place)
        if kind is None:
            place = _glue_end(spelled, place)
            kind, end = _longest_phrase(spelled, place)
        if kind is None:
            break
        kinds.add(kind)
        place = end + 1
    return kinds, spelled[place:].strip()


def _glue_end(spelled: str, place: int) -> int:
    found = GLUE.match(spelled, place)
    return found.end() if found else place


def _longest_phrase(spelled: str, place: int) -> tuple[Meaning | None, int]:
    best: tuple[Meaning | None, int] = (None, place)
    for kind, phrase in _PHRASES if place < len(spelled) else ():
        found = phrase.match(spelled, place)
        if found and found.end() > best[1]:
            best = kind, found.end()
    return best


def _is_question(sentence: str, spelled: str, *, is_asked: bool) -> bool:
    if FACT_IN_PASSING.search(spelled) or NAMED_IN_PASSING.search(sentence):
        return False
    if not is_asked:
        return ASKED_UNMARKED.match(spelled) is not None
    return bool(ASKED.match(spelled) or ASKED_OF_A_NAME.match(sentence))


def _is_request(spelled: str) -> bool:
    if LASTING.search(spelled) or FACT_IN_PASSING.search(spelled.removeprefix("i need ")):
        return False
    return REQUEST.match(spelled) is not None
