"""Records: what is kept about contacts, as it lies in the stores. Only reads; needs no model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from reconciler.domain.recalling.history import chains, events_of
from reconciler.domain.records.facts import ExpiringFact, FactEvent
from reconciler.domain.records.kinds import OPERATOR_DOOR, Action
from reconciler.domain.records.scope import Scope, check_identifier
from reconciler.errors import UnknownFactError
from reconciler.service.stores.memory_store import DecisionFilter, MemoryStore

if TYPE_CHECKING:
    from reconciler.domain.recalling.current_values import SlotValue
    from reconciler.domain.recalling.instants import Known
    from reconciler.domain.records.candidates import Evidence
    from reconciler.domain.records.decisions import Decision
    from reconciler.domain.records.facts import (
        Conflict,
        Contact,
        Dispute,
        Fact,
        FactHistory,
        RefusalCount,
    )
    from reconciler.domain.values.attributes import AttributeBook

__all__ = ["Records"]

_EVENTS_MAX = 10_000
_ALL = DecisionFilter()


class Records:
    """What was decided and remembered, and what waits.

    Args:
        store: where facts and decisions are kept.
        clock: the time now, UTC-aware.
    """

    def __init__(self, *, store: MemoryStore, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    def history(
        self, scope: Scope, fact_id: str | None = None, at: datetime | None = None
    ) -> list[FactHistory]:
        """The chains of a contact, or the one chain that a fact belongs to; as of a time, or now.

        Raises:
            UnknownFactError: no fact of that id is in scope, or none was then.
        """
        if fact_id is not None:
            check_identifier("fact_id", fact_id, UnknownFactError)
        found = self._histories(scope) if at is None else self._histories_at(scope, at)
        if fact_id is None:
            return found
        for chain in found:
            if any(fact.fact_id == fact_id for fact in chain.facts):
                return [chain]
        then = "" if at is None else f" at {at.isoformat()}"
        raise UnknownFactError(f"contact {scope.contact_id} has no fact {fact_id}{then}")

    def held_at(self, scope: Scope, at: datetime) -> tuple[Known, list[Decision]]:
        """What was held about a contact at a time, and the decisions that had led to it."""
        from reconciler.domain.recalling.instants import Known, held_at, made_by

        # Links before facts, as below; decisions after both: one that came in between has changed
        # nothing that was read, and to take it back changes nothing.
        known = Known(
            links=tuple(self._store.list_supersessions(scope)),
            conflicts=tuple(self._store.list_conflict_links(scope)),
            facts=tuple(self._store.list_facts(scope)),
        )
        made = self._store.list_made(scope)
        return held_at(at, known, made), made_by(at, made)

    def _histories(self, scope: Scope) -> list[FactHistory]:
        # Links before facts: a fact written in between is then a chain of its own, and no link
        # points at a fact that was not read.
        now = self._clock()
        links = self._store.list_supersessions(scope)
        conflicts = self._store.list_conflicts(scope)
        facts = [fact.as_of(now) for fact in self._store.list_facts(scope)]
        return chains(facts, links, _between_live(facts, conflicts), self._events(scope))

    def _histories_at(self, scope: Scope, at: datetime) -> list[FactHistory]:
        known, made = self.held_at(scope, at)
        open_ = [conflict for conflict in known.conflicts if conflict.is_open]
        by_persons = [decision for decision in made if _is_persons(decision)]
        events = [event for decision in by_persons for event in events_of(decision)]
        return chains(known.facts, known.links, _between_live(known.facts, open_), events)

    def current_values(
        self, scope: Scope, confidence_min: float, attributes: AttributeBook
    ) -> list[SlotValue]:
        """What the contact's slots hold now, of what the gate was so sure of."""
        from reconciler.domain.recalling.current_values import current_values

        now = self._clock()
        pairs = self._store.list_conflicts(scope)
        facts = [fact.as_of(now) for fact in self._store.list_facts(scope)]
        told = {f.fact_id: f for f in facts if f.is_live and f.confidence >= confidence_min}
        open_pairs = [(conflict.new_id, conflict.old_id) for conflict in pairs]
        disputed = {one for pair in open_pairs if told.keys() >= set(pair) for one in pair}
        return current_values(told.values(), disputed, attributes)

    def _events(self, scope: Scope) -> list[FactEvent]:
        """What persons decided about the contact's facts or took back, the oldest first."""
        wanted = DecisionFilter(door=OPERATOR_DOOR)
        made = self._store.list_decisions([scope], _EVENTS_MAX, wanted)
        taken_back = self._store.list_revocations(scope)
        made += [decision for decision in taken_back if decision.door != OPERATOR_DOOR]
        made.sort(key=lambda decision: (decision.version, decision.at))
        return [event for decision in made for event in events_of(decision)]

    def expiring(self, scopes: Sequence[Scope], days: float) -> list[ExpiringFact]:
        """The live facts about these contacts that expire within so many days, the next first."""
        from reconciler.domain.gate.questions import revalidation

        now = self._clock()
        contacts = {scope.contact_key: scope.contact_id for scope in scopes}
        found = self._store.list_expiring(scopes, now, now + timedelta(days=days))
        return [
            ExpiringFact(
                contact_id=contacts[key], fact=fact.as_of(now), question=revalidation(fact.text)
            )
            for key, fact in found
        ]

    def decisions(
        self, scopes: Iterable[Scope], limit: int, wanted: DecisionFilter = _ALL
    ) -> list[Decision]:
        """The newest decisions about some contacts that fit the filter."""
        return self._store.list_decisions(scopes, limit, wanted)

    def disputes(self, scopes: Iterable[Scope]) -> list[Dispute]:
        """What is in dispute about these contacts, the newest of each first."""
        found: list[Dispute] = []
        for scope in scopes:
            if conflicts := self._store.list_conflicts(scope):
                # What compares texts is loaded only where there is something to compare.
                from reconciler.domain.reconciling.disputes import disputes_of

                ids = {fact_id for pair in conflicts for fact_id in (pair.new_id, pair.old_id)}
                _, facts = self._store.find_facts(scope, sorted(ids))
                found += disputes_of(scope, facts.values(), conflicts, self._clock())
        return found

    def refusals(self, scopes: Iterable[Scope]) -> list[RefusalCount]:
        """How often the gate refused something, by contact and reason."""
        return self._store.count_refusals(scopes)

    def decision(self, scope: Scope, decision_id: str) -> Decision:
        """The decision of that id about the contact.

        Raises:
            UnknownDecisionError: there is none.
        """
        return self._store.get_decision(scope, decision_id)

    def evidence(self, scope: Scope, decision_id: str) -> list[Evidence]:
        """The turns that a decision about the contact was made on, the oldest first."""
        return self._store.list_evidence(decision_id, scope)

    def contacts(self, tenant: str, agent_id: str) -> list[Contact]:
        """The contacts of an agent, by id."""
        return self._store.list_contacts(tenant, agent_id, self._clock())

    def pending(self, scopes: Sequence[Scope]) -> list[Decision | Dispute]:
        """What waits for an answer about these contacts: what is held, then what is in dispute.

        Each the newest first; not what lapsed, nor what later words have answered.
        """
        return [*self._held(scopes), *self.disputes(scopes)]

    def _held(self, scopes: Sequence[Scope]) -> list[Decision]:
        """What is held, but for what later words have answered."""
        held = self._store.list_pending(scopes, self._clock())
        if not held:
            return []
        from reconciler.domain.gate.questions import answer_since

        facts = {
            scope: self._store.list_facts(scope) for scope in {decision.scope for decision in held}
        }
        return [
            decision
            for decision in held
            if answer_since(decision.note, facts[decision.scope]) is None
        ]


def _is_persons(decision: Decision) -> bool:
    """Whether a person decided about what is known, or took back what was said."""
    return decision.door == OPERATOR_DOOR or decision.action is Action.REVOKE


def _between_live(facts: Iterable[Fact], conflicts: Iterable[Conflict]) -> list[Conflict]:
    """The conflicts of which both sides are live."""
    live = {fact.fact_id for fact in facts if fact.is_live}
    return [conflict for conflict in conflicts if {conflict.new_id, conflict.old_id} <= live]
