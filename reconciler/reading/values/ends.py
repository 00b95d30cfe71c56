"""Ends and starts: the times between which a note says that it is true. Pure.

"Valid until 30 November", "from 1 to 5 December", "moves next month". Only a note of one clause
with one date, or one range, is read. In doubt it has no end: a fact that ends too early is lost,
and one that lasts too long is marked when its lifetime is over.

Such times rest on named days: dates in a text, as people write them, with the names that CLDR has.
Only the form of a day is read: "March 2027" and "next week" are many days, and which of them
counts is up to the caller. No clock is read here: the day of saying is an argument.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from functools import cache
from typing import Any

from reconciler.frozen import Match, Pattern, frozen
from reconciler.reading.guard.tokens import numbers_of
from reconciler.reading.lexicon import any_of, lexicon
from reconciler.reading.text_reading import read_text

_LOCALES = ("en", "en_GB", "de", "de_AT", "fr", "es", "it", "nl", "pt")

_DECEMBER = 12
_LEAP_YEAR = 2028
"""The year of a day without one, so that 29 February is a day; never told."""

_DAYS = {"day": 1, "night": 1, "week": 7, "fortnight": 14}
"""Days of a length of time, at most: an end that is a day late loses nothing."""

ORDINAL = r"(?:st|nd|rd|th|er|º|°|\.)?"
"""What may follow a day's number."""

_STOP = r"(?:\.(?= \d))"
"""The full stop of a short month, where it ends no sentence."""

_TWO_NUMBERS = r"(?P<one>\d{1,2})(?P<mark>[./-])(?P<two>\d{1,2})"
_GERMAN_STOP = r"(?<=\.\d)\.|(?<=\.\d\d)\."
"""What ends "5.12." """


@frozen
class NamedDay:
    """The days that a text names, as far as it says them.

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
        """True if it names a whole month."""
        return self.first.day == 1 and self.last == _last_of(self.first)

    def no_earlier_than(self, day: date) -> NamedDay:
        """Return the same days.

        If they have no year, they get the first year in which they are still to come.
        """
        return self if self.has_year else self._in(day.year + (self._in(day.year).last < day))

    def no_later_than(self, day: date) -> NamedDay:
        """Return the same days; without a year, in the last year in which they had begun."""
        return self if self.has_year else self._in(day.year - (self._in(day.year).first > day))

    def _in(self, year: int) -> NamedDay:
        """Raises ``ValueError`` for 29 February of a year without one."""
        first = self.first.replace(year=year)
        last = _last_of(first) if self.is_month else self.last.replace(year=year)
        return NamedDay(stop=self.stop, first=first, last=last)


def named_at(text: str, start: int, today: date, *, is_english: bool = True) -> NamedDay | None:
    """Return the days that are named at this place of a text; None for none.

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
    """True if a text may name other days than those of the week: most name none, which is cheap."""
    return _hint().search(text.lower()) is not None


def days_in(text: str, today: date) -> Iterator[NamedDay]:
    """Return all days that a text names."""
    for word in re.finditer(r"(?<![\w.-])\w", text):
        if day := named_at(text, word.start(), today):
            yield day


@cache
def _forms() -> tuple[Pattern, ...]:
    month, of, next_ = _any(_months()), _words("of"), _words("next")
    unit, end = any_of(list(map(_words, ("week", "month", "year")))), _words("end_of")
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
        rf"next (?P<count>\w+) (?P<length>{any_of([*_DAYS])})s?",
    )
    return tuple(re.compile(rf"(?:{form})(?![\w/-]|\.\d)") for form in forms)


@cache
def _stay() -> Pattern:
    """Find a length of time behind the place where someone is: "is in London this week".

    It begins with the note. Any other length may be the time since when, or may return: "the
    contract runs for a week", "is on keto for a week", "is in Rome every May for a week".
    """
    place = r"(?!\w+days?\b)[A-Z][\w'-]*"
    return re.compile(
        r"((?i:(?:[\w'’]+ ){,3}?(?:is|are|am|\w+['’](?:s|re|m)) "
        r"(?:now |currently )?(?:staying )?(?:at \w+ \w+['’]s )?in )"
        rf"(?:the )?{place}(?: {place})*) "
        r"(?:for (?:an?|(?:the next )?(\w+)) ((?:day|night|week|fortnight)s?)"
        r"(?: on an? (?!\w*day\b)\w+)?|this week)[ .]*"
    )


@cache
def _hint() -> Pattern:
    """A digit, a month, or what counts from today."""
    counted = map(_words, ("next", "end_of", "tomorrow"))
    return re.compile(rf"\d|\b(?:{'|'.join((_any(_months()), *counted))})\b")


@cache
def _lead() -> Pattern:
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
    """Return the last day of the first day's month."""
    return first.replace(day=monthrange(first.year, first.month)[1])


