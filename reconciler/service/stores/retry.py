"""The only retry loop: bounded, with jitter, and only for errors that are ``retryable``."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    wait_random,
    wait_random_exponential,
)

from reconciler.domain.records.policies import RetryPolicy
from reconciler.errors import GraphConflictError, GraphUnavailableError, ReconcilerError

T = TypeVar("T")

_AFTER_CONFLICT = wait_random(0, 0.02)
"""As long as some commits. It does not grow: a writer that lost often would lose on."""

_WHILE_AWAY = wait_random_exponential(multiplier=0.01, max=0.5)


def call_with_retries(
    policy: RetryPolicy,
    call: Callable[[int], T],
    before_each: Callable[[], None] = lambda: None,
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
