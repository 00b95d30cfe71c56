"""Languages: finds whether the guard can read a text, and compares texts that it cannot read.

The guard reads English. Of any other text it knows only the words, or the letters if nothing
separates the words. Their meaning never matters here, except for the few words that deny something.
A language detector would be a dependency, and errs on texts of four words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache
from math import ceil

from reconciler.reading.canonical import canonical_text, remembered
from reconciler.reading.findings import Difference, Finding
from reconciler.reading.guard.reading import folded, lowered, read
from reconciler.reading.guard.tokens import (
    UNSPACED,
    english_words,
    function_words,
    kind_of,
    opposites,
    stem_of,
    words_of,
)

_WORDS = re.compile(r"[^\W\d_]+")
_UNSPACED_LETTER = re.compile(f"[{UNSPACED}]")
_PIECES = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
_LATIN_END = "\u0250"
"""The end of the Latin letters of European languages."""

_MANY = 4
"""The number of words among which an English text has at least one that the guard knows."""

_ALIKE = 3
"""The least number of letters that two forms of a word have in common."""

_ALIKE_SHARE = 0.6
"""The least share of the longer form that two forms of a word have in common."""

_PAIR = re.compile(rf"(?=([{UNSPACED}]{{2}}))")


@remembered
def is_english(text: str) -> bool:
    """True if the guard can read the text; a short text without clues counts as English."""
    foreign, lower = _read(text)
    if foreign:
        return foreign < len(english_words().intersection(lower))
    has_known = not function_words().isdisjoint(lower)
    return has_known or len(lower) < _MANY or any(map(_is_known, lower))


@remembered
def is_foreign(text: str) -> bool:
    """True if words show that the text is not English; without such words it is unclear."""
    return _read(text)[0] > 0 and not is_english(text)


def _read(text: str) -> tuple[int, list[str]]:
    """Count its words of another language, and those of them in small letters."""
    words = _WORDS.findall(canonical_text(text))
    lower = [word.lower() for word in words]
    if text.isascii() and words_of("foreign", "foreign_negation").isdisjoint(lower):
        return 0, lower
    return sum(map(_is_foreign, range(len(words)), words, lower)), lower


def _is_foreign(at: int, word: str, lower: str) -> bool:
    """True if a word is of another script or language; a capital within may open a name."""
    is_plain = not at or word == lower
    return max(word) >= _LATIN_END or (
        is_plain and lower in words_of("foreign", "foreign_negation")
    )


@remembered
def words_that_tell(text: str) -> frozenset[str]:
    """Find words of a text, in any language, that name its subject, without their endings.

    Dates, numbers, words of two letters and words that may be in any sentence do not count. In
    scripts without spaces, two letters in a row count as a word.
    """
    words = (
        folded(word.stem)
        for word in read(text).words
        if word.kind == "id" or (word.kind == "word" and len(word.stem) >= _ALIKE)
        if word.text.lower() not in words_of("foreign", "foreign_negation")
    )
    return (frozenset(words) - words_of("light")).union(_PAIR.findall(lowered(text)))


def are_forms(one: str, other: str) -> bool:
    """True if two words without their endings may be one: "fumar" and "fuma"."""
    length = max(_ALIKE + (one != other), ceil(_ALIKE_SHARE * max(len(one), len(other))))
    return one == other or (len(one) >= length <= len(other) and one[:length] == other[:length])


def find_denial(note: str, fact: str) -> Iterator[Finding]:
    """Find a word of denial that only one text has, in a language that the guard cannot read."""
    if is_english(note) and is_english(fact):
        return
    here, there = _pieces(note), _pieces(fact)
    denies, denied = _denials(note), _denials(fact)
    if bool(denies) == bool(denied):
        return
    only_here, only_there = here - there, there - here
    others = [
        piece
        for own, other in ((only_here, there), (only_there, here))
        for piece in own
        if piece not in "".join(denies + denied) and not _is_in_another_form(piece, other)
    ]
    if len(others) <= (here & there).total():
        yield Finding(
            Difference.NEGATION,
            " ".join(denies),
            " ".join(denied),
            is_change=True,
        )


def find_other_words(note: str, fact: str) -> Iterator[Finding]:
    """Find words that differ, if the guard cannot read one of the two texts.

    It cannot tell which of them matter. A word that only one text has may be a "not".
    """
    if is_english(note) and is_english(fact):
        return
    here, there = _pieces(note), _pieces(fact)
    only_here, only_there = here - there, there - here
    if not only_here and not only_there:
        if _order(note) == _order(fact):
            return
        only_here, only_there = here, there
    yield Finding(
        Difference.LANGUAGE,
        _recordable(only_here, "note"),
        _recordable(only_there, "fact"),
        is_change=not (only_here and only_there),
    )


def _is_known(word: str) -> bool:
    return (
        stem_of(word) in words_of("light")
        or word in opposites()
        or word in words_of("degree")
        or kind_of(word) != "word"
    )


def _order(text: str) -> list[str]:
    """Return the words in their order; marks do not count."""
    folded = lowered(text)
    spaced = "".join(
        " " if unicodedata.category(letter)[0] in "PZ" else letter for letter in folded
    )
    return _PIECES.findall(spaced)


@remembered
def _pieces(text: str) -> Counter[str]:
    return Counter(_order(text))


def _denials(text: str) -> list[str]:
    """Find words that deny; in scripts without spaces also inside another word."""
    folded = lowered(text)
    within = [word for word in _denied_within() if word in folded]
    return [*within, *words_of("foreign_negation").intersection(_pieces(text))]


@cache
def _denied_within() -> tuple[str, ...]:
    several = re.compile(rf"[{UNSPACED}]{{2,}}")
    return tuple(filter(several.fullmatch, sorted(words_of("foreign_negation"))))


def _is_in_another_form(piece: str, others: Counter[str]) -> bool:
    length = max(_ALIKE, len(piece) // 2)
    return len(piece) >= _ALIKE and any(other.startswith(piece[:length]) for other in others)


def _recordable(pieces: Counter[str], where: str) -> str:
    """Return words in a form that an erasure finds in the record; single letters are counted."""
    if any(map(_UNSPACED_LETTER.match, pieces)):
        return f"{pieces.total()} letters of the {where}"
    return " ".join(pieces.elements())
