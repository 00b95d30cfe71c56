"""Named days: dates in a text, as people write them, with the names that CLDR has. Pure.

Only the form is read here: "March 2027" and "next week" are many days, and which of them counts is
up to the caller.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Any

from reconciler.lexicon import any_of, lexicon

__all__ = ["ORDINAL", "NamedDay", "days_in", "named_at"]

_LOCALES = ("en", "en_GB", "de", "de_AT", "fr", "es", "it", "nl", "pt")

_LEAP_YEAR = 2028
"""The year of a day without one, so that 29 February is a day; never told."""

ORDINAL = r"(?:st|nd|rd|th|er|º|°|\.)?"
"""What may follow a day's number."""

_STOP = r"(?:\.(?= \d))"
"""The full stop of a short month, where it ends no sentence."""

_TWO_NUMBERS = r"(?P<one>\d{1,2})(?P<mark>[./-])(?P<two>\d{1,2})"
_GERMAN_STOP = r"(?<=\.\d)\.|(?<=\.\d\d)\."
"""What ends "5.12." """


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedDay:
    """Days that a text names, as far as it says them.

    Attributes:
        stop: where the name ends in the text.
        first, last: the days; without ``year`` those of any year.
        has_year: whether the year was said.
        is_weekly: whether it is a day of the week, which may be meant of each week.
    """

    stop: int
    first: date
    last: date
    has_year: bool = True
    is_weekly: bool = False

    @property
    def is_month(self) -> bool:
        """Whether it names a whole month."""
        return self.first.day == 1 and self.last == _last_of(self.first)

    def no_earlier_than(self, day: date) -> NamedDay:
        """The same days; without a year of their own, in the first year in which they are left."""
        return self if self.has_year else self._in(day.year + (self._in(day.year).last < day))

    def no_later_than(self, day: date) -> NamedDay:
        """The same days; without a year of their own, in the last year in which they had begun."""
        return self if self.has_year else self._in(day.year - (self._in(day.year).first > day))

    def _in(self, year: int) -> NamedDay:
        """Raises ``ValueError`` for 29 February of a year without one."""
        first = self.first.replace(year=year)
        last = _last_of(first) if self.is_month else self.last.replace(year=year)
        return NamedDay(stop=self.stop, first=first, last=last)


def named_at(text: str, start: int, today: date, *, is_english: bool = True) -> NamedDay | None:
    """The days that are named at this place of a text; None for none.

    Args:
        text: in small letters.
        start: where the name begins; an article may precede it.
        today: what "tomorrow" counts from.
        is_english: whether 3/4 may be two days; else it is the third of April.
    """
    begins = _lead().match(text, start)
    at = begins.end() if begins else start
    for pattern, read in _forms():
        if match := pattern.match(text, at):
            try:
                return read(match, today, is_english)
            except (ValueError, OverflowError):  # no such day
                return None
    return None


def days_in(text: str, today: date) -> Iterator[NamedDay]:
    """All days that a text names."""
    for word in re.finditer(r"(?<![\w.-])\w", text):
        if day := named_at(text, word.start(), today):
            yield day


_Read = Callable[[re.Match[str], date, bool], NamedDay | None]


@cache
def _forms() -> tuple[tuple[re.Pattern[str], _Read], ...]:
    month, of, next_ = _any(_months()), _words("of"), _words("next")
    unit, end_of = f"(?:{'|'.join(map(_words, _UNITS))})", rf"(?:{_words('end_of')} )"
    year = rf"(?:,? (?:{of} )?(?P<year>\d{{4}}))"
    long_months = _any(name for name in _months() if len(name) > 3)
    forms: tuple[tuple[str, _Read], ...] = (
        (r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)", _read_iso),
        (rf"{_TWO_NUMBERS}(?:(?P=mark)(?P<year>\d{{4}})|{_GERMAN_STOP})", _read_numbers),
        (rf"(?P<day>\d{{1,2}}){ORDINAL} (?:{of} ?)?(?P<month>{month})\b{_STOP}?{year}?", _read_day),
        (rf"(?P<month>{month})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\w){year}?", _read_day),
        (rf"{end_of}?(?:{of} ?)?(?P<month>{month}){year}", _read_month),
        (rf"{end_of}(?:{of} ?)?(?P<month>{month})|(?P<alone>{long_months})", _read_month),
        (rf"{end_of}?(?:\w{{1,3}} )?(?P<next>{next_} {unit}|{unit} {next_})", _read_unit),
        (rf"{end_of}(?:\w{{1,6}} )?(?P<this>{unit})", _read_unit),
        (rf"(?P<next>{next_} )?(?P<weekday>{_any(_weekdays())})", _read_weekday),
        (_words("tomorrow"), _read_tomorrow),
    )
    return tuple((re.compile(rf"(?:{form})(?![\w/-]|\.\d)"), read) for form, read in forms)


