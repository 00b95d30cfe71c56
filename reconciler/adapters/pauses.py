"""Pauses: calls a function after a while without activity. Never here: what the function does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Pauses:
    """Calls a function in its own thread, each time that activity is followed by a pause.

    The thread ends with the call, so that a process without work has none.

    Args:
        do: the function; it must not raise.
        seconds: the length of a pause.
    """

    def __init__(self, do: Callable[[], None], seconds: float) -> None:
        self._do = do
        self._seconds = seconds
        self._lock = threading.Lock()
        self._stirred_at = 0.0
        self._is_awaited = False
        self._stopped = threading.Event()

    def stir(self) -> None:
        """Start or restart the wait for a pause."""
        with self._lock:
            self._stirred_at = time.monotonic()
            if self._is_awaited or self._stopped.is_set():
                return
            self._is_awaited = True
        # No daemon: the interpreter's end would cut it off in the middle of a call.
        threading.Thread(target=self._wait, name="pause").start()

    def stop(self) -> None:
        """Stop waiting for pauses; a running call continues."""
        self._stopped.set()

    def _wait(self) -> None:
        while not self._stopped.wait(self._left()):
            with self._lock:
                if self._left() > 0:
                    continue
                self._is_awaited = False
            self._do()
            return

    def _left(self) -> float:
        return max(self._stirred_at + self._seconds - time.monotonic(), 0.0)
