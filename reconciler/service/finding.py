"""Finding: what is known by name, and across all contacts of an agent. Never writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from reconciler.domain.recalling.mentions import (
    found_in,
    longest_word,
    mentioning,
    names_in,
    needles,
)
from reconciler.domain.recalling.ranking import cosines_to
from reconciler.domain.records.facts import FoundFact
from reconciler.errors import InvalidRequestError
from reconciler.service.embedding import embed, embed_queries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from reconciler.domain.recalling.filtering import RecallFilter
    from reconciler.domain.records.facts import Fact
    from reconciler.domain.records.policies import RecallFloor
    from reconciler.domain.records.scope import Scope
    from reconciler.ports.embedder import Embedder
    from reconciler.service.stores.memory_store import MemoryStore, Near

__all__ = ["FactFinder"]

_PAGE_ROWS = 500
_OVERFETCH = 4
"""Facts that are fetched for each one wanted, at first: some have ended, or fit no filter."""

_INDEXED_MAX = 4_000
"""Facts that the index is asked for at most; then the agent's own are looked at one by one."""

_NAME_WEIGHT = 0.3
"""What a fact that mentions all that a question names is nearer for it, as a cosine."""

_NAMED_MAX = 50
"""Facts that are looked at for a name, those said last: a model reads each."""

_COMPARED_COUNT = 10
"""The floor is that among so many facts: an agent's store is not read for one question."""


@dataclass(frozen=True)
class _Search:
    """A search: near a vector, so many, of the facts that fit."""

    scope: Scope
    vector: NDArray[np.float32]
    limit: int
    wanted: RecallFilter


