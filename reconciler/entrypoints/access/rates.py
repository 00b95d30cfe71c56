"""Rate limits for clients, kept only in this process and in bounded memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

from cachetools import LRUCache

_KEYS_MAX = 10_000
_SECONDS = 60.0
_ROUNDING_SECONDS = 1e-6


class Rates:
    """A rate per minute for each key, which is also its burst. Safe between threads.

    Kept is when all that a key has taken will be free again. If there are too many keys, the least
    recently used one is forgotten.

    Args:
        per_minute: how many each key may take in a minute.
        clock: seconds that only grow, for tests.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds_each = _SECONDS / per_minute
        self._clock = clock
        self._free_at: LRUCache[str, float] = LRUCache(_KEYS_MAX)
        self._lock = Lock()

    def wait_seconds(self, key: str) -> float:
        """Take one; returns the seconds until one is free, 0 if one was left."""
        with self._lock:
            now = self._clock()
            free_at = max(self._free_at.get(key, now), now) + self._seconds_each
            wait = free_at - now - _SECONDS
            if wait > _ROUNDING_SECONDS:
                return wait
            self._free_at[key] = free_at
            return 0.0
