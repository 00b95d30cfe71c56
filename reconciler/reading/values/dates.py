"""When: dates, times and time zones, as far as they were said.

A date without a year has none, 03/04 is no date since it is two, and a time is never moved into
another zone. What counts from today ("Monday", "in a week") is text, because nothing here asks the
clock.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache
from typing import Any

from reconciler.reading.values.text import plain, text

_DATE = re.compile(r"[\w ,./:+\-()]{1,60}")
# 03/04/2027 is March in one country and April in another; 13/04/2027 is the same day in both.
_TWO_SMALL_NUMBERS = re.compile(
    r"(?<!\d)(?<!\d{4}[/-])(0?\d|1[0-2])[/-](?!\1(?!\d))(?:0?\d|1[0-2])(?!\d)"
)
_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_ISO = re.compile(r"\d{4}-\d{1,2}-\d{1,2}(?!\d)")
_DOTTED = re.compile(r"(?<![\d.])\d{1,2}\. ?\d{1,2}\. ?\d{4}(?!\d)")
_KEY = re.compile(r"(\d{4}(?:-\d{2})?|--\d{2}-\d{2})(T\d{2}:\S+)?")


def date(said: str) -> str:
    """Return a date as far as it was said: ``2027-03-01``, ``2027-03``, ``2027``, ``--03-01``."""
    when = _when(said)
    return when[0] if when else text(said)


def date_time(said: str) -> str:
    """Return a date, with its time if one was said: ``2027-03-01T15:00``."""
    when = _when(said)
    return "".join(when) if when else text(said)


def _when(said: str) -> tuple[str, str] | None:
    """Return date and time as far as they were said; None for no date or an unclear one."""
    bare = re.sub(r"^(?:on )?(?:the )?", "", plain(said))
    if key := _KEY.fullmatch(bare):
        return key[1], key[2] or ""
    if _ISO_DAY.fullmatch(bare):
        return _iso_day(bare)
    if not _DATE.fullmatch(bare) or not _is_unambiguous(bare):
        return None
    # Two parses that fill in different years, months, days and hours agree on what was said only.
    # Both are leap years, so that 29 February is a day without a year too.
    first = _parsed(bare, datetime(1904, 1, 1))
    second = _parsed(bare, datetime(2008, 2, 2, 1))
    return _agreed(first, second) if first and second else None


def _iso_day(said: str) -> tuple[str, str] | None:
    try:
        return datetime.fromisoformat(said).date().isoformat(), ""
    except ValueError:
        return None


def _is_unambiguous(said: str) -> bool:
    if iso := _ISO.match(said):
        return int(iso[0].split("-")[1]) <= 12
    return bool(_DOTTED.search(said)) or not _TWO_SMALL_NUMBERS.search(said)


def _parsed(said: str, default: datetime) -> datetime | None:
    try:
        moment: datetime = _date_parser().parse(
            said, default=default, dayfirst=bool(_DOTTED.search(said)), tzinfos=_named_zone
        )
    except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError):
        # Its grammar has holes, and each of these has come out of one.
        return None
    return moment


def _named_zone(name: str | None, offset_seconds: int | None) -> tzinfo | None:
    """Return the zone as it was said; never the machine's own of that name."""
    if offset_seconds:
        return timezone(timedelta(seconds=offset_seconds))
    if name is None and offset_seconds is None:
        return None
    return UTC if name in {None, "UTC", "GMT", "Z"} else timezone(timedelta(0), name)


@cache
def _date_parser() -> Any:
    from dateutil.parser import parser, parserinfo

    class _Literal(parserinfo):  # type: ignore[misc]
        """Takes a year of two digits for what it is; the usual reading asks the clock."""

        def convertyear(self, year: int, century_specified: bool = False) -> int:  # noqa: ARG002
            return year

    return parser(_Literal())


def _agreed(first: datetime, second: datetime) -> tuple[str, str] | None:
    has_year = first.year == second.year
    has_month = first.month == second.month
    has_day = first.day == second.day
    if not has_month or (has_year and first.year < 1000) or not (has_year or has_day):
        return None
    day = str(first.year) if has_year else "-"
    day += f"-{first.month:02}" + (f"-{first.day:02}" if has_day else "")
    return day, _time(first) if has_day and first.hour == second.hour else ""


def _time(moment: datetime) -> str:
    seconds = ":%S" if moment.second else ""
    zone = "%z" if moment.utcoffset() else "%Z"
    return moment.strftime(f"T%H:%M{seconds}{zone}")


_OFFSET = re.compile(r"(?:utc|gmt)? ?(?P<sign>[+\-−])(?P<hours>\d{1,2}):?(?P<minutes>[0-5]\d)?")


def time_zone(said: str) -> str:
    """Return ``utc+02:00`` for any spelling of an offset, else the zone's name folded."""
    folded = plain(said).casefold()
    if folded in {"utc", "gmt", "z", "zulu"}:
        return "utc+00:00"
    if match := _OFFSET.fullmatch(folded):
        sign = "+" if match["sign"] == "+" else "-"
        return f"utc{sign}{int(match['hours']):02}:{match['minutes'] or '00'}"
    return folded.replace(" ", "_")