def _read(match: Match, today: date, *, is_english: bool) -> NamedDay | None:
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
    if length := said.get("length"):
        count = said["count"]
        days = _DAYS[length] * int(numbers_of("cardinal").get(count, count))
        return today, today + timedelta(days=days)
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


def _words(name: str) -> str:
    return lexicon("ends").any_of(name)


_LENGTH_MAX = 160
_HALF_A_YEAR = timedelta(days=183)
_WESTERNMOST = timezone(timedelta(hours=-12))

_SEVERAL = re.compile(r"[;:,()!?…\n]| - |\.(?!\s*$)(?<!\d\.)")
"""What parts clauses or begins another; a German "14." does not."""

_COPULA = re.compile(r"\b(?:is|are|am|be|gets?|(?:s?he|it|i|we|they|you|there)'(?:s|re|m))\b")
_TODAY = re.compile(
    r"(?<!from )(?<!since )\b(?:today|tonight|this (?:morning|afternoon|evening)|heute|hoy|oggi"
    r"|hoje|vandaag|aujourd'hui)\b"
)
_LONG_DASH = re.compile(r"(?<=[^\W\d])[–—](?=[^\W\d])")
_WORD = re.compile(r"(?<![\w.-])(?:(?:on|in|am|im|op|em|nel|en) )?(?=\w)")
_DASH = re.compile(" ?- ?")


@frozen
class SaidTimes:
    """The times between which a note says that it is true.

    Attributes:
        begins_at: the midnight that begins its first day (UTC); None for a day that has come,
            unless the last one has passed, too.
        ends_at: the midnight that ends its last day, which may have passed (UTC).
    """

    begins_at: datetime | None = None
    ends_at: datetime | None = None


@frozen
class _Found:
    """What says a first day, a last day, or both, and its place in the text."""

    start: int
    stop: int
    first: date | None = None
    last: date | None = None


def said_times(text: str, said_at: datetime) -> SaidTimes:
    """Read from when and until when a note says that it is true, if that is plain.

    A date without a year is the next one after the note was said.

    Args:
        text: the note's text.
        said_at: when it was said, time-zone aware; a day begins and ends in its zone.
    """
    told = _told(text, said_at)
    if told.ends_at is None or said_at.utcoffset() or said_at.year == 1:
        return told  # the first day of all has none before it
    # In UTC the zone is often unknown. What was yesterday there may be today for the speaker,
    # and is no day of the next year.
    west = _told(text, said_at.astimezone(_WESTERNMOST)).ends_at
    is_yesterday = west is not None and told.ends_at - west > timedelta(days=300)
    return SaidTimes(ends_at=west) if is_yesterday else told


def end_of_today(text: str, said_at: datetime) -> datetime | None:
    """Midnight that ends the day on which it was said, if it speaks of that day (UTC).

    None for what happened on it: "A parcel came today" holds on the next day.
    """
    small = read_text(text).small
    if not _TODAY.search(small) or (_past().search(small) and not _COPULA.search(small)):
        return None
    if said_at.year > 9998:  # that day may have no midnight
        return None
    return _midnight(said_at.date() + timedelta(days=1), said_at)


def _told(text: str, said_at: datetime) -> SaidTimes:
    if stay := _stay().fullmatch(text):
        days = f"next {stay[2] or 1} {stay[3]}" if stay[3] else "end of this week"
        text = f"{stay[1]} until the {days}"
    small, today = read_text(_LONG_DASH.sub(" - ", text)).small.strip(), said_at.date()
    if len(small) > _LENGTH_MAX:
        return SaidTimes()
    try:
        found = _range(small, today) or _end(small, today) or _start(small, today)
        if found is None:
            return SaidTimes()
        first, last, after = found.first, found.last, small[found.stop :]
        if last:
            after = _what_follows().sub("", after)
        if not _is_plain(small[: found.start], after, today):
            return SaidTimes()
        if first and first <= today and not (last and last < today):
            first = None
        return SaidTimes(
            begins_at=_midnight(first, said_at) if first else None,
            ends_at=_midnight(last + timedelta(days=1), said_at) if last else None,
        )
    except (ValueError, OverflowError):  # 29 February of a year without one, or the year 10,000
        return SaidTimes()


def _midnight(day: date, said_at: datetime) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=said_at.tzinfo).astimezone(UTC)


def _range(small: str, today: date) -> _Found | None:
    """A first and a last day: "from 1 to 5 December"."""
    for opens, to in (("opens", "to"), ("between", "and")):
        for opening in _marker(opens).finditer(small):
            if found := _two_days(small, opening.start(), opening.end(), today, _link(to)):
                return found
    for word in _WORD.finditer(small) if "-" in small else ():
        found = _two_days(small, word.start(), word.start(), today, _DASH)
        if found is not None and not small[found.stop :].strip(" ."):
            return found
    return None


