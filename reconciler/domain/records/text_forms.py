"""Text forms: reads conversations that programs write as plain text, with names. Pure.

A form is a row: the sign at the beginning of its text, and a function that reads its lines. A name
says who speaks, and no role; who that is, the caller says. Words without a name are nobody's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time, tzinfo

from reconciler.domain.records.candidates import EVIDENCE_LENGTH_MAX
from reconciler.domain.records.message_forms import Values, without_markup
from reconciler.errors import InvalidSessionError
from reconciler.frozen import in_order

DATE_ORDERS = ("dmy", "mdy")


@in_order
class LocalDates:
    """How local dates are meant that a file leaves open.

    Attributes:
        zone: their time zone, or None.
        order: one of ``DATE_ORDERS``, or None.
    """

    zone: tzinfo | None = None
    order: str | None = None


AS_WRITTEN = LocalDates()


def text_form(lines: Sequence[str]) -> TextForm | None:
    """The form of a text, by its first lines."""
    beginning = "\n".join(lines[:_SIGN_LINES])
    return next((form for form in _FORMS if form.sign.match(beginning)), None)


_SIGN_LINES = 5


# WebVTT and SubRip: speech goes on over many captions, until another person speaks


_VOICE = re.compile(r"<v(?:\.[^\s>]{1,60})?\s+([^<>]{1,200})>")
_LABEL = re.compile(r"\W{0,3}([^\W\d_a-z][^:<>]{0,60}):\s+")


def _captions(lines: Sequence[str], _: LocalDates) -> Sequence[Values]:
    label = _VOICE if any(map(_VOICE.search, lines)) else _LABEL
    said: list[dict[str, str | None]] = []
    for name, words in _captioned(lines, label):
        last = said[-1] if said else {}
        if last.get("name", "") == name and len(f"{last['content']} {words}") < EVIDENCE_LENGTH_MAX:
            last["content"] = f"{last['content']} {words}"
        else:
            said.append({"role": "user" if name else "system", "name": name, "content": words})
    if said and not any(each["name"] for each in said):
        raise InvalidSessionError(
            "these captions do not say who speaks: give each one its speaker, as <v Name> or as "
            '"Name: "'
        )
    return said


def _captioned(lines: Sequence[str], label: re.Pattern[str]) -> Iterator[tuple[str | None, str]]:
    """Speakers and words, line by line; a name holds until its caption ends."""
    name, is_caption = None, False
    for line in lines:
        if "-->" in line or not line.strip():
            name, is_caption = None, "-->" in line
        elif is_caption:
            before, *parts = label.split(line) if label is _VOICE else _split_once(label, line)
            for who, words in zip([name, *parts[::2]], [before, *parts[1::2]], strict=True):
                name = who
                if plain := without_markup(words):
                    yield who and who.strip(), plain


def _split_once(label: re.Pattern[str], line: str) -> list[str]:
    found = label.match(line)
    return ["", found[1], line[found.end() :]] if found else [line]


# WhatsApp


_NUMBERS = r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4}),?\s+(\d{1,2})[:.](\d\d)(?:[:.](\d\d))?"
_HEAD = re.compile(
    rf"\W{{0,3}}{_NUMBERS}(?:\s*([ap])\.?\s?m\b\.?)?\]?(?:\s+-)?:?\s+", re.IGNORECASE
)
_BY_THE_PROGRAM = re.compile(r"\u200e|<[^<>]*>\Z")
"""The beginning of what WhatsApp itself writes in a message's place, on iOS and on Android."""

_CENTURY = 2000


def _whatsapp(lines: Sequence[str], dates: LocalDates) -> Sequence[Values]:
    heads: list[re.Match[str]] = []
    said: list[list[str]] = []
    for line in lines:
        if head := _HEAD.match(line):
            heads.append(head)
            said.append([line[head.end() :]])
        elif said:
            said[-1].append(line)
    if not heads:
        raise InvalidSessionError(
            "this looks like a WhatsApp export, but no line begins with a date and a time that are "
            "read, such as [31/12/2026, 10:11:12] or 31.12.26, 22:11 - ; correct them"
        )
    if dates.zone is None:
        raise InvalidSessionError(
            "the times of a WhatsApp export have no time zone: say which one the phone had (on the "
            "command line: --time-zone Europe/Berlin)"
        )
    made = []
    for head, day, words in zip(heads, _days(heads, dates.order), said, strict=True):
        name, mark, text = "\n".join(words).partition(": ")
        if mark and "\n" not in name and not _BY_THE_PROGRAM.match(text):
            at = datetime.combine(day, _clock(head), dates.zone)
            made.append({"role": "user", "name": name, "content": text, "timestamp": at})
    return made


def _days(heads: Sequence[re.Match[str]], order: str | None) -> tuple[date, ...]:
    """The days of all messages, read in the one order that fits them all.

    Raises:
        InvalidSessionError: no order fits, or both do and differ.
    """
    orders = DATE_ORDERS if order is None else (order,)
    fitting = {days for each in orders if (days := _read(heads, each))}
    if len(fitting) != 1:
        raise InvalidSessionError(
            f"nothing in this WhatsApp export says whether {heads[0][0].strip()} begins with the "
            "day or the month: say which (on the command line: --date-order dmy or mdy)"
        )
    return fitting.pop()


def _read(heads: Sequence[re.Match[str]], order: str) -> tuple[date, ...] | None:
    """The days in this order; None if one of them does not exist."""
    days = []
    for head in heads:
        first, second, last = head[1], head[3], head[4]
        if len(first) > len("31"):
            year, month, day = first, second, last
        else:
            year, (day, month) = last, (first, second) if order == "dmy" else (second, first)
        number = int(year)
        try:
            days.append(date(number + _CENTURY * (len(year) <= len("31")), int(month), int(day)))
        except ValueError:
            return None
    return tuple(days)


def _clock(head: re.Match[str]) -> time:
    hour, half = int(head[5]), (head[8] or "").lower()
    try:
        return time(
            hour % 12 + 12 * (half == "p") if half else hour, int(head[6]), int(head[7] or 0)
        )
    except ValueError:
        raise InvalidSessionError(f"{head[0].strip()} is not a time; correct it") from None


@in_order
class TextForm:
    """A row: a form's name, the sign of its text, and the reader of its lines."""

    name: str
    sign: re.Pattern[str]
    messages: Callable[[Sequence[str], LocalDates], Sequence[Values]]


_FORMS = (
    TextForm("captions", re.compile(r"WEBVTT\b|\s*\d+\s*\n[\d:]+[,.]\d+\s+-->"), _captions),
    TextForm("a WhatsApp export", re.compile(rf"\W{{0,3}}{_NUMBERS}"), _whatsapp),
)
