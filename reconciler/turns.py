"""Turns: callers get their turn in the order in which they come.

The locks and semaphores of ``threading`` let a new caller overtake the threads that wait: a thread
that releases a lock and asks again usually gets it, and under load a few threads get it for
seconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue

_LOOK_AGAIN_SECONDS = 1.0
"""A waiting caller looks again after this time, because an interrupt may have lost its signal."""


class Turns:
    """Lets ``count_max`` callers go on at once, the others in the order in which they came.

    An interrupt such as Ctrl-C may come between any two steps, and must not lose a turn. So there
    is only one queue, and no separate count: the first callers in the queue have a turn. To join
    and to leave the queue is one step each, of a dictionary, which keeps the order of its keys.

    Args:
        count_max: how many may have a turn at the same time, 1 or more.
    """

    def __init__(self, count_max: int = 1) -> None:
        self._count_max = count_max
        self._queue: dict[Ticket, None] = {}

    @contextmanager
    def turn(self) -> Iterator[Ticket]:
        """A turn that can be taken inside the block; it is released at the end of the block."""
        turn = Ticket(self)
        try:
            yield turn
        finally:
            self._queue.pop(turn, None)  # first, and no call of Python's: no interrupt comes before
            self._call_first()

    def _first(self) -> list[Ticket]:
        """The callers that have a turn."""
        return list(self._queue)[: self._count_max]

    def _call_first(self) -> None:
        for turn in self._first():
            if turn._calls.empty():
                turn._calls.put(None)


class Ticket:
    """A caller's place in the queue, and its turn when it is among the first."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._calls: SimpleQueue[None] = SimpleQueue()

    @property
    def is_taken(self) -> bool:
        """True if it is the caller's turn now."""
        return self in self._turns._first()

    def take(self, timeout_seconds: float, *, while_moving: bool = False) -> bool:
        """True if the caller has its turn now; a caller that already has it does not wait again.

        Args:
            timeout_seconds: how long to wait for it.
            while_moving: count the time again whenever a turn was given back, so that a caller only
                leaves a queue without progress.
        """
        self._turns._queue[self] = None
        has_moved = True
        while has_moved and not self.is_taken:
            before = self._turns._first()
            self._wait(timeout_seconds)
            has_moved = while_moving and self._turns._first() != before
        if not self.is_taken:
            self._turns._queue.pop(self, None)
            self._turns._call_first()
            return False
        return True

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not self.is_taken and (rest := deadline - time.monotonic()) > 0:
            with suppress(Empty):
                self._calls.get(timeout=min(rest, _LOOK_AGAIN_SECONDS))
