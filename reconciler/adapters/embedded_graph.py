"""The graph in this process and one file: Ladybug, an embedded engine that speaks Cypher."""

from __future__ import annotations

import ctypes
import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ladybug

from reconciler.adapters import open_stores
from reconciler.adapters.cleared_memory import can_clear_memory, give_back_memory
from reconciler.adapters.embedded_connections import (
    POOL_IS_FULL,
    EmbeddedConnections,
    PlanningConnection,
    UnreadableRowsError,
)
from reconciler.adapters.embedded_files import (
    CHECKPOINT_LOG_BYTES,
    ENGINE_ERRORS,
    QUIET_LOG_BYTES,
    RESTORE_A_BACKUP,
    EmbeddedFiles,
    leave_unchecked,
)
from reconciler.adapters.embedded_rewriting import copy_store
from reconciler.adapters.embedded_statements import bound, bound_together
from reconciler.adapters.pauses import Pauses
from reconciler.errors import (
    ConfigurationError,
    GraphClosedError,
    GraphConflictError,
    GraphError,
    GraphLockedError,
    GraphStorageError,
    GraphUnavailableError,
    QueryError,
)
from reconciler.forks import Maker, leave_alone_in_children
from reconciler.ports.graph import EngineDescription, Purged, Row
from reconciler.queries import (
    Parameters,
    Query,
    Scopes,
    Statement,
    load_migrations,
    load_queries,
    newest_schema_version,
)
from reconciler.resources import check_folder_is_writable, expanded, is_disk_failure

if TYPE_CHECKING:
    from reconciler.adapters.text_search import TextSearch

_log = logging.getLogger(__name__)

_STORAGE_FAILURES = ("IO exception", "panic state", "refuses further writes")
"""The engine's words if a file could not be written or read."""

_CANNOT_WRITE = ("Cannot write to file", "Failed to sync file")
"""The engine's words for the same fault at opening, when an "IO exception" may also mean a lock or
a foreign file."""

_NO_TEXT = "Invalid UTF8-encoded string"
"""The engine's words about invalid text in its file, if it has to read the letters itself."""

_DAMAGE = (_NO_TEXT, "may be corrupted", "Reading past the end")
"""The engine's words about a damaged file in the middle of a query."""

_ADVICE = (
    " The database may be checkpointing; please retry later.",
    " The database file may be corrupted.",
)
"""The engine's advice about a damaged file, which does not help here."""

_NO_STORE = "not a valid Lbug database"
_OTHER_VERSION = "database file with a different version"
_NOT_OPENED = ("IO exception", "filesystem error", POOL_IS_FULL)
"""The engine's words at opening. Any other error except a lock means a damaged file. The engine may
then say that the file "may be checkpointing"; but the file is locked, so no other process has it
open.
"""


_FILES_ARE_CLEAN = (
    "the store's own files were written again and hold nothing of it; the disk blocks of the old "
    "files are free, and the disk overwrites them when it needs them"
)
_FILES_ARE_NOT_CLEAN = (
    "the store's own files were written again {rewrites} times and still hold {left} of the texts: "
    "close the memory, and run `reconciler erasures --finish`"
)
_MEMORY_IS_NOT_CLEARED = (
    "memory cannot be cleared on this system, so the engine may write old contents of it into a "
    "file: end this process, and open the memory in another one"
)
_COPIES = (
    "older backups, exports and other copies still hold it: make new ones, and delete the old ones"
)

_REWRITES_MAX = 3
"""If memory is cleared, one rewrite is enough; a text that survives three rewrites is not there by
chance."""

_PURGE_LOG_BYTES_MAX = 128 << 20
"""The longest log while an erasure removes words: half of the store, within these bounds. Each
checkpoint writes whole columns again, and the purge writes the store again anyway. With 13,000
facts the log was 65 MB long, and a checkpoint took 0.7 to 2 s of the processor. Source:
measured."""

_PATIENCE_SECONDS = 0.5
"""How long a writer waits for readers before a checkpoint; after that, the next writer tries."""

_PAUSE_SECONDS = 3.0
"""After a pause of this length between two writes a checkpoint is made. With one second an import
made one every few hundred notes, while it read the next ones: a third of its time."""

