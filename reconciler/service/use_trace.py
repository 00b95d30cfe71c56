"""Counts of recalls, by fact and by contact, which a thread writes in batches.

A recall only adds to a dictionary. A thread writes the counts every few seconds, and closing the
memory writes the rest, so a killed process loses only the counts of some seconds. The contacts'
versions stay the same, so no cache becomes stale.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from reconciler.domain.records.kinds import Clock
from reconciler.errors import ConfigurationError, GraphError

_WAITING_MAX = 10_000
"""The most facts, or contacts, with counts that wait; during a long outage others are not
counted."""

_log = logging.getLogger(__name__)


class Use(NamedTuple):
    """Recalls of a fact, or about a contact, since the last write.

    It has their number, the time of the last one (UTC), and the number of those that found nothing.
    """

    times: int
    at: datetime
    empty: int = 0

    def with_later(self, later: Use) -> Use:
        """Add both together."""
        return Use(self.times + later.times, later.at, self.empty + later.empty)


class UseTrace:
    """Counts the recalls of all threads, and writes the counts in a thread of its own.

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
        write_asked: Callable[[Mapping[str, Use]], None],
        clock: Clock,
        flush_seconds: float,
    ) -> None:
        self._used = _PendingCounts(write)
        self._asked = _PendingCounts(write_asked)
        self._clock = clock
        self._flush_seconds = flush_seconds
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def note(self, fact_ids: Iterable[str]) -> None:
        """Count a recall of these facts; do not write or wait."""
        if self._is_on:
            use = Use(1, self._clock())
            self._used.add((fact_id, use) for fact_id in fact_ids)
            self._start()

    def note_recall(self, contact_key: str, *, is_empty: bool) -> None:
        """Count a recall about a contact; do not write or wait."""
        if self._is_on:
            self._asked.add([(contact_key, Use(1, self._clock(), int(is_empty)))])
            self._start()

    def flush(self) -> None:
        """Write all counts.

        Raises:
            GraphError: they could not be written; the next flush writes them.
        """
        with self._flushing:
            self._used.write()
            self._asked.write()

    def close(self) -> None:
        """Write the rest, if the engine answers; may be repeated."""
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
        """Start the thread at the first count."""
        with self._lock:
            if self._thread is None:
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
        except (GraphError, ConfigurationError) as error:  # a store opened to read, for example
            _log.debug("the use of facts waits to be written: %s", error)


class _PendingCounts:
    """Counts by id that wait to be written; for any number of threads.

    Args:
        write: writes them, all or none.
    """

    def __init__(self, write: Callable[[Mapping[str, Use]], None]) -> None:
        self._write = write
        self._lock = threading.Lock()
        self._counts: dict[str, Use] = {}

    def add(self, counted: Iterable[tuple[str, Use]]) -> None:
        """Add counts, unless too many ids wait."""
        with self._lock:
            for key, count in counted:
                if key in self._counts:
                    self._counts[key] = self._counts[key].with_later(count)
                elif len(self._counts) < _WAITING_MAX:
                    self._counts[key] = count

    def write(self) -> None:
        """Write the counts; if that fails, they stay.

        Raises:
            GraphError: the counts could not be written.
        """
        with self._lock:
            counts, self._counts = self._counts, {}
        if not counts:
            return
        try:
            self._write(counts)
        except (GraphError, ConfigurationError):
            with self._lock:
                for key, count in counts.items():
                    later = self._counts.get(key)
                    self._counts[key] = count.with_later(later) if later else count
            raise