def _two_days(small: str, start: int, at: int, today: date, to: Pattern) -> _Found | None:
    """Two days at a place of the text; a number alone is a day of the last one's month."""
    first = named_at(small, at, today, is_english=False)
    number = _number().match(small, at)
    link = to.match(small, first.stop if first else number.end() if number else at)
    last = named_at(small, link.end(), today, is_english=False) if link else None
    if last is None:
        return None
    had_year = last.has_year
    if first is not None:
        last = last.no_earlier_than(first.first if first.has_year else today)
        begins = first.no_later_than(last.last).first
    elif number is not None and last.first == last.last:
        last = last.no_earlier_than(today)
        begins = last.last.replace(day=int(number["day"]))
    else:
        return None
    recurs = first is not None and (
        first.is_weekly or (first.is_month and not (first.has_year or had_year))
    )
    if begins > last.last or recurs or _marker("announces").search(small):
        return None
    return _Found(start=start, stop=last.stop, first=begins, last=last.last)


def _end(small: str, today: date) -> _Found | None:
    """A last day: "until 5 December", "expires on 5 December"."""
    for start, day in _marked(small, today, _ENDS):
        return _Found(start=start, stop=day.stop, last=day.no_earlier_than(today).last)
    return None


def _start(small: str, today: date) -> _Found | None:
    """A first day to come: "from 1 August", or the day of a change, as in "moves next month"."""
    for start, day in (*_marked(small, today, _STARTS), *_days_of_change(small, today)):
        first = day.no_earlier_than(today).first
        is_near = day.has_year or first - today < _HALF_A_YEAR
        is_to_come = first > today and is_near  # else it is last May's: "the letter from 3 May"
        return _Found(start=start, stop=day.stop, first=first) if is_to_come else None
    return None


def _days_of_change(small: str, today: date) -> Iterator[tuple[int, NamedDay]]:
    """Return the days in a text that announces a change; what only starts may do so each March."""
    if _marker("things").match(small) or not _marker("announces").search(small):
        return
    may_recur = not _marker("announces").search(_marker("starts").sub("", small))
    for word in _WORD.finditer(small):
        day = named_at(small, word.end(), today)
        if day is not None and not (may_recur and day.is_month):
            yield word.start(), day


_ENDS = ("until_english", "until", "ending_english", "ending")
_STARTS = ("from_english", "from")
"""Lists of markers; behind English ones 3/4 is two days."""


def _marked(small: str, today: date, markers: Iterable[str]) -> Iterator[tuple[int, NamedDay]]:
    """Return the days behind one of the markers, and where the marker begins."""
    for name in markers:
        is_english = name.endswith("_english")
        for found in _marker(name).finditer(small):
            if day := named_at(small, found.end(), today, is_english=is_english):
                yield found.start(), day


def _is_plain(before: str, after: str, today: date) -> bool:
    """True if a text is one clause about now, without another date than the one between the two."""
    after = after.removeprefix(" on")
    rest = f"{before.rstrip(': ')} {after}" if before else after.lstrip(", ")
    if _SEVERAL.search(rest) or _marker("not_plain").search(rest) or _within().search(before):
        return False
    if _past().search(rest) and not _COPULA.search(rest):
        return False
    return next(days_in(rest, today), None) is None


@cache
def _marker(name: str) -> Pattern:
    return re.compile(rf"(?<!\w){_words(name)}(?!\w) ?")


@cache
def _link(name: str) -> Pattern:
    return re.compile(rf" ?{_words(name)}(?:(?<=-)|(?!\w)) ?")


@cache
def _number() -> Pattern:
    return re.compile(rf"(?:{_words('article')} )?(?P<day>\d{{1,2}}){ORDINAL}(?!\w)")


@cache
def _past() -> Pattern:
    words = lexicon("third_person")
    return re.compile(
        rf"\b(?:(?!{words.any_of('present_in_ed')}\b)\w{{3,}}ed|{words.any_of('past')})\b"
    )


@cache
def _what_follows() -> Pattern:
    """What joins to a last day how it goes on, if no verb is there: "and back home then".

    In doubt a word in "-s" is a verb.
    """
    clause = rf"{_COPULA.pattern}|{_past().pattern}|\b(?:\w+[^\Ws]s|{_words('subjects')})\b"
    return re.compile(rf"\band (?:then )?(?!.*(?:{clause}))|(?<=\w) then(?=[ .]*$)")


@cache
def _within() -> Pattern:
    """What begins a clause of its own, so that the day may be that one's; or leads to a deadline.

    "Is travelling" tells it itself, "is a diabetic travelling" tells more.
    """
    subjects = _words("subjects")
    verb = r"(?!\w+ly\b|still\b)\S+"
    return re.compile(
        rf"{_COPULA.pattern} (?:(?:\w+ly|still) )*{verb} "
        rf"(?:.* )?(?:\w{{3,}}(?:ing|ed)|{subjects})\b|\b(?:has|have|hat|tiene|heeft) *$"
    )
