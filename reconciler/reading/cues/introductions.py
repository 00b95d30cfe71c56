"""Introductions: words of a turn that are another person's by the marks around them. Pure.

"I" in them may be any person. Only marks of a quotation count, which are certain: what a sentence
says of the words after it ("can you proofread this?") is left to the model that reads the turn.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from reconciler.frozen import Span

_QUOTED_WORDS_MIN = 3

_LINE = re.compile(r"[ \t]*(?:[>|]|(?P<fence>```|~~~))")
_FORWARDED = re.compile(r"\s*(?:fwd?|wg|tr|rv)\s*:", re.I)
_RULE = "----"
_ANSWERED = re.compile(
    r"(?:On|Am|Le|El|Il|Em|Op)\b[^\d\n]{1,40}+\d[^\n:]{1,200}+(?::\d[^\n:]{1,200}+){0,3}:\Z"
)
"""The line of a mail program before the answered mail: date and writer."""

_WORD = re.compile(r"\w")
_LABEL = re.compile(r"(?m)^[ \t]*([^\W\d_]{1,20}):[ \t]")
_MARK = re.compile(r"\n\s*\n|[\"“”„«»]|(?<!\w)['‘](?=\w)|(?<=\S)['’](?!\w)")
_CLOSED_BY = {'"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "'": "'’", "‘": "'’"}
_SALUTATION = re.compile(
    r"(?:\S |[.:]\s{1,9})((?:Dear|Hi|Hello|Hey|Hallo|Lieber?|Sehr geehrte\w?|Hola|Querid[oa]"
    r"|Ch[eè]re?)(?: [\w.'’-]{1,30}+){1,3},)"
)
_FAREWELL = re.compile(
    r"\s[^\W\d_a-z][^\W\d_]{0,20}+(?: [^\W\d_]{1,20}+){0,2}(?:,\s|\n)\s{0,9}"
    r"[^\W\d_a-z][\w.'’-]{1,30}+(?: [^\W\d_a-z][\w.'’-]{0,30}+){0,2}(?=[^\w\n]*+(?:\n|\Z))"
)
"""The beginning and end of a letter after other words: "Dear Bo, … Best, Al"; a line end or a comma
comes before the writer's name. A turn that begins with a salutation is the contact's own."""

_LETTER_LENGTH_MAX = 2_000
"""The most characters from a salutation to its farewell."""

_SELF = re.compile(r"(?<![\w'’])(?:i|i['’]\w{1,3}|we|my|our|ich|mein\w{0,2})(?![\w'’])", re.I)
_SPEAKER = re.compile(r"(?<![\w'’])(?:i|i['’]\w{1,3}|we|ich|wir)(?![\w'’])", re.I)


def is_marked_at(text: str, start: int, end: int) -> bool:
    """True if the words at that place of a turn are a quotation, by its marks alone.

    They are in quotation marks, on a line with a ``>``, in a block of code, in a log of a talk,
    behind the header of a forwarded message, and in a letter behind other words. Marks around a
    word or two only name something.
    """
    return any(
        begin < end and start < stop and _covers(text, begin, stop, start, end)
        for begin, stop in _marked(text)
    )


def _covers(text: str, begin: int, stop: int, start: int, end: int) -> bool:
    """True if the cited words are the quoted ones, or a sentence that quotes the speaker's "I"."""
    if begin <= start + 1 and end <= stop + 1:
        return True
    inside, outside = text[max(begin, start) : min(stop, end)], text[start : max(begin, start)]
    return bool(_SELF.search(inside)) and not _SPEAKER.search(outside)


@lru_cache(maxsize=8)
def _marked(text: str) -> tuple[Span, ...]:
    """Find where the marked parts of a text begin and end, in one pass: a text may be long."""
    header = _end_of_header(text)
    behind = [(header, len(text))] if header is not None else []
    behind += _letters(text)
    return (*_marked_lines(text), *_quotations(text), *behind)


def _letters(text: str) -> Iterator[Span]:
    """Find where letters after other words begin and end."""
    farewells = [found.span() for found in _FAREWELL.finditer(text)]
    for salutation in _SALUTATION.finditer(text):
        begin, end = salutation.span(1)
        at = bisect_right(farewells, (end, end))
        if at < len(farewells) and farewells[at][0] <= end + _LETTER_LENGTH_MAX:
            yield begin, farewells[at][1]


def _end_of_header(text: str) -> int | None:
    """Find the end of a forwarded message's header, such as words on a line between two rules."""
    if forwarded := _FORWARDED.match(text):
        return forwarded.end()
    at = 0
    for line in text.split("\n"):
        at += len(line)
        words = line.strip(" \t")
        is_rule = words.startswith(_RULE) and words.endswith(_RULE) and _WORD.search(words)
        if is_rule or _ANSWERED.match(words):
            return at
        at += 1
    return None


def _marked_lines(text: str) -> Iterator[Span]:
    """Find lines of quotations, code and logs: a log has a label more than once."""
    speakers = Counter(match[1] for match in _LABEL.finditer(text))
    at, is_code = 0, False
    for line in text.splitlines(keepends=True):
        mark, label = _LINE.match(line), _LABEL.match(line)
        is_code ^= bool(mark and mark["fence"])
        if is_code or mark or (label and speakers[label[1]] > 1):
            yield at, at + len(line)
        at += len(line)


def _quotations(text: str) -> Iterator[Span]:
    """Find text between quotation marks of one paragraph, if it is more than a name."""
    opened: re.Match[str] | None = None
    for mark in _MARK.finditer(text):
        if opened is not None and mark[0] in _CLOSED_BY[opened[0]]:
            if len(text[opened.end() : mark.start()].split()) >= _QUOTED_WORDS_MIN:
                yield opened.end(), mark.start()
            opened = None
        elif "\n" in mark[0]:
            opened = None
        elif opened is None and mark[0] in _CLOSED_BY:
            opened = mark
