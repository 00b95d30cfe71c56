"""Rate limits for clients. In this process alone, and in bounded memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

from cachetools import LRUCache

__all__ = ["Rates"]

_KEYS_MAX = 10_000
_SECONDS = 60.0


class Rates:
    """A token bucket for each key: so many at once, and so many a minute. Safe between threads.

    If there are too many keys, the one that was used longest ago is forgotten.

    Args:
        per_minute: how many a minute, and how many at once.
        clock: seconds that only grow, for tests.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._left: LRUCache[str, tuple[float, float]] = LRUCache(_KEYS_MAX)
        self._lock = Lock()

    def wait_seconds(self, key: str) -> float:
        """Take one; the seconds until there is one, 0 if one was left."""
        with self._lock:
            now = self._clock()
            left, at = self._left.get(key, (float(self._per_minute), now))
            left = min(self._per_minute, left + (now - at) * self._per_minute / _SECONDS)
            has_one = left >= 1
            self._left[key] = (left - 1 if has_one else left, now)
            return 0.0 if has_one else (1 - left) * _SECONDS / self._per_minute
