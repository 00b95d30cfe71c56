"""A process with a bounded address space (``ulimit -v``) keeps a memory, or says what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import ladybug
import pytest

from reconciler.adapters import embedded_files
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
        (1 << 63, 1 << 40, BUFFER_POOL_BYTES),
        (1 << 50, 1 << 40, BUFFER_POOL_BYTES),
        (16 * GIB, 4 * GIB, BUFFER_POOL_BYTES),
        (16 * GIB - 1, 2 * GIB, BUFFER_POOL_BYTES),
        (4 * GIB, GIB, GIB // 2),
        (GIB, GIB // 4, GIB // 8),
        (1, GIB // 4, GIB // 8),
    ],
)
def test_what_is_reserved_follows_the_bound(space: int, store: int, pool: int) -> None:
    assert _reserved_bytes(space, BUFFER_POOL_BYTES) == (store, pool)


@pytest.mark.parametrize("unlimited", [-1, (1 << 63) - 1])  # as Linux and macOS say it
def test_a_process_without_a_bound_reserves_the_most(
    monkeypatch: pytest.MonkeyPatch, unlimited: int
) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (unlimited, unlimited))
    assert _reserved_bytes(embedded_files._address_space_bytes(), 3 * GIB) == (1 << 40, 3 * GIB)


@pytest.mark.parametrize(
    ("file", "memory", "pool"),
    [
        (0, 64 * GIB, GIB),
        (3 * GIB, 64 * GIB, GIB),
        (6 * GIB, 64 * GIB, 2 * GIB),
        (6 * GIB, 6 * GIB, 6 * GIB // 4),
        (6 * GIB, 2 * GIB, GIB),
        (6 * GIB, 0, GIB),
        (64 * GIB, 64 * GIB, 4 * GIB),
    ],
)
def test_a_larger_file_gets_a_larger_pool_as_far_as_memory_allows(
    file: int, memory: int, pool: int
) -> None:
    assert embedded_files._pool_bytes(file, memory) == pool


@pytest.mark.parametrize(("limit", "known"), [("1048576\n", 1 << 20), ("max\n", None), ("", None)])
def test_a_container_has_the_memory_of_its_group(
    monkeypatch: pytest.MonkeyPatch, limit: str, known: int | None
) -> None:
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    monkeypatch.setattr(Path, "read_text", lambda _: limit)
    assert embedded_files._memory_bytes() == (known or machine)


@pytest.mark.parametrize(
    ("group", "limit"),
    [
        ("0::/app.slice", "app.slice/memory.max"),
        ("4:memory:/docker/a", "memory/docker/a/memory.limit_in_bytes"),
        ("4:memory:/docker/a", "memory/memory.limit_in_bytes"),
    ],
)
def test_the_limit_of_a_group_of_either_version_is_found(
    monkeypatch: pytest.MonkeyPatch, group: str, limit: str
) -> None:
    files = {Path("/proc/self/cgroup"): group, Path("/sys/fs/cgroup") / limit: "1048576\n"}

    def read(path: Path) -> str:
        if path not in files:
            raise FileNotFoundError(path)
        return files[path]

    monkeypatch.setattr(Path, "read_text", read)
    assert embedded_files._memory_bytes() == 1 << 20


def test_the_engine_gets_the_pool_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.lbug"
    EmbeddedGraph(path).close()
    opened, files = list[int](), list[int]()

    def sized(file_bytes: int, _: int) -> int:
        files.append(file_bytes)
        return 1 << 28

    def database(*given: Any, buffer_pool_size: int, **others: Any) -> ladybug.Database:
        opened.append(buffer_pool_size)
        return make(*given, buffer_pool_size=buffer_pool_size, **others)

    make = ladybug.Database
    monkeypatch.setattr(embedded_files, "_pool_bytes", sized)
    monkeypatch.setattr(ladybug, "Database", database)
    file_bytes = path.stat().st_size
    EmbeddedGraph(path).close()
    assert (files, opened) == ([file_bytes], [1 << 28])


def test_one_process_opens_twenty_stores(tmp_path: Path) -> None:
    graphs = [EmbeddedGraph(tmp_path / f"{number}.lbug") for number in range(20)]
    for graph in graphs:
        graph.close()
