"""How hard a run tries to break things: a little in ``make test``, a lot in ``make faults``.

FAULTS=20 kills twenty times as often at random moments, and once at every single call that writes
to the disk instead of a sample of them; FAULTS_SEED chooses other moments. It tries twenty times as
many made-up inputs, too (``tests/fuzz``): ``make faults FAULTS=200 ARGS=tests/fuzz`` comes to a
hundred thousand. The last lines of the run say how many processes were killed, in the middle of
what, how many inputs were tried, and the seed. A test with the marker ``faults(only=True)`` runs
there alone.
"""

from __future__ import annotations

import os
import random
from collections import Counter

__all__ = [
    "ATTEMPTS",
    "EVERY_CALL",
    "KILLED",
    "SEED",
    "SLOWEST",
    "TRIED",
    "add_from_worker",
    "count",
    "count_input",
    "for_controller",
    "moments",
    "summary",
    "times",
]

TIMES = int(os.environ.get("FAULTS", "1"))
EVERY_CALL = TIMES > 1
SEED = int(os.environ.get("FAULTS_SEED", "20261123"))

KILLED: Counter[str] = Counter()
"""Processes that SIGKILL ended in this run, by what they were doing."""

TRIED: Counter[str] = Counter()
"""Made-up inputs that were tried in this run, by the door that they came to."""

ATTEMPTS: Counter[str] = Counter()
"""Attempts of this run to reach what is another's, by the way in; none of them may succeed."""

SLOWEST: dict[str, float] = {}
"""By door, the most seconds of this process's time that one of them took."""


def times(few: int, often: int | None = None) -> int:
    """How often to do what ``make test`` does a few times, and ``make faults`` often per round."""
    return few if TIMES == 1 else (often or few) * TIMES


def moments(of: str) -> random.Random:
    """What chooses the moments of one test: the same ones in each run of one seed."""
    return random.Random(f"{SEED} {of}")


def count(doing: str) -> None:
    """Note that a process was killed in the middle of something."""
    KILLED[doing] += 1


def count_input(door: str, seconds: float) -> None:
    """Note that an input was tried, and how much of this process's time it took."""
    TRIED[door] += 1
    SLOWEST[door] = max(seconds, SLOWEST.get(door, 0.0))


def for_controller() -> dict[str, dict[str, float]]:
    """What a worker counted, in what pytest-xdist can send."""
    counters = {"killed": KILLED, "tried": TRIED, "attempts": ATTEMPTS}
    return {name: dict(counter) for name, counter in counters.items()} | {"slowest": SLOWEST}


def add_from_worker(counted: dict[str, dict[str, float]]) -> None:
    """Add what ``for_controller`` gave in a worker."""
    KILLED.update(counted.get("killed", {}))
    TRIED.update(counted.get("tried", {}))
    ATTEMPTS.update(counted.get("attempts", {}))
    for door, seconds in counted.get("slowest", {}).items():
        SLOWEST[door] = max(seconds, SLOWEST.get(door, 0.0))


def summary() -> list[str]:
    """The kills, inputs and attempts of this run, in words; empty where there were none."""
    run = f"(FAULTS={TIMES}, FAULTS_SEED={SEED})"
    said = []
    if KILLED:
        named = ", ".join(f"{number} {doing}" for doing, number in KILLED.most_common())
        said.append(f"{KILLED.total()} processes were killed {run}: {named}")
    if TRIED:
        named = ", ".join(
            f"{number:,} {door} (slowest {SLOWEST[door]:.2f} s)"
            for door, number in TRIED.most_common()
        )
        said.append(f"{TRIED.total():,} inputs were tried {run}: {named}")
    if ATTEMPTS:
        named = ", ".join(f"{number:,} by {way}" for way, number in ATTEMPTS.most_common())
        said.append(f"{ATTEMPTS.total():,} attempts to reach what is another's: {named}")
    return said