_IDLE_SECONDS = 600.0
"""After a pause of this length even a short log is merged: until then the engine keeps 4 MiB for
each kind of link that was written, in each direction, some 64 MiB after a note. It is long because
a merge writes whole columns: 46 MiB and half a second of the processor among 100,000 facts, and the
next note takes 0.04 s more. Source: measured."""

_MARK_OPEN = "COMMENT ON TABLE Store IS 'open: what is newest is in the log'"
_MARK_CLOSED = "COMMENT ON TABLE Store IS ''"

_REOPEN = (
    "Nothing more is written until the memory is closed and opened again. Acknowledged writes are "
    "kept. Whether the failed write was kept is not known yet: repeat it then, with the "
    "same idempotency key"
)
_GONE = "the store's file or its log was deleted, moved or replaced while it was open"
_RESCUE = (
    "Nothing more is written, and the written data is lost when this process ends. It can still be "
    "read: export it now, from this process (`ops.export`), close the memory, and restore the "
    "export or a backup: `reconciler restore`. If the files were only moved, close the memory, and "
    "move them back together"
)
"""What to do if a disk failed, or if the files are gone."""

_LOCKED = (
    "{} is open in {}; close that one, give this one another RECONCILER_EMBEDDED_PATH, or use "
    "Neo4j, which serves many processes"
)


_KEPT_MAX = 10_000
"""How many answers are kept until the next write; no other process can write. A recall waits longer
for the engine to tell the contact's version than it takes to rank a thousand facts."""

_QUERY_TIMEOUT_SECONDS = 15.0
"""A read, or the wait for a connection, that takes longer is ended."""


