"""The connections to one embedded database: how many there may be, and who has which."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import ladybug

from reconciler.errors import GraphUnavailableError
from reconciler.turns import Turns

__all__ = ["EmbeddedConnections"]

CONNECTIONS_MAX = 16
"""All share one buffer pool, in which each keeps what it needs for its queries; 57 of 200 threads
with a connection each filled it for good. More than the cores would not be faster."""


class EmbeddedConnections:
    """At most ``CONNECTIONS_MAX`` connections, each lent to one caller at a time.

    One is the writer's, the others are the readers': so a writer waits for other writers only, and
    readers for readers. Who comes first is served first; the connection that was used last is lent
    again first, because its statements are planned. One whose caller met an error is closed.

    Args:
        database: what they connect to; the caller closes it, after these.
        path: its file, for errors.
        query_timeout_seconds: how long a query may take, and the wait for a connection.
    """

    def __init__(
        self, database: ladybug.Database, path: Path, query_timeout_seconds: float
    ) -> None:
        self._database = database
        self._path = path
        self._query_timeout_seconds = query_timeout_seconds
        self._writer = Turns(1)
        self._readers = Turns(CONNECTIONS_MAX - 1)
        self._lock = threading.Lock()
        self._open: set[ladybug.Connection] = set()
        self._idle: list[ladybug.Connection] = []
        self._is_closed = False

    @contextmanager
    def for_reading(self) -> Iterator[ladybug.Connection]:
        """A connection of the caller's own; they are not safe to share between threads.

        Raises:
            GraphUnavailableError: others had them all for too long, or this was closed.
        """
        busy = f"its {CONNECTIONS_MAX - 1} connections for reading were in use"
        with self._lent(self._readers, busy) as connection:
            yield connection

    @contextmanager
    def for_writing(self) -> Iterator[ladybug.Connection]:
        """The writer's connection; the engine allows one write transaction at a time.

        Raises:
            GraphUnavailableError: other writers were first for too long, or this was closed.
        """
        with self._lent(self._writer, "other writers were first") as connection:
            yield connection

    def close(self) -> None:
        """Let those who have a connection finish, for as long as a query may take; then end them.

        Who waits for one, or comes later, gets an error. Harmless when called again.
        """
        self._is_closed = True
        deadline = time.monotonic() + self._query_timeout_seconds
        lent = (self._writer, *[self._readers] * (CONNECTIONS_MAX - 1))
        back = [each for each in lent if each.take(max(deadline - time.monotonic(), 0.0))]
        with self._lock:
            still_open, self._idle = list(self._open), []
        for connection in still_open:
            self._end(connection)
        for turns in back:
            turns.give_back()

    @contextmanager
    def _lent(self, turns: Turns, busy: str) -> Iterator[ladybug.Connection]:
        seconds = self._query_timeout_seconds
        if not turns.take(seconds):
            raise GraphUnavailableError(
                f"{self._path}: {busy} for {seconds:g} s, and nothing was done; try again, with "
                "fewer calls at the same time"
            )
        try:
            connection = self._idle_or_new()
            try:
                yield connection
            except BaseException:
                self._end(connection)
                raise
            with self._lock:
                self._idle.append(connection)
        finally:
            turns.give_back()

    def _idle_or_new(self) -> ladybug.Connection:
        with self._lock:
            if self._is_closed:
                raise GraphUnavailableError(f"{self._path} was closed by this program")
            if self._idle:
                return self._idle.pop()
            connection = ladybug.Connection(self._database)
            self._open.add(connection)
        connection.set_query_timeout(int(self._query_timeout_seconds * 1000))
        return connection

    def _end(self, connection: ladybug.Connection) -> None:
        """Close it; a query that runs on it is interrupted, and what it began is rolled back."""
        with self._lock:
            self._open.discard(connection)
        with suppress(RuntimeError):  # the database went away first, and the connection with it
            connection.close()
