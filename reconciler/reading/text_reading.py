"""Text readings: a text in plain marks and in its sentences, made once for all who read it. Pure.

Only this module finds the end of a sentence. Short forms with a full stop that ends no sentence
are data, in ``config/lexicon/sentences.toml``. In doubt a sentence goes on: two that are taken for
one lose a fact at most, while one that is cut in two loses its "if". Every pattern moves forward
with each step, so the time grows only with the length of the text.

This module also finds sentences that depend on a condition, or pass words on; those patterns are
data, in ``config/lexicon/conditions.toml``. The meaning of a sentence, and the use of one with a
condition, must never be here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from reconciler.frozen import Match, StringSet, in_order
from reconciler.reading.lexicon import Held, cues_of, lexicon


@in_order
class Sentence:
    """A sentence as it stands in its text, with its stops and without its bullet.

    Attributes:
        start, end: its place, so that ``text[start:end]`` is the sentence.
        text: its words, letter by letter.
    """

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class TextReading:
    """A text and its readings, each made at its first use.

    Attributes:
        text: the text as it came.
    """

    text: str

    @cached_property
    def plain(self) -> str:
        """Return the text with one kind of quotation mark and dash; lines stay lines."""
        text = self.text
        if not text.isascii():
            text = unicodedata.normalize("NFC", text).translate(_PLAIN_MARKS)
        return _SPACES.sub(" ", text)

    @cached_property
    def small(self) -> str:
        """Return ``plain`` in small letters, each in its place."""
        if self.plain.isascii():
            return self.plain.lower()
        return "".join(
            letter.lower() if len(letter.lower()) == 1 else letter for letter in self.plain
        )

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """Return the sentences of ``text`` in their order; marks alone are one, too."""
        return tuple(_sentences(self.text))

    @cached_property
    def stops(self) -> frozenset[int]:
        """Return the marks that end a sentence; a full stop of "Dr." or "a.txt" is none."""
        ends = (end for end in _ends(self.text) if not end.is_line)
        return frozenset(at for end in ends for at in range(end.stop, end.end))

    def around(self, span: str) -> tuple[Sentence, ...]:
        """Return the sentences that the span touches at its first place; none without one."""
        start = self.text.find(span)
        end = start + max(1, len(span.rstrip()))
        return tuple(
            sentence
            for sentence in (self.sentences if start >= 0 else ())
            if sentence.start < end and start < sentence.end
        )


@lru_cache(maxsize=128)
def read_text(text: str) -> TextReading:
    """Read a text, any string; a text read lately is not read again."""
    return TextReading(text)


_PLAIN_MARKS = str.maketrans(
    {
        **dict.fromkeys("‘’", "'"),
        **dict.fromkeys("“”«»", '"'),
        **dict.fromkeys("–—", "-"),
        **dict.fromkeys("\u2028\u2029", "\n"),
    }
)
_SPACES = re.compile(r"[^\S\n]+")


# Sentences

_LINE_END = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_CLOSING = "\"'”’»)\\]}*_`」』）】》〉"
_STOP = re.compile(
    rf"(?<![.!?…])(?P<stops>[.!?…]++)(?P<closing>[{_CLOSING}]*+)"
    rf"|(?P<wide>[。！？｡؟۔।]++[{_CLOSING}]*+)"
    rf"|(?P<line>\r\n|[{_LINE_END}])"
)
"""Looked for once in a row of stops: from each of them, a long row would take as its square."""
_BULLET = re.compile(r"\s*(?:[-*•–]{1,3}\s+|\(?\d{1,2}[.)]\s+)?")
_NEXT = re.compile(r"\s{0,50}+[\"'“‘«(*_`\[]{0,3}([^\W\d_](?:[\w'’]{0,30}))?")
_WORD_LENGTH_MAX = 24
_UP_TO = f"{{1,{_WORD_LENGTH_MAX}}}"  # without it, a long row of letters takes as its square
_LAST = re.compile(rf"(?:[\w'’]{_UP_TO}(?:\.[\w'’]{_UP_TO}){{0,{_WORD_LENGTH_MAX}}})?\Z")
_DOTTED = re.compile(r"[^\W\d_]{1,2}(?:\.[^\W\d_]{1,2})+")


class _End(NamedTuple):
    """Where the marks begin that end a sentence, where it ends, and whether a line does."""

    stop: int
    end: int
    is_line: bool


def _sentences(text: str) -> Iterator[Sentence]:
    start, opens_line = 0, True
    for _, end, is_line in (*_ends(text), _End(len(text), len(text), is_line=True)):
        bullet = _BULLET.match(text, start, end) if opens_line else None
        said = text[bullet.end() if bullet else start : end]
        if stripped := said.strip():
            begin = end - len(said.lstrip())
            yield Sentence(begin, begin + len(stripped), stripped)
        start, opens_line = end, is_line


def _ends(text: str) -> Iterator[_End]:
    for stop in _STOP.finditer(text):
        if stop["line"]:
            if not _goes_on_behind_line(text, stop.start(), stop.end()):
                yield _End(*stop.span(), is_line=True)
        elif stop["wide"] or _is_end(text, stop):
            yield _End(*stop.span(), is_line=False)


def _is_end(text: str, stop: Match) -> bool:
    stops, closing, end = stop["stops"], stop["closing"], stop.end()
    if end == len(text):
        return True
    next_word = _word_behind(text, end)
    is_small = next_word[:1].islower()
    if not text[end].isspace():
        asks = "!" in stops or "?" in stops
        return asks and not closing and next_word[:1].isupper() and text[end] == next_word[0]
    if closing and is_small:
        return False
    if stops == ".":
        return _is_end_behind(_word_before(text, stop.start()), next_word, text, stop)
    return not is_small or not (stops.startswith("..") or "…" in stops)


def _is_end_behind(word: str, next_word: str, text: str, stop: Match) -> bool:
    """True if a full stop after that word ends a sentence."""
    small = word.casefold()
    if small in _words_listed("title"):
        return False
    if small.isdecimal():
        return not _opens_line(text, stop.start() - len(word))
    if small in _words_listed("numbered"):
        following = text[stop.end() : stop.end() + 3].lstrip(" #")[:1]
        if following.isdecimal():
            return False
        if small not in _words_listed("short_form") and len(small) > 1:
            return True
    if small in _words_listed("short_form") or len(small) == 1 or _DOTTED.fullmatch(small):
        # "A.m." may end a sentence, and "U.S." may be in one: what follows tells.
        is_opener = next_word.replace("’", "'").casefold() in _words_listed("opener")
        return not next_word or (next_word[:1].isupper() and is_opener)
    return True


def _goes_on_behind_line(text: str, start: int, end: int) -> bool:
    """True if a line was only broken: it ends in a comma or "and", or the next begins small."""
    before = text[max(0, start - _WORD_LENGTH_MAX) : start].rstrip(" \t\r")
    if not before or before[-1] in _LINE_END or before[-1] == ":":
        return False
    after = text[end : end + 1]
    if not after.isalpha():
        return False
    next_word = _word_behind(text, end)
    if before[-1] == "," or _word_before(before, len(before)).casefold() in _words_listed(
        "goes_on"
    ):
        return True
    is_label = text[end + len(next_word) : end + len(next_word) + 1] == ":"
    is_opener = next_word.replace("’", "'").casefold() in _words_listed("opener")
    return next_word[:1].islower() and not is_label and not is_opener


def _word_behind(text: str, at: int) -> str:
    match = _NEXT.match(text, at)
    return (match[1] or "") if match else ""


def _word_before(text: str, at: int) -> str:
    match = _LAST.search(text[max(0, at - _WORD_LENGTH_MAX) : at])
    return match[0] if match else ""


def _opens_line(text: str, at: int) -> bool:
    before = text[max(0, at - _WORD_LENGTH_MAX) : at].rstrip(" \t(")
    return not before or before[-1] in _LINE_END


@cache
def _words_listed(name: str) -> StringSet:
    return lexicon("sentences").word_set(name)


@lru_cache(maxsize=64)
def _held(sentence: str) -> Held:
    """Read the cues that the sentence may hold once for all questions."""
    return cues_of("conditions", flags=re.IGNORECASE).read(sentence)


def find_condition(sentence: str) -> Match | None:
    """Find the condition of the sentence, such as "once the deal closes"; None without one."""
    return _held(sentence).first("open")


def is_reported(sentence: str) -> bool:
    """True if it passes on another person's words, in which "I" may be any person."""
    return _held(sentence).first("reported") is not None
