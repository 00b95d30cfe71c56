"""Named days: dates in a text, as people write them, with the names that CLDR has. Pure.

Only the form is read here: "March 2027" and "next week" are many days, and which of them counts is
up to the caller.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from functools import cache
from typing import Any

from reconciler.frozen import frozen
from reconciler.lexicon import any_of, lexicon

_LOCALES = ("en", "en_GB", "de", "de_AT", "fr", "es", "it", "nl", "pt")

_DECEMBER = 12
_LEAP_YEAR = 2028
"""The year of a day without one, so that 29 February is a day; never told."""

ORDINAL = r"(?:st|nd|rd|th|er|º|°|\.)?"
"""What may follow a day's number."""

_STOP = r"(?:\.(?= \d))"
"""The full stop of a short month, where it ends no sentence."""

_TWO_NUMBERS = r"(?P<one>\d{1,2})(?P<mark>[./-])(?P<two>\d{1,2})"
_GERMAN_STOP = r"(?<=\.\d)\.|(?<=\.\d\d)\."
"""What ends "5.12." """


@frozen
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
    match = next(filter(None, (form.match(text, at) for form in _forms())), None)
    try:
        return match and _read(match, today, is_english=is_english)
    except (ValueError, OverflowError):  # no such day
        return None


def may_name_days(text: str) -> bool:
    """Whether a text may name other days than those of the week: most name none, which is cheap."""
    return _hint().search(text.lower()) is not None


def days_in(text: str, today: date) -> Iterator[NamedDay]:
    """All days that a text names."""
    for word in re.finditer(r"(?<![\w.-])\w", text):
        if day := named_at(text, word.start(), today):
            yield day


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    month, of, next_ = _any(_months()), _words("of"), _words("next")
    unit, end = _any_unit(), _words("end_of")
    year = rf"(?:,? (?:{of} )?(?P<year>\d{{4}}))"
    long_month = _any(name for name in _months() if len(name) > 3)
    forms = (
        r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)",
        rf"{_TWO_NUMBERS}(?:(?P=mark)(?P<year>\d{{4}})|{_GERMAN_STOP})",
        rf"(?P<day>\d{{1,2}}){ORDINAL} (?:{of} ?)?(?P<month>{month})\b{_STOP}?{year}?",
        rf"(?P<month>{month})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\w){year}?",
        rf"(?:{end} )?(?:{of} ?)?(?P<month>{month}){year}",
        rf"{end} (?:{of} ?)?(?P<month>{month})",
        rf"(?P<month>{long_month})",
        rf"(?:{end} )?(?:\w{{1,3}} )?(?P<next>{next_} {unit}|{unit} {next_})",
        rf"{end} (?:\w{{1,6}} )?(?P<this>{unit})",
        rf"(?P<next>{next_} )?(?P<weekday>{_any(_weekdays())})",
        _words("tomorrow"),
    )
    return tuple(re.compile(rf"(?:{form})(?![\w/-]|\.\d)") for form in forms)


@cache
def _hint() -> re.Pattern[str]:
    """A digit, a month, or what counts from today."""
    counted = map(_words, ("next", "end_of", "tomorrow"))
    return re.compile(rf"\d|\b(?:{'|'.join((_any(_months()), *counted))})\b")


@cache
def _lead() -> re.Pattern[str]:
    """What may stand before a day: an article, a weekday before its date."""
    article = _words("article")
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


def _read(match: re.Match[str], today: date, *, is_english: bool) -> NamedDay | None:
    """The days; None for 3/4 in English. Raises ``ValueError`` where there is no such day."""
    said = {name: word for name, word in match.groupdict().items() if word}
    if "mark" in said:
        day, month = said["one"], said["two"]
        if int(month) > _DECEMBER:
            day, month = month, day
        elif is_english and said["mark"] != "." and int(day) <= _DECEMBER and day != month:
            return None
        said |= {"day": day, "month": month}
    if "month" not in said:
        first, last = _counted(said, today)
        return NamedDay(stop=match.end(), first=first, last=last, is_weekly="weekday" in said)
    month_number = _months().get(said["month"]) or int(said["month"])
    first = date(int(said.get("year", _LEAP_YEAR)), month_number, int(said.get("day", 1)))
    last = first if "day" in said else _last_of(first)
    return NamedDay(stop=match.end(), first=first, last=last, has_year="year" in said)


def _counted(said: Mapping[str, str], today: date) -> tuple[date, date]:
    """First and last day of what counts from today; "next Friday" is that of the next week."""
    monday, is_next = today - timedelta(days=today.weekday()), "next" in said
    if weekday := said.get("weekday"):
        day = monday + timedelta(days=_weekdays()[weekday])
        day += timedelta(weeks=is_next or day <= today)
        return day, day
    unit = said.get("next") or said.get("this")
    if unit is None:
        day = today + timedelta(days=1)
        return day, day
    if re.search(_words("week"), unit):
        first = monday + timedelta(weeks=is_next)
        return first, first + timedelta(days=6)
    if re.search(_words("month"), unit):
        first = _last_of(today) + timedelta(days=1) if is_next else today.replace(day=1)
        return first, _last_of(first)
    return date(today.year + is_next, 1, 1), date(today.year + is_next, _DECEMBER, 31)


def _any_unit() -> str:
    week, month, year = _words("week"), _words("month"), _words("year")
    return f"(?:{week}|{month}|{year})"


def _words(name: str) -> str:
    return lexicon("ends").any_of(name)
