"""The graph port: runs named queries, one transaction each, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

from reconciler.frozen import Strings, Values, frozen, in_order

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
        traces: where removed bytes may still be, for how long, and what to do, in sentences for a
            person; never empty, because copies of a store may be anywhere.
        searched_texts: for how many removed texts the engine's own files were searched; 0 if it has
            no files, or no longer knew the texts.
        shared_texts: how many of these are in the files because a kept record has them too, in
            whole or in part.
        texts_in_files: how many are still in the files although no kept record has them.
        rewrites: how many times the files were written again.
    """

    traces: Strings
    searched_texts: int = 0
    shared_texts: int = 0
    texts_in_files: int = 0
    rewrites: int = 0


class Graph(Protocol):
    """A property graph that runs the query files under ``cypher/``.

    Obligations, each with a test in ``tests/contract/test_graph.py``:

    1. A query is atomic: all of it is written, or nothing, even if the process dies. 2. The caller
    must give ``run`` exactly the parameters that the query names. If not, ``run`` raises before it
    sends the query, because one engine answers a missing parameter with an empty result. 3. Rows
    have exactly the columns of the text. Datetimes go in aware and come back in UTC, to the
       microsecond. A whole node or link is returned as a map of its properties, without nulls. A
       query with ``// rows: by column`` returns one row with a list for each column, or no row.
    4. A cosine is raw, in [-1, 1], never rescaled; it agrees with numpy to 1e-6.
    5. If several writers saw the same version of a contact, one wins; the others get no row. 6. An
    error of the engine is raised as an error of this package. If another try may succeed, the error
    is ``retryable``. 7. If the engine is unavailable, a call fails within seconds; no call hangs.
    If the engine is alive but busy, a call waits for it, for a bounded time. 8. Safe to share
    between threads. 9. After ``purge`` the engine's own files contain no byte of what was
    overwritten or removed before. If the engine cannot ensure that, it says so. An engine with its
    own files searches them.
    """

    @property
    def engine(self) -> str:
        """``neo4j``, ``embedded`` or another: which dialect folder its queries come from."""

    def run(self, name: str, parameters: Values, seconds_max: float | None = None) -> list[Row]:
        """Run one named query in a separate transaction, and return its rows.

        Args:
            name: the name of the query.
            parameters: exactly the parameters that its text names.
            seconds_max: a shorter limit than usual, after which the query counts as too slow. Only
                an engine with locks that other processes hold needs to respect it.

        Raises:
            QueryFileError: no such query, or other parameters than its text names.
            GraphUnavailableError: the engine is unavailable or too slow; retryable.
            GraphClosedError: this was closed; not retryable.
            GraphConflictError: a deadlock or a concurrent write; nothing was written; retryable.
            QueryError: the engine rejected it.
            GraphStorageError: the disk is full or failing, or the stored data is damaged.
        """

    def begin(self, name: str, parameters: Values) -> Callable[[], list[Row]]:
        """Begin to ``run`` a read; the returned function waits for its rows, or its error.

        A distant engine reads in the meantime. An engine in this process may read at the end; both
        see everything that was written before.
        """

    def schema_version(self) -> int:
        """Version of the schema in the store; 0 if there is none yet."""

    def migrate(self, embedding_dimension: int) -> int:
        """Upgrade the schema to the newest version, and return it.

        Does nothing if it is up to date.

        Args:
            embedding_dimension: length of the vectors that the store will hold; 0 for none.
        """

    def check_purge(self) -> None:
        """Check that there is room for a purge; called before anything is removed.

        Raises:
            GraphStorageError: the disk has no room; the text says how much is needed.
        """

    def expect_purge(self, key: str, texts: Iterable[str], *, instead_of: str = "") -> None:
        """Keep the texts that will be removed until ``purge`` has searched the files for them.

        The texts survive a kill of the process. Harmless when called again.

        Args:
            key: the key of the coming purge; it must be usable as a file name.
            texts: used only by an engine with its own files.
            instead_of: another key; its texts are kept under the new key from now on.

        Raises:
            GraphStorageError: the texts could not be written; nothing may be removed yet.
        """

    def purge(self, key: str = "") -> Purged:
        """Remove the bytes of overwritten and removed data; harmless when called again.

        Args:
            key: the key of the texts that ``expect_purge`` keeps, until none of them is left.

        Raises:
            GraphUnavailableError: the engine is unavailable or was busy for too long; retryable.
            GraphStorageError: the disk has no room for the purge; nothing was changed.
        """

    def describe(self) -> EngineDescription:
        """Engine, version and location, without any secret in it."""

    def copy_store(self, target: Path) -> None:
        """Write a copy of the whole store into a new file, in its state at one moment.

        Raises:
            ConfigurationError: the engine has no own file; the text says what to use.
            GraphUnavailableError: the engine is busy or unavailable; retryable.
            OSError: the copy could not be written.
        """

    def close(self) -> None:
        """Release connections and locks; harmless when called again."""


class Engine(Protocol):
    """The functions of an engine's adapter: ``adapters/NAME_graph.py``.

    These functions and the folder ``cypher/NAME/`` make an engine: the setting ``graph`` names it,
    and the contract suite tests it.
    """

    def open_graph(self, settings: Any) -> Graph:
        """Open the engine.

        Args:
            settings: ``Settings``; an engine reads the ones that it needs.

        Raises:
            ConfigurationError: the engine cannot be opened with these settings.
            GraphLockedError: another process has its file open.
        """

    def file_of(self, settings: Any) -> Path | None:
        """The path of the engine's file, which may not exist yet; None for a server.

        Raises:
            ConfigurationError: the path cannot be used.
        """
