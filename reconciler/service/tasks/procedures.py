"""Procedures of an agent: read over all of its contacts, what fits a task first. Only reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from reconciler.domain.recalling.procedures import (
    SUBJECT,
    Procedure,
    by_fit,
    may_be_offered,
    procedures_of,
)
from reconciler.domain.records.scope import Scope
from reconciler.frozen import frozen
from reconciler.ports.embedder import Embedder
from reconciler.service.embedding import embed, embed_queries
from reconciler.service.stores.fact_store import FactStore


@frozen
class Procedures:
    """An agent's procedures that operators approved, from all contacts.

    Attributes:
        store: where facts are kept.
        embedder: compares what a procedure is for with a goal; its ``dimension`` 0 leaves it to
            the words.
        clock: the time now, UTC-aware.
    """

    store: FactStore
    embedder: Embedder
    clock: Callable[[], datetime]

    def fitting(self, scope: Scope, goal: str) -> list[Procedure]:
        """The agent's procedures that fit the goal, what fits best first, then by name.

        What was learned with another contact, and says anything about that one, is left out.

        Args:
            scope: the agent, and for whom it works.
            goal: what is to be achieved.

        Raises:
            EmbeddingError: the model failed.
        """
        filed = self.store.list_filed_facts(scope, SUBJECT)
        offered = [
            filed_fact.fact for filed_fact in filed if may_be_offered(filed_fact, scope.contact_id)
        ]
        procedures = procedures_of(offered, self.clock())
        return by_fit(procedures, goal, self._cosines(procedures, goal))

    def _cosines(self, procedures: Sequence[Procedure], goal: str) -> list[float]:
        if not procedures or not self.embedder.dimension:
            return [0.0] * len(procedures)
        [asked] = embed_queries(self.embedder, [goal])
        vectors = embed(self.embedder, [procedure.purpose for procedure in procedures])
        return [float(asked @ vector) for vector in vectors]
