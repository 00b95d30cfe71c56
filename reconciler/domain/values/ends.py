"""Ends: until when a note says that it is true, where it is plain: "valid until 30 November". Pure.

Only a note of one clause with one date is read. In doubt it has no end: a fact that ends too early
is lost, and one that lasts too long is marked when its lifetime is over.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from functools import cache

from reconciler.lexicon import any_of, lexicon

__all__ = ["said_end"]

_SEVERAL = re.compile(r"[;:()!?…\n–—]| - |[.,](?!\s*(?:\d{4}\b|$))(?<!\d\.)")
"""What parts clauses or begins another; a comma before a year and a German "14." do not."""

_LENGTH_MAX = 160


def said_end(text: str, said_at: datetime) -> datetime | None:
    """The midnight that ends the last day on which it is true (UTC); None without a plain one.

    A date without a year is the next one after the note was said; one with a year may be over.

    Args:
        text: of the note.
        said_at: when it was said, time-zone aware.
    """
    small = text.casefold().strip()
    if len(small) > _LENGTH_MAX or _SEVERAL.search(small):
        return None
    found = list(_until().finditer(small))
    if len(found) != 1 or _other().search(small) or not _plain().search(small):
        return None
    before = small[: found[0].start()]
    if _within().search(before):
        return None
    rest = before + small[found[0].end() :]
    if re.search(r"\d", rest):  # another date, perhaps, or a time
        return None
    last = _day(found[0], said_at.astimezone(UTC).date())
    if last is None or last == date.max:
        return None
    return datetime(last.year, last.month, last.day, tzinfo=UTC) + timedelta(days=1)


def _day(found: re.Match[str], today: date) -> date | None:
    """The day that was named; None where there is none."""
    try:
        if found["iso"]:
            return date.fromisoformat(found["iso"])
        month = int(lexicon("ends").by_word("months")[found["month"] or found["first_month"]])
        number = int(found["day"] or found["last_day"])
        if found["year"]:
            return date(int(found["year"]), month, number)
        this_year = date(today.year, month, number)
        return this_year if this_year >= today else date(today.year + 1, month, number)
    except ValueError:
        return None


@cache
def _until() -> re.Pattern[str]:
    words = lexicon("ends")
    month = any_of(sorted(words.by_word("months"), key=len, reverse=True))
    until = any_of(sorted(words.words("until"), key=len, reverse=True))
    return re.compile(
        rf"\b{until} (?:the )?(?:(?P<iso>\d{{4}}-\d\d-\d\d)"
        rf"|(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.)? (?:of )?(?P<month>{month})"
        rf"|(?P<first_month>{month}) (?P<last_day>\d{{1,2}})(?:st|nd|rd|th)?)\b\.?"
        r"(?:,? (?P<year>\d{4}))?)(?![\w-])"
    )


@cache
def _plain() -> re.Pattern[str]:
    plain = lexicon("ends").any_of("plain")
    return re.compile(rf"\b{plain}\b|\w'(?:s|re|m)\b")


@cache
def _other() -> re.Pattern[str]:
    other = lexicon("ends").any_of("not_plain")
    return re.compile(rf"\b{other}\b")


@cache
def _within() -> re.Pattern[str]:
    """What begins a clause of its own behind the plain word, so that the day may be that one's.

    "Is travelling" tells it itself, "is a diabetic travelling" tells more.
    """
    words = lexicon("ends")
    plain, subjects = words.any_of("plain"), words.any_of("subjects")
    verb = r"(?!\w+ly\b|still\b)\S+"
    return re.compile(
        rf"(?:\b{plain}|\w'(?:s|re|m)) (?:(?:\w+ly|still) )*{verb} "
        rf"(?:.* )?(?:\w{{3,}}(?:ing|ed)|{subjects})\b"
    )
