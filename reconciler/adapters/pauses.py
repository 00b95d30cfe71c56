"""Pauses: calls a method after a while without activity. Never here: what the method does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from weakref import WeakMethod


class Pauses:
    """Calls a method in its own thread, each time that activity is followed by a pause.

    Nothing is kept waiting for a pause: if the method's object is dropped or the program ends
    before, there is no call. The thread ends with the pause, so that a process without work has
    none.

    Args:
        do: the method; it must not raise.
    """

    def __init__(self, do: Callable[[], None]) -> None:
        self._do = WeakMethod(do, lambda _: self.stop())
        self._changed = threading.Condition()  # of a lock that a clean-up may take once more
        self._ends_at = 0.0
        self._is_awaited = self._is_stopped = False

    def stir(self, seconds: float) -> None:
        """Start or restart the wait for a pause of this length."""
        ends_at = time.monotonic() + seconds
        with self._changed:
            if ends_at < self._ends_at:
                self._changed.notify()
            self._ends_at = ends_at
            if self._is_awaited:
                return
            try:
                threading.Thread(target=self._wait, name="pause", daemon=True).start()
                self._is_awaited = True
            except RuntimeError:  # a program that ends starts no thread, and needs no pause
                return

    def stop(self) -> None:
        """Stop waiting for pauses; a running call continues."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify()

    def _wait(self) -> None:
        with self._changed:
            while not self._is_stopped and (left := self._ends_at - time.monotonic()) > 0:
                self._changed.wait(left)
            self._is_awaited = False
            do = None if self._is_stopped else self._do()
        if do:
            # No daemon: the interpreter's end would cut it off in the middle of a call.
            with suppress(RuntimeError):  # the program is at its end
                threading.Thread(target=do, name="pause").start()
