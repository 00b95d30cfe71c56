"""Decides a recorded decision again with one thing changed. Pure.

Here: which changes to the record would have led elsewhere. Nothing is reckoned; each changed
record is put to the rule by ``replay``. Never here: words, which are ``explanation``'s.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from itertools import islice
from typing import Any

from reconciler.domain.records.decisions import Comparison, Decision, Verdict
from reconciler.domain.records.kinds import Action, DecidedBy, Relation, SourceKind
from reconciler.domain.records.slots import CONTACT_SUBJECT, Slot, SlotMatch, compare_slots
from reconciler.domain.review.replay import Replayed, policy_of, replay
from reconciler.frozen import frozen

WHAT_IF_COUNT_MAX = 5
"""Changes that are told; more than a handful explain nothing."""

_NEAREST_COUNT = 5
"""Facts that are compared where there are so many; less similar ones may have gone unseen."""

_UNHEARD = "\0"
"""An invented name or value: no text may hold it."""

_ONE_AT_A_TIME = Slot(
    subject=CONTACT_SUBJECT, attribute=_UNHEARD, value="", value_key="", is_single_valued=True
)

_RELATION_OF_ACTION = {
    Action.SKIP: Relation.SAME,
    Action.UPDATE: Relation.REPLACES,
    Action.ADD: Relation.COEXISTS,
}


class Change(StrEnum):
    """The changes to a decision, the most telling first.

    The note holds from as late as the newer fact; is as trusted as the most trusted fact that it
    met; meets no guard, or one where there was none; is so similar that another threshold holds;
    has no slot; has the fact's question for its own, with another answer. At last an arbiter that
    had its say calls it the same, a replacement, or a thing beside.
    """

    LATER = "later"
    TRUST = "trust"
    GUARD = "guard"
    COSINE = "cosine"
    UNFILED = "unfiled"
    FILED = "filed"
    SAME = "same"
    REPLACES = "replaces"
    COEXISTS = "coexists"


@frozen
class WhatIf:
    """One thing changed about a decision.

    Attributes:
        fact: the fact that the change is about, as it was.
        record: the decision's record with that change; its outcome is still the old one.
        bound: with ``COSINE``, the threshold that it was moved to, or just below.
        asked: with ``FILED``, what both answer; None for an attribute of one value at a time,
            where neither was filed.
    """

    change: Change
    fact: Comparison
    record: Decision
    bound: float = math.nan
    asked: Slot | None = None

    @property
    def replayed(self) -> Replayed:
        """The decision with that change."""
        return _decide_again(self.record)

    @property
    def is_open(self) -> bool:
        """Whether an arbiter would have had its say, which may have been another."""
        is_answer = self.change in (Change.SAME, Change.REPLACES, Change.COEXISTS)
        return not is_answer and _decide_unaided(self.record).can_be_arbitrated


@frozen
class Reopened:
    """A decision, decided again as it was.

    Attributes:
        unaided: the verdict without the arbiter's answer.
        nearest: the most similar fact that the note could take the place of, if any.
        focus: the fact that it was decided on; None where there is none, or none on record.
        more_trusted: what it met, replaced or not, that rests on a more trusted word.
        is_reproduced: whether today's rule arrives at the decision. Where it does not, the rule
            or the record has changed since, and nothing may be concluded from deciding again.
    """

    decision: Decision
    unaided: Verdict
    nearest: Comparison | None
    focus: Comparison | None
    more_trusted: tuple[Comparison, ...]
    is_reproduced: bool


def reopen(decision: Decision) -> Reopened:
    """The decision, with what deciding it again shows."""
    close, met = _close(decision), _met(decision)
    yields_to = decision.note.trust.is_trusted_less_than
    return Reopened(
        decision=decision,
        unaided=_decide_unaided(decision),
        nearest=next(iter(close), None),
        focus=focus_of(decision),
        more_trusted=tuple(fact for fact in met if fact and yields_to(fact.trust)),
        is_reproduced=_is_reproduced(decision),
    )


def focus_of(decision: Decision) -> Comparison | None:
    """The fact that it was decided on; None where there is none, or none on record."""
    facts = _met(decision) or (*_close(decision), *decision.compared_with)
    return next(iter(facts), None)


def _met(decision: Decision) -> list[Comparison | None]:
    """What it replaced, repeated or contradicts; None for a fact that is no longer on record."""
    by_id = {fact.fact_id: fact for fact in decision.compared_with}
    return [
        by_id.get(fact_id) for fact_id in (*decision.verdict.targets, *decision.conflicting_ids)
    ]


def _close(decision: Decision) -> list[Comparison]:
    """The facts that the note could take the place of, the most similar one first."""
    slot, apart = decision.note.slot, SlotMatch.APART
    return [fact for fact in decision.compared_with if compare_slots(slot, fact.slot) is not apart]


def what_ifs(reopened: Reopened) -> list[WhatIf]:
    """The single changes that would have led elsewhere, in the order of ``Change``; at most five.

    Elsewhere: other facts that are superseded, repeated, contradicted or above the note. Empty
    where nothing that was tried leads there, and where the decision is not reproduced.
    """
    if not reopened.is_reproduced or reopened.focus is None:
        return []
    return list(islice(_elsewhere(_trials(reopened, reopened.focus)), WHAT_IF_COUNT_MAX))


def _is_reproduced(decision: Decision) -> bool:
    replayed = _decide_again(_completed(decision))
    ranks = [fact.rank for fact in decision.compared_with]
    is_complete = ranks == list(range(1, len(ranks) + 1))
    return is_complete and replayed.is_same and replayed.verdict.decided_by is decision.decided_by


def _completed(decision: Decision) -> Decision:
    """The first schema version kept what came of an arbiter's answer, and not the answer."""
    if decision.decided_by is not DecidedBy.ARBITER or decision.opinion.relation is not None:
        return decision
    ranks = {fact.fact_id: fact.rank for fact in decision.compared_with}
    answered = replace(
        decision.opinion,
        relation=_RELATION_OF_ACTION[decision.action],
        action=decision.action,
        target=next((ranks.get(fact_id) for fact_id in decision.verdict.targets), None),
    )
    return replace(decision, opinion=answered)


