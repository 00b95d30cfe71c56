"""The C library's memory: cleared when it is handed out, kept, and given back at a store's close.

The embedded engine writes whole pages, and fills only the beginning of some. The rest of such a
page holds whatever was in that memory before: anything that this process ever held, even a text
that was erased long ago. The C library also keeps memory that the engine frees, for its threads.
Never here: what is written where.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

__all__ = ["clear_memory", "give_back_memory", "memory_as_it_comes"]

_PERTURB = -6
"""``M_PERTURB`` in glibc's ``malloc.h``: the byte that freed memory is filled with. What is handed
out is filled with its complement."""
_FREED = 0xFF
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_KEPT_BYTES = 16 * 1024 * 1024
"""Blocks up to this size are kept for the next request. A note takes and frees some 4 MiB; glibc
may give them back to the system each time, and 500 to 1,000 pages a note have to be fetched again:
1 to 3 ms of the processor. Source: measured with ``getrusage``."""
_PAGE_BYTES = 4096
"""The shortest that the engine writes from. glibc takes blocks of up to 1 KiB from a cache that it
does not fill, unless it was told to cache larger ones, too."""
_PROBES = 64


@cache
def clear_memory() -> bool:
    """Clear this process's memory from now on; returns whether that works here.

    It works with glibc, as on most Linux systems, unless another allocator replaces it. It holds
    for the whole process, and its cost is too small to be measured beside a note.
    """
    with suppress(AttributeError, OSError, TypeError):  # no such C library, or none that is known
        library = ctypes.CDLL(None)
        library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
        library.free.restype, library.free.argtypes = None, [ctypes.c_void_p]
        library.mallopt(_MMAP_THRESHOLD, _KEPT_BYTES)
        library.mallopt(_TRIM_THRESHOLD, 2 * _KEPT_BYTES)
        return bool(library.mallopt(_PERTURB, _FREED)) and _is_cleared(library)
    return False


@contextmanager
def memory_as_it_comes() -> Iterator[None]:
    """Hand out memory without clearing it for a moment: while a log is read.

    A damaged byte in a log may read as a length of many gigabytes. The engine asks for that much
    memory, meets the file's end, and refuses the log. Untouched memory costs nothing, but clearing
    touches all of it: opening a damaged store of some kilobytes took 11 GB instead of 1.5.
    """
    if not clear_memory():
        yield
        return
    library = ctypes.CDLL(None)
    library.mallopt(_PERTURB, 0)
    try:
        yield
    finally:
        library.mallopt(_PERTURB, _FREED)


def give_back_memory() -> None:
    """Give freed memory back to the system, if the C library can; else do nothing.

    glibc keeps freed memory, separately for several threads. A process that opened and closed 140
    stores used 31 MB, as after the first one, and held up to 350 MB more. Giving it back takes some
    6 ms of processor time. Source: measured with ``malloc_info``.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _is_cleared(library: Any) -> bool:
    """Whether memory that was written to and freed is handed out again without the old bytes."""
    blocks = [library.malloc(_PAGE_BYTES) for _ in range(_PROBES)]
    for block in filter(None, blocks):
        ctypes.memset(block, 0x5A, _PAGE_BYTES)
    for block in blocks[::2]:  # the block between them keeps them from being merged
        library.free(block)
    again = [library.malloc(_PAGE_BYTES) for _ in blocks[::2]]
    are_clear = [block and not any(ctypes.string_at(block, _PAGE_BYTES)) for block in again]
    for block in [*blocks[1::2], *again]:
        library.free(block)
    return all(are_clear)
