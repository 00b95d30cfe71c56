"""Use: what was recalled and about whom, noted in memory and written behind, in batches.

A recall adds to a dictionary and goes on. A thread of its own writes what has gathered every few
seconds, and the close of the memory writes the rest; so a process that is killed loses the counts
of some seconds and nothing else. No contact's version moves, so no cache is stale for it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

from reconciler.errors import GraphError

__all__ = ["Asked", "Use", "UseTrace"]

_WAITING_MAX = 10_000
"""Facts, or contacts, that wait to be written; if the engine stays away, others are not noted."""

_log = logging.getLogger(__name__)


class Use(NamedTuple):
    """How often a fact was recalled since that was last written, and when last (UTC)."""

    times: int
    at: datetime

    def with_later(self, later: Use) -> Use:
        """Both together."""
        return Use(self.times + later.times, later.at)


class Asked(NamedTuple):
    """How often a contact was asked about since that was last written, and in vain."""

    times: int
    empty: int

    def with_later(self, later: Asked) -> Asked:
        """Both together."""
        return Asked(self.times + later.times, self.empty + later.empty)


class UseTrace:
    """Counts recalls for any number of threads, and writes the counts behind.

    Args:
        write: writes counts by the facts' ids.
        write_asked: writes counts by the contacts' keys.
        clock: the time now, UTC-aware.
        flush_seconds: how long counts may wait; 0 counts nothing.
    """

    def __init__(
        self,
        *,
        write: Callable[[Mapping[str, Use]], None],
        write_asked: Callable[[Mapping[str, Asked]], None],
        clock: Callable[[], datetime],
        flush_seconds: float,
    ) -> None:
        self._used: _PendingCounts[Use] = _PendingCounts(write)
        self._asked: _PendingCounts[Asked] = _PendingCounts(write_asked)
        self._clock = clock
        self._flush_seconds = flush_seconds
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def note(self, fact_ids: Iterable[str]) -> None:
        """Note that facts were recalled just now; writes nothing, and waits for no writer."""
        if self._is_on:
            use = Use(1, self._clock())
            self._used.add((fact_id, use) for fact_id in fact_ids)
            self._start()

    def note_recall(self, contact_key: str, *, is_empty: bool) -> None:
        """Note that a contact was asked about just now, and whether nothing was found.

        Writes nothing, and waits for no writer.
        """
        if self._is_on:
            self._asked.add([(contact_key, Asked(1, int(is_empty)))])
            self._start()

    def flush(self) -> None:
        """Write what was noted until now.

        Raises:
            GraphError: it could not be written; it is kept, and written with what follows.
        """
        with self._flushing:
            self._used.write()
            self._asked.write()

    def close(self) -> None:
        """Write the rest, as far as the engine answers; harmless when called again."""
        self._closing.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()
        self._flush_quietly()

    @property
    def _is_on(self) -> bool:
        return bool(self._flush_seconds) and not self._closing.is_set()

    def _start(self) -> None:
        """Have a thread write behind, from the first count on."""
        if self._thread is not None:
            return
        with self._lock:
            if self._thread is None and not (self._used.is_empty and self._asked.is_empty):
                self._thread = threading.Thread(
                    target=self._flush_until_closed, name="reconciler-use", daemon=True
                )
                self._thread.start()

    def _flush_until_closed(self) -> None:
        while not self._closing.wait(self._flush_seconds):
            self._flush_quietly()

    def _flush_quietly(self) -> None:
        """Write the counts; never raises: a count that cannot be written waits."""
        try:
            self.flush()
        except GraphError as error:
            _log.debug("the use of facts waits to be written: %s", error)


AnyCount = TypeVar("AnyCount", Use, Asked)


class _PendingCounts(Generic[AnyCount]):
    """Counts by id that wait to be written; for any number of threads.

    Args:
        write: writes them, all or none.
    """

    def __init__(self, write: Callable[[Mapping[str, AnyCount]], None]) -> None:
        self._write: Callable[[Mapping[str, AnyCount]], None] = write
        self._lock = threading.Lock()
        self._counts: dict[str, AnyCount] = {}

    @property
    def is_empty(self) -> bool:
        return not self._counts

    def add(self, counted: Iterable[tuple[str, AnyCount]]) -> None:
        """Add to what waits, unless too much does."""
        with self._lock:
            for key, count in counted:
                if key in self._counts:
                    self._counts[key] = self._counts[key].with_later(count)
                elif len(self._counts) < _WAITING_MAX:
                    self._counts[key] = count

    def write(self) -> None:
        """Write what waits; what cannot be written goes on waiting.

        Raises:
            GraphError: it could not be written.
        """
        with self._lock:
            counts, self._counts = self._counts, {}
        if not counts:
            return
        try:
            self._write(counts)
        except GraphError:
            self._take_back(counts)
            raise

    def _take_back(self, counts: Mapping[str, AnyCount]) -> None:
        with self._lock:
            for key, count in counts.items():
                later = self._counts.get(key)
                self._counts[key] = count.with_later(later) if later else count
