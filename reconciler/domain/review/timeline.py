"""Timelines: a contact's chains laid out as bars over time, with arrows for supersessions. Pure.

Places are numbers from 0 (the first day shown) to 1 (the last); what draws them, a page or a
picture, chooses its own units and colours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from textwrap import shorten

from reconciler.domain.records.facts import Fact, FactHistory, Supersession
from reconciler.domain.records.slots import CONTACT_SUBJECT

__all__ = ["ROWS_MAX", "Arrow", "Bar", "Strand", "Tick", "Timeline", "caption_of", "timeline"]

ROWS_MAX = 40
"""Facts in one strand; more of them are told apart by numbers."""

_TICKS = 5
_HOURS_SHOWN = timedelta(days=3)
_CAPTION_LENGTH_MAX = 46


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A fact from when it became true to when that ended, or goes on.

    Attributes:
        fact: the fact.
        row: its row in the strand, from 0.
        left, right: where it begins and ends, 0 to 1.
    """

    fact: Fact
    row: int
    left: float
    right: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """A supersession, from the end of the old fact to the beginning of the new one."""

    supersession: Supersession
    old: Bar
    new: Bar


@dataclass(frozen=True, slots=True, kw_only=True)
class Strand:
    """Facts that belong together, by their slot or by their kind.

    Attributes:
        title: what they are about.
        bars: one for each fact, in the order of the rows.
        arrows: between them.
    """

    title: str
    bars: tuple[Bar, ...]
    arrows: tuple[Arrow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A time on the axis, and where it stands, 0 to 1."""

    label: str
    place: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """A contact's facts over time.

    Attributes:
        strands: those in which something changed first, and of them what was said last.
        ticks: the axis, from the first day to the last.
        left_out: facts that were too many to be shown.
    """

    strands: tuple[Strand, ...]
    ticks: tuple[Tick, ...]
    left_out: int

    @property
    def facts(self) -> list[Fact]:
        """All facts that are shown, in the order of the rows."""
        return [bar.fact for strand in self.strands for bar in strand.bars]


@dataclass(frozen=True, slots=True)
class _Axis:
    starts_at: datetime
    ends_at: datetime

    def place(self, at: datetime) -> float:
        return min(max((at - self.starts_at) / (self.ends_at - self.starts_at), 0.0), 1.0)

    def ticks(self) -> tuple[Tick, ...]:
        span = self.ends_at - self.starts_at
        style = "%d %b %H:%M" if span < _HOURS_SHOWN else "%Y-%m-%d"
        places = [number / (_TICKS - 1) for number in range(_TICKS)]
        return tuple(
            Tick(label=f"{self.starts_at + place * span:{style}}", place=place) for place in places
        )


def timeline(chains: Sequence[FactHistory], now: datetime, facts_max: int) -> Timeline:
    """The chains over time, at most so many facts of them: what was said last comes in first.

    Args:
        chains: as ``history`` gives them.
        now: the end of what goes on (UTC).
        facts_max: 1 or more.
    """
    shown = list(_cut(chains, facts_max))
    facts = [fact for chain in shown for fact in chain.facts]
    axis = _axis(facts, now)
    titled = [(_title(chain), chain) for chain in shown]
    order = {title: place for place, (title, _) in reversed(list(enumerate(titled)))}
    changed = {title for title, chain in titled if chain.supersessions}
    titled.sort(key=lambda pair: (pair[0] not in changed, order[pair[0]]))
    strands = [
        strand
        for title, group in groupby(titled, key=lambda pair: pair[0])
        for strand in _strands(title, [chain for _, chain in group], axis, now)
    ]
    left_out = sum(len(chain.facts) for chain in chains) - len(facts)
    return Timeline(strands=tuple(strands), ticks=axis.ticks(), left_out=left_out)


def caption_of(text: str) -> str:
    """The beginning of a text, cut between words where that is possible."""
    if len(text) <= _CAPTION_LENGTH_MAX:
        return text
    cut = shorten(text, _CAPTION_LENGTH_MAX, placeholder=" …")
    return cut if len(cut) > _CAPTION_LENGTH_MAX // 2 else f"{text[: _CAPTION_LENGTH_MAX - 1]}…"


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
        return f"no slot: {head.category}"
    attribute = head.slot.attribute.replace("_", " ")
    if head.slot.subject == CONTACT_SUBJECT:
        return attribute
    return f"{head.slot.subject}: {attribute}"


def _strands(
    title: str, chains: Iterable[FactHistory], axis: _Axis, now: datetime
) -> Iterator[Strand]:
    """One strand, or several of ``ROWS_MAX`` facts; an arrow between two of them is not drawn."""
    listed = list(chains)
    facts = [fact for chain in listed for fact in chain.facts]
    links = [link for chain in listed for link in chain.supersessions]
    for start in range(0, len(facts), ROWS_MAX):
        some = facts[start : start + ROWS_MAX]
        bars = [_bar(fact, row, axis, now) for row, fact in enumerate(some)]
        by_id = {bar.fact.fact_id: bar for bar in bars}
        numbers = f", {start + 1} to {start + len(some)}" if len(facts) > ROWS_MAX else ""
        yield Strand(
            title=title + numbers,
            bars=tuple(bars),
            arrows=tuple(
                Arrow(supersession=link, old=by_id[link.old_id], new=by_id[link.new_id])
                for link in links
                if by_id.keys() >= {link.old_id, link.new_id}
            ),
        )


def _bar(fact: Fact, row: int, axis: _Axis, now: datetime) -> Bar:
    ends_at = max(_until(fact, now), fact.valid_from)
    return Bar(fact=fact, row=row, left=axis.place(fact.valid_from), right=axis.place(ends_at))
