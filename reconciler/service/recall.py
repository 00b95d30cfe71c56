"""Recall: the live facts that fit a query. Never writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING

from reconciler.domain.recalling.ranking import rank, word_overlap
from reconciler.service.embedding import embed
from reconciler.service.writing.open_conflicts import OpenConflicts

if TYPE_CHECKING:
    from reconciler.domain.records.facts import Fact, RankedFact
    from reconciler.domain.records.policies import RankingPolicy
    from reconciler.domain.records.scope import Scope
    from reconciler.ports.embedder import Embedder
    from reconciler.service.stores.memory_store import MemoryStore
    from reconciler.service.writing.neighbourhoods import Neighbourhoods

__all__ = ["Recall"]


_LOOKS_MAX = 3
"""How often a recall looks at a contact about which somebody writes, before it is content."""


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
        facts = self._live_facts(scope)
        found = _matching(facts, query) if query else [(fact, None) for fact in facts.values()]
        ranked = rank(found, self._policy, self._clock(), limit, self._confidence_min)
        pairs = [(each.new_id, each.old_id) for each in self._store.list_conflicts(scope)]
        conflicts = OpenConflicts(pairs)
        disputed = {each.fact.fact_id: conflicts.of(each.fact.fact_id) for each in ranked}
        return self._with_disputes(ranked, disputed, facts)

    def _live_facts(self, scope: Scope) -> dict[str, Fact]:
        now = self._clock()
        facts = (fact.as_of(now) for fact in self._store.list_facts(scope))
        return {fact.fact_id: fact for fact in facts if fact.is_live}

    def _near_facts(self, scope: Scope, query: str, limit: int) -> list[RankedFact]:
        """Ranked on what this process knows, then read; ranked again if the contact moved on.

        Whoever in this process moved it takes that over in a moment, so what is known is not
        dropped before it was looked at again.
        """
        vector, now = embed(self._embedder, [query])[0], self._clock()
        for look in range(_LOOKS_MAX):
            outline = self._neighbourhoods.outline(scope)
            version, ranks = outline.ranked(vector, self._policy, now, limit, self._confidence_min)
            disputed = outline.disputed(ranks)
            wanted = dict.fromkeys((*ranks, *chain.from_iterable(disputed.values())))
            found_version, facts = self._store.find_facts(scope, list(wanted))
            if found_version == version:
                break
            if look:
                self._neighbourhoods.expect(scope, found_version)
        known = {fact_id: fact.as_of(now) for fact_id, fact in facts.items()}
        live = {fact_id: fact for fact_id, fact in known.items() if fact.is_live}
        ranked = [rank.of(live[fact_id]) for fact_id, rank in ranks.items() if fact_id in live]
        return self._with_disputes(ranked, disputed, live)

    def _with_disputes(
        self,
        ranked: list[RankedFact],
        disputed: Mapping[str, Iterable[str]],
        facts: Mapping[str, Fact],
    ) -> list[RankedFact]:
        """The same, each with the other sides of its disputes, as far as those are recalled too."""
        told = {
            fact_id: tuple(facts[each] for each in others if self._is_told(facts.get(each)))
            for fact_id, others in disputed.items()
        }
        if not any(told.values()):
            return ranked
        return [replace(each, disputed_with=told.get(each.fact.fact_id, ())) for each in ranked]

    def _is_told(self, fact: Fact | None) -> bool:
        return fact is not None and fact.confidence >= self._confidence_min


def _matching(facts: Mapping[str, Fact], query: str) -> list[tuple[Fact, float | None]]:
    overlaps = [(fact, word_overlap(query, fact.text)) for fact in facts.values()]
    return [(fact, overlap) for fact, overlap in overlaps if overlap > 0]
