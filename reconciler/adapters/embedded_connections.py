"""The connections to one embedded database: a bounded number, each lent to one caller.

A connection keeps planned statements for a while. The engine plans a statement once, for the
present sizes of its tables: a plan from a small store reads whole tables when the store is large.
Never here: a transaction.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import ladybug

from reconciler.adapters.cleared_memory import cleared_memory
from reconciler.errors import GraphClosedError, GraphUnavailableError
from reconciler.frozen import Json, Values
from reconciler.ports.graph import Row
from reconciler.turns import Turns

_GROWTH = 2
"""Plans are renewed when the store has grown by this factor since they were made: a plan for half
the rows is as good. So they are renewed some twenty times in a store's life."""

_GROWTH_START_BYTES = 1 << 15

_OF_EVERY_WRITE = ("BEGIN TRANSACTION", "COMMIT")
"""Statements without a value that are still planned once: parsing them costs as much as a small
write."""

_PLANS_MAX = 100
"""The plan of a read takes 0.7 MB, that of a write 1.5 MB; agents need 60 plans in a minute.
Source: measured."""

_WIDTHS = (7, 8, 15, 16, 31, 32)
"""Bits at which the engine chooses another type for an integer, which it then keeps in a plan."""


_ROWS_AT_ONCE = 256
"""Rows in memory at once while they are put into columns. With more than 700 new lists the garbage
collector starts, and with 10,000 it takes longer than the engine. Source: measured."""

_EPOCH, _EPOCH_UTC = datetime(1970, 1, 1), datetime(1970, 1, 1, tzinfo=UTC)

_OF_PROPERTIES = ("NODE", "REL", "STRUCT")
"""How the types of columns begin that hold the properties of a node or a link."""


class UnreadableRowsError(RuntimeError):
    """A row holds an impossible value: text that is not UTF-8, or a time out of range.

    The engine does not check the pages of its file, so it reads altered bytes as they are.
    """


class PlanningConnection(ladybug.Connection):
    """Runs statements, each planned once for its text and its parameters' types.

    The package's own ``execute`` does so too, but it looks into every value to find the types,
    which takes a millisecond for a decision. It also keeps all plans as long as the connection
    lives.

    Args:
        database: the database.
        planning: held while a statement is planned, by one connection at a time. Then the engine
            keeps the interpreter for itself, for 5 to 17 ms. If fifteen connections asked at once,
            an event loop would wait for most of them; now it runs between two. Source: measured.
    """

    def __init__(self, database: ladybug.Database, planning: threading.Lock | None = None) -> None:
        super().__init__(database)
        self._planning = planning or threading.Lock()
        self._plans: dict[tuple[Any, ...], Any] = {}
        self._planned_at_bytes = _GROWTH_START_BYTES

    def plan_for(self, written_bytes: int) -> None:
        """Forget plans that were made when the store was much smaller."""
        if written_bytes >= self._planned_at_bytes * _GROWTH:
            self._plans.clear()
            self._planned_at_bytes = written_bytes

    def rows(self, text: str, given: Values | None = None) -> list[Row]:
        """Rows of one statement; times are UTC.

        Raises:
            UnreadableRowsError: the store's file is damaged where they are.
            RuntimeError: the engine failed.
        """
        with closing(self._result(text, dict(given or {}))) as result:
            lists = list(chain.from_iterable(_pages_of(result)))
            if not lists:  # as of most writes
                return []
            _say_utc(lists, result.get_column_data_types())
            columns = result.get_column_names()
            return [dict(zip(columns, row, strict=True)) for row in lists]

    def columns(self, text: str, given: Values) -> list[Row]:
        """Like ``rows``, but returns all rows as one row with a list for each column.

        No row if there are none.
        """
        with closing(self._result(text, dict(given))) as result:
            columns: dict[str, list[Any]] = {name: [] for name in result.get_column_names()}
            for page in _pages_of(result):
                for column, values in zip(columns.values(), zip(*page, strict=True), strict=True):
                    column.extend(values)
            for name, kind in zip(columns, result.get_column_data_types(), strict=True):
                if kind == "TIMESTAMP":
                    columns[name] = [at and _utc(at) for at in columns[name]]
            return [columns] if result.get_num_tuples() else []

    def close(self) -> None:
        """Interrupt the running statement, and release the plans."""
        super().close()
        self._plans.clear()

    def _result(self, text: str, given: Json) -> ladybug.QueryResult:
        if not given and text not in _OF_EVERY_WRITE:
            result = self.execute(text)
        else:
            key = (text, *given, *map(_type, given.values()))
            if not (plan := self._plans.pop(key, None)):
                with self._planning:
                    plan = self._prepare(text, given)
            result = self.execute(plan, given)
            self._plans[key] = plan  # the one that was used last comes last
            if len(self._plans) > _PLANS_MAX:
                del self._plans[next(iter(self._plans))]
        assert not isinstance(result, list), "one statement gives one result"  # noqa: S101
        return result


