"""Disputes: facts that contradict each other, the question about them, and what settles them.

Pure. A dispute is a set of live facts joined by open conflicts; which side is right is never
guessed. It has no node of its own, so it ends when a side ends, and cannot disagree with the facts.
To and fro: a value that comes back, and a second contradiction, are marked as contested.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from reconciler.domain.guard import (
    denies_value,
    differ_only_in,
    find_changes,
    find_differences,
    find_unreadable,
    is_english,
)
from reconciler.domain.quoting import in_quotes, unmarked
from reconciler.domain.reconciling.neighbours import are_of_several_matters, match_of, neighbour_of
from reconciler.domain.reconciling.own_systems import yields
from reconciler.domain.reconciling.verdicts import Unread, all_read
from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.facts import Conflict, Dispute, Fact, Neighbour, Predecessor
from reconciler.domain.records.kinds import Action, Category, DecidedBy, SourceKind
from reconciler.domain.records.notes import Note, canonical_text
from reconciler.domain.records.places import newest_first
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.domain.records.scope import Scope
from reconciler.domain.records.slots import SlotMatch, compare_slots

WHOSE: Mapping[SourceKind, str] = {
    SourceKind.USER_EXPLICIT: "the user's own word",
    SourceKind.OPERATOR: "an operator's word",
    SourceKind.APPROVED_DOC: "an approved document",
    SourceKind.EXTRACTOR: "read out of a conversation",
    SourceKind.TOOL_OUTPUT: "a tool's output",
    SourceKind.MODEL_GUESS: "a model's guess",
}
"""The kind of source, in words for a person."""


_PLAIN = ReconcilePolicy()


def disputes_of(
    scope: Scope, facts: Iterable[Fact], conflicts: Iterable[Conflict], now: datetime
) -> list[Dispute]:
    """The open disputes, newest first; facts that are linked, also indirectly, are one question.

    Args:
        scope: the contact.
        facts: the contact's facts; ended and expired ones are in no dispute.
        conflicts: the open conflicts.
        now: the time now (UTC).
    """
    known = {fact.fact_id: fact for fact in facts if fact.as_of(now).is_live}
    open_ = [conflict for conflict in conflicts if conflict.ids <= known.keys()]
    sides: dict[str, frozenset[str]] = {}
    for conflict in open_:
        joined = frozenset().union(*(sides.get(i, {i}) for i in conflict.pair))
        sides |= dict.fromkeys(joined, joined)
    disputes = []
    for joined in set(sides.values()):
        between = [conflict for conflict in open_ if conflict.new_id in joined]
        disputes.append(_dispute(scope, [known[fact_id] for fact_id in joined], between))
    return sorted(disputes, key=lambda dispute: newest_first(*dispute.place))


def settle(
    verdict: Verdict,
    note: Note,
    disputed: Mapping[str, Sequence[Fact]],
    policy: ReconcilePolicy = _PLAIN,
) -> Verdict:
    """The verdict; if the note repeats one side of a dispute, the other side may end.

    It ends only by a plain note that is trusted no less than the other side, and later. And their
    slot, or texts that differ in nothing else, must still show that one side is wrong. A link that
    the guard drew in doubt waits for an answer: of three such links that any difference was allowed
    to settle in full memories, three were settled wrongly.

    Args:
        verdict: what ``decide`` concluded.
        note: the note.
        disputed: the other sides of each fact's disputes, by the fact's id.
        policy: it lists the attributes of systems.
    """
    known = verdict.target
    says_again = verdict.is_restatement or verdict.action is Action.SKIP
    if known is None or not says_again or verdict.is_history or note.is_hedged:
        return verdict
    ended_ids = {target.fact_id for target in verdict.targets}
    lost = [fact for fact in disputed.get(known.fact_id, ()) if fact.fact_id not in ended_ids]
    settled = tuple(
        neighbour_of(fact, 0.0) for fact in lost if _is_settled_by(note, known, fact, policy)
    )
    if not settled or are_of_several_matters(settled):
        return verdict
    kept_apart = tuple(conflict for conflict in verdict.conflicts if conflict not in settled)
    texts = ", ".join(f'"{fact.text}"' for fact in settled)
    reason = f"{verdict.reason}; that settles the dispute with {texts}"
    return replace(verdict, settled=settled, conflicts=kept_apart, reason=reason)


def _is_settled_by(note: Note, known: Neighbour, other: Fact, policy: ReconcilePolicy) -> bool:
    """Whether the note, which repeats a known fact, ends the other side of its dispute.

    Without a slot that both answer, the two sides may differ in nothing else, and the guard must be
    able to read both.
    """
    is_later = note.said_at > other.last_confirmed_at and note.holds_from >= other.valid_from
    if yields(note, other, policy) or not (note.is_undated or is_later):
        return False
    if match_of(note, other) is SlotMatch.CHANGED:
        return True
    if other.category is Category.DECISION and note.category is not Category.DECISION:
        return False
    if not (is_english(note.text) and is_english(other.text)):
        return False
    still = find_changes(note.text, other.text)
    return bool(still) and differ_only_in(
        find_differences(known.text, other.text), known.text, other.text
    )


def _whose(side: Fact) -> str:
    return f"the word of {side.system}" if side.system else WHOSE[side.word]


def _dispute(scope: Scope, facts: Iterable[Fact], conflicts: Sequence[Conflict]) -> Dispute:
    sides = tuple(sorted(facts, key=lambda fact: (fact.valid_from, fact.recorded_at, fact.fact_id)))
    *first, last = (
        f"{in_quotes(unmarked(' '.join(side.text.split())))} "
        f"({_whose(side)}, since {side.valid_from:%Y-%m-%d})"
        for side in sides
    )
    return Dispute(
        scope=scope,
        facts=sides,
        question=f"Which one holds: {', '.join(first)} or {last}?",
        reasons=tuple(dict.fromkeys(conflict.reason for conflict in conflicts)),
        opened_at=max(conflict.at for conflict in conflicts),
    )


def contest(
    verdict: Verdict,
    note: Note,
    predecessors: Iterable[Predecessor],
    policy: ReconcilePolicy,
    unread: Unread = all_read,
) -> Verdict:
    """The verdict, marked as contested if the value goes back and forth.

    It does if the note returns to a superseded value (A, B, A), or is the second contradiction
    within the policy's window. The note is written in either case. These do not count: an end or a
    denial, which names no value; a value that was said again; a value that only the denial of
    another followed; and a value that was never live. A replacement that the contact's agent states
    is a correction, however soon it comes.

    Args:
        verdict: what ``decide`` concluded.
        note: the note.
        predecessors: the facts beneath the verdict's targets, in any order.
        policy: the window, and the least cosine at which two texts say the same.
        unread: as ``decide`` takes it.
    """
    value = (note.slot and note.slot.value) or ""
    if not verdict.is_replacement or denies_value(note.text, value):
        return verdict
    earlier = [
        each for each in predecessors if each.was_live and not _has_stayed(each, verdict.targets)
    ]
    if any(_says_again(note, predecessor, policy, unread) for predecessor in earlier):
        return _contested(verdict, "what was superseded before is said again")
    flips = [predecessor for predecessor in earlier if predecessor.was_contradicted]
    is_correction = verdict.decided_by is DecidedBy.AGENT and note.trust is SourceKind.USER_EXPLICIT
    is_known = verdict.decided_by is not DecidedBy.MIDPOINT and not is_correction
    if is_known and any(
        note.holds_from - flip.followed_from <= policy.contested_window for flip in flips
    ):
        days = policy.contested_window / timedelta(days=1)
        return _contested(verdict, f"the second contradiction within {days:g} days")
    return verdict


def _has_stayed(earlier: Predecessor, targets: Iterable[Neighbour]) -> bool:
    """Whether a value never ended: a live fact has it too, or only denies another value."""
    for fact in targets:
        match, value = compare_slots(earlier.slot, fact.slot), (fact.slot and fact.slot.value) or ""
        is_denial = bool(value) and denies_value(fact.text, value)
        if match is (SlotMatch.CHANGED if is_denial else SlotMatch.EQUAL):
            return True
    return False


def _says_again(note: Note, earlier: Predecessor, policy: ReconcilePolicy, unread: Unread) -> bool:
    match = compare_slots(note.slot, earlier.slot)
    if match is not SlotMatch.UNKNOWN:
        return match is SlotMatch.EQUAL
    if canonical_text(note.text).casefold() == canonical_text(earlier.text).casefold():
        return True
    return earlier.cosine >= policy.cosine_update_min and not (
        find_differences(note.text, earlier.text)
        or find_unreadable(note.text, earlier.text, unread)
    )


def _contested(verdict: Verdict, why: str) -> Verdict:
    return replace(verdict, is_contested=True, reason=f"{verdict.reason}; contested: {why}")
