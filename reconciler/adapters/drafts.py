"""Drafts: folders for files that are not in place yet; removed even if their process is killed.

A draft is in a hidden folder that its process has locked. The lock ends with the process, so a
draft without a lock belongs to a killed process; it may hold a contact's words. Never here: the
contents of a draft, and when it is put in place. ``sync`` and ``sync_folder`` make what was written
to files and folders survive a loss of power.
"""

from __future__ import annotations

import atexit
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import IO, Any

from reconciler.forks import Maker


def sync(file: IO[Any]) -> None:
    """Put what was written to an open file on the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Put the names of a folder's files on the disk."""
    if not hasattr(os, "O_DIRECTORY"):
        return  # Windows opens no folder, and needs no such sync
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_PREFIX = ".reconciler-draft-"


@contextmanager
def draft_folder(beside: Path) -> Iterator[Path]:
    """A new private folder beside a path; it is removed afterwards.

    Drafts that killed processes left there are removed first.

    Raises:
        OSError: it cannot be made.
    """
    remove_abandoned_drafts(beside.parent)
    folder, lock = _locked_folder(beside.parent)
    try:
        yield folder
    finally:
        _remove(folder, lock)


def temporary_folder() -> tuple[Path, Callable[[], None]]:
    """A new private folder among the temporary ones, and a function that removes it.

    The folder is removed when this process ends at the latest. If this process is killed, the next
    process that asks for such a folder removes it. A forked child never removes it.

    Raises:
        OSError: it cannot be made.
    """
    parent = Path(gettempdir())
    remove_abandoned_drafts(parent)
    folder, lock = _locked_folder(parent)
    maker = Maker()

    def remove() -> None:
        atexit.unregister(remove)
        if maker.is_here:
            _remove(folder, lock)

    atexit.register(remove)
    return folder, remove


def _remove(folder: Path, lock: int | None) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if lock is not None:
        os.close(lock)


def remove_abandoned_drafts(parent: Path) -> None:
    """Remove the drafts that killed processes left in a folder; do nothing if locks do not work."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another user's, or one that is in use, or just gone
            if (lock := _lock(folder, is_waiting=False)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _locked_folder(parent: Path) -> tuple[Path, int | None]:
    """Make a new folder with its lock; None if locks do not work."""
    while True:
        folder = Path(mkdtemp(prefix=_PREFIX, dir=parent))
        try:
            lock = _lock(folder, is_waiting=True)
        except FileNotFoundError:
            continue  # taken for abandoned before it was locked
        except OSError:
            return folder, None
        if folder.exists():
            return folder, lock
        if lock is not None:
            os.close(lock)


def _lock(folder: Path, *, is_waiting: bool) -> int | None:
    """A descriptor that holds the folder's lock until it is closed; None on Windows.

    Raises:
        OSError: the folder is gone, another's, or locked, or its file system has no locks.
    """
    try:
        import fcntl  # not on Windows, where the rest works
    except ImportError:
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if is_waiting else fcntl.LOCK_NB))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