def _pages_of(result: ladybug.QueryResult) -> Iterator[list[Any]]:
    """All rows, some at a time."""
    left = result.get_num_tuples()
    try:
        while left > 0:
            yield [result.get_next() for _ in range(min(left, _ROWS_AT_ONCE))]
            left -= _ROWS_AT_ONCE
    except (ValueError, OverflowError) as error:
        raise UnreadableRowsError(str(error)) from error


def _type(value: Any) -> Any:
    """The type of a value, as the engine sees it when it plans.

    For a map, with its names in order.
    """
    if isinstance(value, str | float | datetime):  # as most are
        return type(value)
    if isinstance(value, list):
        first = next((element for element in value if element is not None), None)
        return (list, *_type(first)) if isinstance(first, dict) else (list, type(first))
    if isinstance(value, dict):
        return (dict, *value, *(_type(held) for held in value.values() if isinstance(held, dict)))
    if type(value) is not int:
        return type(value)
    return (value < 0, bisect_left(_WIDTHS, (~value if value < 0 else value).bit_length()))


def _say_utc(rows: list[list[Any]], types: list[str]) -> None:
    """Add the zone to times.

    Only columns of times are looked at, because there may be many rows.
    """
    for place, kind in enumerate(types):
        if kind == "TIMESTAMP":
            for row in rows:
                row[place] = row[place] and _utc(row[place])
        elif kind.startswith(_OF_PROPERTIES):
            for row in rows:
                # Without the engine's own and without nulls.
                row[place] = {
                    name: _utc(held) if isinstance(held, datetime) else held
                    for name, held in row[place].items()
                    if held is not None and not name.startswith("_")
                }


def _utc(at: datetime) -> datetime:
    """Time with its zone; ``replace`` takes ten times as long."""
    return _EPOCH_UTC + (at - _EPOCH)


CONNECTIONS_MAX = 16
"""All connections share one buffer pool: with a connection for each of 100 to 200 threads the pool
stayed full. With sixteen connections, 200 threads used 130 to 190 MB. More connections than cores
are no faster."""

_MERGE_TIMEOUTS = 20
"""How many times as long as usual a caller waits while the log is merged. Among 18,000 facts of one
contact, on a busy machine, a merge took longer than the usual 15 s, and a single writer's note was
refused."""

POOL_IS_FULL = "Buffer manager exception"


@dataclass(slots=True)
class _Share:
    """A queue for some connections, and the idle connections."""

    turns: Turns
    use: str
    idle: list[PlanningConnection] = field(default_factory=list)


