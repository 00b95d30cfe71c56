"""Pauses: calls a function after a while without activity. Never here: what the function does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_LOOK_SECONDS = 1.0
"""The longest wait between two looks: meanwhile a shorter pause may be due, or the program end."""


class Pauses:
    """Calls a function in its own thread, each time that activity is followed by a pause.

    The thread ends with the call, so that a process without work has none. When the main thread
    ends first, there is no call.

    Args:
        do: the function; it must not raise.
    """

    def __init__(self, do: Callable[[], None]) -> None:
        self._do = do
        self._lock = threading.Lock()
        self._ends_at = 0.0
        self._is_awaited = False
        self._stopped = threading.Event()

    def stir(self, seconds: float) -> None:
        """Start or restart the wait for a pause of this length."""
        with self._lock:
            self._ends_at = time.monotonic() + seconds
            if self._is_awaited or self._stopped.is_set():
                return
            self._is_awaited = True
        # No daemon: the interpreter's end would cut it off in the middle of a call.
        threading.Thread(target=self._wait, name="pause").start()

    def stop(self) -> None:
        """Stop waiting for pauses; a running call continues."""
        self._stopped.set()

    def _wait(self) -> None:
        main, left = threading.main_thread(), 0.0
        while not self._stopped.wait(min(left, _LOOK_SECONDS)) and main.is_alive():
            with self._lock:
                left = self._ends_at - time.monotonic()
                if left > 0:
                    continue
                self._is_awaited = False
            self._do()
            return
