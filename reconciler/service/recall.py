"""Recall and history: everything that only reads. Never writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from reconciler.domain.recalling.history import chains
from reconciler.domain.recalling.ranking import rank, word_overlap
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Contact, Fact, FactHistory, RankedFact, RefusalCount
from reconciler.domain.records.policies import RankingPolicy
from reconciler.domain.records.scope import Scope, check_identifier
from reconciler.errors import UnknownFactError
from reconciler.ports.embedder import Embedder
from reconciler.service.embedding import embed
from reconciler.service.stores.memory_store import DecisionFilter, MemoryStore
from reconciler.service.writing.neighbourhoods import Neighbourhoods

__all__ = ["Recall"]

_ALL = DecisionFilter()


class Recall:
    """What is known about a contact, now and before.

    Args:
        store: where it is kept.
        neighbourhoods: what this process knows of the contacts that it was asked about.
        embedder: its ``dimension`` 0 makes recall compare words instead of vectors.
        policy: the ranking's weights.
        confidence_min: facts that the gate was less sure of are left out, 0 to 1.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self,
        *,
        store: MemoryStore,
        neighbourhoods: Neighbourhoods,
        embedder: Embedder,
        policy: RankingPolicy,
        confidence_min: float,
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._neighbourhoods = neighbourhoods
        self._embedder = embedder
        self._policy = policy
        self._confidence_min = confidence_min
        self._clock = clock

    def recall(self, scope: Scope, query: str, limit: int) -> list[RankedFact]:
        """Live facts in scope that are sure enough and have not expired, the best first.

        Without a query all of them, by recency.
        """
        if not query:
            found = self._live_facts(scope)
        elif self._embedder.dimension == 0:
            found = self._matching_facts(scope, query)
        else:
            found = self._near_facts(scope, query)
        now = self._clock()
        sure = [
            (fact, similarity)
            for fact, similarity in found
            if fact.confidence >= self._confidence_min and not fact.is_expired(now)
        ]
        return rank(sure, self._policy, now, limit)

    def history(self, scope: Scope, fact_id: str | None = None) -> list[FactHistory]:
        """The chains of a contact, or the one chain that a fact belongs to.

        Raises:
            UnknownFactError: no fact of that id is in scope.
        """
        if fact_id is not None:
            check_identifier("fact_id", fact_id, UnknownFactError)
        # Links before facts: a fact written in between is then a chain of its own, and no link
        # points at a fact that was not read.
        links = self._store.list_supersessions(scope)
        conflicts = self._store.list_conflicts(scope)
        found = chains(self._store.list_facts(scope), links, conflicts)
        if fact_id is None:
            return found
        for chain in found:
            if any(fact.fact_id == fact_id for fact in chain.facts):
                return [chain]
        raise UnknownFactError(f"contact {scope.contact_id} has no fact {fact_id}")

    def decisions(
        self, scopes: Iterable[Scope], limit: int, wanted: DecisionFilter = _ALL
    ) -> list[Decision]:
        """The newest decisions about some contacts that fit the filter."""
        return self._store.list_decisions(scopes, limit, wanted)

    def refusals(self, scopes: Iterable[Scope]) -> list[RefusalCount]:
        """How often the gate refused something, by contact and reason."""
        return self._store.count_refusals(scopes)

    def decision(self, scope: Scope, decision_id: str) -> Decision:
        """The decision of that id about the contact.

        Raises:
            UnknownDecisionError: there is none.
        """
        return self._store.get_decision(scope, decision_id)

    def contacts(self, tenant: str, agent_id: str) -> list[Contact]:
        """The contacts of an agent, by id."""
        return self._store.list_contacts(tenant, agent_id)

    def _live_facts(self, scope: Scope) -> list[tuple[Fact, float | None]]:
        facts = self._store.list_facts(scope)
        return [(fact, None) for fact in facts if fact.is_live]

    def _matching_facts(self, scope: Scope, query: str) -> list[tuple[Fact, float | None]]:
        facts = [fact for fact, _ in self._live_facts(scope)]
        overlaps = [(fact, word_overlap(query, fact.text)) for fact in facts]
        return [(fact, overlap) for fact, overlap in overlaps if overlap > 0]

    def _near_facts(self, scope: Scope, query: str) -> list[tuple[Fact, float | None]]:
        vector = embed(self._embedder, [query])[0]
        return list(self._neighbourhoods.at_present(scope).compared(vector))
