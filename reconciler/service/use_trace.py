"""Use: which facts were recalled, noted in memory and written behind, in batches.

A recall adds to a dictionary and goes on. A thread of its own writes what has gathered every few
seconds, and the close of the memory writes the rest; so a process that is killed loses the counts
of some seconds and nothing else. No contact's version moves, so no cache is stale for it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from reconciler.errors import GraphError

__all__ = ["Use", "UseTrace"]

_FACTS_MAX = 10_000
"""Facts whose use waits to be written; where the engine stays away, others are not noted."""

_log = logging.getLogger(__name__)


class Use(NamedTuple):
    """How often a fact was recalled since that was last written, and when last (UTC)."""

    times: int
    at: datetime


class UseTrace:
    """Counts recalls for any number of threads, and writes the counts behind.

    Args:
        write: writes counts by the facts' ids.
        clock: the time now, UTC-aware.
        flush_seconds: how long counts may wait; 0 counts nothing.
    """

    def __init__(
        self,
        *,
        write: Callable[[Mapping[str, Use]], None],
        clock: Callable[[], datetime],
        flush_seconds: float,
    ) -> None:
        self._write = write
        self._clock = clock
        self._flush_seconds = flush_seconds
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._used: dict[str, Use] = {}
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def note(self, fact_ids: Iterable[str]) -> None:
        """Note that facts were recalled just now; writes nothing, and waits for nobody who does."""
        if not self._flush_seconds or self._closing.is_set():
            return
        at = self._clock()
        with self._lock:
            for fact_id in fact_ids:
                if fact_id in self._used:
                    self._used[fact_id] = Use(self._used[fact_id].times + 1, at)
                elif len(self._used) < _FACTS_MAX:
                    self._used[fact_id] = Use(1, at)
            if self._thread is None and self._used:
                self._thread = threading.Thread(
                    target=self._flush_until_closed, name="reconciler-use", daemon=True
                )
                self._thread.start()

    def flush(self) -> None:
        """Write what was noted until now.

        Raises:
            GraphError: it could not be written; it is kept, and written with what follows.
        """
        with self._flushing:
            with self._lock:
                used, self._used = self._used, {}
            if not used:
                return
            try:
                self._write(used)
            except GraphError:
                self._take_back(used)
                raise

    def close(self) -> None:
        """Write the rest, as far as the engine answers; harmless when called again."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
        self._flush_quietly()

    def _flush_until_closed(self) -> None:
        while not self._closing.wait(self._flush_seconds):
            self._flush_quietly()

    def _flush_quietly(self) -> None:
        """A count is worth no error to anybody: where it cannot be written, it waits."""
        try:
            self.flush()
        except GraphError as error:
            _log.debug("the use of facts waits to be written: %s", error)

    def _take_back(self, used: Mapping[str, Use]) -> None:
        with self._lock:
            for fact_id, use in used.items():
                later = self._used.get(fact_id)
                times = use.times + (later.times if later else 0)
                self._used[fact_id] = Use(times, later.at if later else use.at)
