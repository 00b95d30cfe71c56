"""A test that leaves a connection open fails itself, and hears where the connection was opened.

Else the garbage collector comes upon it minutes later, and another test fails for it.
"""

from __future__ import annotations

import gc
import socket
import sys
import threading
import traceback
import warnings
from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["OpenSockets"]


class OpenSockets:
    """The connections that this process opened, each with the lines of code that opened it."""

    def __init__(self) -> None:
        self._opened: WeakKeyDictionary[socket.socket, list[str]] = WeakKeyDictionary()
        self._new: WeakKeyDictionary[socket.socket, None] = WeakKeyDictionary()
        self._lock = threading.RLock()
        sys.addaudithook(self._note)

    def check(self) -> None:
        """Collect what nothing refers to any more, where there are new connections.

        Raises:
            AssertionError: a connection was left open.
        """
        with self._lock:
            is_any_new = any(each.fileno() >= 0 for each in self._new)
            self._new.clear()
            still = {repr(each): told for each, told in self._opened.items()} if is_any_new else {}
        if not still:
            return
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always", ResourceWarning)
            gc.collect()
        said = [str(each.message) for each in seen]
        left = [told for name, told in still.items() if any(name in each for each in said)]
        assert not left, "left open, opened by\n" + "\n".join("".join(each) for each in left)

    def _note(self, event: str, given: tuple[Any, ...]) -> None:
        if event != "socket.connect" or not isinstance(given[0], socket.socket):
            return
        if isinstance(given[1], tuple):  # an address with a port
            told = traceback.format_stack(sys._getframe(1), limit=12)
            with self._lock:
                self._new[given[0]], self._opened[given[0]] = None, told
