"""Ahead: what is said of a day to come, and what stays the value until then. Pure.

A fact that holds from a later day on ends nothing before that day: what it is to replace gets that
day as its end. Readers judge both by the clock, so that nothing is written on the day itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime

from reconciler.domain.reconciling.verdicts import denials_of
from reconciler.domain.records.decisions import Action, Verdict
from reconciler.domain.records.facts import Fact, Neighbour
from reconciler.domain.records.notes import Note
from reconciler.domain.records.policies import ReconcilePolicy

__all__ = ["announced", "is_planned_by", "of_today", "own_end", "planned_end"]


def announced(verdict: Verdict, note: Note) -> tuple[Verdict, tuple[Neighbour, ...]]:
    """The verdict about a note of a later day, and the facts that it ends on that day only.

    An earlier plan ends at once. What holds already is counted.

    Args:
        verdict: what ``decide`` concluded, as if the day had come.
        note: what was said.
    """
    first = verdict.target
    if verdict.action is not Action.UPDATE or first is None:
        return verdict, ()
    if verdict.is_restatement and not first.is_upcoming:
        reason = f"{verdict.reason}; it holds already"
        return replace(verdict, action=Action.SKIP, reason=reason, targets=(first,)), ()
    planned = tuple(fact for fact in verdict.targets if fact.is_upcoming)
    until_then = tuple(fact for fact in verdict.targets if not fact.is_upcoming)
    reason = f"{verdict.reason}; from {note.holds_from:%Y-%m-%d} on"
    return _ending_only(planned, verdict, reason), until_then


def of_today(
    verdict: Verdict, note: Note, policy: ReconcilePolicy, named_ids: Collection[str]
) -> Verdict:
    """The verdict about a note of today, which leaves plans alone that it does not speak of.

    What it says again of a plan is counted, unless it says that it holds since an earlier day.

    Args:
        verdict: what ``decide`` concluded.
        note: what was said.
        policy: as in ``decide``.
        named_ids: facts that a model named.
    """
    first = verdict.target
    if first is None or verdict.is_history:
        return verdict
    says_again = verdict.action is Action.SKIP or verdict.is_restatement
    if says_again and first.is_upcoming:
        if note.valid_from is not None:
            return verdict
        reason = f"{verdict.reason}; it holds from {first.valid_from:%Y-%m-%d} on"
        return replace(verdict, action=Action.SKIP, reason=reason, targets=(first,), conflicts=())
    if verdict.action is not Action.UPDATE:
        return verdict
    ended = tuple(
        fact
        for fact in verdict.targets
        if not fact.is_upcoming or fact.fact_id in named_ids or denials_of(note, fact, policy)
    )
    if len(ended) == len(verdict.targets):
        return verdict
    return _ending_only(ended, verdict, f"{verdict.reason}; what is planned stays")


def _ending_only(ended: tuple[Neighbour, ...], verdict: Verdict, reason: str) -> Verdict:
    """The UPDATE of these facts; an ADD where there is none."""
    verdict = replace(
        verdict,
        reason=reason,
        targets=ended,
        voided=tuple(fact for fact in verdict.voided if fact in ended),
    )
    return verdict if ended else replace(verdict, action=Action.ADD, is_restatement=False)


def is_planned_by(fact: Fact, plan: Fact) -> bool:
    """Whether the fact ends on the day on which the plan begins."""
    return fact.valid_to == plan.valid_from and not fact.has_ended


def own_end(fact: Fact, lifetime_ends: datetime | None) -> Fact:
    """The fact without the end that a plan gave it.

    Args:
        fact: as it stands.
        lifetime_ends: when its lifetime is over; None for never.
    """
    return replace(fact, valid_to=None, expires_at=lifetime_ends)


def planned_end(ended: Iterable[Fact], plans: Collection[Fact]) -> datetime | None:
    """When what takes the place of these facts ends, where one of these plans says so."""
    ends = (plan.valid_from for fact in ended for plan in plans if is_planned_by(fact, plan))
    return next(ends, None)
