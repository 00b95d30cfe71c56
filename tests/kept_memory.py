"""Freed memory stays with a process of tests, which soon asks for it again.

A store that is opened, written to and closed takes and frees some 100 MB. By default glibc gives
most of that back to the system at once, and the package the rest when it closes a store: 30,000
pages that the next test fetches again, two fifths of the processor time of a short test.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress

from reconciler.adapters import embedded_graph

__all__ = ["fetch_by_huge_pages", "hand_on_no_huge_pages", "keep_freed_memory"]

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""glibc's numbers, from ``malloc.h``."""

_HUGE_PAGES = "GLIBC_TUNABLES", "glibc.malloc.hugetlb=1"

_KEPT_BYTES_MAX = 1 << 30
_BIG_BYTES = 32 << 20
"""Blocks from this size on are still given back at once."""


def keep_freed_memory() -> None:
    """Have this process keep what it frees, where glibc allows it; nothing else changes."""
    with suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        library.mallopt(_TRIM_THRESHOLD, _KEPT_BYTES_MAX)
        library.mallopt(_MMAP_THRESHOLD, _BIG_BYTES)
        library.mallopt(_ARENA_MAX, 1)
        embedded_graph.give_back_memory = _keep  # type: ignore[assignment]


def fetch_by_huge_pages() -> None:
    """Have the processes that are started from now on fetch memory 2 MB at a time, not 4 kB.

    A third of a short test's processor time goes into the 17,000 faults of its first writes. It
    takes glibc 2.35 and a kernel that gives such pages to who asks; others ignore it.
    """
    os.environ.setdefault(*_HUGE_PAGES)


def hand_on_no_huge_pages() -> None:
    """A program that a test starts takes its memory as it does at a user's."""
    name, ours = _HUGE_PAGES
    if os.environ.get(name) == ours:
        del os.environ[name]


def _keep() -> None:
    """In the place of what gives memory back when a store was closed."""
