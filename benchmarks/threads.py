"""What a write takes where many threads write at once, about one contact and about forty."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median, quantiles
from threading import Barrier

from benchmarks.engines import Engines
from benchmarks.sizes import IS_SHORT, sized
from reconciler import Memory
from reconciler.bootstrap.chosen_models import build_embedder
from reconciler.errors import ReconcilerError
from reconciler.ports.embedder import Embedder
from reconciler.settings import load_settings

CROWDS = ((4, 1, 2),) if IS_SHORT else ((8, 1, 25), (200, 1, 1), (200, 40, 1))
"""Threads, contacts, and notes of each thread."""

ALONE = sized(50, 5)


@dataclass(frozen=True, slots=True)
class Write:
    """How long one write took, and how often it was tried; no attempts where it failed."""

    seconds: float
    attempts: int


def main(available: Engines) -> None:
    print("## many threads at once, the real model; every note another one\n")
    print("alone: the median of one thread's writes, just before.\n")
    print("| engine | threads | contacts | alone, ms | median, s | p99, s | attempts | failed |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    embedder = build_embedder(load_settings())
    embedder.warm_up()
    for name in available.names:
        for threads, contacts, notes in CROWDS:
            _measure(available, name, embedder, (threads, contacts, notes))
    embedder.close()
    print()


def _measure(
    available: Engines, name: str, embedder: Embedder, crowd: tuple[int, int, int]
) -> None:
    threads, contacts, notes = crowd
    with Memory.open(embedder=embedder, **available.fresh(name)) as memory:
        alone = median(_write(memory, "alone", f"a{n}").seconds for n in range(ALONE))
        start = Barrier(threads)

        def go(number: int) -> list[Write]:
            start.wait()
            to = f"contact-{number % contacts}"
            return [_write(memory, to, f"{number}-{note}") for note in range(notes)]

        with ThreadPoolExecutor(threads) as pool:
            writes = [write for made in pool.map(go, range(threads)) for write in made]
    seconds = [write.seconds for write in writes]
    print(
        f"| {name} | {threads} | {contacts} | {alone * 1000:.0f} | {median(seconds):.2f} "
        f"| {quantiles(seconds, n=100)[98]:.2f} | {max(write.attempts for write in writes)} "
        f"| {sum(not write.attempts for write in writes)} |",
        flush=True,
    )


def _write(memory: Memory, contact: str, number: str) -> Write:
    started = time.perf_counter()
    try:
        decision = memory.add_contact_note("benchmark", contact, f"Invoice {number} is unpaid.")
        attempts = decision.timings.attempts
    except ReconcilerError:
        attempts = 0
    return Write(time.perf_counter() - started, attempts)
