"""The connections to one embedded database: a bounded number, each lent to one caller."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import ladybug

from reconciler.adapters.cleared_memory import cleared_memory
from reconciler.adapters.embedded_plans import PlanningConnection
from reconciler.errors import GraphClosedError, GraphUnavailableError
from reconciler.turns import Turns

CONNECTIONS_MAX = 16
"""All share one buffer pool: with one for each of 100 to 200 threads it was full for good. With
sixteen, 200 threads took 130 to 190 MB of it. More of them than cores are no faster."""

POOL_IS_FULL = "Buffer manager exception"


@dataclass(slots=True)
class _Share:
    """The queue for some connections, and those of them that are idle."""

    turns: Turns
    use: str
    idle: list[PlanningConnection] = field(default_factory=list)


class EmbeddedConnections:
    """At most ``CONNECTIONS_MAX`` connections, each lent to one caller at a time.

    One is the writer's, the others are the readers': so a writer waits for other writers only, and
    readers for readers, and what writes is planned once. Who comes first is served first; the
    connection that was used last is lent again first, because its statements are planned. A
    connection is closed if its caller met an error; if the buffer pool is full the idle ones are
    closed too, with the statements that they keep planned.

    Only a read has a time-out. With one, the engine runs each statement in another thread: a note
    took 36 switches between threads, and takes 4 without. Source: measured.

    Args:
        database: what they connect to; the caller closes it, after these.
        path: its file, for errors.
        query_timeout_seconds: how long a read may take, and the wait for a connection.
    """

    def __init__(
        self, database: ladybug.Database, path: Path, query_timeout_seconds: float
    ) -> None:
        self._database = database
        self._path = path
        self._query_timeout_seconds = query_timeout_seconds
        self._writer = _Share(Turns(1), "write")
        self._readers = _Share(Turns(CONNECTIONS_MAX - 1), "read")
        self._lock = threading.Lock()
        self._open: set[PlanningConnection] = set()
        self._is_closed = False
        self._written_bytes = 0

    def note_growth(self, written_bytes: int) -> None:
        """Say that so much was written; in a store that grew by much, statements are planned again.

        What was there when the store was opened does not count: the first plans were made for it.
        """
        self._written_bytes += written_bytes

    @contextmanager
    def for_reading(self) -> Iterator[PlanningConnection]:
        """A connection of the caller's own; they are not safe to share between threads.

        Raises:
            GraphUnavailableError: other calls, a checkpoint or an erasure held the store too long.
            GraphClosedError: this was closed.
        """
        with self._lent(self._readers) as connection:
            yield connection

    @contextmanager
    def for_writing(self) -> Iterator[PlanningConnection]:
        """The writer's connection; the engine allows one write transaction at a time.

        Memory is cleared meanwhile, because the engine does not fill all that it writes.

        Raises:
            GraphUnavailableError: other calls or an erasure held the store too long.
            GraphClosedError: this was closed.
        """
        with self._lent(self._writer) as connection, cleared_memory():
            yield connection

    @contextmanager
    def without_readers(self, seconds: float) -> Iterator[bool]:
        """Keep readers waiting; gives whether the running ones ended in that time."""
        deadline = time.monotonic() + seconds
        with ExitStack() as stack:
            queues = [self._readers.turns] * (CONNECTIONS_MAX - 1)
            are_taken = True
            for turn in [stack.enter_context(queue.turn()) for queue in queues]:
                are_taken &= turn.take(max(deadline - time.monotonic(), 0.0))
            yield are_taken

    @contextmanager
    def alone(self, seconds: float) -> Iterator[bool]:
        """Keep all callers waiting; gives whether the running ones ended in that time.

        Then nothing is open on the database, and ``exchange`` gives another one to the callers that
        wait. Memory is cleared, as for a writer.
        """
        deadline = time.monotonic() + seconds
        with self._writer.turns.turn() as turn:
            are_taken = turn.take(seconds)
            with self.without_readers(max(deadline - time.monotonic(), 0.0)) as are_gone:
                if are_taken and are_gone:
                    self._end_idle()
                with cleared_memory():
                    yield are_taken and are_gone

    def exchange(self, database: ladybug.Database) -> None:
        """Connect to this one from here on; only within ``alone``."""
        self._database = database
        self._written_bytes = 0

    def close(self) -> None:
        """Let running callers finish, for as long as a query may take; then end their connections.

        Callers that wait for a connection, or come later, get an error. May be repeated.
        """
        self._is_closed = True
        deadline = time.monotonic() + self._query_timeout_seconds
        everybody = (self._writer.turns, *[self._readers.turns] * (CONNECTIONS_MAX - 1))
        with ExitStack() as stack:
            for turn in [stack.enter_context(queue.turn()) for queue in everybody]:
                turn.take(max(deadline - time.monotonic(), 0.0))
            for connection in list(self._open):
                self._end(connection)

    @contextmanager
    def _lent(self, share: _Share) -> Iterator[PlanningConnection]:
        seconds = self._query_timeout_seconds
        with share.turns.turn() as turn:
            if not turn.take(seconds):
                raise GraphUnavailableError(
                    f"{self._path}: no turn to {share.use} came within {seconds:g} s, and nothing "
                    "was done. Other calls, a checkpoint or an erasure may hold the store; try "
                    "again, with fewer calls at the same time"
                )
            connection = self._idle_or_new(share)
            try:
                yield connection
            except BaseException as error:
                self._end(connection)
                if POOL_IS_FULL in str(error):
                    self._end_idle()
                raise
            with self._lock:
                share.idle.append(connection)

    def _idle_or_new(self, share: _Share) -> PlanningConnection:
        with self._lock:
            if self._is_closed:
                raise GraphClosedError(f"{self._path} was closed by this program; open it again")
            if share.idle:
                connection = share.idle.pop()
                connection.plan_for(self._written_bytes)
                return connection
            connection = PlanningConnection(self._database)
            self._open.add(connection)
        connection.plan_for(self._written_bytes)
        if share is self._readers:
            connection.set_query_timeout(int(self._query_timeout_seconds * 1000))
        return connection

    def _end_idle(self) -> None:
        with self._lock:
            idle = [*self._writer.idle, *self._readers.idle]
            self._writer.idle.clear()
            self._readers.idle.clear()
        for connection in idle:
            self._end(connection)

    def _end(self, connection: PlanningConnection) -> None:
        """Close a connection; its running query is interrupted and rolled back."""
        with self._lock:
            self._open.discard(connection)
        with suppress(RuntimeError):  # the database went away first, and the connection with it
            connection.close()
