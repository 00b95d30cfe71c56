"""The graph port: runs named queries, one transaction each, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from reconciler.frozen import frozen, in_order

__all__ = ["Engine", "EngineDescription", "Graph", "Purged", "Row"]

Row = dict[str, Any]
"""One result row: strings, numbers, booleans, UTC-aware datetimes, lists, maps or None."""


@in_order
class EngineDescription:
    """The engine, for ``doctor``: its name, version and place."""

    engine: str
    version: str
    location: str


@frozen
class Purged:
    """The remains of overwritten and removed bytes.

    Attributes:
        traces: where bytes of it may still be, for how long, and what to do, in sentences for a
            person; never empty, since copies of a store may be anywhere.
        searched_texts: how many removed texts the engine's own files were searched for; 0 where it
            has none, or no longer knew them.
        shared_texts: how many of these stand in the files because something that is kept says them
            too, in whole or in part.
        texts_in_files: how many stand there although nothing that is kept says them.
        rewrites: how many times the files were written again.
    """

    traces: tuple[str, ...]
    searched_texts: int = 0
    shared_texts: int = 0
    texts_in_files: int = 0
    rewrites: int = 0


class Graph(Protocol):
    """A property graph that runs the query files under ``cypher/``.

    Obligations, each with a test in ``tests/contract/test_graph.py``:

    1. A query is atomic: all of it is written, or nothing is, also when the process dies.
    2. What ``run`` is given must be exactly the parameters that the text names; anything else
       raises before it is sent (one engine answers a missing parameter with an empty result).
    3. Rows have exactly the columns of the text. Datetimes go in aware and come back in UTC, to the
       microsecond. A node or a link that is returned whole is a map of what it holds, without
       nulls. A query with ``// rows: by column`` gives its rows as one, with a list for each
       column, or none.
    4. A cosine is raw, in [-1, 1], never rescaled; it agrees with numpy to 1e-6.
    5. Of writers that met the same version of a contact, one wins; the others get no row.
    6. Foreign errors arrive as this package's; what is worth another try is ``retryable``.
    7. When the engine is unavailable, a call fails within seconds; none hangs. One that is alive
       and busy is waited for, in bounded time.
    8. Safe to share between threads.
    9. After ``purge`` no byte of what was overwritten or removed before is in the engine's own
       files, as far as it can see to that; what it cannot see to, it says. An engine that has files
       of its own searches them for it.
    """

    @property
    def engine(self) -> str:
        """``neo4j``, ``embedded`` or another: which dialect folder its queries come from."""

    def run(
        self, name: str, parameters: Mapping[str, Any], seconds_max: float | None = None
    ) -> list[Row]:
        """Rows of one named query, run in a transaction of its own.

        Args:
            name: the query's.
            parameters: exactly those that its text names.
            seconds_max: less than a query may usually take; it counts as too slow after that. Only
                an engine with locks that other processes hold needs to heed it.

        Raises:
            QueryFileError: no such query, or other parameters than its text names.
            GraphUnavailableError: the engine is unavailable or too slow; retryable.
            GraphClosedError: this was closed; not retryable.
            GraphConflictError: a deadlock or a concurrent write; nothing was written; retryable.
            QueryError: the engine rejected it.
            GraphStorageError: the disk is full or failing, or what is kept is damaged.
        """

    def begin(self, name: str, parameters: Mapping[str, Any]) -> Callable[[], list[Row]]:
        """Begin to ``run`` a read; what is returned waits for its rows, or its error.

        A distant engine reads meanwhile. A near one may read at the end; either sees what was
        written before.
        """

    def schema_version(self) -> int:
        """Version of the schema in the store; 0 where there is none yet."""

    def migrate(self, embedding_dimension: int) -> int:
        """Bring the schema to the newest version, which is returned; harmless when it is there.

        Args:
            embedding_dimension: length of the vectors that the store will hold; 0 for none.
        """

    def check_purge(self) -> None:
        """Let a purge be prepared, if there will be room for it; asked before anything is removed.

        Raises:
            GraphStorageError: the disk has no room; the text says how much is needed.
        """

    def expect_purge(self, key: str, texts: Iterable[str], *, instead_of: str = "") -> None:
        """Keep what is about to be removed until ``purge`` has searched the files for it.

        What is kept outlives a kill. Harmless when made again.

        Args:
            key: of the purge that is to come; a name that a file can have.
            texts: read only by an engine that has files of its own.
            instead_of: another key; what is kept under it is kept under this one from here on.

        Raises:
            GraphStorageError: they could not be written; nothing may be removed yet.
        """

    def purge(self, key: str = "") -> Purged:
        """Let go of the bytes of what was overwritten or removed; harmless when made again.

        Args:
            key: of the texts that ``expect_purge`` keeps, until none of them is left.

        Raises:
            GraphUnavailableError: the engine is unavailable or was busy for too long; retryable.
            GraphStorageError: the disk has no room for it; nothing was changed.
        """

    def describe(self) -> EngineDescription:
        """Engine, version and location, without any secret in it."""

    def copy_store(self, target: Path) -> None:
        """Write a copy of all that is kept into a new file, as it stands at one moment.

        Raises:
            ConfigurationError: the engine keeps no file of its own; the text says what to use.
            GraphUnavailableError: not now; retryable.
            OSError: the copy could not be written.
        """

    def close(self) -> None:
        """Give connections and locks back; harmless when called again."""


class Engine(Protocol):
    """The functions of an engine's adapter: ``adapters/NAME_graph.py``.

    With the folder ``cypher/NAME/`` that is all of an engine: the setting ``graph`` names it, and
    the contract suite proves it.
    """

    def open_graph(self, settings: Any) -> Graph:
        """Engine, open.

        Args:
            settings: ``Settings``, of which an engine reads what it needs.

        Raises:
            ConfigurationError: it cannot be opened with these settings.
            GraphLockedError: another process has its file open.
        """

    def file_of(self, settings: Any) -> Path | None:
        """Where the engine keeps its file, which to open it would make; None for a server.

        Raises:
            ConfigurationError: the path cannot be used.
        """
