"""The patient graph: repeats a query while the engine is unavailable. All stores use it.

No layer above repeats a query, so one place bounds the time that a call waits for the engine. The
first run may have been written, and only its answer lost. Every query gives its own ids to what it
writes, so the second run changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from reconciler.domain.records.policies import RetryPolicy
from reconciler.errors import ReconcilerError
from reconciler.ports.graph import EngineDescription, Graph, Purged, Row
from reconciler.service.stores.retry import call_with_retries


class PatientGraph:
    """A graph that repeats ``run`` and ``begin``; all other calls are made once.

    Args:
        graph: the engine.
        retry_policy: how often and how long one query is tried.
        retried: errors of other kinds are raised at once. A commit leaves conflicts to the ledger,
            because its decision may be wrong once another writer came first.
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
        """The rows of one named query; with ``seconds_max`` it is tried only once.

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
        """Begin a read; the returned call waits for its rows, and repeats it as ``run`` does."""
        begun = self._graph.begin(name, parameters)

        def attempt(number: int) -> list[Row]:
            return begun() if number == 1 else self._graph.run(name, parameters)

        return lambda: call_with_retries(self._retry_policy, attempt, retried=self._retried)

    def schema_version(self) -> int:
        """See ``Graph.schema_version``."""
        return self._graph.schema_version()

    def migrate(self, embedding_dimension: int) -> int:
        """See ``Graph.migrate``."""
        return self._graph.migrate(embedding_dimension)

    def check_purge(self) -> None:
        """See ``Graph.check_purge``."""
        self._graph.check_purge()

    def expect_purge(self, key: str, texts: Iterable[str], *, instead_of: str = "") -> None:
        """See ``Graph.expect_purge``."""
        self._graph.expect_purge(key, texts, instead_of=instead_of)

    def purge(self, key: str = "") -> Purged:
        """See ``Graph.purge``."""
        return self._graph.purge(key)

    def describe(self) -> EngineDescription:
        """See ``Graph.describe``."""
        return self._graph.describe()

    def copy_store(self, target: Path) -> None:
        """See ``Graph.copy_store``."""
        self._graph.copy_store(target)

    def close(self) -> None:
        """See ``Graph.close``."""
        self._graph.close()
