"""The patient graph: repeats a query while the engine is unavailable. All stores use it.

No layer above repeats a query, so one place bounds the time that a call waits for the engine. The
first run may have been written, and only its answer lost. Every query gives its own ids to what it
writes, so the second run changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from reconciler.domain.records.policies import RetryPolicy
from reconciler.errors import ReconcilerError
from reconciler.ports.graph import Graph, Row
from reconciler.service.stores.retry import call_with_retries


@dataclass(eq=False)
class PatientGraph:
    """A graph that repeats ``run`` and ``begin``; all other calls are made once.

    Attributes:
        graph: the engine.
        retry_policy: how often and how long one query is tried.
        retried: errors of other kinds are raised at once. A commit leaves conflicts to the ledger,
            because its decision may be wrong once another writer came first.
    """

    graph: Graph
    retry_policy: RetryPolicy
    retried: type[ReconcilerError] = ReconcilerError

    def __getattr__(self, name: str) -> Any:
        return getattr(self.graph, name)

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
            return self.graph.run(name, parameters, seconds_max)
        return call_with_retries(
            self.retry_policy,
            lambda _: self.graph.run(name, parameters),
            retried=self.retried,
        )

    def begin(self, name: str, parameters: Mapping[str, Any]) -> Callable[[], list[Row]]:
        """Begin a read; the returned call waits for its rows, and repeats it as ``run`` does."""
        begun = self.graph.begin(name, parameters)

        def attempt(number: int) -> list[Row]:
            return begun() if number == 1 else self.graph.run(name, parameters)

        return lambda: call_with_retries(self.retry_policy, attempt, retried=self.retried)


def patient(
    graph: Graph, retry_policy: RetryPolicy, retried: type[ReconcilerError] = ReconcilerError
) -> Graph:
    """A patient graph as the graph that it is: a type checker does not see what it passes on."""
    return cast("Graph", PatientGraph(graph, retry_policy, retried))
