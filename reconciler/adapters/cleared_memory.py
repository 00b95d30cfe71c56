"""The C library's memory: cleared while the engine writes, and returned when a store is closed.

The embedded engine writes whole pages, and fills only the beginning of some. The rest of such a
page keeps the old contents of that memory. They may come from any part of this process, even from a
text that was erased long ago. The C library also keeps memory that the engine frees, for its
threads. Never here: what is written where.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

_PERTURB = -6
"""``M_PERTURB`` in glibc's ``malloc.h``: the byte that freed memory is filled with. What is handed
out is filled with its complement."""
_FREED = 0xFF
_PAGE_BYTES = 4096
"""The shortest that the engine writes from. glibc takes blocks of up to 1 KiB from a cache that it
does not fill, unless it was told to cache larger ones, too."""
_PROBES = 64


class _Writers:
    """Counts the running writers; while there is one, this process's memory is cleared."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()

    def change(self, by: int) -> None:
        with self._lock:
            self.count += by
            _fill_with(_FREED if self.count else _hosts_own())


_writers = _Writers()
_probing = threading.Lock()
"""Held while the host's setting is read. Otherwise two threads that read the setting at once could
each take the other's trial value for the host's setting, and keep it for good."""


@contextmanager
def cleared_memory() -> Iterator[None]:
    """Clear memory when it is handed out, until the block ends, if the C library can.

    Else do nothing.

    It holds for all threads of the process: an array of 1 MiB takes 0.1 ms more to make. So only
    a writer has it, for the milliseconds of a write, and afterwards the host's own setting holds
    again. Reads and open stores cost the host nothing.
    """
    if not can_clear_memory():
        yield
        return
    writers = _writers  # a fork puts others there
    writers.change(1)
    try:
        yield
    finally:
        writers.change(-1)


def can_clear_memory() -> bool:
    """True if this process's memory can be cleared.

    It can with glibc, as on most Linux systems, unless another allocator replaces it.
    """
    with _probing:
        return _can_clear_memory()


@cache
def _can_clear_memory() -> bool:
    with suppress(AttributeError, OSError, TypeError):  # no such C library, or none that is known
        before = _hosts_own()
        is_clear = _fill_with(_FREED) and _filling() == 0
        return _fill_with(before) and is_clear
    return False


def give_back_memory() -> None:
    """Give freed memory back to the system, if the C library can; else do nothing.

    glibc keeps freed memory, separately for several threads. A process that opened and closed 140
    stores used 31 MB, as after the first one, and held up to 350 MB more. Giving it back takes some
    6 ms of processor time. Source: measured with ``malloc_info``.
    """
    with suppress(AttributeError, OSError, TypeError):
        _library().malloc_trim(0)


def _fill_with(byte: int) -> bool:
    return bool(_library().mallopt(_PERTURB, byte))


@cache
def _library() -> Any:
    """The C library; to look for it takes a tenth of a millisecond."""
    return ctypes.CDLL(None)


@cache
def _hosts_own() -> int:
    """Find the host's ``M_PERTURB``, set by ``MALLOC_PERTURB_``, for example.

    Glibc cannot report it.

    0, the default, fills nothing.
    """
    filling = _filling()
    return 0 if filling is None else filling ^ 0xFF


def _filling() -> int | None:
    """Byte that used memory is filled with when it is handed out; None if it is left as is."""
    library = _library()
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.restype, library.free.argtypes = None, [ctypes.c_void_p]
    blocks = [library.malloc(_PAGE_BYTES) for _ in range(_PROBES)]
    for block in filter(None, blocks):
        ctypes.memset(block, 0x5A, _PAGE_BYTES)
    for block in blocks[::2]:  # the block between them keeps them from being merged
        library.free(block)
    again = [library.malloc(_PAGE_BYTES) for _ in blocks[::2]]
    used = {*again} & {*filter(None, blocks[::2])}
    found = {byte for block in used for byte in ctypes.string_at(block, _PAGE_BYTES)}
    for block in [*blocks[1::2], *again]:
        library.free(block)
    return found.pop() if len(found) == 1 else None


def _start_anew() -> None:
    """Restore the host's setting in a forked child, which has none of the writers."""
    global _writers
    if _writers.count:
        _fill_with(_hosts_own())
    _writers = _Writers()
    _probing.release()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(
        before=_probing.acquire, after_in_parent=_probing.release, after_in_child=_start_anew
    )
