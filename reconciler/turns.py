"""Turns: who comes first goes first. What is waited for is not known here.

The locks and semaphores of ``threading`` let a newcomer overtake those who wait: whoever gives one
back and asks again usually gets it, and under load a few threads win for seconds on end.
"""

from __future__ import annotations

import threading
from collections import deque

__all__ = ["Turns"]


class Turns:
    """Lets ``count_max`` callers go on at once, the others in the order in which they came.

    Args:
        count_max: how many may have a turn at the same time, 1 or more.
    """

    def __init__(self, count_max: int = 1) -> None:
        self._lock = threading.Lock()
        self._free_count = count_max
        self._given_back_count = 0
        self._waiting: deque[threading.Event] = deque()

    def take(self, timeout_seconds: float, *, while_moving: bool = False) -> bool:
        """Whether the caller has a turn now; who has one must give it back.

        Args:
            timeout_seconds: how long to wait for one.
            while_moving: count the time anew whenever a turn was given back, so that only a queue
                that stands still is left.
        """
        with self._lock:
            if self._free_count:
                self._free_count -= 1
                return True
            called = threading.Event()
            self._waiting.append(called)
        try:
            has_moved = True
            while has_moved and not called.is_set():
                before = self._given_back_count
                called.wait(timeout_seconds)
                has_moved = while_moving and self._given_back_count != before
            return not self._left(called)
        except BaseException:
            if not self._left(called):
                self.give_back()
            raise

    def give_back(self) -> None:
        """Let the next one in the queue go on."""
        with self._lock:
            self._given_back_count += 1
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free_count += 1

    def _left(self, called: threading.Event) -> bool:
        """Leave the queue; False for one whose turn it is by now."""
        with self._lock:
            if called.is_set():
                return False
            self._waiting.remove(called)
            return True
