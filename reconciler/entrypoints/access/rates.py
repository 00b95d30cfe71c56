"""Rate limits for clients, kept only in this process and in bounded memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

from cachetools import LRUCache

__all__ = ["Rates"]

_KEYS_MAX = 10_000
_SECONDS = 60.0


class Rates:
    """A token bucket for each key, with a burst and a rate per minute. Safe between threads.

    If there are too many keys, the least recently used one is forgotten.

    Args:
        per_minute: the rate per minute, which is also the burst.
        clock: seconds that only grow, for tests.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._left: LRUCache[str, tuple[float, float]] = LRUCache(_KEYS_MAX)
        self._lock = Lock()

    def wait_seconds(self, key: str) -> float:
        """Take one; returns the seconds until one is free, 0 if one was left."""
        with self._lock:
            now = self._clock()
            left, at = self._left.get(key, (float(self._per_minute), now))
            left = min(self._per_minute, left + (now - at) * self._per_minute / _SECONDS)
            has_one = left >= 1
            self._left[key] = (left - 1 if has_one else left, now)
            return 0.0 if has_one else (1 - left) * _SECONDS / self._per_minute
