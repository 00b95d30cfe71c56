"""The files of an embedded store, and how they are opened, also after a crash.

Here: which files the engine leaves on disk, and which must be there. Never here: a query, or the
contents of the store.
"""

from __future__ import annotations

import glob
import json
import logging
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import ladybug

from reconciler.adapters.cleared_memory import cleared_memory
from reconciler.adapters.drafts import remove_abandoned_drafts, sync, sync_folder
from reconciler.errors import ConfigurationError, GraphStorageError
from reconciler.resources import check_folder_is_writable, make_folder_of

CHECKPOINT_LOG_BYTES = 16 << 20
"""The length of the log at which a write must first move the log into the main file: about 1,200
notes without a pause. The move takes 0.1 s after one note and 0.4 s after hundreds, so it is rare.
Until then each note keeps 0.12 MB of memory. With 4 MiB here, a note of an import took an eighth
longer.
Source: measured.
"""

QUIET_LOG_BYTES = 1 << 20
"""The length of the log from which a pause moves it into the main file; then no write has to
wait."""

BUFFER_POOL_BYTES = 1 << 30
"""Memory for the pages that the engine works with. A large store gets more, see ``_pool_bytes``."""

_POOL_BYTES_MAX = 1 << 32
_UNLIMITED = 1 << 63
_STORE_BYTES_MAX = 1 << 40
"""Address space that the engine reserves for a file when it opens it. Its own default, 8 TiB, fills
the address space of a process after fifteen stores."""

_STORE_BYTES_MIN = 1 << 28
_NO_SPACE = "Mmap for size"
"""The engine's words if it could not reserve that address space."""

_HEADER_BYTES = 4096
"""One page: the length of a main file that was never checkpointed, and so holds nothing."""

_COMMIT = bytes.fromhex("0900000000000000 020000000000000000 517d1de0b202d058")
"""The end of each transaction in the log: its length, its kind, its checksum. A test looks for this
mark in a log, so that a change in a newer engine is noticed."""

_LOG_HEADER_BYTES = 25
"""The header of a log; then come its records, each between its length and its checksum."""

_MAGIC, _ID_PLACE, _ID_BYTES = b"LBUG", 28, 16
"""How a main file begins, and where the store's id is in it. A log begins with that id."""

_SPARE_BYTES = 32 << 20
_SPARE_FACTOR = 8
"""Free disk space that a checkpoint needs: it writes every changed page twice. Measured: 2 to 5
times the log. The engine ends the process if the disk becomes full at the wrong moment."""

ENGINE_ERRORS = (RuntimeError, MemoryError, ValueError, IndexError)
"""The engine's errors for a file that it cannot read. For example, it reads damaged bytes as a
length, and asks for more memory than there is."""

_COPIED_BYTES = 1 << 20

RESTORE_A_BACKUP = (
    "move it and the files beside it elsewhere, keep them, and restore a backup: "
    "`reconciler restore BACKUP`"
)
"""The advice in an error about a lost or damaged file."""

_MENDING = ".mending-"
"""Part of the name of the folder in which a log is examined; a folder that a crash left is
removed."""

_OF_ANOTHER = "Database ID"
"""Part of the engine's error about a log that another database wrote."""
_REWRITING = ".rewriting-"
"""Part of the name of the folder in which a store is written again."""

_LEFT_OVER = (".wal*.damaged-*", ".tmp", ".pk_validator.*.tmp", f"{_MENDING}*")
"""Endings of files that a crash leaves beside a store: damaged logs, overflow of the engine's
memory, and the folder in which a log was examined."""

_REMOVED = ".removed-"
"""Part of the name of the file that keeps erased texts until the store was searched for them."""

_COMPANIONS = (".wal", ".checkpoint", ".shadow", ".key", ".no-log", ".lock")
"""Endings of the files beside a store; a store's own name may not have one of them."""

_log = logging.getLogger(__name__)


