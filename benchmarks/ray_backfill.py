"""How an import on Ray compares with one process's of the same lines, a core and in all."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.data import rows
from benchmarks.engines import Engines
from benchmarks.sizes import sized
from reconciler import Memory

NOTES = sized(4_000, 100, "RAY_NOTES")
CONTACTS = 100
PARTITIONS = 8
NODE = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "object_store_memory": 80 << 20}
TICKS = os.sysconf("SC_CLK_TCK")


def main(available: Engines) -> None:
    pairs = rows("note_pairs.jsonl")
    names = [name for name in available.names if name != "embedded"]
    if pairs is None or not names:
        return
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # stay on the loopback
    try:
        import ray  # noqa: F401
    except ImportError:
        print("left out: Ray is not installed (pip install -c constraints.txt '.[ray]')\n")
        return
    texts = [text for pair in pairs for text in (pair["a"], pair["b"])][:NOTES]
    lines = [
        json.dumps({"agent_id": "benchmark", "contact_id": f"c{number % CONTACTS}", "text": text})
        for number, text in enumerate(texts)
    ]
    print(f"## import of {len(lines)} notes about {CONTACTS} contacts, by one process and on Ray\n")
    print(
        f"Processor time is that of all writing processes, Ray's own included; Neo4j's is not. "
        f"Rates are of notes a second. {PARTITIONS} parts.\n"
    )
    print(
        "| engine | by | whole, s | rate | rate without the start | processor, ms a note | "
        "rate a core |"
    )
    print("|---|---|--:|--:|--:|--:|--:|")
    for name in names:
        _one_process(name, available, lines)
        for nodes in range(1, (os.cpu_count() or 1) + 1):
            _on_ray(name, available, lines, nodes)
        _one_process(name, available, lines)
    print()


def _one_process(name: str, available: Engines, lines: list[str]) -> None:
    with Memory.open(**available.fresh(name)) as memory:
        memory.warm_up()
        began, processor, done = time.perf_counter(), time.process_time(), _Done()
        memory.import_notes(lines, on_progress=done)
        seconds = time.perf_counter() - began
        _row(name, "one process", len(lines), seconds, done, time.process_time() - processor)


def _on_ray(name: str, available: Engines, lines: list[str], nodes: int) -> None:
    from ray.cluster_utils import Cluster

    from reconciler.integrations.ray_backfill import import_on_ray

    before = _children(os.getpid())
    cluster = Cluster(initialize_head=True, head_node_args=NODE | {"include_dashboard": False})
    try:
        for _ in range(nodes - 1):
            cluster.add_node(**NODE)
        roots = _children(os.getpid()) - before
        with Memory.open(**available.fresh(name)) as memory:
            began, idle = time.perf_counter(), _processor_seconds(roots)
            own, done = time.process_time(), _Done(roots)
            report = import_on_ray(
                memory,
                lines,
                address=cluster.address,
                partitions=PARTITIONS,
                on_progress=done,
            )
            seconds = time.perf_counter() - began
            assert not report.errors, report.errors[:3]
        processor = done.processor - idle + time.process_time() - own
        by = f"Ray, {nodes} nodes of a core" if nodes > 1 else "Ray, 1 node of a core"
        _row(name, by, len(lines), seconds, done, processor)
    finally:
        cluster.shutdown()


class _Done:
    """When how much was done, and what the processes beneath had used by the last part."""

    def __init__(self, roots: set[int] | None = None) -> None:
        self._roots = roots or set()
        self.at: list[tuple[float, int]] = []
        self.processor = 0.0

    def __call__(self, count: int) -> None:
        self.at.append((time.perf_counter(), count))
        self.processor = _processor_seconds(self._roots)

    @property
    def rate(self) -> float:
        """From the first part that was done to the last."""
        (first_at, _), *later = self.at
        return sum(count for _, count in later) / (later[-1][0] - first_at)


def _row(name: str, by: str, count: int, seconds: float, done: _Done, processor: float) -> None:
    print(
        f"| {name} | {by} | {seconds:.1f} | {count / seconds:.0f} | {done.rate:.0f} | "
        f"{1000 * processor / count:.1f} | {count / processor:.0f} |",
        flush=True,
    )


def _stat(pid: str) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _family() -> Iterator[tuple[int, int, float]]:
    """Every process: its id, its parent's, its processor seconds, those of ended children too."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = _stat(folder.name)
        except OSError:
            continue
        yield int(folder.name), int(fields[1]), sum(map(int, fields[11:15])) / TICKS


def _children(of: int) -> set[int]:
    return {pid for pid, parent, _ in _family() if parent == of}


def _processor_seconds(roots: set[int]) -> float:
    """Of these processes and all beneath them."""
    known = list(_family())
    family = set(roots)
    while more := {pid for pid, parent, _ in known if parent in family} - family:
        family |= more
    return sum(seconds for pid, _, seconds in known if pid in family)