class EmbeddedGraph:
    """Runs each query file in one transaction; writes run one after the other.

    One process may have the file open at a time.

    Args:
        path: the file; a missing folder is created.

    If the disk failed or was full, the graph must be closed and opened again before the next write:
    the engine keeps what it could not write, and would put it into the log later. The same holds if
    its memory was full in the middle of a write.

    Raises:
        GraphLockedError: another process has the file open.
        ConfigurationError: the path cannot be used, the file is not a store, or its log is missing.
    """

    engine = "embedded"
    _has_parsed = False

    def __init__(self, path: Path) -> None:
        self._path = expanded(path).resolve()
        self._queries = load_queries(self.engine)
        self._is_closed = False
        self._failure = self._advice = ""
        self._has_written = False
        self._is_erasing = False
        self._kept: dict[str, list[Row]] | None = {}
        self._files = EmbeddedFiles(self._path)
        self._pauses = Pauses(self._use_pause)
        self._maker = Maker()
        leave_alone_in_children(self)
        if not open_stores.claim(self._path, self):
            raise GraphLockedError(_LOCKED.format(self._path, "this process: share that Memory"))
        with self._translated_setup():
            has_writes = self._files.has_writes
            self._database = self._files.open()
            self._files.warn_of_removed()
            self._log_bytes = self._files.log_bytes
            self._connections = EmbeddedConnections(
                self._database, self._path, _QUERY_TIMEOUT_SECONDS
            )
            try:
                with self._connection() as connection:
                    leave_unchecked(connection)
                    self._is_marked = self._is_marked_open(connection)
                if self._is_marked and not has_writes:
                    self._files.check_log()
            except BaseException:
                self._connections.close()
                self._database.close()
                raise
        if not EmbeddedGraph._has_parsed:
            EmbeddedGraph._has_parsed = True
            parsing = threading.Thread(target=self._parse_ahead)
            with suppress(RuntimeError):  # no thread can be started
                parsing.start()
                if hasattr(os, "register_at_fork"):  # else a child might inherit the parser's lock
                    os.register_at_fork(before=parsing.join)

    def run(
        self,
        name: str,
        parameters: Parameters,
        seconds_max: float | None = None,  # noqa: ARG002
    ) -> list[Row]:
        """See ``Graph.run``; no other process holds a lock here."""
        query = self._queries[name]
        query.check_parameters(parameters)
        if query.mode == "write":
            return self._write(query, parameters)
        # A writer takes the answers away before it begins, so that none is kept from before it.
        kept = self._kept if query.is_kept and self._maker.is_here else None
        if kept is None or self._is_closed:
            return self._read(query, parameters)
        asked = str(parameters)
        if (rows := kept.get(asked)) is None:
            rows = self._read(query, parameters)
            if len(kept) < _KEPT_MAX:
                kept[asked] = rows
        return [dict(row) for row in rows]

    def _parse_ahead(self) -> None:
        """Have the engine parse a process's first statement while the memory is being opened.

        It takes 15 ms more than a later one. Without its parameters the statement finds nothing,
        and the engine leaves the interpreter to other threads meanwhile. Source: measured. An
        adapter names no query: the last by column reads a neighbourhood, as a first recall does.
        """
        with suppress(GraphError), self._connection() as connection:
            *_, query = (each for each in self._queries.values() if each.is_by_column)
            connection.rows(query.statements[0].text)

    def _read(self, query: Query, parameters: Parameters) -> list[Row]:
        with self._connection() as connection:
            if query.is_by_column:
                return connection.columns(*bound(query.statements[0], parameters))
            return _run_script(connection, query, parameters)

    def begin(self, name: str, parameters: Parameters) -> Callable[[], list[Row]]:
        """See ``Graph.begin``; a small read takes less time here than a change of thread."""
        return partial(self.run, name, parameters)

    def schema_version(self) -> int:
        """See ``Graph.schema_version``."""
        try:
            rows = self.run("find_schema_version", {})
        except QueryError as error:
            if "Table Store does not exist" in str(error):
                return 0
            raise
        return int(rows[0]["schema_version"]) if rows else 0

    def migrate(self, embedding_dimension: int) -> int:
        """See ``Graph.migrate``."""
        check_folder_is_writable(self._path)
        # A vector's length is part of its column's type, which takes no parameter.
        dimension = str(max(embedding_dimension, 1))
        for migration in load_migrations(self.engine):
            # One commit for each step: a commit waits for the disk, and a step has many statements.
            with self._writer() as connection, _transaction(connection):
                for statement in migration.statements:
                    connection.rows(statement.text.replace("{embedding_dimension}", dimension))
        newest = newest_schema_version(self.engine)
        self.run(
            "record_schema_version",
            {"schema_version": newest, "embedding_dimension": embedding_dimension},
        )
        return newest

    def describe(self) -> EngineDescription:
        """See ``Graph.describe``."""
        return EngineDescription(self.engine, f"ladybug {ladybug.__version__}", str(self._path))

    def copy_store(self, target: Path) -> None:
        """See ``Graph.copy_store``; readers go on, and writers wait until the copy is made."""
        with self._writer() as connection:
            is_whole = self._mark_closed(connection)
            self._check_storage()
            if not is_whole:
                self._files.check_room_to_checkpoint()
                raise GraphUnavailableError(
                    f"{self._path}: its log could not be merged, because other calls read without "
                    "a pause; try again when the memory is less busy"
                )
            self._files.copy_main(target)

    def check_purge(self) -> None:
        """See ``Graph.check_purge``: the purge needs room to write the store a second time."""
        check_folder_is_writable(self._path)
        self._check_may_write()
        with self._translated():
            self._check_storage()
            self._files.check_room_to_rewrite(
                "Nothing was erased; call again when there is free disk space",
                spare_log_bytes=self._purge_log_bytes(),
            )

    def expect_purge(self, key: str, texts: Iterable[str], *, instead_of: str = "") -> None:
        """See ``Graph.expect_purge``: they are kept in a file beside the store."""
        with self._translated():
            kept = self._files.read_removed(instead_of) if instead_of else ()
            self._files.keep_removed(key, chain(kept, texts))
            if instead_of:
                self._files.forget_removed(instead_of)
        self._is_erasing = True

    def purge(self, key: str = "") -> Purged:
        """See ``Graph.purge``: a new copy of the store takes its place.

        The copy is then searched for the removed texts; if one is found, the copy is made again.
        All other callers wait for it, as for a long query.
        """
        from reconciler.adapters.text_search import TextSearch  # loads numpy

        with self._translated():
            search = TextSearch(self._files.read_removed(key))
        rewrites, left = 0, {""}
        while left and rewrites < _REWRITES_MAX:
            kept, texts = self._rewritten(search)
            rewrites, left = rewrites + 1, search.texts_with(texts - kept)
        with self._translated():
            if not left:
                self._files.forget_removed(key)
        return Purged(
            traces=_traces(rewrites, len(left)),
            searched_texts=len(search),
            shared_texts=len(search.texts_with(texts) - left),
            texts_in_files=len(left),
            rewrites=rewrites,
        )

    def _rewritten(self, search: TextSearch) -> tuple[set[bytes], set[bytes]]:
        """Return the texts that are still in the rewritten store, and those in its files."""
        with self._translated(), self._connections.alone(_QUERY_TIMEOUT_SECONDS) as is_alone:
            if self._is_closed:
                raise GraphClosedError(f"{self._path} was closed by this program; open it again")
            self._check_storage()
            if not is_alone:
                raise GraphUnavailableError(
                    f"{self._path} is in use, and can only be rewritten while no other call uses "
                    "it; try again, with fewer calls at the same time"
                )
            self._files.check_room_to_rewrite(
                "The erased data is gone from the graph, but its bytes are still in files; when "
                "there is free disk space, run `reconciler erasures --finish`"
            )
            return self._rewrite(search)

    def _rewrite(self, search: TextSearch) -> tuple[set[bytes], set[bytes]]:
        """Put a copy without any old byte in the store's place, while the store is unused."""
        with self._files.rewriting() as draft:
            with closing(PlanningConnection(self._database)) as old:
                self._files.expect_no_log()
                old.rows("CHECKPOINT")
                self._files.note_own()  # the log is merged, and gone
                kept = self._draft(old, draft, search)
                stamp = self._files.stamp
            self._database.close()
            self._files.close()  # the open reader would go on reading the old main file
            try:
                self._files.put_in_place(draft, stamp)
                self._files.remove_left_over()
                texts = search.found_in(self._files.list_own())
            finally:
                self._reopen()
        return kept, texts

    def _draft(
        self, old: PlanningConnection, draft: EmbeddedFiles, search: TextSearch
    ) -> set[bytes]:
        """Fill a new store; return the texts that were found in its contents."""
        kept = set[bytes]()
        with closing(draft.open()) as database, closing(PlanningConnection(database)) as new:
            leave_unchecked(new)
            copy_store(
                old,
                new,
                draft.main.parent,
                each_part=lambda part: kept.update(search.found_in([part])),
            )
            new.rows("CHECKPOINT")
        return kept

    def _reopen(self) -> None:
        """Open the store that is in place now; if that fails, this graph can no longer be used."""
        try:
            self._database = self._files.open()
            with closing(PlanningConnection(self._database)) as connection:
                leave_unchecked(connection)
                self._is_marked = self._is_marked_open(connection)
        except BaseException as error:
            self._failure = f"it could not be opened again ({_brief(str(error))})"
            self._advice = _REOPEN
            raise
        self._log_bytes = self._files.log_bytes
        self._is_erasing = False
        self._connections.exchange(self._database)

    def close(self) -> None:
        """See ``Graph.close``."""
        if self._is_closed or not self._maker.is_here:
            return
        self._is_closed = True  # waiting writers see this and write nothing
        self._pauses.stop()
        was_told = bool(self._failure)
        try:
            with suppress(GraphError), self._translated(), self._connections.for_writing() as last:
                self._check_storage()
                if not self._files.is_read_only:
                    self._mark_closed(last)
        finally:
            self._connections.close()
            if self._failure:
                with suppress(OSError):  # the file is gone, and its lock with it
                    self._files.release_lock()
            else:
                self._database.close()
                self._files.close()
                give_back_memory()
            open_stores.give_up(self)
        if self._advice == _RESCUE and self._has_written and not was_told:
            raise self._storage_error()

    def _fail(self, why: str, advice: str = _REOPEN) -> None:
        """Refuse all further writes, and never release the engine's database.

        Releasing it would try to write what it could not write before, and would end the process if
        that failed again. Its memory is given back when the process ends.
        """
        if not self._failure:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._database))
            self._failure, self._advice = why, advice

    def _write(self, query: Query, given: Parameters) -> list[Row]:
        check_folder_is_writable(self._path)  # before the engine reports it as a failing disk
        with self._writer() as connection:
            self._mark_open(connection)
            try:
                connection.rows("BEGIN TRANSACTION")
                rows = _run_script(connection, query, given)
                connection.rows("COMMIT" if rows else "ROLLBACK")
            except BaseException as error:
                with suppress(RuntimeError):
                    connection.rows("ROLLBACK")
                if POOL_IS_FULL in str(error):  # the rollback may have left an index wrong
                    self._fail("the engine's memory was full in the middle of a write")
                raise
            self._check_storage()  # the files may have been deleted since the transaction began
            self._has_written = True
            self._tidy_up(connection)
            return rows

    def _tidy_up(self, connection: PlanningConnection) -> None:
        """Clean up after a commit. If this fails, the commit is still valid."""
        try:
            self._files.expect_log()
            self._files.note_own()
            log_bytes = self._files.log_bytes
            self._connections.note_growth(max(log_bytes - self._log_bytes, 0))
            self._log_bytes = log_bytes
            if log_bytes > (self._purge_log_bytes() if self._is_erasing else CHECKPOINT_LOG_BYTES):
                self._shorten_log(connection)
            else:
                self._pauses.stir(_PAUSE_SECONDS if log_bytes > QUIET_LOG_BYTES else _IDLE_SECONDS)
        except OSError as error:
            _log.warning("%s: %s", self._path, error)

    def _purge_log_bytes(self) -> int:
        """The length of the log at which a write must merge it, while an erasure runs."""
        return min(max(self._path.stat().st_size // 2, CHECKPOINT_LOG_BYTES), _PURGE_LOG_BYTES_MAX)

    def _use_pause(self) -> None:
        """Move the log into the main file during a pause of writes; a later pause would do as well.

        Acknowledged writes are in the log already, so nothing depends on it. If the files are gone,
        the next caller is told.
        """
        if not self._files.are_own():
            return
        try:
            with self._writer() as connection:
                self._shorten_log(connection)
        except GraphError as error:
            if not self._is_closed:
                _log.warning("%s: its log was not folded in: %s", self._path, error)

    def _shorten_log(self, connection: PlanningConnection) -> None:
        """Write the log into the main file if that is possible now."""
        self._files.expect_no_log()
        if self._checkpoint(connection, _PATIENCE_SECONDS):
            give_back_memory()  # memory that the writes took, and that glibc would keep
        self._log_bytes = self._files.log_bytes

    def _mark_open(self, connection: PlanningConnection) -> None:
        """Mark in the main file that it has a log, before the first write of this graph.

        Otherwise a copy of the main file alone would open as the memory of an earlier day.
        """
        if self._is_marked:
            return
        connection.rows(_MARK_OPEN)
        if not self._files.holds_nothing:
            self._files.expect_no_log()
            self._checkpoint(connection, _PATIENCE_SECONDS)
        self._is_marked = True
        self._check_storage()

    def _mark_closed(self, connection: PlanningConnection) -> bool:
        """Write everything into the main file and mark it as whole; True if this succeeded."""
        if not self._files.has_room_to_checkpoint():
            return False
        if self._is_marked:
            connection.rows(_MARK_CLOSED)
            self._is_marked = False  # the next write marks again that a log belongs to it
        is_whole = self._checkpoint(connection, _QUERY_TIMEOUT_SECONDS)
        if is_whole:
            self._files.note_closed()
        return is_whole

    def _checkpoint(self, connection: PlanningConnection, patience_seconds: float) -> bool:
        """Write the log into the main file, if there is room and no reader.

        If a reader is active, the engine keeps the log and a third file. After a crash during the
        last write it could not open them.

        Returns:
            Whether the main file holds everything.
        """
        if not self._files.log_bytes:
            return True
        with self._connections.without_readers(patience_seconds) as is_alone:
            if not is_alone or not self._files.has_room_to_checkpoint():
                return False
            try:
                with self._connections.merging():
                    connection.rows("CHECKPOINT")
            except RuntimeError as error:
                text = str(error)
                self._note_failure(text)
                _log.warning("%s: its log could not be folded in: %s", self._path, _brief(text))
                return False
            self._files.note_own()
            return True

    @contextmanager
    def _writer(self) -> Iterator[PlanningConnection]:
        with self._translated(), self._connections.for_writing() as connection:
            if self._is_closed:
                raise GraphClosedError(f"{self._path} was closed by this program; open it again")
            self._check_may_write()
            self._check_storage()
            self._kept = None
            try:
                yield connection
            finally:
                self._kept = {}

    @contextmanager
    def _connection(self) -> Iterator[PlanningConnection]:
        with self._translated(), self._connections.for_reading() as connection:
            yield connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Translate the engine's errors into ours.

        The texts of its plain RuntimeErrors show their kind.
        """
        self._maker.check()
        try:
            yield
        except UnreadableRowsError as error:
            raise self._damage_error(str(error)) from error
        except RuntimeError as error:
            raise self._engine_error(str(error)) from error
        except OSError as error:
            raise GraphStorageError(f"{self._path}: {error}; nothing was written") from error

    def _is_marked_open(self, connection: PlanningConnection) -> bool:
        """True if the store was left open.

        Raises:
            ConfigurationError: another program made the database.
        """
        rows = connection.rows("CALL show_tables() RETURN name, comment")
        comments = {row["name"]: row["comment"] for row in rows}
        if comments and "Store" not in comments:
            raise ConfigurationError(
                f"RECONCILER_EMBEDDED_PATH {self._path} is a database of another program, with "
                f"the tables {', '.join(sorted(comments)[:5])}; give the memory another file"
            )
        return bool(comments.get("Store"))

    @contextmanager
    def _translated_setup(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            open_stores.give_up(self)
            if _is_storage_failure(error):
                raise GraphStorageError(
                    f"{self._path} cannot be opened: the disk is full or failing "
                    f"({_brief(str(error))}); free some space, and open it again"
                ) from error
            if isinstance(error, OSError):
                raise ConfigurationError(
                    f"RECONCILER_EMBEDDED_PATH {self._path}: {error}"
                ) from error
            if not isinstance(error, ENGINE_ERRORS):
                raise
            if "Could not set lock" in str(error):
                raise GraphLockedError(_LOCKED.format(self._path, "another process")) from error
            raise ConfigurationError(
                f"RECONCILER_EMBEDDED_PATH {self._path} {_not_opened(error)}"
            ) from error

    def _note_failure(self, text: str) -> None:
        if any(sign in text for sign in _STORAGE_FAILURES):
            self._fail(f"the disk is full or failing ({_brief(text)}); free some space")

    def _check_may_write(self) -> None:
        if self._files.is_read_only:
            raise ConfigurationError(
                f"RECONCILER_EMBEDDED_PATH {self._path} was opened to read, because this user may "
                "not write to it; give the user that right, and open it again"
            )

    def _check_storage(self) -> None:
        if not self._failure and not self._files.are_own():
            self._fail(_GONE, _RESCUE)
        if self._failure:
            raise self._storage_error()

    def _storage_error(self) -> GraphStorageError:
        return GraphStorageError(f"{self._path}: {self._failure}. {self._advice}")

    def _engine_error(self, text: str) -> GraphError:
        brief = _brief(text)
        self._note_failure(text)
        if self._failure:
            return self._storage_error()
        if "Could not set lock" in text:
            return GraphUnavailableError(f"another process opened {self._path}; try again")
        if "is closed" in text:
            return GraphClosedError(f"{self._path} was closed by this program; open it again")
        if "duplicated primary key" in text or "write transaction" in text:
            return GraphConflictError(f"another writer came first ({brief})")
        if POOL_IS_FULL in text:
            return GraphUnavailableError(
                f"{self._path}: the engine's memory was full; "
                "try again, with fewer calls at the same time"
            )
        if "Interrupted" in text:
            return GraphUnavailableError(
                f"{self._path}: a query took longer than {_QUERY_TIMEOUT_SECONDS:g} s"
            )
        if any(sign in text for sign in _DAMAGE):
            return self._damage_error(text)
        return QueryError(f"{self._path}: the engine rejected a query: {brief}")

    def _damage_error(self, text: str) -> GraphError:
        return GraphStorageError(
            f"{self._path} is damaged: a part of it cannot be read ({_cause(text)}). Close the "
            f"memory, {RESTORE_A_BACKUP}"
        )


def open_graph(settings: Any) -> EmbeddedGraph:
    """See ``Engine.open_graph``."""
    return EmbeddedGraph(file_of(settings))


def file_of(settings: Any) -> Path:
    """See ``Engine.file_of``."""
    path: Path = settings.embedded_path
    if settings.is_in_memory:
        raise ConfigurationError(
            f"a store in memory ({path}) exists only in the program that opened it, so no command "
            "can find it or restore into it; name a file"
        )
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ConfigurationError(
            f"RECONCILER_EMBEDDED_PATH {path} is not valid UTF-8; give the file a name that is"
        ) from error
    return expanded(path)


def _traces(rewrites: int, left: int) -> tuple[str, ...]:
    """List the places where removed bytes may still be."""
    files = _FILES_ARE_NOT_CLEAN.format(rewrites=rewrites, left=left) if left else _FILES_ARE_CLEAN
    return (files, *[_MEMORY_IS_NOT_CLEARED] * (not can_clear_memory()), _COPIES)


def _is_storage_failure(error: BaseException) -> bool:
    """True if the disk is at fault, not a setting; only the engine's words show it."""
    if isinstance(error, OSError):
        return is_disk_failure(error)
    return isinstance(error, ENGINE_ERRORS) and any(sign in str(error) for sign in _CANNOT_WRITE)


def _not_opened(error: BaseException) -> str:
    """Say why the engine does not open a file, and what to do."""
    text = str(error)
    if _NO_STORE in text:
        return (
            "is not a memory: another program made this file, or it was overwritten. Give the "
            f"memory another file. If this one was a memory, {RESTORE_A_BACKUP}"
        )
    if _OTHER_VERSION in text:
        return (
            f"was written by another version of the engine ({_brief(text)}), and this is ladybug "
            f"{ladybug.__version__}. Export it with that version (`reconciler export`), and "
            "restore the export with this one"
        )
    if any(sign in text for sign in _NOT_OPENED):
        return f"cannot be opened: {_brief(text)}"
    return f"is damaged ({_cause(text)}): {RESTORE_A_BACKUP}"


def _brief(text: str) -> str:
    return text.strip().partition("\n")[0][:300]


def _cause(text: str) -> str:
    """The engine's finding, without its advice, which is meant for other programs."""
    found = _brief(text).removeprefix("Runtime exception: ")
    for advice in _ADVICE:
        found = found.removesuffix(advice)
    return found.rstrip(".")


@contextmanager
def _transaction(connection: PlanningConnection) -> Iterator[None]:
    connection.rows("BEGIN TRANSACTION")
    try:
        yield
        connection.rows("COMMIT")
    except BaseException:
        with suppress(RuntimeError):
            connection.rows("ROLLBACK")
        raise


def _run_script(connection: PlanningConnection, query: Query, given: Parameters) -> list[Row]:
    """The rows of all runs of a script: one run, or a run for each element of its list.

    Each statement runs for all of them before the next one does. A run ends at a statement with a
    RETURN that gives it no row. The rows of a run are the rows of its last statement.
    """
    runs = [(each, Scopes(), list[Row]()) for each in query.repetitions(given)]
    for statement in query.statements:
        if statement.is_together:
            every = [once for each, known, _ in runs for once in statement.repetitions(each, known)]
            for text, values in bound_together(statement, every):
                connection.rows(text, values)
        else:
            runs = [run for run in runs if _goes_on(connection, statement, *run)]
    return [row for _, _, rows in runs for row in rows]


def _goes_on(
    connection: PlanningConnection,
    statement: Statement,
    given: Parameters,
    known: Scopes,
    rows: list[Row],
) -> bool:
    """Run a statement, and keep its rows; false if it returns any, and a repetition gives none."""
    found: list[Row] = []
    for repetition in statement.repetitions(given, known):
        told = connection.rows(*bound(statement, repetition))
        if "RETURN" in statement.text:  # altering a table gives a row, too
            if not told:
                return False
            found += told
    rows[:] = found or rows
    return True
