"""Timelines: a contact's chains laid out as bars over time, with arrows for changes. Pure.

Consecutive facts that say the same are one bar, with a mark at each repetition. Places are numbers
from 0 (the first day shown) to 1 (the last); the page or picture that draws them chooses units and
colours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from textwrap import shorten

from reconciler.domain.records.facts import Fact, FactHistory, Supersession
from reconciler.domain.records.kinds import FactState
from reconciler.domain.records.notes import CONTACT_SUBJECT
from reconciler.frozen import frozen, in_order

ROWS_MAX = 40
"""The most bars in one strand; further strands of the same title get numbers."""

_TICKS = 5
_HOURS_SHOWN = timedelta(days=3)
_CAPTION_LENGTH_MAX = 46


@frozen
class Bar:
    """One value, from when it became true to its end, if it has one.

    Attributes:
        facts: the fact, and earlier facts that said the same; the newest first.
        row: its row in the strand, from 0.
        left, right: its start and end, 0 to 1.
        again: the places where it was said again, as far as they are known, 0 to 1, in the order of
            time.
    """

    facts: tuple[Fact, ...]
    row: int
    left: float
    right: float
    again: tuple[float, ...]

    @property
    def fact(self) -> Fact:
        """Return the newest of the facts, with the wording that is kept."""
        return self.facts[0]


@in_order
class Arrow:
    """A change, from the end of the old bar to where the new fact begins.

    Attributes:
        supersession: the reason.
        old, new: the two bars.
        tip: the place on the new bar where the arrow ends, 0 to 1.
    """

    supersession: Supersession
    old: Bar
    new: Bar
    tip: float


@in_order
class Strand:
    """Facts that belong together, by their slot or by their kind.

    Attributes:
        title: their subject.
        bars: one for each statement, in the order of the rows.
        arrows: the arrows between them.
    """

    title: str
    bars: tuple[Bar, ...]
    arrows: tuple[Arrow, ...]


@in_order
class Tick:
    """A time on the axis, and its place, 0 to 1."""

    label: str
    place: float


@in_order
class Timeline:
    """A contact's facts over time.

    Attributes:
        strands: the strands; those with a change come first, then the latest statement decides.
        ticks: the axis, from the first day to the last.
        left_out: the number of facts that are not shown.
    """

    strands: tuple[Strand, ...]
    ticks: tuple[Tick, ...]
    left_out: int

    @property
    def facts(self) -> list[Fact]:
        """Return all facts that are shown, in the order of the rows."""
        return [fact for strand in self.strands for bar in strand.bars for fact in bar.facts]


@in_order
class _Axis:
    starts_at: datetime
    ends_at: datetime

    def place(self, at: datetime) -> float:
        return min(max((at - self.starts_at) / (self.ends_at - self.starts_at), 0.0), 1.0)

    def ticks(self) -> tuple[Tick, ...]:
        span = self.ends_at - self.starts_at
        style = "%d %b %H:%M" if span < _HOURS_SHOWN else "%-d %b %Y"
        places = [number / (_TICKS - 1) for number in range(_TICKS)]
        return tuple(Tick(f"{self.starts_at + place * span:{style}}", place) for place in places)


def timeline(chains: Sequence[FactHistory], now: datetime, facts_max: int) -> Timeline:
    """Lay chains out over time, with at most so many facts; those said last come in first.

    Args:
        chains: as ``history`` gives them.
        now: the end of bars that have no end yet (UTC).
        facts_max: 1 or more.
    """
    shown = list(_cut(chains, facts_max))
    facts = [fact for chain in shown for fact in chain.facts]
    axis = _axis(facts, now)
    titled = [(_title(chain), chain) for chain in shown]
    order = {title: place for place, (title, _) in reversed(list(enumerate(titled)))}
    changed = {title for title, chain in titled if len(_sayings(chain)) > 1}
    titled.sort(key=lambda pair: (pair[0] not in changed, order[pair[0]]))
    strands = [
        strand
        for title, group in groupby(titled, key=lambda pair: pair[0])
        for strand in _strands(title, [chain for _, chain in group], axis, now)
    ]
    left_out = sum(len(chain.facts) for chain in chains) - len(facts)
    return Timeline(tuple(strands), axis.ticks(), left_out)


def caption_of(text: str, length_max: int = _CAPTION_LENGTH_MAX) -> str:
    """Return the beginning of a text, cut between words if that is possible."""
    if len(text) <= length_max:
        return text
    cut = shorten(text, length_max, placeholder=" …")
    return cut if len(cut) > length_max // 2 else f"{text[: length_max - 1]}…"


def _cut(chains: Iterable[FactHistory], facts_max: int) -> Iterator[FactHistory]:
    left = facts_max
    for chain in chains:
        if left < 1:
            return
        yield FactHistory(facts=chain.facts[:left], supersessions=chain.supersessions[: left - 1])
        left -= len(chain.facts)


def _axis(facts: Iterable[Fact], now: datetime) -> _Axis:
    times = [now]
    for fact in facts:
        times += [fact.valid_from, _until(fact, now)]
    starts_at, ends_at = min(times), max(times)
    if ends_at - starts_at < timedelta(hours=1):  # else a minute's work fills the page
        starts_at = ends_at - timedelta(hours=1)
    return _Axis(starts_at, ends_at)


def _until(fact: Fact, now: datetime) -> datetime:
    return fact.valid_to if fact.valid_to is not None and fact.has_ended else now


def _title(chain: FactHistory) -> str:
    head = chain.facts[0]
    if head.slot is None or head.slot.attribute is None:
        return f"other notes: {head.category}"
    attribute = head.slot.attribute_in_words
    if head.slot.subject == CONTACT_SUBJECT:
        return attribute
    return f"{head.slot.subject}: {attribute}"


def _strands(
    title: str, chains: Iterable[FactHistory], axis: _Axis, now: datetime
) -> Iterator[Strand]:
    """Make one strand, or several of ``ROWS_MAX`` bars; no arrow joins two strands."""
    listed = list(chains)
    sayings = [facts for chain in listed for facts in _sayings(chain)]
    links = [link for chain in listed for link in chain.supersessions]
    for start in range(0, len(sayings), ROWS_MAX):
        some = sayings[start : start + ROWS_MAX]
        bars = [_bar(facts, row, axis, now) for row, facts in enumerate(some)]
        numbers = f", {start + 1} to {start + len(some)}" if len(sayings) > ROWS_MAX else ""
        arrows = tuple(_arrows(links, bars, axis))
        yield Strand(title + numbers, tuple(bars), arrows)


def _sayings(chain: FactHistory) -> list[tuple[Fact, ...]]:
    """Group the facts of a chain that say the same; the newest of each group comes first."""
    by_id = {fact.fact_id: fact for fact in chain.facts}
    head = chain.facts[0]
    sayings = [[head]]
    said = {head.fact_id: sayings[0]}
    for fact, link in zip(chain.facts[1:], chain.supersessions, strict=True):
        if link.is_restatement and not (_is_undone(by_id[link.new_id]) or _is_undone(fact)):
            said[fact.fact_id] = said[link.new_id]
        else:
            said[fact.fact_id] = []
            sayings.append(said[fact.fact_id])
        said[fact.fact_id].append(fact)
    return [tuple(facts) for facts in sayings]


def _is_undone(fact: Fact) -> bool:
    """True if the fact is drawn unlike the fact that it repeats: never true, revoked or erased."""
    return fact.is_void or fact.state in (FactState.REVOKED, FactState.ERASED)


def _bar(facts: tuple[Fact, ...], row: int, axis: _Axis, now: datetime) -> Bar:
    begins_at = min(fact.valid_from for fact in facts)
    ends_at = max(begins_at, *(_until(fact, now) for fact in facts))
    first, *later = sorted(facts, key=lambda fact: fact.last_confirmed_at)
    again = [first, *later] if first.observations > 1 else later
    return Bar(
        facts=facts,
        row=row,
        left=axis.place(begins_at),
        right=axis.place(ends_at),
        again=tuple(axis.place(fact.last_confirmed_at) for fact in again),
    )


def _arrows(links: Iterable[Supersession], bars: Iterable[Bar], axis: _Axis) -> Iterator[Arrow]:
    places: Mapping[str, tuple[Bar, Fact]] = {
        fact.fact_id: (bar, fact) for bar in bars for fact in bar.facts
    }
    for link in links:
        if places.keys() >= {link.old_id, link.new_id}:
            (old, _), (new, fact) = places[link.old_id], places[link.new_id]
            if old is not new:
                tip = axis.place(fact.valid_from)
                yield Arrow(link, old, new, tip)