class FactFinder:
    """Finds what is known about a named person or thing, also across contacts.

    Args:
        store: where facts are kept.
        embedder: without one nothing is near anything.
        floor: how near a fact must be to be found; None lets every fact through.
        confidence_min: facts that the gate was less sure of are left out, 0 to 1.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self,
        *,
        store: MemoryStore,
        embedder: Embedder,
        confidence_min: float,
        hides_expired: bool,
        clock: Callable[[], datetime],
        floor: RecallFloor | None = None,
    ) -> None:
        self._floor = floor
        self._store = store
        self._embedder = embedder
        self._confidence_min = confidence_min
        self._hides_expired = hides_expired
        self._clock = clock

    def about(self, scope: Scope, name: str, limit: int, *, all_contacts: bool) -> list[FoundFact]:
        """The live facts that mention a name: whom they are about first, the one said last first.

        Args:
            scope: the contact, or with ``all_contacts`` any of the agent's.
            name: as a user would write it.
            limit: at most this many.
            all_contacts: whether those of the agent's other contacts are found too.

        Raises:
            InvalidRequestError: the name holds no letter or digit.
        """
        if all_contacts:
            facts = self._mentioning(scope, longest_word(name))
        else:
            facts = ((scope.contact_id, fact) for fact in self._store.list_facts(scope))
        hits = mentioning(self._recallable(facts), name, lambda pair: pair[1])
        return [
            FoundFact(contact_id=contact_id, fact=fact, found_in=place)
            for (contact_id, fact), place in hits[:limit]
        ]

    def nearest(
        self, scope: Scope, query: str, limit: int, wanted: RecallFilter
    ) -> list[FoundFact]:
        """The live facts of all contacts of the agent that are nearest to a query, nearest first.

        A fact that mentions what the query names counts as nearer. What is not near is left out.

        Args:
            scope: any contact of the agent.
            query: what is asked.
            limit: at most this many; as many as there are, if that are fewer.
            wanted: which facts are asked for; its ``min_score`` is a raw cosine.

        Raises:
            InvalidRequestError: there is no embedder.
        """
        if not self._embedder.dimension:
            raise InvalidRequestError(
                "this memory has no model to compare texts with; give it one with `reconciler "
                "reembed --model minilm`, or look for a name with `reconciler about` (recall_about)"
            )
        asked = _Search(scope, embed_queries(self._embedder, [query])[0], limit, wanted)
        # The index looks at all agents' facts, and an agent may have few among very many.
        hits = self._growing(self._store.find_nearest, asked, _INDEXED_MAX)
        if len(hits) < limit:
            hits = self._growing(self._store.list_nearest, asked, None)
        names = names_in(query)
        named = self._named(asked, names, {hit.fact.fact_id for hit in hits})
        wanted_names = list(map(needles, names))
        nearness = {hit.fact.fact_id: _nearness(hit, wanted_names) for hit in (*hits, *named)}
        ordered = sorted((*hits, *named), key=lambda hit: -nearness[hit.fact.fact_id])
        least = self._least(wanted)
        return [hit for hit in ordered if nearness[hit.fact.fact_id] >= least][:limit]

    def _least(self, wanted: RecallFilter) -> float:
        if self._floor is None or wanted.min_score is not None:
            return -1.0
        return self._floor.of(_COMPARED_COUNT)

    def _named(self, asked: _Search, names: Sequence[str], known: set[str]) -> list[FoundFact]:
        """Facts that mention what the query names and are not found yet, with their cosines."""
        told: dict[str, tuple[str, Fact]] = {}
        for name in names:
            page = self._store.list_mentions(asked.scope, longest_word(name), 0, _NAMED_MAX)
            for (contact_id, fact), _ in mentioning(
                self._recallable(page), name, lambda pair: pair[1]
            ):
                if asked.wanted.fits(fact) and fact.fact_id not in known:
                    told[fact.fact_id] = (contact_id, fact)
        if not told:
            return []
        vectors = embed(self._embedder, [fact.text for _, fact in told.values()])
        cosines = cosines_to(vectors, asked.vector).tolist()
        least = -1.0 if asked.wanted.min_score is None else asked.wanted.min_score
        return [
            FoundFact(contact_id=contact_id, fact=fact, similarity=cosine)
            for (contact_id, fact), cosine in zip(told.values(), cosines, strict=True)
            if cosine >= least
        ]

    def _growing(
        self, look: Callable[..., list[Near]], asked: _Search, rows_max: int | None
    ) -> list[FoundFact]:
        """The best that a look finds, which is made wider until enough pass, or no more come."""
        rows = asked.limit * _OVERFETCH
        while True:
            near = look(asked.scope, self._embedder.model_id, asked.vector, rows)
            hits = self._passing(asked, near)
            is_all = len(near) < rows if rows_max is None else rows * _OVERFETCH > rows_max
            if len(hits) == asked.limit or is_all:
                return hits
            rows *= _OVERFETCH

    def _passing(self, asked: _Search, near: list[Near]) -> list[FoundFact]:
        now = self._clock()
        found_facts = self._store.find_agents_facts(
            asked.scope, [near_fact.fact_id for near_fact in near]
        )
        facts = {fact_id: fact.as_of(now) for fact_id, fact in found_facts.items()}
        least = -1.0 if asked.wanted.min_score is None else asked.wanted.min_score
        passing = (
            FoundFact(contact_id=near_fact.contact_id, fact=fact, similarity=near_fact.cosine)
            for near_fact in near
            if (fact := facts.get(near_fact.fact_id)) and self._is_told(fact)
            if asked.wanted.fits(fact) and near_fact.cosine >= least
        )
        return list(islice(passing, asked.limit))

    def _mentioning(self, scope: Scope, word: str) -> Iterator[tuple[str, Fact]]:
        """Page by page, so that no agent's whole memory is held at a time."""
        offset = 0
        while page := self._store.list_mentions(scope, word, offset, _PAGE_ROWS):
            yield from page
            offset += len(page)

    def _recallable(self, facts: Iterable[tuple[str, Fact]]) -> Iterator[tuple[str, Fact]]:
        now = self._clock()
        as_now = ((contact_id, fact.as_of(now)) for contact_id, fact in facts)
        return ((contact_id, fact) for contact_id, fact in as_now if self._is_told(fact))

    def _is_told(self, fact: Fact) -> bool:
        is_sure = fact.confidence >= self._confidence_min
        return is_sure and fact.is_told(hides_expired=self._hides_expired)


def _nearness(hit: FoundFact, names: Sequence[tuple[str, ...]]) -> float:
    """The cosine, and more for what is named."""
    mentioned = sum(found_in(hit.fact, name) is not None for name in names)
    return (hit.similarity or 0.0) + _NAME_WEIGHT * mentioned / max(len(names), 1)