class EmbeddedConnections:
    """At most ``CONNECTIONS_MAX`` connections, each lent to one caller at a time.

    One connection is for writers, the others are for readers. So a writer waits only for other
    writers, a reader only for readers, and writing statements are planned once. Callers are served
    in the order in which they come. The connection that was used last is lent first, because its
    statements are planned. A connection is closed if its caller met an error; if the buffer pool is
    full the idle ones are closed too, with the statements that they keep planned.

    Only a read has a time-out. With one, the engine runs each statement in another thread: a note
    took 36 switches between threads, and takes 4 without. Source: measured.

    Args:
        database: the database of the connections; the caller closes it after them.
        path: its file, for errors.
        query_timeout_seconds: how long a read may take, and the wait for a connection.
    """

    def __init__(
        self, database: ladybug.Database, path: Path, query_timeout_seconds: float
    ) -> None:
        self._database = database
        self._path = path
        self._query_timeout_seconds = query_timeout_seconds
        self._writer = _Share(Turns(), "write")
        self._readers = _Share(Turns(CONNECTIONS_MAX - 1), "read")
        self._lock, self._planning = threading.Lock(), threading.Lock()
        self._open: set[PlanningConnection] = set()
        self._is_closed = False
        self._written_bytes = 0
        self._is_merging = False

    def note_growth(self, written_bytes: int) -> None:
        """Record that this much was written.

        When the store has grown a lot, statements are planned again.

        The size at opening does not count: the first plans were made for it.
        """
        self._written_bytes += written_bytes

    @contextmanager
    def merging(self) -> Iterator[None]:
        """Let callers wait longer inside the block: a long log takes its time, but it ends."""
        self._is_merging = True  # by one caller at a time: it has the writer's turn
        try:
            yield
        finally:
            self._is_merging = False

    def for_reading(self) -> AbstractContextManager[PlanningConnection]:
        """Lend the caller a connection; threads must not share one.

        Raises:
            GraphUnavailableError: other calls, a checkpoint or an erasure held the store too long.
            GraphClosedError: this was closed.
        """
        return self._lent(self._readers)

    @contextmanager
    def for_writing(self) -> Iterator[PlanningConnection]:
        """Writer's connection; the engine allows one write transaction at a time.

        Memory is cleared during the write, because the engine does not fill all bytes that it
        writes.

        Raises:
            GraphUnavailableError: other calls or an erasure held the store too long.
            GraphClosedError: this was closed.
        """
        with self._lent(self._writer) as connection, cleared_memory():
            yield connection

    @contextmanager
    def without_readers(self, seconds: float) -> Iterator[bool]:
        """Make readers wait; True if the running readers ended in that time."""
        deadline = time.monotonic() + seconds
        with ExitStack() as stack:
            queues = [self._readers.turns] * (CONNECTIONS_MAX - 1)
            are_taken = True
            for turn in [stack.enter_context(queue.turn()) for queue in queues]:
                are_taken &= turn.take(max(deadline - time.monotonic(), 0.0))
            yield are_taken

    @contextmanager
    def alone(self, seconds: float) -> Iterator[bool]:
        """Make all callers wait; True if the running calls ended in that time.

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
        """Connect to this database from now on; only within ``alone``."""
        self._database = database
        self._written_bytes = 0

    def close(self) -> None:
        """Let running callers finish, for as long as a query may take; then end their connections.

        Callers that wait for a connection, or come later, get an error. May be repeated.
        """
        self._is_closed = True
        with self.alone(self._query_timeout_seconds):
            for connection in list(self._open):
                self._end(connection)

    @contextmanager
    def _lent(self, share: _Share) -> Iterator[PlanningConnection]:
        seconds = self._query_timeout_seconds
        until = time.monotonic() + _MERGE_TIMEOUTS * seconds
        with share.turns.turn() as turn:
            while not turn.take(seconds):
                if not self._is_merging or time.monotonic() >= until:
                    raise GraphUnavailableError(
                        f"{self._path}: the store was too busy to {share.use} within {seconds:g} "
                        "s, so nothing was done. Other calls, a checkpoint or an erasure may be "
                        "using it; try again, with fewer calls at the same time"
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
            else:
                connection = PlanningConnection(self._database, self._planning)
                self._open.add(connection)
                if share is self._readers:
                    connection.set_query_timeout(int(self._query_timeout_seconds * 1000))
        connection.plan_for(self._written_bytes)
        return connection

    def _end_idle(self) -> None:
        for share in (self._writer, self._readers):
            with self._lock:
                idle, share.idle = share.idle, []
            for connection in idle:
                self._end(connection)

    def _end(self, connection: PlanningConnection) -> None:
        """Close a connection; its running query is interrupted and rolled back."""
        self._open.discard(connection)
        with suppress(RuntimeError):  # the database went away first, and the connection with it
            connection.close()
