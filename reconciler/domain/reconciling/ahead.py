"""Ahead and past: notes about a later day or about the past, and known ends.

Pure. A plan is a fact that starts on a later day. It ends no fact before that day: the fact that it
will replace gets that day as its end.

Readers judge both by the clock, so that nothing is written on the day itself. The record of a
decision says which fact ends with which plan, and which end the fact has without the plan. So if a
plan is dropped, the facts that only this plan would end get their own end back. A note about
something that has ended is written, so that recall of the past finds it. Its fact is superseded
from the start and not merely expired: a later note or a yes could make an expired fact live.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from reconciler.domain.reconciling.limits import binds
from reconciler.domain.reconciling.restating import holds_value
from reconciler.domain.reconciling.reverting import order_of, undone_by
from reconciler.domain.reconciling.verdicts import denials_of, match_of
from reconciler.domain.records.decisions import Decision, PlannedEnd, Verdict
from reconciler.domain.records.facts import (
    Conflicts,
    Fact,
    Facts,
    FactsById,
    Neighbour,
    Neighbours,
    by_fact_id,
)
from reconciler.domain.records.kinds import Action, DecidedBy, FactState, SourceKind, later
from reconciler.domain.records.notes import Note, SlotMatch
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.frozen import Strings, frozen, grouped


def announced(verdict: Verdict, note: Note) -> tuple[Verdict, Neighbours]:
    """Decide a note for a later day, and name the facts that end only on that day.

    A plan for the same or a later day ends at once; a value planned for an earlier day holds until
    the note's. A note that repeats a present fact is counted.

    Args:
        verdict: what ``decide`` concluded, as if the day had come.
        note: the note.
    """
    first = verdict.target
    if first is not None and first.is_upcoming and verdict.action is Action.SKIP:
        return _settled_on_the_day(verdict)
    if verdict.action is not Action.UPDATE or first is None:
        return verdict, ()
    if verdict.is_restatement and not first.is_upcoming:
        reason = f"{verdict.reason}; it holds already"
        return replace(verdict, action=Action.SKIP, reason=reason, targets=(first,)), ()
    is_next = verdict.decided_by is DecidedBy.SLOT and not verdict.is_restatement
    least = note.holds_from if is_next else min(fact.valid_from for fact in verdict.targets)
    planned = tuple(
        fact for fact in verdict.targets if fact.is_upcoming and fact.valid_from >= least
    )
    until_then = tuple(fact for fact in verdict.targets if fact not in planned)
    reason = f"{verdict.reason}; from {note.holds_from:%Y-%m-%d} on"
    verdict, settled = _settled_on_the_day(_ending_only(planned, verdict, reason))
    return verdict, until_then + settled


def as_of_its_plan(
    note: Note,
    verdict: Verdict,
    policy: ReconcilePolicy,
    *,
    replaced_ids: Collection[str],
    amended_id: str | None,
) -> Note:
    """Return the note; if it has no day, with the day of the plan that it rewords or corrects.

    Args:
        note: the note.
        verdict: what ``decide`` concluded.
        policy: as in ``decide``.
        replaced_ids: the facts that the note replaces, as a model says.
        amended_id: the fact that a person corrects.
    """
    if note.valid_from is not None or verdict.action is not Action.UPDATE:
        return note
    days = [
        fact.valid_from
        for fact in verdict.targets
        if fact.is_upcoming
        and (
            fact.fact_id == amended_id
            or (fact.fact_id in replaced_ids and _says_again(note, fact, policy))
        )
    ]
    return replace(note, valid_from=max(days)) if days else note


def _says_again(note: Note, plan: Neighbour, policy: ReconcilePolicy) -> bool:
    match = match_of(note, plan)
    is_same = match is SlotMatch.EQUAL or (note.slot is None and holds_value(note.text, plan.slot))
    return is_same and not denials_of(note, plan, policy)


def of_today(
    verdict: Verdict, note: Note, policy: ReconcilePolicy, named_ids: Collection[str]
) -> tuple[Verdict, Neighbours]:
    """Decide a note of today, and name the facts that end only on a plan's day.

    Plans that the note does not mention stay. If it repeats a plan, it is counted, unless it gives
    an earlier start.

    Args:
        verdict: what ``decide`` concluded.
        note: what was said.
        policy: as in ``decide``.
        named_ids: facts that a model named.
    """
    first = verdict.target
    if first is None or verdict.is_history:
        return verdict, ()
    says_again = verdict.action is Action.SKIP or verdict.is_restatement
    if says_again and first.is_upcoming:
        if note.valid_from is not None:
            return verdict, ()
        reason = f"{verdict.reason}; it holds from {first.valid_from:%Y-%m-%d} on"
        return _settled_on_the_day(
            replace(verdict, action=Action.SKIP, reason=reason, targets=(first,), conflicts=())
        )
    if verdict.action is not Action.UPDATE:
        return verdict, ()
    ended = tuple(
        fact
        for fact in verdict.targets
        if not fact.is_upcoming or fact.fact_id in named_ids or denials_of(note, fact, policy)
    )
    if len(ended) == len(verdict.targets):
        return verdict, ()
    return _ending_only(ended, verdict, f"{verdict.reason}; the plan stays"), ()


def _settled_on_the_day(verdict: Verdict) -> tuple[Verdict, Neighbours]:
    """The verdict, and the facts in dispute with its plan, which hold until the plan's day."""
    until_then = tuple(fact for fact in verdict.settled if not fact.is_upcoming)
    settled = tuple(fact for fact in verdict.settled if fact.is_upcoming)
    return replace(verdict, settled=settled), until_then


