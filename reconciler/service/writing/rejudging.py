"""Rejudging: asks the arbiter later about decisions that were made without it.

A decision that needed a judge and had none (budget, outage, an unusable answer) was made by the
rule alone, and says so. The judge's later answer is a decision of its own, which relates the facts.
If the judge would have kept a fact that the decision ended, the answer says so, and a person
reverts it. It is not reverted here: undoing and writing again are two steps, and a note could be
lost between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from reconciler.domain.reconciling.rule import shown_to_judge
from reconciler.domain.records.decisions import Decision, Judgement
from reconciler.domain.records.facts import RELATED_MAX, Neighbour, Relations
from reconciler.domain.records.kinds import Action, DecidedBy, Relation
from reconciler.domain.records.notes import Scope
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.errors import InvalidRequestError
from reconciler.floats import Floats
from reconciler.frozen import frozen
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.writing.arbitration import Arbitration
from reconciler.service.writing.ids import DecisionIds
from reconciler.service.writing.neighbourhoods import Neighbourhood, Neighbourhoods
from reconciler.service.writing.relating import Relating

_SAYS_SAME = (Relation.SAME, Relation.REFINES)
_PAUSE, _PAUSE_MAX = timedelta(minutes=10), timedelta(days=1)


class Upheld(StrEnum):
    """The result of a decision that was judged later."""

    UPHELD = "upheld"
    """The judge would have decided the same."""

    AMENDED = "amended"
    """It would not, and the facts are as it says now."""

    DOUBTED = "doubted"
    """It would have kept what the decision ended, which a person may ``revert``."""

    UNJUDGED = "unjudged"
    """It still does not answer, or its answer cannot be carried out; ``why`` says more."""


@frozen
class Rejudged:
    """A decision that was judged later.

    Attributes:
        decision: as it was made.
        became: the result.
        amendment: the decision that amends it, or records that it was upheld; None if unjudged.
        why: the judge's words, or the reason for which it gave no answer.
    """

    decision: Decision
    became: Upheld
    amendment: Decision | None = None
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "decision_id": self.decision.decision_id,
            "text": self.decision.text,
            "became": str(self.became),
            "amendment": self.amendment.to_dict() if self.amendment else None,
            "why": self.why,
        }


@frozen
class Rejudging:
    """Asks the arbiter about decisions that it did not answer, within its budget.

    Args:
        decision_store: the store of decisions.
        neighbourhoods: the facts that a note is compared with, and their vectors.
        relating: relates known facts on the judge's word.
        arbitration: asks the arbiter.
        decision_ids: makes the ids of the judge's later decisions.
        policy: the rule's thresholds.
        clock: the time now, UTC-aware.
    """

    decision_store: DecisionStore
    neighbourhoods: Neighbourhoods
    relating: Relating
    arbitration: Arbitration
    decision_ids: DecisionIds
    policy: ReconcilePolicy
    clock: Callable[[], datetime]

    def run(self, scopes: Iterable[Scope], *, is_patient: bool = True) -> Iterator[Rejudged]:
        """Result of each unjudged decision about these contacts, the newest first.

        A fact that a newer one ends needs no question of its own.

        Args:
            scopes: the contacts.
            is_patient: wait for the arbiter's budget; else decisions beyond it stay unjudged.
        """
        for scope in scopes:
            made = [
                one
                for one in self.decision_store.iter_decisions(scope)
                if one.opinion.is_missing and one.fact_id is not None
                if one.action in (Action.ADD, Action.UPDATE)
            ]
            known = self.decision_store.find_decided(self._id_of(one) for one in made)
            for decision in made:
                if self._id_of(decision) in known:
                    continue
                facts = self.neighbourhoods.current(scope)  # each time: a judgement may end facts
                vector = facts.vector_of(decision.fact_id or "")
                if vector is not None:
                    yield self._rejudged(decision, facts, vector, is_patient)

    def _id_of(self, decision: Decision) -> str:
        return self.decision_ids.of_key(decision.scope, _key_of(decision))

    def _rejudged(
        self,
        decision: Decision,
        facts: Neighbourhood,
        vector: Floats,
        is_patient: bool,
    ) -> Rejudged:
        is_ending = decision.action is Action.UPDATE
        shown = self._ended(decision) if is_ending else self._beside(decision, facts, vector)
        if not shown:
            return Rejudged(decision=decision, became=Upheld.UNJUDGED, why="nothing is near it")
        note = decision.note
        asked = note.no_earlier_than(fact.valid_from for fact in shown)
        opinion = self.arbitration.ask(asked, shown, is_patient=is_patient)
        if opinion.judgement is None:
            return Rejudged(decision=decision, became=Upheld.UNJUDGED, why=opinion.error or "")
        if opinion.judgement.relation is Relation.UNSURE:
            return self._kept(decision, opinion.judgement, Upheld.UPHELD, "the judge is unsure")
        is_apart = opinion.judgement.action is Action.ADD
        if is_ending:
            became = Upheld.DOUBTED if is_apart else Upheld.UPHELD
            return self._kept(decision, opinion.judgement, became)
        if is_apart and not decision.conflicting_ids:
            return self._kept(decision, opinion.judgement, Upheld.UPHELD)
        try:
            return self._related(decision, opinion.judgement, shown)
        except InvalidRequestError as error:  # the rules forbid it, so it is not asked again
            return self._kept(decision, opinion.judgement, Upheld.UPHELD, str(error))

    def _ended(self, decision: Decision) -> Sequence[Neighbour]:
        """Facts that the decision ended, as they were then."""
        return [one for one in decision.compared_with if one.fact_id in decision.superseded_ids]

    def _beside(
        self, decision: Decision, facts: Neighbourhood, vector: Floats
    ) -> Sequence[Neighbour]:
        """Facts that the judge would be shown today, without the fact itself."""
        _, near, _ = facts.look(decision.note, vector, self.clock(), is_wide=True)
        others = [fact for fact in near if fact.fact_id != decision.fact_id]
        return shown_to_judge(decision.note, others, self.policy)

    def _related(
        self, decision: Decision, judgement: Judgement, shown: Sequence[Neighbour]
    ) -> Rejudged:
        """Relate the facts as the judge says."""
        relations = _relations(decision, judgement, shown)
        made = self.relating.relate(
            decision.scope,
            decision.fact_id or "",
            relations,
            decided_by=DecidedBy.ARBITER,
            reason=_reason(decision, judgement),
            proposed_by=self.arbitration.name,
            idempotency_key=_key_of(decision),
        )
        return _amended(decision, judgement, made)

    def _kept(
        self, decision: Decision, judgement: Judgement, became: Upheld, why: str | None = None
    ) -> Rejudged:
        """Change nothing, but record the judgement, so that the judge is asked only once."""
        made = self.relating.uphold(
            decision.scope,
            reason=_reason(decision, judgement),
            proposed_by=self.arbitration.name,
            idempotency_key=_key_of(decision),
        )
        rejudged = replace(_amended(decision, judgement, made), became=became)
        return rejudged if why is None else replace(rejudged, why=why)


class IdleRejudging:
    """Rejudging while a worker has nothing else to do: one contact at a time, never waiting.

    After all contacts it pauses, for ten minutes at first. The pause doubles, up to a day, as long
    as nothing can be judged. So an arbiter that is unreachable or answers nonsense costs little.

    Args:
        rejudging: asks the arbiter.
        scopes: all contacts of the store; read again for each pass.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self,
        rejudging: Rejudging,
        scopes: Callable[[], Iterator[Scope]],
        clock: Callable[[], datetime],
    ) -> None:
        self._rejudging = rejudging
        self._scopes = scopes
        self._clock = clock
        self._left = scopes()
        self._is_judged = False
        self._pause = _PAUSE
        self._due_at: datetime | None = None

    def step(self) -> None:
        """Judge the unjudged decisions about the next contact, or do nothing during a pause."""
        if self._due_at is not None:
            if self._clock() < self._due_at:
                return
            self._left, self._due_at, self._is_judged = self._scopes(), None, False
        if (scope := next(self._left, None)) is None:
            self._pause = _PAUSE if self._is_judged else min(2 * self._pause, _PAUSE_MAX)
            self._due_at = self._clock() + self._pause
            return
        for rejudged in self._rejudging.run([scope], is_patient=False):
            self._is_judged |= rejudged.became is not Upheld.UNJUDGED


def _amended(decision: Decision, judgement: Judgement, amendment: Decision) -> Rejudged:
    why = f"the judge calls it {judgement.relation}"
    return Rejudged(decision=decision, became=Upheld.AMENDED, amendment=amendment, why=why)


def _key_of(decision: Decision) -> str:
    return f"rejudged/{decision.decision_id}"


def _relations(decision: Decision, judgement: Judgement, shown: Sequence[Neighbour]) -> Relations:
    """Judge's relations, by the facts' ids."""
    if judgement.target is None:
        return Relations(both_hold=decision.conflicting_ids)
    numbers = dict.fromkeys((judgement.target, *judgement.also))
    named = tuple(shown[number - 1].fact_id for number in numbers)[:RELATED_MAX]
    if judgement.relation in _SAYS_SAME:
        return Relations(repeats=named[0])
    return Relations(replaces=named)


def _reason(decision: Decision, judgement: Judgement) -> str:
    said = f": {judgement.reasoning}" if judgement.reasoning else ""
    return f"Judged later, {judgement.relation} instead of {decision.decided_by}{said}"
