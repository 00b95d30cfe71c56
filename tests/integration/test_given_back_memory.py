"""A host's memory is as it was: freed memory is the system's again, and nothing is cleared."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler import Memory
from reconciler.adapters import cleared_memory as cleared_memory_module, embedded_graph
from reconciler.adapters.cleared_memory import (
    _filling,
    can_clear_memory,
    cleared_memory,
    give_back_memory,
)
from reconciler.adapters.embedded_graph import EmbeddedGraph
from reconciler.testing import HashingEmbedder
from tests.erasure_planting import ASKED

BLOCK_BYTES, BLOCKS = 60 << 10, 3000
"""Blocks of a size that glibc takes from what it keeps, not from the system."""

pytestmark = pytest.mark.skipif(not can_clear_memory(), reason="only glibc keeps what was freed")


@pytest.fixture(autouse=True)
def no_other_writer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that another test left in the middle of a write counts in that test alone.

    Its end would put the setting back in the middle of this test, so it is waited for.
    """
    until = time.monotonic() + 20
    while cleared_memory_module._writers.count and time.monotonic() < until:
        time.sleep(0.01)
    monkeypatch.setattr(cleared_memory_module, "_writers", cleared_memory_module._Writers())
    cleared_memory_module._fill_with(cleared_memory_module._hosts_own())


def is_left_as_is() -> bool:
    """True if memory is left as is, now or soon: a pause of writes may just move a store's log."""
    until = time.monotonic() + 60
    while _filling() is not None and time.monotonic() < until:
        time.sleep(0.01)
    return _filling() is None


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


def test_memory_is_cleared_while_the_engine_writes_and_at_no_other_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    tidy_up = EmbeddedGraph._tidy_up

    def looking(self: EmbeddedGraph, *given: object) -> None:
        seen.append(_filling())
        tidy_up(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(EmbeddedGraph, "_tidy_up", looking)
    given = {"graph": "embedded", "embedded_path": tmp_path / "memory.lbug"}
    with Memory.open(embedder=HashingEmbedder(16), **given) as memory:
        assert is_left_as_is()
        memory.add_contact_note("crm", "priya", "Likes tea.")
        assert set(seen) == {0}
        assert is_left_as_is()
        memory.contact("crm", "priya").forget(**ASKED)
        assert is_left_as_is()
    assert set(seen) == {0}
    assert is_left_as_is()


def test_the_last_of_several_writers_puts_the_setting_back_also_after_an_error() -> None:
    def written() -> None:
        with cleared_memory():
            with cleared_memory():
                pass
            assert _filling() == 0
            raise KeyError

    with pytest.raises(KeyError):
        written()
    assert _filling() is None


def test_a_writer_of_before_a_fork_counts_where_it_was_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with cleared_memory():
        monkeypatch.setattr(cleared_memory_module, "_writers", cleared_memory_module._Writers())
    assert cleared_memory_module._writers.count == 0


FIRST_WRITERS = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from reconciler.adapters.cleared_memory import _filling, can_clear_memory, cleared_memory

at_once = Barrier(16)

def written(_):
    at_once.wait()
    with cleared_memory():
        pass

with ThreadPoolExecutor(16) as threads:
    list(threads.map(written, range(16)))
print(can_clear_memory(), _filling())
"""


def test_writers_that_begin_at_once_take_nothing_of_each_other_for_the_hosts_own() -> None:
    """And no writer clears nothing, because it saw what another one was trying out."""
    for _ in range(5):
        ran = subprocess.run(
            [sys.executable, "-c", FIRST_WRITERS], capture_output=True, text=True, check=True
        )
        assert ran.stdout.split() == ["True", "None"], ran.stderr


HOST = """
import os, sys
from pathlib import Path
from reconciler.adapters.cleared_memory import _filling, cleared_memory
from reconciler.adapters.embedded_graph import EmbeddedGraph

EmbeddedGraph(Path(sys.argv[1])).close()
with cleared_memory():
    if (child := os.fork()) == 0:
        print(_filling(), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
print(_filling())
"""


@pytest.mark.parametrize(("own", "filling"), [("0", "None"), ("85", "170"), ("255", "0")])
def test_a_host_s_own_setting_is_put_back_also_in_a_child(
    own: str, filling: str, tmp_path: Path
) -> None:
    environment = {**os.environ, "MALLOC_PERTURB_": own, "PYTHONPATH": str(Path.cwd())}
    told = subprocess.run(
        [sys.executable, "-c", HOST, tmp_path / "memory.lbug"],
        check=True,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert told.stdout.split() == [filling, filling]
