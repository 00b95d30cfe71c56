"""Recall: the live facts that fit a query. Never writes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from reconciler.domain.recalling.ranking import rank, word_overlap
from reconciler.service.embedding import embed

if TYPE_CHECKING:
    from reconciler.domain.records.facts import Fact, RankedFact
    from reconciler.domain.records.policies import RankingPolicy
    from reconciler.domain.records.scope import Scope
    from reconciler.ports.embedder import Embedder
    from reconciler.service.stores.memory_store import MemoryStore
    from reconciler.service.writing.neighbourhoods import Neighbourhoods

__all__ = ["Recall"]


class Recall:
    """What is known about a contact now.

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
        if query and self._embedder.dimension:
            return self._near_facts(scope, query, limit)
        found = self._matching_facts(scope, query) if query else self._live_facts(scope)
        return rank(found, self._policy, self._clock(), limit, self._confidence_min)

    def _live_facts(self, scope: Scope) -> list[tuple[Fact, float | None]]:
        now = self._clock()
        facts = (fact.as_of(now) for fact in self._store.list_facts(scope))
        return [(fact, None) for fact in facts if fact.is_live]

    def _matching_facts(self, scope: Scope, query: str) -> list[tuple[Fact, float | None]]:
        facts = [fact for fact, _ in self._live_facts(scope)]
        overlaps = [(fact, word_overlap(query, fact.text)) for fact in facts]
        return [(fact, overlap) for fact, overlap in overlaps if overlap > 0]

    def _near_facts(self, scope: Scope, query: str, limit: int) -> list[RankedFact]:
        """Ranked on what this process knows, then read; ranked again if the contact moved on."""
        vector, now = embed(self._embedder, [query])[0], self._clock()
        for is_last in (False, True):
            version, ranks = self._neighbourhoods.outline(scope).ranked(
                vector, self._policy, now, limit, self._confidence_min
            )
            found_version, facts = self._store.find_facts(scope, list(ranks))
            if found_version == version or is_last:
                break
            self._neighbourhoods.expect(scope, found_version)
        known = {fact_id: fact.as_of(now) for fact_id, fact in facts.items()}
        live = {fact_id for fact_id, fact in known.items() if fact.is_live}
        return [rank.of(known[fact_id]) for fact_id, rank in ranks.items() if fact_id in live]
