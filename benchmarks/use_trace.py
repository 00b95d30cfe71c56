"""What the trace of use costs a warm recall: the same recalls in turn with and without it.

The counts are written twenty times as often as the settings have it, beside the recalls.
"""

from __future__ import annotations

import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from benchmarks.sizes import sized
from reconciler import Memory
from reconciler.service.use_trace import UseTrace
from reconciler.testing import HashingEmbedder

__all__ = ["main"]

FACTS, RECALLS = sized(300, 20), sized(3_000, 50)


def main(_: object) -> None:
    """Print the median milliseconds of a recall with and without the trace, and their ratio."""
    with (
        tempfile.TemporaryDirectory() as folder,
        _opened(Path(folder) / "with.lbug", 0.5) as traced,
        _opened(Path(folder) / "without.lbug", 0.0) as plain,
    ):
        for memory in (traced, plain):
            _fill(memory)
        pairs = [_in_turn(traced, plain, number) for number in range(RECALLS)]
    with_, without = (1000 * median(each) for each in zip(*pairs, strict=True))
    print(f"{FACTS} facts, {RECALLS} recalls each")
    print(f"with {with_:.3f} ms, without {without:.3f} ms, ratio {with_ / without:.3f}")
    print(f"to note eight facts takes {1e6 * _noting():.1f} µs")


def _opened(path: Path, flush_seconds: float) -> Memory:
    life = {"use_flush_seconds": flush_seconds}
    return Memory.open(graph="embedded", embedded_path=path, embedder=HashingEmbedder(), life=life)


def _fill(memory: Memory) -> None:
    for number in range(FACTS):
        memory.add_contact_note("crm", "alice", f"Owns boat {number} of the blue fleet")
    memory.contact("crm", "alice").recall("boat")


def _in_turn(traced: Memory, plain: Memory, number: int) -> tuple[float, float]:
    """Seconds of one recall of each; which of them comes first changes each time."""
    if number % 2:
        return _seconds(traced, number), _seconds(plain, number)
    without = _seconds(plain, number)
    return _seconds(traced, number), without


def _seconds(memory: Memory, number: int) -> float:
    started = time.perf_counter()
    memory.contact("crm", "alice").recall(f"boat {number % FACTS}")
    return time.perf_counter() - started


def _noting() -> float:
    """Median seconds of the part that a recall waits for."""
    trace = UseTrace(
        write=lambda _: None,
        write_asked=lambda _: None,
        clock=lambda: datetime.now(UTC),
        flush_seconds=3600,
    )
    taken = []
    for number in range(RECALLS):
        ids = [f"fact-{(number + each) % FACTS}" for each in range(8)]
        started = time.perf_counter()
        trace.note(ids)
        taken.append(time.perf_counter() - started)
    trace.close()
    return median(taken)
