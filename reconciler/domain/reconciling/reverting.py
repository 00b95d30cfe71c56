"""Reverting: which decisions depend on others, and the facts after decisions are undone.

Pure. A decision says which facts it wrote and ended, and keeps the earlier states of the facts that
it changed. So every decision can be undone from its record, even a revert.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from reconciler.domain.records.decisions import Decision, Resting, Undo
from reconciler.domain.records.facts import (
    Conflict,
    Conflicts,
    Fact,
    FactsById,
    Supersession,
    by_fact_id,
)
from reconciler.domain.records.kinds import Action, FactState
from reconciler.domain.records.notes import SlotMatch, compare_slots
from reconciler.errors import InvalidRequestError
from reconciler.frozen import frozen
from reconciler.reading.canonical import canonical_text

_COUNTING_NOTHING = (Action.REVERT, Action.REVOKE, Action.ARCHIVE, Action.UNARCHIVE, Action.MERGE)
"""Actions that change the state of facts, and are no evidence for them."""


@frozen
class Reversal:
    """The result of undoing decisions: changed facts and conflicts, and the record of it."""

    facts: tuple[Fact, ...]
    conflicts: Conflicts
    undo: Undo


def fact_written_by(decision: Decision) -> str | None:
    """Id of the fact that a decision wrote; None if it wrote none."""
    return decision.fact_id if decision.action.writes_a_fact else None


def undone_by(decision: Decision, made: Iterable[Decision]) -> Decision | None:
    """The decision that undid this one and was not undone itself.

    None if this decision is in force.

    Args:
        decision: the decision.
        made: all decisions about the contact, in any order.
    """
    listed = list(made)
    for later in listed:
        is_undoing = decision.decision_id in later.changes.decision_ids
        if is_undoing and not undone_by(later, listed):
            return later
    return None


def resting_on(decision: Decision, made: Sequence[Decision]) -> list[Decision]:
    """The later decisions in force that depend on this one, newest first.

    A decision depends on another if it is about a fact that the other wrote or changed, or about a
    fact that such a decision wrote or changed. A revert of a later decision does not count: the two
    cancel each other.

    Args:
        decision: the decision to undo.
        made: all decisions about the contact, in any order.
    """
    decisions_after: list[Decision] = []
    touched = _changed_by(decision)
    order = {other.decision_id: order_of(other) for other in made}
    for other in sorted(made, key=order_of):
        since = min((order[each_id] for each_id in other.changes.decision_ids), default=None)
        is_later = order_of(other) > order_of(decision) and (
            since is None or since <= order_of(decision)
        )
        if is_later and touched & _used_by(other) and not undone_by(other, made):
            touched |= _changed_by(other)
            decisions_after.insert(0, other)
    return decisions_after


def reversal(
    undone: Sequence[Decision],
    facts: FactsById,
    links: Iterable[Supersession],
    conflicts: Iterable[Conflict],
    now: datetime,
) -> Reversal:
    """A contact's facts after these decisions are undone.

    Args:
        undone: the decisions to undo, newest first; no other decision in force depends on them.
        facts: the contact's facts by id.
        links: the supersessions.
        conflicts: the conflicts, also closed ones.
        now: the time now (UTC).

    Raises:
        InvalidRequestError: a decision changed no fact.
    """
    after, before_links = dict(facts), tuple(links)
    after_links = list(before_links)
    before_pairs = {conflict.pair: conflict for conflict in conflicts}
    after_pairs = dict(before_pairs)
    rested: dict[Resting, int] = {}
    for decision in undone:
        _check_can_be_undone(decision)
        after |= by_fact_id(facts_before(decision, after))
        after_links = links_before(decision, after_links)
        for tie, step in _rests_before(decision):
            rested[tie] = rested.get(tie, 0) + step
        after_pairs |= {conflict.pair: conflict for conflict in decision.changes.conflicts}
    after_pairs |= _passed_on(undone, after, after_pairs)
    pairs = [pair for pair, conflict in after_pairs.items() if conflict != before_pairs.get(pair)]
    stand = {fact_id: fact.as_of(now) for fact_id, fact in after.items()}
    changed = [fact_id for fact_id, fact in stand.items() if fact != facts[fact_id].as_of(now)]
    return Reversal(
        facts=tuple(stand[fact_id] for fact_id in changed),
        conflicts=tuple(after_pairs[pair] for pair in pairs),
        undo=Undo(
            before=tuple(facts[fact_id].standing for fact_id in changed),
            decision_ids=tuple(undone_decision.decision_id for undone_decision in undone),
            unlinked=tuple(link for link in before_links if link not in after_links),
            linked=tuple(link for link in after_links if link not in before_links),
            unrested=tuple(tie for tie, step in rested.items() if step < 0),
            rested=tuple(tie for tie, step in rested.items() if step > 0),
            conflicts=tuple(before_pairs[pair] for pair in pairs if pair in before_pairs),
        ),
    )


def _passed_on(
    undone: Iterable[Decision],
    facts: FactsById,
    conflicts: Mapping[tuple[str, str], Conflict],
) -> dict[tuple[str, str], Conflict]:
    """Conflicts of an undone fact, moved to the fact that lives again in its place.

    A conflict with a fact that says the same is left out, and so is a conflict that already exists.
    """
    beneath = {
        fact_written_by(undone_decision): undone_decision.superseded_ids
        for undone_decision in undone
    }
    passed: dict[tuple[str, str], Conflict] = {}
    for conflict in conflicts.values():
        later = facts[conflict.new_id]
        for heir_id in _heirs(conflict.old_id, beneath) if conflict.is_open else ():
            heir, moved = facts[heir_id], replace(conflict, old_id=heir_id)
            is_moot = heir.has_ended or later.has_ended or _says_same(later, heir)
            if not is_moot and conflicts.keys().isdisjoint((moved.pair, moved.pair[::-1])):
                passed[moved.pair] = moved
    return passed


def _heirs(fact_id: str, beneath: Mapping[str | None, Sequence[str]]) -> Iterable[str]:
    """The facts that hold again after the fact that replaced them is undone."""
    for ended_id in beneath.get(fact_id, ()):
        if ended_id in beneath:
            yield from _heirs(ended_id, beneath)
        else:
            yield ended_id


def _says_same(one: Fact, other: Fact) -> bool:
    if compare_slots(one.slot, other.slot) is SlotMatch.EQUAL:
        return True
    return canonical_text(one.text).casefold() == canonical_text(other.text).casefold()


def _check_can_be_undone(decision: Decision) -> None:
    if decision.action is not Action.MERGE and not _changed_by(decision):
        raise InvalidRequestError(
            f"decision {decision.decision_id} ({decision.action}) changed no fact, so there is "
            "nothing to revert"
        )


def facts_before(decision: Decision, facts: FactsById) -> Iterable[Fact]:
    """Facts that a decision wrote, ended or counted, as they were without it."""
    written_id = fact_written_by(decision)
    if written_id is not None and written_id in facts:
        written = facts[written_id]
        yield replace(written, state=FactState.REVOKED, is_void=True, valid_to=written.valid_from)
    for ended_id in facts.keys() & decision.superseded_ids:
        yield replace(facts[ended_id], state=FactState.LIVE, is_void=False, valid_to=None)
    for standing in decision.changes.before:
        known = facts.get(standing.fact_id)
        if known is not None and known.state is not FactState.ERASED:
            yield known.standing_as(standing)


def links_before(decision: Decision, links: Sequence[Supersession]) -> list[Supersession]:
    """Supersessions as they were without a decision."""
    # A fact is superseded by at most one other, so the ended fact names the link.
    ended = {*decision.superseded_ids, fact_written_by(decision)}
    undo = decision.changes
    kept = [link for link in links if link.old_id not in ended and link not in undo.linked]
    return kept + [link for link in undo.unlinked if link not in kept]


def _rests_before(decision: Decision) -> Iterable[tuple[Resting, int]]:
    """Evidence that is removed (-1) and restored (+1)."""
    undo = decision.changes
    if decision.action not in _COUNTING_NOTHING:
        counted_ids = {decision.fact_id, decision.verdict.above}
        for fact in (fact for fact in undo.before if fact.fact_id in counted_ids):
            yield Resting(fact_id=fact.fact_id, decision_id=decision.decision_id), -1
    yield from ((tie, 1) for tie in undo.unrested)
    yield from ((tie, -1) for tie in undo.rested)


def _changed_by(decision: Decision) -> set[str]:
    before = {fact.fact_id for fact in decision.changes.before}
    linked = {fact_id for conflict in decision.changes.conflicts for fact_id in conflict.pair}
    written_id = fact_written_by(decision)
    return before.union(decision.superseded_ids, linked, [written_id] if written_id else [])


def _used_by(decision: Decision) -> set[str]:
    if decision.action is Action.MERGE:  # the facts that it made one; it only names the others
        return {each for link in decision.changes.linked for each in (link.new_id, link.old_id)}
    named = {decision.fact_id, decision.verdict.above} - {None}
    return _changed_by(decision) | {fact_id for fact_id in named if fact_id}


def touched_by(decision: Decision) -> set[str]:
    """Facts that a decision wrote, changed, counted or linked."""
    return _used_by(decision).union(decision.conflicting_ids)


def order_of(decision: Decision) -> tuple[int, datetime, str]:
    """Order in which a contact's decisions were made."""
    return decision.version, decision.at, decision.decision_id