_UNITS = ("week", "month", "year")


@cache
def _lead() -> re.Pattern[str]:
    """What may stand before a day: an article, a weekday before its date."""
    article = lexicon("ends").any_of("article")
    weekday = rf"(?:{_any(_weekdays())},? (?=(?:{article} )?(?:\d|{_any(_months())})))?"
    return re.compile(rf"(?:{article}(?: |(?<=')))?{weekday}(?:{article} (?=\d))?")


@cache
def _months() -> dict[str, int]:
    return {
        name: number
        for locale in _locales()
        for forms in locale.months["format"].values()
        for number, said in forms.items()
        if len(name := _small(said)) > 2
    } | {"sept": 9}


@cache
def _weekdays() -> dict[str, int]:
    return {
        _small(name): number
        for locale in _locales()
        for number, name in locale.days["format"]["wide"].items()
    }


def _locales() -> Iterator[Any]:
    from babel import Locale

    return map(Locale.parse, _LOCALES)


def _small(name: str) -> str:
    return name.casefold().rstrip(".")


def _any(names: Iterable[str]) -> str:
    return any_of(sorted(map(re.escape, names), key=len, reverse=True))


def _last_of(first: date) -> date:
    """The last day of the first one's month."""
    return first.replace(day=monthrange(first.year, first.month)[1])


def _said(match: re.Match[str], month: int, day: int, last: int | None = None) -> NamedDay:
    """The day, or days to a last one, in the year that was said, if one was."""
    said = match.groupdict().get("year")
    first = date(int(said or _LEAP_YEAR), month, day)
    end = _last_of(first) if last is None else first.replace(day=last)
    return NamedDay(stop=match.end(), first=first, last=end, has_year=said is not None)


def _read_iso(match: re.Match[str], _today: date, _is_english: bool) -> NamedDay:
    day = int(match["day"])
    return _said(match, int(match["month"]), day, day)


def _read_numbers(match: re.Match[str], _today: date, is_english: bool) -> NamedDay | None:
    one, two = int(match["one"]), int(match["two"])
    if two > 12:
        one, two = two, one
    elif is_english and match["mark"] != "." and one <= 12 and one != two:
        return None
    return _said(match, two, one, one)


def _read_day(match: re.Match[str], _today: date, _is_english: bool) -> NamedDay:
    day = int(match["day"])
    return _said(match, _months()[match["month"]], day, day)


def _read_month(match: re.Match[str], _today: date, _is_english: bool) -> NamedDay:
    said = match.groupdict()
    return _said(match, _months()[said["month"] or said["alone"]], 1)


def _read_unit(match: re.Match[str], today: date, _is_english: bool) -> NamedDay:
    is_next = "next" in match.groupdict()
    said = match["next" if is_next else "this"]
    unit = next(name for name in _UNITS if re.search(rf"\b{_words(name)}\b", said))
    if unit == "week":
        first = today - timedelta(days=today.weekday()) + timedelta(weeks=is_next)
        last = first + timedelta(days=6)
    elif unit == "month":
        first = _last_of(today) + timedelta(days=1) if is_next else today.replace(day=1)
        last = _last_of(first)
    else:
        first, last = date(today.year + is_next, 1, 1), date(today.year + is_next, 12, 31)
    return NamedDay(stop=match.end(), first=first, last=last)


def _read_weekday(match: re.Match[str], today: date, _is_english: bool) -> NamedDay:
    """The next day of that name; "next Friday" is that of the next week."""
    ahead = (_weekdays()[match["weekday"]] - today.weekday() - 1) % 7 + 1
    week = today - timedelta(days=today.weekday()) + timedelta(weeks=1)
    day = week + timedelta(days=_weekdays()[match["weekday"]])
    day = day if match["next"] else today + timedelta(days=ahead)
    return NamedDay(stop=match.end(), first=day, last=day, is_weekly=True)


def _read_tomorrow(match: re.Match[str], today: date, _is_english: bool) -> NamedDay:
    day = today + timedelta(days=1)
    return NamedDay(stop=match.end(), first=day, last=day)


def _words(name: str) -> str:
    return lexicon("ends").any_of(name)
