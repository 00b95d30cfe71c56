"""What was freed in a process is the system's again once its store is closed."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler import Memory
from reconciler.adapters import embedded_graph
from reconciler.adapters.cleared_memory import clear_memory, give_back_memory
from reconciler.testing import HashingEmbedder

BLOCK_BYTES, BLOCKS = 60 << 10, 3000
"""Blocks of a size that glibc takes from what it keeps, not from the system."""

pytestmark = pytest.mark.skipif(not clear_memory(), reason="only glibc keeps what was freed")


def resident_mb() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


@pytest.fixture
def freed_mb() -> Iterator[float]:
    """How much was freed in this process; glibc keeps it, because the last block is in use."""
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.restype, library.free.argtypes = None, [ctypes.c_void_p]
    blocks = [library.malloc(BLOCK_BYTES) for _ in range(BLOCKS)]
    for block in blocks:
        ctypes.memset(block, 1, BLOCK_BYTES)
    for block in blocks[:-1]:
        library.free(block)
    yield BLOCK_BYTES * BLOCKS / (1 << 20)
    library.free(blocks[-1])


def test_a_process_holds_no_freed_memory_once_its_store_is_closed(
    freed_mb: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_graph, "give_back_memory", give_back_memory)  # see kept_memory
    before = resident_mb()
    given = {"graph": "embedded", "embedded_path": tmp_path / "memory.lbug"}
    Memory.open(embedder=HashingEmbedder(16), **given).close()
    assert resident_mb() < before - freed_mb / 2
