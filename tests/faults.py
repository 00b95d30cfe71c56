"""How hard a run tries to break things: a little in ``make test``, a lot in ``make faults``.

FAULTS=20 kills twenty times as often at random moments, and once at every single call that writes
to the disk instead of a sample of them; FAULTS_SEED chooses other moments. The last line of the run
says how many processes were killed, in the middle of what, and the seed. A test whose marker is
``faults(only=True)`` runs there alone.
"""

from __future__ import annotations

import os
import random
from collections import Counter

__all__ = ["EVERY_CALL", "KILLED", "SEED", "TRIED", "count", "moments", "summary", "times"]

TIMES = int(os.environ.get("FAULTS", "1"))
EVERY_CALL = TIMES > 1
SEED = int(os.environ.get("FAULTS_SEED", "20261123"))

KILLED: Counter[str] = Counter()
"""Processes that SIGKILL ended in this run, by what they were doing."""

TRIED: Counter[str] = Counter()
"""Attempts of this run to reach what is another's, by the way in; none of them may succeed."""


def times(few: int) -> int:
    """How often to do what ``make test`` does a few times."""
    return few * TIMES


def moments(of: str) -> random.Random:
    """What chooses the moments of one test: the same ones in each run of one seed."""
    return random.Random(f"{SEED} {of}")


def count(doing: str) -> None:
    """Note that a process was killed in the middle of something."""
    KILLED[doing] += 1


def summary() -> str:
    """The kills and attempts of this run, in words; empty where there were none."""
    killed = ", ".join(f"{number} {doing}" for doing, number in KILLED.most_common())
    tried = ", ".join(f"{number:,} by {way}" for way, number in TRIED.most_common())
    lines = []
    if KILLED:
        run = f"FAULTS={TIMES}, FAULTS_SEED={SEED}"
        lines.append(f"{KILLED.total()} processes were killed ({run}): {killed}")
    if TRIED:
        lines.append(f"{TRIED.total():,} attempts to reach what is another's: {tried}")
    return "\n".join(lines)
