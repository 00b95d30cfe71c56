"""How long an event loop stands still while forty notes are written at once through AsyncMemory."""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from statistics import median, quantiles

from benchmarks.engines import Engines
from benchmarks.sizes import sized
from reconciler import AsyncMemory

WRITES = 40
ROUNDS = sized(10, 1)
LAG_MS_MAX = 50
TICK_SECONDS = 0.001
THREADS = (4, 16)[: sized(2, 1)]


@dataclass(frozen=True, slots=True)
class Lags:
    """By how much a sleep of a millisecond was late, in ms, sorted; and the seconds of the work."""

    each_ms: list[float]
    seconds: float


def main(available: Engines) -> None:
    print(f"## {WRITES} writes at once through AsyncMemory, the real model, {ROUNDS} rounds\n")
    print(f"lag: how much later than asked a sleep of {TICK_SECONDS * 1000:g} ms ended, the worst")
    print("of a round. idle: before any write. first: the first round after the opening. frozen:")
    print("after gc.collect() and gc.freeze(), so that no full collection comes in between.\n")
    print(
        "| engine | threads | frozen | load | idle, ms | first, ms | p99, ms | worst, ms |"
        " rounds over 50 ms | round, s |"
    )
    print("|---|--:|---|--:|--:|--:|--:|--:|--:|--:|")
    for name in available.names:
        for threads, is_frozen in itertools.product(THREADS, (False, True)):
            asyncio.run(_measure(available, name, threads, is_frozen=is_frozen))
    print()


async def _measure(available: Engines, name: str, threads: int, *, is_frozen: bool) -> None:
    async with AsyncMemory.open(threads=threads, **available.fresh(name)) as memory:
        if is_frozen:
            gc.collect()
            gc.freeze()
        idle = await _lags_during(asyncio.sleep(0.5))
        rounds = [await _lags_during(_writes(memory, number)) for number in range(ROUNDS)]
    later = [lag for each in rounds[1:] or rounds for lag in each.each_ms]
    worst = [each.each_ms[-1] for each in rounds]
    late = sum(each > LAG_MS_MAX for each in worst)
    print(
        f"| {name} | {threads} | {'yes' if is_frozen else 'no'} | {os.getloadavg()[0]:.1f} "
        f"| {idle.each_ms[-1]:.0f} | {worst[0]:.0f} | {quantiles(later, n=100)[98]:.0f} "
        f"| {max(worst):.0f} | {late} of {ROUNDS} "
        f"| {median(each.seconds for each in rounds):.2f} |",
        flush=True,
    )
    gc.unfreeze()


async def _writes(memory: AsyncMemory, number: int) -> None:
    notes = [
        memory.add_contact_note("benchmark", f"contact-{n}", f"Invoice {number}-{n} is unpaid.")
        for n in range(WRITES)
    ]
    await asyncio.gather(*notes)


async def _lags_during(work: Awaitable[None]) -> Lags:
    lags: list[float] = []
    started = time.perf_counter()
    under_way = asyncio.ensure_future(work)
    while not under_way.done():
        before = time.perf_counter()
        await asyncio.sleep(TICK_SECONDS)
        lags.append((time.perf_counter() - before - TICK_SECONDS) * 1000)
    await under_way
    return Lags(sorted(lags), time.perf_counter() - started)
