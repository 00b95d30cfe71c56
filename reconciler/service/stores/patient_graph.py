"""The patient graph: repeats a query while the engine is unavailable. All stores use it.

No layer above repeats a query, so one place bounds the time that a call waits for the engine. The
first run may have been written, and only its answer was lost. Every query gives its own ids to what
it writes, so the second run changes nothing. This is the only retry loop: bounded, with jitter, and
only for errors that are ``retryable``.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from reconciler.domain.records.policies import RetryPolicy
from reconciler.errors import GraphUnavailableError, ReconcilerError
from reconciler.frozen import Values
from reconciler.ports.graph import Graph, Row

T = TypeVar("T")

_AFTER_CONFLICT_SECONDS_MAX = 0.02
"""The wait between tries: as long as some commits. It does not grow, because a writer that lost
often would then lose again."""

_WHILE_AWAY_SECONDS, _WHILE_AWAY_SECONDS_MAX = 0.01, 0.5
"""The longest first wait for an engine that is away, which doubles, and the longest of all."""


def call_with_retries(
    policy: RetryPolicy,
    call: Callable[[int], T],
    before_each: Callable[[], object] = lambda: None,
    retried: type[ReconcilerError] = ReconcilerError,
) -> T:
    """Make the call, repeat it while it fails with a retryable error, and return its result.

    Args:
        policy: the bounds.
        call: gets the attempt's number, from 1.
        before_each: waits before each attempt; this time does not count as an outage.
        retried: errors of other kinds are raised at once.

    Raises:
        ReconcilerError: the last attempt's error.
    """
    number, away_seconds, idle_seconds = 1, 0.0, 0.0
    while True:
        before_each()
        started = time.monotonic()
        try:
            return call(number)
        except retried as error:
            wait_max = _AFTER_CONFLICT_SECONDS_MAX
            if is_away := isinstance(error, GraphUnavailableError):
                wait_max = min(_WHILE_AWAY_SECONDS * 2 ** (number - 1), _WHILE_AWAY_SECONDS_MAX)
                away_seconds += time.monotonic() - started
            is_late = is_away and away_seconds + idle_seconds >= policy.unavailable_seconds_max
            if not error.retryable or is_late or number >= policy.attempts_max:
                raise
        wait = random.uniform(0, wait_max)  # noqa: S311  no secret
        time.sleep(wait)
        number, idle_seconds = number + 1, idle_seconds + wait


@dataclass(eq=False)
class PatientGraph:
    """A graph that repeats ``run`` and ``begin``; all other calls are made once.

    Attributes:
        graph: the engine.
        retry_policy: how often and how long one query is tried.
        retried: the errors that are retried; others are raised at once. A commit leaves conflicts
            to the ledger, because its decision may be wrong after another writer's commit.
    """

    graph: Graph
    retry_policy: RetryPolicy
    retried: type[ReconcilerError] = ReconcilerError

    def __getattr__(self, name: str) -> Any:
        return getattr(self.graph, name)

    def run(self, name: str, parameters: Values, seconds_max: float | None = None) -> list[Row]:
        """Return the rows of one named query; with ``seconds_max`` it is tried only once.

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

    def begin(self, name: str, parameters: Values) -> Callable[[], list[Row]]:
        """Begin a read; the returned call waits for its rows, and repeats it like ``run``."""
        begun = self.graph.begin(name, parameters)

        def attempt(number: int) -> list[Row]:
            return begun() if number == 1 else self.graph.run(name, parameters)

        return lambda: call_with_retries(self.retry_policy, attempt, retried=self.retried)


def patient(
    graph: Graph, retry_policy: RetryPolicy, retried: type[ReconcilerError] = ReconcilerError
) -> Graph:
    """Return a patient graph as a graph: a type checker does not see the passed-on calls."""
    return cast("Graph", PatientGraph(graph, retry_policy, retried))
