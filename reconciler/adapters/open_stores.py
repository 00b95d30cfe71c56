"""The embedded stores that this process has open, by the identity of their files, not by name.

One file may have several names: a link, a bind mount, capitals on a file system that ignores them.
The engine locks a file against other processes only, so a second database on the same file in this
process would overwrite the first one's pages. The contents of a store are never read here.
"""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path
from weakref import WeakKeyDictionary

_LOCK = threading.Lock()
_PART = re.compile(r"\.(wal|shadow|no-log|lock|tmp|pk_validator|mending-|rewriting-|removed-)")
"""How a name goes on after the main file's, if the engine or this package writes that file."""

_OPEN: WeakKeyDictionary[object, Path] = WeakKeyDictionary()


def claim(path: Path, holder: object) -> bool:
    """Claim a store for one holder in this process; False if another holder has it.

    Args:
        path: its main file, absolute; it need not exist yet.
        holder: keeps the claim until ``give_up``, or until no reference to the holder is left.
    """
    with _LOCK:
        if any(_are_one_file(path, other) for other in _OPEN.values()):
            return False
        _OPEN[holder] = path
        return True


def give_up(holder: object) -> None:
    """Give up a claim, so that the holder's store can be opened again."""
    with _LOCK:
        _OPEN.pop(holder, None)


def is_open(path: Path) -> bool:
    """True if a path names the main file of a store that is open here, or a file beside it."""
    with _LOCK:
        return any(
            _are_one_file(path, main)
            or (
                # The name of a file beside a store; some file systems ignore capitals.
                (
                    _PART.match(path.name.casefold().removeprefix(main.name.casefold()))
                    or path.name.casefold() == f"{main.stem}.key".casefold()
                )
                and _are_one_file(path.parent, main.parent)
            )
            for main in _OPEN.values()
        )


def _forget_all() -> None:
    """Start empty in a forked child: no store is open, and the parent's threads hold no lock."""
    global _LOCK
    _LOCK = threading.Lock()
    _OPEN.clear()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_forget_all)


def _are_one_file(path: Path, other: Path) -> bool:
    try:
        return path == other or path.samefile(other)
    except OSError:  # one of them does not exist, or may not be looked at
        return False