def _ending_only(ended: Neighbours, verdict: Verdict, reason: str) -> Verdict:
    """Return the verdict with only these facts as targets; if there are none, an ADD."""
    verdict = replace(
        verdict,
        reason=reason,
        targets=ended,
        voided=tuple(fact for fact in verdict.voided if fact in ended),
    )
    return verdict if ended else replace(verdict, action=Action.ADD, is_restatement=False)


class Plans:
    """Facts that end on the day on which a plan begins, by the decisions in force.

    Args:
        made: the decisions about a contact; those that others undid do not count.
        facts: its facts by id.
    """

    def __init__(self, made: Iterable[Decision] = (), facts: FactsById | None = None) -> None:
        listed = sorted(made, key=order_of)
        self.facts = facts or {}
        self._ends: dict[str, dict[str, PlannedEnd]] = {}
        in_force = (one for one in listed if one.planned_ends and not undone_by(one, listed))
        for end in (end for decision in in_force for end in decision.planned_ends):
            ends = self._ends.setdefault(end.fact_id, {})
            if not end.is_released or end.plan_id not in ends:
                ends[end.plan_id] = end

    def of(self, fact: Fact, gone_ids: Collection[str] = ()) -> list[PlannedEnd]:
        """The plans in force that end a fact: they begin after the fact was last said."""
        return [
            end
            for end in self._ends.get(fact.fact_id, {}).values()
            if end.plan_id not in gone_ids
            and not end.is_released
            and end.day >= fact.last_confirmed_at
            and self._stands(end.plan_id)
        ]

    def ended_by(self, plan_ids: Collection[str]) -> list[Fact]:
        """The facts that these plans will end and that have not ended yet."""
        ids = (i for i, ends in self._ends.items() if not ends.keys().isdisjoint(plan_ids))
        facts = (self.facts[fact_id] for fact_id in ids if fact_id in self.facts)
        return [fact for fact in facts if not fact.has_ended]

    def end_of(self, fact: Fact, plan: Fact) -> PlannedEnd:
        """Record that a fact ends with a plan, and its own end without the plan."""
        own = self.own(fact)
        return PlannedEnd(
            fact_id=fact.fact_id,
            plan_id=plan.fact_id,
            day=max(plan.valid_from, fact.valid_from, fact.last_confirmed_at),
            valid_to=own.valid_to,
            expires_at=own.expires_at,
            last_confirmed_at=own.last_confirmed_at,
        )

    def standing(
        self, fact: Fact, gone_ids: Collection[str] = (), more: Iterable[PlannedEnd] = ()
    ) -> Fact:
        """Return the fact with its end: by the first plan that is left, else its own end.

        Args:
            fact: the fact as it is stored.
            gone_ids: plans that are dropped.
            more: further planned ends.
        """
        own, days = self.own(fact), [end.day for end in (*self.of(fact, gone_ids), *more)]
        if not days or (own.is_passing and own.is_expired(min(days))):
            return own
        return ending(own, min(days))

    def own(self, fact: Fact) -> Fact:
        """The fact without the end that a plan gave it."""
        for end in self._ends.get(fact.fact_id, {}).values():
            if end.day == fact.expires_at:
                own = replace(fact, valid_to=end.valid_to, expires_at=end.expires_at)
                return _said_since(own, end.last_confirmed_at)
        return fact

    def _stands(self, plan_id: str) -> bool:
        """True if the plan was not dropped before its day."""
        plan = self.facts.get(plan_id)
        if plan is None or not plan.has_ended:
            return plan is not None
        return plan.valid_to is not None and plan.valid_to > plan.valid_from