class EmbeddedFiles:
    """The main file of a store and what belongs to it, by their paths.

    ``memory.lbug`` alone is the whole store only after it was closed. While it is open, and after
    a crash, ``memory.lbug.wal`` holds what was written since, and the main file says so.

    Args:
        main: the main file, absolute.

    Raises:
        ConfigurationError: the name is one that a file beside a store has.
    """

    def __init__(self, main: Path) -> None:
        if main.suffix in _COMPANIONS:
            raise ConfigurationError(
                f"RECONCILER_EMBEDDED_PATH {main} ends in {main.suffix}, which only the engine's "
                "own files may have; give the store another name, for example memory.lbug"
            )
        self.main = main
        self.log = main.with_name(f"{main.name}.wal")
        self._frozen_log = main.with_name(f"{main.name}.wal.checkpoint")
        self._shadow = main.with_name(f"{main.name}.shadow")
        self._no_log = main.with_name(f"{main.name}.no-log")
        """Marks that there is no log; this mark is removed only when a log exists."""
        self._may_lack_log = True
        self._reader: BinaryIO | None = None
        self._own: tuple[Any, Any] = None, None
        """The main file and the log that the engine has open; None for a file that it does not have
        open."""
        self.is_read_only = False

    @property
    def has_log(self) -> bool:
        """True if there is a log that is not empty."""
        return bool(_size(self.log) or _size(self._frozen_log))

    @property
    def has_writes(self) -> bool:
        """True if there is a log that holds a finished write."""
        if _size(self._frozen_log):
            return True
        return bool(_size(self.log)) and _COMMIT in self.log.read_bytes()

    @property
    def holds_nothing(self) -> bool:
        """True if the main file is empty: the log was never merged into it."""
        return _size(self.main) <= _HEADER_BYTES

    def open(self) -> ladybug.Database:
        """Engine's database; a log that a crash cut off is mended first.

        A store that this user may not write to, on a mount to read, for example, is opened to read.

        Raises:
            ConfigurationError: a file is missing, or the log is damaged beyond its last write.
            ENGINE_ERRORS: the engine refuses the file.
        """
        self.is_read_only = self.main.is_file() and not os.access(self.main, os.W_OK)
        self._check_unlocked()
        self._check_complete()
        if self.is_read_only:
            return self._opened_to_read()
        self._check_room_to_recover()
        is_new = not self.main.exists()
        if is_new:
            check_folder_is_writable(self.main)
            make_folder_of(self.main)
            self.expect_no_log()
        self._check_log_is_own()
        self._cut_unfinished()
        try:
            database = self._database()
        except ENGINE_ERRORS as error:
            if _NO_SPACE in str(error):
                raise self._space_error() from error
            if _OF_ANOTHER in str(error):
                raise self._foreign_log_error() from error
            if not self._may_be_mended(error):
                raise
            self._mend(error)
            database = self._database()
        if is_new:  # it holds facts about people, so only its owner may read it
            self.main.chmod(0o600)
        self.note_own()
        return database

    def _opened_to_read(self) -> ladybug.Database:
        """Engine's database, locked against writers; the engine itself takes no lock then."""
        self._check_log_is_own()
        self._reader = self.main.open("rb")  # open until close(), because its end ends the lock
        self._lock(self._reader, to_read=True)
        if _unfinished_from(self.log) is None and not self._frozen_log.exists():
            self.note_own()
            return self._database()
        raise ConfigurationError(
            f"RECONCILER_EMBEDDED_PATH {self.main} was not closed, so the engine must write to it "
            "before it can read it, and this user may not write to it. Copy the store and the "
            "files beside it to a writable folder, and name that copy"
        )

    def note_own(self) -> None:
        """Remember the engine's files as they are now: it has opened, written or merged them."""
        self._own = _identity(self.main), _identity(self.log)

    def are_own(self) -> bool:
        """True if the engine's files are still at their paths: not deleted, moved or replaced.

        The engine goes on writing to files that no longer have a name. A log that it began after
        the last look is not checked.
        """
        main, log = self._own
        return _identity(self.main) == main and (log is None or _identity(self.log) == log)

    def expect_no_log(self) -> None:
        """Remember in advance that the store will have no log until the next write."""
        self._no_log.touch()
        sync_folder(self._no_log.parent)
        self._may_lack_log = True

    def expect_log(self) -> None:
        """Remember that the store has a log again, if it has one."""
        if self._may_lack_log and self.has_log:
            self._no_log.unlink(missing_ok=True)
            self._may_lack_log = False

    def note_closed(self) -> None:
        """Remember that the main file holds everything and is marked as whole.

        A store that was never written to, because a setting was wrong, still has no log.
        """
        if not self.holds_nothing:
            self._no_log.unlink(missing_ok=True)

    def check_log(self) -> None:
        """Check that a store has its log, if it was left open.

        Raises:
            ConfigurationError: it lacks its log.
        """
        if not (self.has_writes or self._no_log.exists()):
            raise ConfigurationError(
                f"RECONCILER_EMBEDDED_PATH {self.main} was copied or left while it was open, and "
                f"its log {self.log} is missing{self._or_elsewhere}. The log holds the newest "
                "facts; put the log back beside the main file. If another program has merged the "
                f"log, and no fact is missing, make an empty file {self._no_log} and open the "
                f"store again. If the log is lost, {RESTORE_A_BACKUP}"
            )

    @property
    def log_bytes(self) -> int:
        """Return the length of the log in bytes; 0 without a log."""
        return _size(self.log)

    def has_room_to_checkpoint(self) -> bool:
        """True if the disk has room for a checkpoint of the log."""
        needed = _SPARE_BYTES + _SPARE_FACTOR * self.log_bytes
        return shutil.disk_usage(self.main.parent).free >= needed

    def check_room_to_checkpoint(self) -> None:
        """Check that the disk has room for a checkpoint of the log.

        Raises:
            GraphStorageError: the disk has no room.
        """
        if not self.has_room_to_checkpoint():
            raise GraphStorageError(
                f"{self.main}: its log could not be merged, because the disk is full, or nearly: "
                f"free some space for {self.main.parent}, and try again"
            )

    def copy_main(self, target: Path) -> None:
        """Copy the main file, while the engine has it open; it must hold everything.

        The descriptor stays open until ``close``: see ``_locked`` for why.
        """
        if self._reader is None:
            self._reader = self.main.open("rb")
        self._reader.seek(0)
        with target.open("xb") as copy:
            shutil.copyfileobj(self._reader, copy, _COPIED_BYTES)
            sync(copy)

    def close(self) -> None:
        """Close the file that was read, after the engine has closed it."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def check_room_to_rewrite(self, otherwise: str, *, spare_log_bytes: int = 0) -> None:
        """Check that the disk has room to write the store again.

        Args:
            otherwise: the end of the error text: the state of the erasure, and what to do.
            spare_log_bytes: how much the log may still grow.

        Raises:
            GraphStorageError: the disk has no room; the text says how much is needed.
        """
        log_bytes = self.log_bytes + spare_log_bytes
        needed = _SPARE_BYTES + 3 * _size(self.main) + _SPARE_FACTOR * log_bytes
        free = shutil.disk_usage(self.main.parent).free
        if free < needed:
            raise GraphStorageError(
                f"{self.main}: rewriting it without the erased data needs {needed >> 20} MiB of "
                f"free disk space, and only {free >> 20} MiB are free. {otherwise}"
            )

    @contextmanager
    def rewriting(self) -> Iterator[EmbeddedFiles]:
        """Files of a new store, in a private folder beside this one.

        Files of a crashed rewrite are removed: they may hold texts that have been erased since.
        """
        prefix = f"{self.main.name}{_REWRITING}"
        for left_over in self.main.parent.glob(f"{prefix}*"):
            shutil.rmtree(left_over, ignore_errors=True)
        remove_abandoned_drafts(self.main.parent)
        with TemporaryDirectory(prefix=prefix, dir=self.main.parent) as folder:
            yield EmbeddedFiles(Path(folder) / self.main.name)

    @property
    def stamp(self) -> tuple[int, int, int]:
        """A mark that changes if the main file changes, or the log gets longer."""
        stat = self.main.stat()
        return stat.st_mtime_ns, stat.st_size, self.log_bytes

    def put_in_place(self, draft: EmbeddedFiles, stamp: tuple[int, int, int]) -> None:
        """Replace this store by a whole one, in one step, while it is closed.

        Before and after that step the main file is a whole store that needs no log.

        Args:
            draft: the new store.
            stamp: this store's mark when it was copied.

        Raises:
            RuntimeError: another process has opened this store; it stays as it was.
        """
        mode = self.main.stat().st_mode & 0o777
        with self._locked(), draft.main.open("rb+") as file:
            if self.stamp != stamp or self.has_log or draft.has_log:
                raise RuntimeError(
                    f"Could not set lock on {self.main}: it was changed in the meantime"
                )
            os.fchmod(file.fileno(), mode)
            sync(file)
            draft.main.replace(self.main)
            sync_folder(self.main.parent)
        for left_over in (self.log, self._frozen_log, self._shadow):
            left_over.unlink(missing_ok=True)
        self._may_lack_log = True

    def list_own(self) -> list[Path]:
        """Files of the engine with contents of the store, and those that crashes left.

        Reading them releases a lock: do it only while the store is closed.
        """
        own = [self.main, self.log, self._frozen_log, self._shadow, *self._left_over()]
        folders = [path for path in own if path.is_dir()]
        own += [path for folder in folders for path in folder.rglob("*")]
        return [path for path in own if path.is_file()]

    def remove_left_over(self) -> None:
        """Remove the files that crashes left, with their contents.

        Copies of damaged logs are among them.
        """
        for left_over in self._left_over():
            if left_over.is_dir():
                shutil.rmtree(left_over, ignore_errors=True)
            else:
                left_over.unlink(missing_ok=True)

    def _left_over(self) -> list[Path]:
        name, folder = glob.escape(self.main.name), self.main.parent
        return [path for ending in _LEFT_OVER for path in folder.glob(f"{name}{ending}")]

    def keep_removed(self, key: str, texts: Iterable[str]) -> None:
        """Keep texts that will be erased; they are on disk when this returns."""
        path = self._removed(key)
        only_for_owner = partial(os.open, mode=0o600)
        with open(path, "a", encoding="utf-8", opener=only_for_owner) as file:
            file.write("\n")  # behind a line that a kill cut short
            file.writelines(f"{json.dumps(text)}\n" for text in texts)
            sync(file)
        sync_folder(path.parent)

    def read_removed(self, key: str) -> Iterator[str]:
        """Texts that are kept under a key, if they are still there."""
        with suppress(FileNotFoundError), self._removed(key).open(encoding="utf-8") as file:
            for line in file:
                with suppress(ValueError):  # empty, or cut short before anything was removed
                    yield json.loads(line)

    def forget_removed(self, key: str) -> None:
        """Remove the texts under a key; their bytes are overwritten first."""
        path = self._removed(key)
        if path.exists():
            with path.open("rb+") as file:
                for start in range(0, path.stat().st_size, _COPIED_BYTES):
                    file.write(bytes(min(_COPIED_BYTES, path.stat().st_size - start)))
                sync(file)
            path.unlink()

    def warn_of_removed(self) -> None:
        """Log the files that still keep erased texts, because an erasure was interrupted.

        They are not deleted here: when the erasure goes on, it searches for these texts.
        """
        name = f"{glob.escape(self.main.name)}{_REMOVED}*"
        if kept := sorted(path.name for path in self.main.parent.glob(name)):
            _log.warning(
                "%s: an erasure was cut off, and the words to remove are kept in %s; run "
                "`reconciler erasures --finish`, and ask for the erasure again if it had not begun",
                self.main,
                ", ".join(kept),
            )

    def _removed(self, key: str) -> Path:
        return self.main.with_name(f"{self.main.name}{_REMOVED}{key}")

    def release_lock(self) -> None:
        """Release the lock of the engine without the engine; see ``_locked``."""
        os.close(os.open(self.main, os.O_RDONLY))

    def _database(self, *, is_lenient: bool = False) -> ladybug.Database:
        file_bytes = _size(self.main)
        store_bytes, pool_bytes = _reserved_bytes(
            _address_space_bytes(), _pool_bytes(file_bytes, _memory_bytes())
        )
        if file_bytes > store_bytes // 2:
            raise self._space_error()
        # A new file has its first page written. A log is read without clearing: a damaged byte in
        # it may read as a length of many gigabytes. The engine asks for that much memory, meets
        # the file's end, and refuses the log. Clearing would touch all of that memory: opening a
        # damaged store of some kilobytes took 11 GB instead of 1.5.
        with nullcontext() if self.has_log else cleared_memory():
            return ladybug.Database(
                self.main,
                max_db_size=store_bytes,
                buffer_pool_size=pool_bytes,
                auto_checkpoint=False,  # we check first whether the disk has room for it
                throw_on_wal_replay_failure=not is_lenient,
                read_only=self.is_read_only,
            )

    def _space_error(self) -> ConfigurationError:
        return ConfigurationError(
            f"RECONCILER_EMBEDDED_PATH {self.main}: the engine cannot reserve the address space "
            "that it needs, because the process has a limit. Run `ulimit -v unlimited` before "
            "it, or set a limit of 4 GiB and sixteen times the file's size or more"
        )

    def _check_unlocked(self) -> None:
        """Refuse a store that is open before its files are checked."""
        if self.main.is_file() and not self.is_read_only:
            with suppress(ImportError), self._locked():
                pass

    @property
    def _or_elsewhere(self) -> str:
        """Say where a missing log may be if the main file has other names."""
        links = self.main.stat().st_nlink
        where = (
            f" (the file has {links} names, hard links: open it under the name that it had then)"
        )
        return where if links > 1 else ""

    def _check_complete(self) -> None:
        """Refuse an incomplete store; the engine would open it as an empty one."""
        if self.main.is_dir():
            raise ConfigurationError(
                f"RECONCILER_EMBEDDED_PATH {self.main} is a folder; name a file in it"
            )
        if self.has_log and not self.main.exists():
            raise ConfigurationError(
                f"RECONCILER_EMBEDDED_PATH {self.main} is missing; only its log {self.log} is "
                f"there. Put the main file back beside the log. If it is lost, {RESTORE_A_BACKUP}"
            )
        if self._shadow.exists() and not self.main.exists():
            raise ConfigurationError(
                f"RECONCILER_EMBEDDED_PATH {self.main} is missing; only its part {self._shadow} is "
                "there. Put the main file and its log back beside that part. If they are lost, "
                f"{RESTORE_A_BACKUP}"
            )
        if self.main.exists() and not _size(self.main) and not self._no_log.exists():
            raise ConfigurationError(
                f"RECONCILER_EMBEDDED_PATH {self.main} is empty, but a valid store is never empty, "
                f"so the copy was cut off. Copy it again. If it is lost, {RESTORE_A_BACKUP}. If "
                "the store was never used, delete the file"
            )
        if self.has_log or self._no_log.exists() or _size(self.main) != _HEADER_BYTES:
            return
        raise ConfigurationError(
            f"RECONCILER_EMBEDDED_PATH {self.main} has all its data in its log, and the log "
            f"{self.log} is missing{self._or_elsewhere}. Copy both files, or close the memory "
            f"before you copy it. If the log is lost, {RESTORE_A_BACKUP}. If the store was never "
            "used, delete the file"
        )

    def _check_log_is_own(self) -> None:
        """Refuse another store's log, before a part of it is cut off as an unfinished write.

        A log that never reached the disk before a crash consists of zeros.
        """
        if self.main.exists() and self.log.exists():
            with self.main.open("rb") as main, self.log.open("rb") as log:
                header, log_id = main.read(_ID_PLACE + _ID_BYTES), log.read(_ID_BYTES)
            is_known = header.startswith(_MAGIC) and len(log_id) == _ID_BYTES and any(log_id)
            if is_known and header[_ID_PLACE:] != log_id:
                raise self._foreign_log_error()

    def _foreign_log_error(self) -> ConfigurationError:
        return ConfigurationError(
            f"RECONCILER_EMBEDDED_PATH {self.main}: its log {self.log} belongs to another store, "
            "or to another copy of this one, or was overwritten. Put the log back that was beside "
            "it. If this store was closed when it was copied, move that log elsewhere. If its "
            f"own log is lost, {RESTORE_A_BACKUP}"
        )

    def _check_room_to_recover(self) -> None:
        if self._frozen_log.exists() and not self.has_room_to_checkpoint():
            raise GraphStorageError(
                f"RECONCILER_EMBEDDED_PATH {self.main}: a crash left a checkpoint to be finished, "
                f"and {self.main.parent} has no room for it; free some disk space"
            )

    def _may_be_mended(self, error: Exception) -> bool:
        """True if the log may be the cause: the file is neither locked nor another program's."""
        text = str(error)
        is_other = "Could not set lock" in text or "not a valid Lbug database" in text
        return not is_other and self.has_log

    def _mend(self, error: Exception) -> None:
        """Keep a copy of the log, then cut off a last write that was never finished.

        On a copy, the engine finds by checksums how much of the log is whole. The cut is right only
        if no write ends after that point: a finished write may have been acknowledged.

        Raises:
            ConfigurationError: a write ends behind the damage; the files are as they were.
            ENGINE_ERRORS: the engine still cannot open them, or another process has opened them.
        """
        with self._locked() as main:
            for left_over in self.main.parent.glob(f"{self.main.name}{_MENDING}*"):
                shutil.rmtree(left_over, ignore_errors=True)
            log = self._frozen_log if self._frozen_log.exists() else self.log
            whole_bytes = self._whole_bytes(main, log) if log.exists() else 0
            if whole_bytes < _size(log):  # else another process was here first
                self._cut(log, whole_bytes, error)

    def _cut_unfinished(self) -> None:
        """Cut off an incomplete write at the end of the log, before the engine reads it.

        The engine reads a long record of this kind into its own stack, and the process crashes.

        Raises:
            ConfigurationError: a write ends behind the damage; the files are as they were.
            RuntimeError: another process has them open.
        """
        if not self.main.exists() or _unfinished_from(self.log) is None:
            return
        with self._locked():
            whole_bytes = _unfinished_from(self.log)
            if whole_bytes is not None:  # else another process was here first
                self._cut(self.log, whole_bytes, RuntimeError("a record is cut short"))

    def _cut(self, log: Path, whole_bytes: int, error: Exception) -> None:
        dropped = log.read_bytes()[whole_bytes:]
        if finished := dropped.count(_COMMIT):
            raise ConfigurationError(
                f"RECONCILER_EMBEDDED_PATH {self.main}: its log {log} is damaged after byte "
                f"{whole_bytes}, and {finished} finished writes follow the damage. Nothing was "
                "changed. Keep a copy of all files of the store. Then restore a backup. "
                "Or, if you can do without those writes, cut the log before the damage: "
                f"truncate -s {whole_bytes} {log}"
            ) from error
        copy = log.with_name(f"{log.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S.%f}")
        shutil.copy2(log, copy)
        with copy.open("rb") as file:
            sync(file)
        with log.open("rb+") as file:
            file.truncate(whole_bytes)
            sync(file)
        _log.warning(
            "%s was not closed. Its log ended in an unfinished write of %d bytes, which no caller "
            "saw succeed. That write was removed; everything before it is there. The old log is "
            "kept in %s; delete it when you like. If this is a copy of a store that was open, copy "
            "it again: it may lack more than that write",
            self.main,
            len(dropped),
            copy,
        )

    @contextmanager
    def _locked(self) -> Iterator[BinaryIO]:
        """Lock the main file against the engines of other processes; never open it a second time.

        POSIX drops a process's locks on a file as soon as any descriptor of it is closed.

        Raises:
            RuntimeError: another process has them open, in the engine's own words.
        """
        with self.main.open("rb+") as main:
            self._lock(main)
            yield main

    def _lock(self, main: BinaryIO, *, to_read: bool = False) -> None:
        import fcntl  # not on Windows, where the rest works

        try:
            fcntl.lockf(main, (fcntl.LOCK_SH if to_read else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RuntimeError(f"Could not set lock on {self.main}") from error

    def _whole_bytes(self, main: BinaryIO, log: Path) -> int:
        """Count the bytes of a log that hold whole transactions.

        The engine finds them on a copy.
        """
        prefix = f"{self.main.name}{_MENDING}"
        with TemporaryDirectory(prefix=prefix, dir=self.main.parent) as folder:
            copied = EmbeddedFiles(Path(folder) / self.main.name)
            with copied.main.open("wb") as copy:
                shutil.copyfileobj(main, copy)
            shutil.copyfile(log, copied.log)
            database = copied._database(is_lenient=True)
            with ladybug.Connection(database) as connection:
                leave_unchecked(connection)
            database.close()
            return copied.log_bytes


def _memory_bytes() -> int:
    """The memory that this process may use: the machine's, or that of its control group."""
    found = 0
    with suppress(AttributeError, OSError, ValueError):  # Windows
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        for group in {"", *(line.rpartition(":")[2] for line in lines)}:
            for limit in (f"{group}/memory.max", f"/memory{group}/memory.limit_in_bytes"):
                with suppress(OSError, ValueError):  # no such version; no limit
                    found = min(found, int(Path(f"/sys/fs/cgroup/{limit}").read_text()))
    return found


def _pool_bytes(file_bytes: int, memory_bytes: int) -> int:
    """The size of the buffer pool for a file.

    A search of all facts reads a quarter of a large file. If that does not fit, every search reads
    it again, and takes five times as long.
    """
    return max(BUFFER_POOL_BYTES, min(file_bytes // 3, memory_bytes // 4, _POOL_BYTES_MAX))


def _address_space_bytes() -> int:
    """The limit of this process's address space in bytes."""
    try:
        import resource  # not on Windows
    except ImportError:
        return _UNLIMITED
    return resource.getrlimit(resource.RLIMIT_AS)[0] % _UNLIMITED  # on Linux no limit is -1


def _reserved_bytes(space_bytes: int, pool_bytes: int) -> tuple[int, int]:
    """Address space to reserve for a store, and for its buffer pool.

    If there is a limit, the store gets a quarter of it, rounded to the power of two that the engine
    needs, and the pool gets an eighth. Python, the model and the engine's threads need the rest.
    """
    quarter = min(max(space_bytes // 4, _STORE_BYTES_MIN), _STORE_BYTES_MAX)
    store_bytes = 1 << (quarter.bit_length() - 1)
    return store_bytes, min(max(space_bytes // 8, _STORE_BYTES_MIN // 2), pool_bytes)


def _unfinished_from(log: Path) -> int | None:
    """The end of the log's whole transactions, if its last record is cut short; else None.

    The length that a record states is trusted. The engine finds any other damage by its checksums.
    """
    content = log.read_bytes() if _size(log) else b""
    place = whole = _LOG_HEADER_BYTES
    while place < len(content):
        length = int.from_bytes(content[place : place + 8], "little")
        end = place + 8 + length + 8
        if length == 0 and place + 8 <= len(content):
            return None
        if end > len(content):
            return whole
        if content[place:end] == _COMMIT:
            whole = end
        place = end
    return None


def leave_unchecked(connection: ladybug.Connection) -> None:
    """Make the engine close a database as it is, without a checkpoint."""
    result = connection.execute("CALL force_checkpoint_on_close=false")
    assert not isinstance(result, list), "one statement gives one result"  # noqa: S101
    result.close()


def _identity(path: Path) -> tuple[int, int] | None:
    """The device and number of a file; None if there is no file."""
    with suppress(FileNotFoundError):
        stat = path.stat()
        return stat.st_dev, stat.st_ino
    return None


def _size(path: Path) -> int:
    with suppress(FileNotFoundError):  # a pause may be moving the log
        return path.stat().st_size
    return 0
