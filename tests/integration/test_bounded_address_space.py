"""A process with a bounded address space (``ulimit -v``) keeps a memory, or says what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reconciler.adapters.embedded_files import BUFFER_POOL_BYTES, _reserved_bytes
from reconciler.adapters.embedded_graph import EmbeddedGraph

pytest.importorskip("resource", reason="only POSIX bounds a process so")

GIB = 1 << 30
BOUNDED = """
import resource, sys
bound = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
from pathlib import Path
from reconciler.adapters.embedded_graph import EmbeddedGraph
from reconciler.errors import ConfigurationError
try:
    graph = EmbeddedGraph(Path(sys.argv[2]))
    graph.migrate(8)
    graph.close()
    print("kept")
except ConfigurationError as error:
    print(error)
"""


def bounded(bound: int, path: Path) -> str:
    """What a process with so much address space says of a store that it opens and fills."""
    command = [sys.executable, "-c", BOUNDED, str(bound), str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return ended.stdout + ended.stderr


@pytest.mark.parametrize("bound", [3 * GIB // 2, 4 * GIB])
def test_a_bounded_process_keeps_a_memory(tmp_path: Path, bound: int) -> None:
    assert bounded(bound, tmp_path / "memory.lbug").strip() == "kept"


def test_where_the_bound_is_too_low_it_says_what_to_do(tmp_path: Path) -> None:
    assert "ulimit -v unlimited" in bounded(GIB * 3 // 10, tmp_path / "memory.lbug")


def test_a_file_too_large_for_the_bound_is_refused_before_the_engine_maps_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.lbug"
    EmbeddedGraph(path).close()
    with path.open("rb+") as file:
        file.truncate(GIB)
    assert "sixteen times the file's size" in bounded(2 * GIB, path)


@pytest.mark.parametrize(
    ("space", "store", "pool"),
    [
        (None, 1 << 40, BUFFER_POOL_BYTES),
        (1 << 50, 1 << 40, BUFFER_POOL_BYTES),
        (16 * GIB, 4 * GIB, BUFFER_POOL_BYTES),
        (16 * GIB - 1, 2 * GIB, BUFFER_POOL_BYTES),
        (4 * GIB, GIB, GIB // 2),
        (GIB, GIB // 4, GIB // 8),
        (1, GIB // 4, GIB // 8),
    ],
)
def test_what_is_reserved_follows_the_bound(space: int | None, store: int, pool: int) -> None:
    assert _reserved_bytes(space) == (store, pool)


def test_one_process_opens_twenty_stores(tmp_path: Path) -> None:
    graphs = [EmbeddedGraph(tmp_path / f"{number}.lbug") for number in range(20)]
    for graph in graphs:
        graph.close()
