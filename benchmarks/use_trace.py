"""What the trace of use costs a warm recall: the same recalls in turn with and without it.

The counts are written twenty times as often as the settings have it, beside the recalls.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from statistics import median

from reconciler import Memory
from reconciler.testing import HashingEmbedder

__all__ = ["main"]

FACTS, ROUNDS, RECALLS = 300, 20, 50


def main(_: object) -> None:
    """Print the median milliseconds of a recall with and without the trace, and their ratio."""
    seconds: dict[bool, list[float]] = {True: [], False: []}
    with (
        tempfile.TemporaryDirectory() as folder,
        _opened(Path(folder) / "with.lbug", 0.5) as traced,
        _opened(Path(folder) / "without.lbug", 0.0) as plain,
    ):
        for memory in (traced, plain):
            _fill(memory)
        for _ in range(ROUNDS):
            for is_traced, memory in ((True, traced), (False, plain)):
                seconds[is_traced] += _recalls(memory)
    with_, without = (1000 * median(seconds[each]) for each in (True, False))
    print(f"{FACTS} facts, {ROUNDS * RECALLS} recalls each")
    print(f"with {with_:.3f} ms, without {without:.3f} ms, ratio {with_ / without:.3f}")


def _opened(path: Path, flush_seconds: float) -> Memory:
    life = {"use_flush_seconds": flush_seconds}
    return Memory.open(graph="embedded", embedded_path=path, embedder=HashingEmbedder(), life=life)


def _fill(memory: Memory) -> None:
    for number in range(FACTS):
        memory.add_contact_note("crm", "alice", f"Owns boat {number} of the blue fleet")
    memory.recall("crm", "alice", "boat")


def _recalls(memory: Memory) -> list[float]:
    taken = []
    for number in range(RECALLS):
        started = time.perf_counter()
        memory.recall("crm", "alice", f"boat {number}")
        taken.append(time.perf_counter() - started)
    return taken
