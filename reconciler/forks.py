"""Keeps a forked child from its parent's objects that rest on threads, locks or sockets.

A child has a copy of all objects, but none of the threads that serve them; a lock that was held at
the fork is held for ever. So code that waits for such an object first checks in which process it
runs.
"""

from __future__ import annotations

import ctypes
import os
from weakref import WeakSet

from reconciler.errors import GraphClosedError

_FORKED = (
    "this memory was opened before the process forked, and only the parent can use it; open one "
    "in the child: Memory.open(...). See docs/web_workers.md"
)


class Maker:
    """The process that made an object, which holds this."""

    def __init__(self) -> None:
        self._process_id = os.getpid()

    @property
    def is_here(self) -> bool:
        """True if this is that process, and not a child that was forked from it."""
        return os.getpid() == self._process_id

    def check(self) -> None:
        """Let only the process that made the object go on.

        Raises:
            GraphClosedError: this is a child; the text says how to open its own.
        """
        if not self.is_here:
            raise GraphClosedError(_FORKED)


_LEFT_ALONE: WeakSet[object] = WeakSet()


def leave_alone_in_children(held: object) -> None:
    """Never destroy an object, nor what it holds, in a child that is forked from here on.

    To destroy a database of the embedded engine waits for threads that the child does not have, and
    ends the process; to close a driver says goodbye on the parent's connections.
    """
    _LEFT_ALONE.add(held)


def _keep_all() -> None:
    """A reference that is never released survives the clean-up of the interpreter."""
    for held in list(_LEFT_ALONE):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_keep_all)