def _decide_again(record: Decision) -> Replayed:
    return replay(record, policy_of(record))


def _decide_unaided(record: Decision) -> Verdict:
    return _decide_again(replace(record, opinion=replace(record.opinion, relation=None))).verdict


def _elsewhere(tried: Iterator[WhatIf]) -> Iterator[WhatIf]:
    return (what_if for what_if in tried if not what_if.replayed.is_same)


# The changes that are tried


def _trials(reopened: Reopened, focus: Comparison) -> Iterator[WhatIf]:
    record = _completed(reopened.decision)
    if record.is_history:
        later = _with_note(record, valid_from=focus.valid_from)
        yield WhatIf(change=Change.LATER, fact=focus, record=later)
    if words := {fact.trust for fact in reopened.more_trusted}:
        word = next(source_kind for source_kind in SourceKind if source_kind in words)
        trusted = _with_note(record, source_kind=word)
        yield WhatIf(change=Change.TRUST, fact=focus, record=trusted)
    turned = replace(record.policy, guard=not record.policy.guard)
    yield WhatIf(change=Change.GUARD, fact=focus, record=replace(record, policy=turned))
    if reopened.nearest is not None:
        yield from islice(_elsewhere(_at_bounds(record, reopened.nearest)), 1)
    yield WhatIf(change=Change.UNFILED, fact=focus, record=_with_note(record, slot=None))
    yield from _filed(record, focus)
    yield from (_answered(record, focus, action) for action in _RELATION_OF_ACTION)


def _at_bounds(record: Decision, fact: Comparison) -> Iterator[WhatIf]:
    """The fact moved over each threshold, the nearest first; never beneath what went unseen."""
    fifth = record.compared_with[_NEAREST_COUNT - 1 : _NEAREST_COUNT]
    unseen_max = max((compared.cosine for compared in fifth), default=-math.inf)
    used = record.policy
    bounds = {used.cosine_add_max, used.cosine_cut, used.cosine_update_min}
    for bound in sorted(bounds, key=lambda one: abs(one - fact.cosine)):
        if bound > unseen_max:
            cosine = math.nextafter(bound, -math.inf) if fact.cosine >= bound else bound
            moved = _with_fact(record, replace(fact, cosine=cosine))
            yield WhatIf(change=Change.COSINE, fact=fact, record=moved, bound=bound)


def _filed(record: Decision, fact: Comparison) -> Iterator[WhatIf]:
    """Note and fact with different values of one attribute: the one that is known, if any is."""
    slots = (record.note.slot, fact.slot)
    asked = next(filter(_is_answer, slots), None)
    known = asked or _ONE_AT_A_TIME
    if all(map(_is_answer, slots)) or not known.is_single_valued:
        return
    another = replace(known, value=_UNHEARD, value_key=_UNHEARD)
    of_note, of_fact = (known, another) if _is_answer(record.note.slot) else (another, known)
    filed = _with_note(_with_fact(record, replace(fact, slot=of_fact)), slot=of_note)
    yield WhatIf(change=Change.FILED, fact=fact, record=filed, asked=asked)


def _is_answer(slot: Slot | None) -> bool:
    return slot is not None and slot.attribute is not None and slot.value_key is not None


def _answered(record: Decision, fact: Comparison, action: Action) -> WhatIf:
    relation = _RELATION_OF_ACTION[action]
    answered = replace(
        record.opinion,
        relation=relation,
        action=action,
        target=None if action is Action.ADD else fact.rank,
        error=None,
    )
    record = replace(record, opinion=answered)
    return WhatIf(change=Change(relation), fact=fact, record=record)


def _with_note(record: Decision, **changes: Any) -> Decision:
    """The record with another note."""
    return replace(record, note=replace(record.note, **changes))


def _with_fact(record: Decision, fact: Comparison) -> Decision:
    """The record with that fact as it is given, and every rank as it then is."""
    facts = (fact if other.rank == fact.rank else other for other in record.compared_with)
    ordered = sorted(facts, key=lambda other: -other.cosine)
    ranks = {other.rank: rank for rank, other in enumerate(ordered, start=1)}
    return replace(
        record,
        compared_with=tuple(replace(other, rank=ranks[other.rank]) for other in ordered),
        opinion=replace(record.opinion, target=ranks.get(record.opinion.target or 0)),
    )
