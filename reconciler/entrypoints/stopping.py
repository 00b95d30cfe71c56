"""Stopping: a command that runs until SIGTERM or Ctrl-C, and ends at its own moment."""

from __future__ import annotations

import queue
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopSignals:
    """Waits for a signal to stop, or for another thread to end the wait.

    A simple queue, because a handler interrupts its own thread, which may hold an event's lock.

    Attributes:
        number: the signal that came; None so far.
    """

    def __init__(self) -> None:
        self._woken: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.number: int | None = None

    def take(self, number: int, _: object) -> None:
        """Handle a signal; a second one ends the process at once."""
        self.number = number
        for signal_number in _SIGNALS:
            signal.signal(signal_number, signal.SIG_DFL)
        self.wake()

    def wake(self) -> None:
        """End the wait; may be called from any thread."""
        self._woken.put(None)

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait for the time-out or until it is woken; true if a signal came."""
        if self.number is None:
            with suppress(queue.Empty):
                self._woken.get(timeout=timeout_seconds)
        return self.number is not None


@contextmanager
def stop_signals() -> Iterator[StopSignals]:
    """Signals to stop are kept instead of ending the process, while the block runs."""
    asked = StopSignals()
    before = {number: signal.signal(number, asked.take) for number in _SIGNALS}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
