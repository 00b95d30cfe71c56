"""Text forms: reads conversations that programs write as plain text, with names. Pure.

A form is a row: the sign at the beginning of its text, and a function that reads its lines. A name
says who speaks, and no role; who that is, the caller says. Words without a name are no evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, tzinfo
from typing import TypeAlias

from reconciler.domain.records.candidates import EVIDENCE_LENGTH_MAX
from reconciler.domain.records.message_forms import Values, without_markup
from reconciler.errors import InvalidSessionError


def text_messages(lines: Sequence[str], zone: tzinfo | None) -> tuple[str, Sequence[Values]] | None:
    """The name of a text's form and its messages; None for a text of no form.

    Args:
        lines: of the text.
        zone: the time zone of its local times, or None.

    Raises:
        InvalidSessionError: it cannot be read.
    """
    beginning = "\n".join(lines[:_SIGN_LINES])
    found = ((name, read) for name, sign, read in _FORMS if re.match(sign, beginning))
    return next(((name, read(lines, zone)) for name, read in found), None)


_SIGN_LINES = 5


# WebVTT and SubRip: speech goes on over many captions, until another person speaks


_VOICE = re.compile(r"<v(?:\.[^\s>]{1,60})?\s([^<>]{1,200})>")
_LABEL = re.compile(r"^\W{0,3}([^\W\d_a-z][^:<>]{0,60}):\s+")


def _captions(lines: Sequence[str], _: tzinfo | None) -> Sequence[Values]:
    label = _VOICE if any(map(_VOICE.search, lines)) else _LABEL
    said: list[tuple[str | None, str]] = []
    for name, words in _captioned(lines, label):
        before = f"{said[-1][1]} " if said and said[-1][0] == name else ""
        if before and len(before + words) < EVIDENCE_LENGTH_MAX:
            said[-1] = name, before + words
        else:
            said.append((name, words))
    if said and not any(name for name, _ in said):
        raise InvalidSessionError(
            "these captions do not say who speaks: give each one its speaker, as <v Name> or as "
            '"Name: "'
        )
    return [
        {"role": "user" if name else "system", "name": name, "content": words}
        for name, words in said
    ]


def _captioned(lines: Sequence[str], label: re.Pattern[str]) -> Iterator[tuple[str | None, str]]:
    """Speakers and words, line by line; a name holds until its caption ends."""
    name, is_caption = None, False
    for line in lines:
        if "-->" in line or not line.strip():
            name, is_caption = None, "-->" in line
        elif is_caption:
            before, *parts = label.split(line)
            for who, words in zip([name, *parts[::2]], [before, *parts[1::2]], strict=True):
                name = who
                if plain := without_markup(words):
                    yield who, plain


# WhatsApp


_NUMBERS = r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4}),?\s+(\d{1,2})[:.](\d\d)(?:[:.](\d\d))?"
_HEAD = re.compile(
    rf"\W{{0,3}}{_NUMBERS}(?:\s*([ap])\.?\s?m\b\.?)?\]?(?:\s+-)?:?\s+", re.IGNORECASE
)
_BY_THE_PROGRAM = re.compile(r"\u200e|<[^<>]*>\Z")
"""The beginning of what WhatsApp itself writes in a message's place, on iOS and on Android."""

_CENTURY = 2000


def _whatsapp(lines: Sequence[str], zone: tzinfo | None) -> Sequence[Values]:
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
    if zone is None:
        raise InvalidSessionError(
            "the times of a WhatsApp export have no time zone: say which one the phone had (on the "
            "command line: --time-zone Europe/Berlin)"
        )
    made = []
    for at, words in zip(_times(heads, zone), said, strict=True):
        name, mark, text = "\n".join(words).partition(": ")
        if mark and "\n" not in name and not _BY_THE_PROGRAM.match(text):
            name = "".join(filter(str.isprintable, name))  # a telephone number has marks
            made.append({"role": "user", "name": name, "content": text, "timestamp": at})
    return made


def _times(heads: Sequence[re.Match[str]], zone: tzinfo) -> tuple[datetime, ...]:
    """The times of all messages, read in the one order of dates that fits them all.

    Raises:
        InvalidSessionError: no order fits, or both do and differ.
    """
    fitting = set()
    for order in ("dmy", "mdy"):
        with suppress(ValueError):
            fitting.add(tuple(_time(head, order, zone) for head in heads))
    if len(fitting) != 1:
        raise InvalidSessionError(
            f"nothing in this WhatsApp export says whether {heads[0][0].strip()} begins with the "
            "day or the month, or a date does not exist: write all dates like 2026-12-31, or hand "
            "over more of the chat, with a day after the 12th"
        )
    return fitting.pop()


def _time(head: re.Match[str], order: str, zone: tzinfo) -> datetime:
    """The time of a message.

    Raises:
        ValueError: it does not exist.
    """
    order = order if len(head[1]) <= len("31") else "ymd"
    at = dict(zip(order, map(int, head.group(1, 3, 4)), strict=True))
    hour, half = int(head[5]), (head[8] or "").lower()
    if half:
        hour = hour % 12 + 12 * (half == "p")
    year = at["y"] + _CENTURY * (at["y"] < 100)
    return datetime(year, at["m"], at["d"], hour, int(head[6]), int(head[7] or 0), tzinfo=zone)


_Reader: TypeAlias = Callable[[Sequence[str], tzinfo | None], Sequence[Values]]
_FORMS: tuple[tuple[str, str, _Reader], ...] = (
    ("captions", r"WEBVTT\b|\s*\d+\s*\n[\d:]+[,.]\d+\s+-->", _captions),
    ("a WhatsApp export", rf"\W{{0,3}}{_NUMBERS}", _whatsapp),
)