def _said_since(own: Fact, said_at: datetime | None) -> Fact:
    """Return the fact, with its lifetime renewed if it was said again after that time."""
    if said_at is None or own.expires_at is None or own.valid_to is not None:
        return own
    delay = max(own.last_confirmed_at - said_at, timedelta(0))
    return replace(own, expires_at=later(own.expires_at, delay))


@frozen
class Effects:
    """The effects of a decision on facts and disputes, before the planned ends.

    Attributes:
        ended: known facts that end at once, in their present state.
        voided: the ended facts that were never true.
        until_then: facts that end on the day of a plan, each with that plan.
        fact: the new fact.
        kept: a known fact in its new state, which replaces the ended facts if there is no new fact.
        counted: the facts that get one more observation, in their state before.
        moved: facts that only change their state, before and after.
        over_ids: ended facts that no other fact replaces.
        restated_id: the fact that the heir restates.
        stays_id: the fact that an answer keeps.
        against: the ids of live facts that may contradict what is kept.
        closed: the disputes that an answer closes, in their state before.
        closed_ids: the facts that it keeps side by side.
        drawn: the disputes that the decision opens between known facts.
    """

    ended: Facts = ()
    voided: Sequence[Fact | Neighbour] = ()
    until_then: Sequence[tuple[Fact, Fact]] = ()
    fact: Fact | None = None
    kept: Fact | None = None
    counted: Facts = ()
    moved: Sequence[tuple[Fact, Fact]] = ()
    over_ids: Collection[str] = ()
    restated_id: str | None = None
    stays_id: str | None = None
    against: Strings = ()
    closed: Conflicts = ()
    closed_ids: Strings = ()
    drawn: Conflicts = ()

    @property
    def is_heir_new(self) -> bool:
        """True if the new fact replaces the ended facts.

        Else the kept fact does, if there is one.
        """
        return self.fact is not None and not self.fact.has_ended

    def depends_on_plans(self, now: datetime) -> bool:
        """True if plans may matter: a fact with a known end, or a future fact, is concerned."""
        concerned = (*self.ended, *(fact for fact, _ in self.until_then))
        return any(fact.valid_to is not None or fact.is_upcoming(now) for fact in concerned)


NO_EFFECTS = Effects()


@frozen
class Ends:
    """A decision's consequences for the ends of facts on days to come.

    Attributes:
        planned: the facts that end with a plan because of the decision.
        moved: facts that go on with another end, before and after.
        heir: the fact that replaces the ended facts, with its own end; None if there is none.
    """

    planned: tuple[PlannedEnd, ...]
    moved: tuple[tuple[Fact, Fact], ...]
    heir: Fact | None


