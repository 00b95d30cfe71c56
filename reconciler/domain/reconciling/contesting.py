"""To and fro: a value that comes back, and a second contradiction. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from reconciler.domain.guard import denies_value, find_differences, find_unreadable
from reconciler.domain.reconciling.verdicts import Unread, all_read
from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.facts import Neighbour, Predecessor
from reconciler.domain.records.kinds import DecidedBy, SourceKind
from reconciler.domain.records.notes import Note, canonical_text
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.domain.records.slots import SlotMatch, compare_slots


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
