"""The patient graph: repeats a query while the engine is unavailable. All stores use it.

No layer above repeats a query, so one place bounds the time that a call waits for the engine. The
first run may have been written, and only its answer was lost. Every query gives its own ids to what
it writes, so the second run changes nothing. This is the only retry loop: bounded, with jitter, and
only for errors that are ``retryable``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    wait_random,
    wait_random_exponential,
)

from reconciler.domain.records.policies import RetryPolicy
from reconciler.errors import GraphConflictError, GraphUnavailableError, ReconcilerError
from reconciler.ports.graph import Graph, Row

T = TypeVar("T")

_AFTER_CONFLICT = wait_random(0, 0.02)
"""The wait between tries: as long as some commits. It does not grow, because a writer that lost
often would then lose again."""

_WHILE_AWAY = wait_random_exponential(multiplier=0.01, max=0.5)


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
    away_seconds = 0.0

    def once(number: int) -> T:
        nonlocal away_seconds
        before_each()
        started = time.monotonic()
        try:
            return call(number)
        except GraphUnavailableError:
            away_seconds += time.monotonic() - started
            raise

    def is_over(state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        is_late = away_seconds + state.idle_for >= policy.unavailable_seconds_max
        is_away = isinstance(error, GraphUnavailableError)
        return (is_away and is_late) or state.attempt_number >= policy.attempts_max

    def is_retried(error: BaseException) -> bool:
        return isinstance(error, retried) and error.retryable

    retrying = Retrying(
        retry=retry_if_exception(is_retried), stop=is_over, wait=_wait, reraise=True
    )
    for attempt in retrying:
        with attempt:
            return once(attempt.retry_state.attempt_number)
    raise AssertionError("unreachable: tenacity returns or raises")


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return (_AFTER_CONFLICT if isinstance(error, GraphConflictError) else _WHILE_AWAY)(state)


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

    def run(
        self, name: str, parameters: Mapping[str, Any], seconds_max: float | None = None
    ) -> list[Row]:
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

    def begin(self, name: str, parameters: Mapping[str, Any]) -> Callable[[], list[Row]]:
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