def ends_after(plans: Plans, now: datetime, effects: Effects) -> Ends:
    """The planned ends after a decision.

    A fact that replaces another fact ends with the plans for that fact. A fact that replaces a
    plan, as another plan or in other words, ends the facts of the old plan. If a plan is dropped,
    the other facts that it would have ended stay.

    Args:
        plans: the plans before.
        now: the time now (UTC).
        effects: what the decision does.
    """
    ended, until_then, over_ids = effects.ended, effects.until_then, effects.over_ids
    heir = effects.fact if effects.is_heir_new else effects.kept
    gone_ids = {fact.fact_id for fact in ended if fact.is_upcoming(now)}
    ended_ids = {fact.fact_id for fact in ended}
    freed = [fact for fact in plans.ended_by(gone_ids) if fact.fact_id not in ended_ids]
    planned = [plans.end_of(fact, plan) for fact, plan in until_then]
    if heir is not None and (effects.restated_id is not None or heir.is_upcoming(now)):
        taken_over = plans.ended_by(gone_ids.difference(over_ids))
        planned += [
            plans.end_of(fact, heir)
            for fact in taken_over
            if fact in freed and fact.fact_id != heir.fact_id
        ]
    if heir is not None and not heir.is_upcoming(now):
        replaced = (fact for fact in ended if fact.fact_id not in {*over_ids, *gone_ids})
        inherited = (end for fact in replaced for end in plans.of(fact, gone_ids))
        planned += [
            plans.end_of(heir, plans.facts[end.plan_id])
            for end in inherited
            if end.day > heir.valid_from
        ]
    ends = grouped((end.fact_id, end) for end in planned)
    stand = by_fact_id((*freed, *(fact for fact, _ in until_then)))
    if heir is not None and (heir.fact_id in stand or heir.fact_id in ends):
        stand.pop(heir.fact_id, None)
        heir = plans.standing(heir, gone_ids, ends.get(heir.fact_id, ()))
    pairs = (
        (fact, plans.standing(fact, gone_ids, ends.get(fact_id, ())))
        for fact_id, fact in stand.items()
    )
    return Ends(
        planned=tuple(dict.fromkeys(planned)),
        moved=tuple((old, new) for old, new in pairs if old != new),
        heir=heir,
    )


def as_past(verdict: Verdict, ended_at: datetime, known: Fact | None) -> Verdict:
    """Verdict about a note that no longer holds.

    If there is a newer fact, the note becomes the history of that fact. If the note repeats a known
    fact that was not said again after the note's end, it replaces that fact, which has ended too.
    In any other case it is new, and does not replace or contradict any fact.

    Args:
        verdict: what ``decide`` concluded, as if it still held.
        ended_at: until when it held (UTC).
        known: the fact that decided the verdict, if any.
    """
    ended = f"it held until {ended_at:%Y-%m-%d}"
    verdict = replace(verdict, can_be_arbitrated=False)
    if verdict.is_history:
        return replace(verdict, reason=f"{ended}; {verdict.reason}")
    says_again = verdict.action is Action.UPDATE and verdict.is_restatement
    if says_again and known is not None and known.last_confirmed_at <= ended_at:
        targets = verdict.targets[:1]
        reason = f"{ended}, and so did the fact that it repeats ({verdict.reason})"
        return replace(verdict, reason=reason, targets=targets, conflicts=())
    return replace(
        verdict,
        action=Action.ADD,
        decided_by=DecidedBy.ORDER,
        reason=f"{ended}, so it is kept as history ({verdict.reason})",
        targets=(),
        conflicts=(),
        is_restatement=False,
        voided=(),
    )


def over(fact: Fact, ended_at: datetime) -> Fact:
    """Return the fact as history from the start.

    Args:
        fact: the fact as it would be written if it still held.
        ended_at: until when it held (UTC).
    """
    return replace(fact, state=FactState.SUPERSEDED, valid_to=ended_at, expires_at=None)


def as_told_to_end(fact: Fact, holds_until: datetime, note: Note) -> Fact:
    """Return a fact that is said again with an end, with this newer end.

    A less trusted note changes no end. A standing fact gets an end only from the contact.

    Args:
        fact: the known fact.
        holds_until: its end, as the note says (UTC).
        note: the note.
    """
    may_end = note.trust is SourceKind.USER_EXPLICIT or not (
        binds(fact) or fact.is_confirmed_by_user or note.trust.is_trusted_less_than(fact.word)
    )
    return replace(fact, expires_at=holds_until) if may_end else fact


def ending(fact: Fact, holds_until: datetime) -> Fact:
    """The fact with a known end, which is also its lifetime.

    Args:
        fact: the fact without a known end.
        holds_until: the end (UTC).
    """
    return replace(fact, valid_to=holds_until, expires_at=holds_until)
