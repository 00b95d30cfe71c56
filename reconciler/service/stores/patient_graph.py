"""The patient graph: runs a query again while the engine is unavailable. The stores stand above it.

So no layer above tries again, and one place bounds the time that a call waits for the engine. A
repeated query may have been written the first time and only its answer lost. Every query names what
it writes, so the second run changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from reconciler.domain.records.policies import RetryPolicy
from reconciler.errors import ReconcilerError
from reconciler.ports.graph import EngineDescription, Graph, Purged, Row
from reconciler.service.stores.retry import call_with_retries

__all__ = ["PatientGraph"]


class PatientGraph:
    """A graph with a ``run`` that is tried again; everything else is passed on as it is.

    Args:
        graph: what answers, or is unavailable.
        retry_policy: how often and how long one query is tried.
        retried: errors of other kinds are raised at once. Of a commit, another writer's coming
            first is for the ledger to know: what was decided may be wrong by then.
    """

    def __init__(
        self,
        graph: Graph,
        retry_policy: RetryPolicy,
        retried: type[ReconcilerError] = ReconcilerError,
    ) -> None:
        self._graph = graph
        self._retry_policy = retry_policy
        self._retried = retried

    @property
    def engine(self) -> str:
        """The dialect folder of its queries."""
        return self._graph.engine

    def run(
        self, name: str, parameters: Mapping[str, Any], seconds_max: float | None = None
    ) -> list[Row]:
        """The rows of one named query; if its time is bounded, it is tried once.

        Raises:
            GraphUnavailableError: the engine stayed unavailable. Whether the last try was written
                is unknown then.
            GraphConflictError: another writer came first.
        """
        if seconds_max is not None:
            return self._graph.run(name, parameters, seconds_max)
        return call_with_retries(
            self._retry_policy,
            lambda _: self._graph.run(name, parameters),
            retried=self._retried,
        )

    def begin(self, name: str, parameters: Mapping[str, Any]) -> Callable[[], list[Row]]:
        """Begin a read; it is tried again as by ``run`` when its rows are waited for."""
        begun = self._graph.begin(name, parameters)

        def attempt(number: int) -> list[Row]:
            return begun() if number == 1 else self._graph.run(name, parameters)

        return lambda: call_with_retries(self._retry_policy, attempt, retried=self._retried)

    def schema_version(self) -> int:
        """The version of the schema in the store; asked once."""
        return self._graph.schema_version()

    def migrate(self, embedding_dimension: int) -> int:
        """Bring the schema to the newest version, which is returned; tried once."""
        return self._graph.migrate(embedding_dimension)

    def check_purge(self) -> None:
        """Let a purge be prepared, if there will be room for it; asked once."""
        self._graph.check_purge()

    def expect_purge(self, key: str, texts: Iterable[str], *, instead_of: str = "") -> None:
        """Have the engine keep what it is to search its files for; asked once."""
        self._graph.expect_purge(key, texts, instead_of=instead_of)

    def purge(self, key: str = "") -> Purged:
        """Have the engine let go of removed bytes; asked once."""
        return self._graph.purge(key)

    def describe(self) -> EngineDescription:
        """Engine, version and location, without any secret in it."""
        return self._graph.describe()

    def copy_store(self, target: Path) -> None:
        """Write a copy of all that is kept into a new file; tried once."""
        self._graph.copy_store(target)

    def close(self) -> None:
        """Give connections and locks back; harmless when called again."""
        self._graph.close()
