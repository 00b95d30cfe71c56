"""Ends and starts: from when and until when a note says that it is true. Pure.

"Valid until 30 November", "from 1 to 5 December", "moves next month". Only a note of one clause
with one date, or one range, is read. In doubt it has no end: a fact that ends too early is lost,
and one that lasts too long is marked when its lifetime is over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from functools import cache

from reconciler.domain.text_reading import read_text
from reconciler.domain.values.named_days import ORDINAL, NamedDay, days_in, named_at
from reconciler.frozen import frozen
from reconciler.lexicon import lexicon

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
    """When a note says that it is true.

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
    """From when and until when a note says that it is true, as far as that is plain.

    A date without a year is the next one after the note was said.

    Args:
        text: of the note.
        said_at: when it was said, time-zone aware; a day begins and ends in its zone.
    """
    told = _told(text, said_at)
    if told.ends_at is None or said_at.utcoffset():
        return told
    # In UTC the zone is often unknown. What was yesterday there may be today for the speaker,
    # and is no day of the next year.
    west = _told(text, said_at.astimezone(_WESTERNMOST)).ends_at
    is_yesterday = west is not None and told.ends_at - west > timedelta(days=300)
    return SaidTimes(ends_at=west) if is_yesterday else told


def end_of_today(text: str, said_at: datetime) -> datetime | None:
    """The midnight that ends the day on which it was said, if it speaks of that day (UTC).

    None for what happened on it: "A parcel came today" holds on the next day.
    """
    small = read_text(text).small
    if not _TODAY.search(small) or (_past().search(small) and not _COPULA.search(small)):
        return None
    return _midnight(said_at.date() + timedelta(days=1), said_at)


def _told(text: str, said_at: datetime) -> SaidTimes:
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
        is_told = first is not None and (first > today or (last is not None and last < today))
        return SaidTimes(
            begins_at=_midnight(first, said_at) if first is not None and is_told else None,
            ends_at=None if last is None else _midnight(last + timedelta(days=1), said_at),
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


def _two_days(small: str, start: int, at: int, today: date, to: re.Pattern[str]) -> _Found | None:
    """The two days at a place of the text; a number alone is a day of the last one's month."""
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
    """The days in a text that announces a change; what only starts may do so each March."""
    if _marker("things").match(small) or not _marker("announces").search(small):
        return
    may_recur = not _marker("announces").search(_marker("starts").sub("", small))
    for word in _WORD.finditer(small):
        day = named_at(small, word.end(), today)
        if day is not None and not (may_recur and day.is_month):
            yield word.start(), day


_ENDS = (("until_english", True), ("until", False), ("ending_english", True), ("ending", False))
_STARTS = (("from_english", True), ("from", False))
"""Lists of markers, and whether they are English, where 3/4 is two days."""


def _marked(
    small: str, today: date, markers: Iterable[tuple[str, bool]]
) -> Iterator[tuple[int, NamedDay]]:
    """The days behind one of the markers, and where the marker begins."""
    for name, is_english in markers:
        for found in _marker(name).finditer(small):
            if day := named_at(small, found.end(), today, is_english=is_english):
                yield found.start(), day


def _is_plain(before: str, after: str, today: date) -> bool:
    """Whether a text is one clause about now, without another date than the one between the two."""
    after = after.removeprefix(" on")
    rest = f"{before.rstrip(': ')} {after}" if before else after.lstrip(", ")
    if _SEVERAL.search(rest) or _marker("not_plain").search(rest) or _within().search(before):
        return False
    if _past().search(rest) and not _COPULA.search(rest):
        return False
    return next(days_in(rest, today), None) is None


def _words(name: str) -> str:
    return lexicon("ends").any_of(name)


@cache
def _marker(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){_words(name)}(?!\w) ?")


@cache
def _link(name: str) -> re.Pattern[str]:
    return re.compile(rf" ?{_words(name)}(?:(?<=-)|(?!\w)) ?")


@cache
def _number() -> re.Pattern[str]:
    return re.compile(rf"(?:{_words('article')} )?(?P<day>\d{{1,2}}){ORDINAL}(?!\w)")


@cache
def _past() -> re.Pattern[str]:
    words = lexicon("third_person")
    return re.compile(
        rf"\b(?:(?!{words.any_of('present_in_ed')}\b)\w{{3,}}ed|{words.any_of('past')})\b"
    )


@cache
def _what_follows() -> re.Pattern[str]:
    """What joins to a last day how it goes on, if no verb is there: "and back home then".

    In doubt a word in "-s" is a verb.
    """
    clause = rf"{_COPULA.pattern}|{_past().pattern}|\b(?:\w+[^\Ws]s|{_words('subjects')})\b"
    return re.compile(rf"\band (?:then )?(?!.*(?:{clause}))|(?<=\w) then(?=[ .]*$)")


@cache
def _within() -> re.Pattern[str]:
    """What begins a clause of its own, so that the day may be that one's; or leads to a deadline.

    "Is travelling" tells it itself, "is a diabetic travelling" tells more.
    """
    subjects = _words("subjects")
    verb = r"(?!\w+ly\b|still\b)\S+"
    return re.compile(
        rf"{_COPULA.pattern} (?:(?:\w+ly|still) )*{verb} "
        rf"(?:.* )?(?:\w{{3,}}(?:ing|ed)|{subjects})\b|\b(?:has|have|hat|tiene|heeft) *$"
    )
