"""What the trace of use costs a warm recall: the same recalls in turn with and without it.

Run: python -m benchmarks.use_trace [FACTS] [ROUNDS]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from reconciler import Memory
from reconciler.testing import HashingEmbedder

__all__ = ["main"]

RECALLS = 50


def main(facts: int = 300, rounds: int = 20) -> None:
    """Print the median milliseconds of a recall, and their ratio."""
    seconds: dict[bool, list[float]] = {True: [], False: []}
    with (
        tempfile.TemporaryDirectory() as folder,
        _opened(Path(folder) / "with.lbug", 0.5) as traced,
        _opened(Path(folder) / "without.lbug", 0.0) as plain,
    ):
        for memory in (traced, plain):
            _fill(memory, facts)
        for _ in range(rounds):
            for is_traced, memory in ((True, traced), (False, plain)):
                seconds[is_traced] += _recalls(memory)
    with_, without = (1000 * median(seconds[each]) for each in (True, False))
    print(f"{facts} facts, {rounds * RECALLS} recalls each")
    print(f"with {with_:.3f} ms, without {without:.3f} ms, ratio {with_ / without:.3f}")


def _opened(path: Path, flush_seconds: float) -> Memory:
    life = {"use_flush_seconds": flush_seconds}
    return Memory.open(graph="embedded", embedded_path=path, embedder=HashingEmbedder(), life=life)


def _fill(memory: Memory, facts: int) -> None:
    for number in range(facts):
        memory.add_contact_note("crm", "alice", f"Owns boat {number} of the blue fleet")
    memory.recall("crm", "alice", "boat")


def _recalls(memory: Memory) -> list[float]:
    taken = []
    for number in range(RECALLS):
        started = time.perf_counter()
        memory.recall("crm", "alice", f"boat {number}")
        taken.append(time.perf_counter() - started)
    return taken


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
