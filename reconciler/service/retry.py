"""The one loop that tries again: bounded, with jitter, only what says of itself it is retryable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception, wait_random_exponential

from reconciler.errors import GraphUnavailableError, ReconcilerError

__all__ = ["RetryPolicy", "call_with_retries"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How long to try again.

    Args:
        attempts_max: calls in all, where another writer keeps coming first. A writer loses at
            most once to each write of another, so it only runs out under that many of them.
        unavailable_seconds_max: how long to wait for an engine that is away.
    """

    attempts_max: int = 100
    unavailable_seconds_max: float = 6.0


def call_with_retries(policy: RetryPolicy, call: Callable[[int], T]) -> T:
    """What the call returns, made again while it fails with something retryable.

    Args:
        policy: the bounds.
        call: gets the attempt's number, from 1.

    Raises:
        ReconcilerError: the last attempt's error.
    """

    def is_over(state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        waited = state.seconds_since_start or 0.0
        is_late = (
            isinstance(error, GraphUnavailableError) and waited >= policy.unavailable_seconds_max
        )
        return is_late or state.attempt_number >= policy.attempts_max

    retrying = Retrying(
        retry=retry_if_exception(_is_retryable),
        stop=is_over,
        wait=wait_random_exponential(multiplier=0.01, max=0.5),
        reraise=True,
    )
    for attempt in retrying:
        with attempt:
            return call(attempt.retry_state.attempt_number)
    raise AssertionError("unreachable: tenacity returns or raises")


def _is_retryable(error: BaseException) -> bool:
    return isinstance(error, ReconcilerError) and error.retryable
