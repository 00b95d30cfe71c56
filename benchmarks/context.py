"""What ``contact.context`` takes, without the embedding, beside a recall of the same words.

A contact of 20, 100 and 1,000 facts on the embedded engine, all warm: the opening of a
conversation, which is a briefing, and a later turn; forty of each in turn with a recall.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from reconciler import Memory
from reconciler.testing import HashingEmbedder

FACTS = (20, 100, 1_000)
ROUNDS = 40
ASKED = "Which part was ordered for hall 14?"
TURNS = [{"role": "user", "content": ASKED}]


def main(_: object) -> None:
    """Print the median milliseconds of an opening, a later turn and a recall."""
    print("| facts | opening, ms | later turn, ms | recall, ms |")
    print("|--:|--:|--:|--:|")
    for facts in FACTS:
        with tempfile.TemporaryDirectory() as folder:
            print(f"| {facts:,} | {' | '.join(f'{ms:.1f}' for ms in _medians(folder, facts))} |")


def _medians(folder: str, facts: int) -> list[float]:
    path = Path(folder) / "memory.lbug"
    with Memory.open(embedded_path=path, embedder=HashingEmbedder()) as memory:
        contact = memory.contact("crm", "alice")
        for number in range(facts):
            contact.note(f"Ordered part {number} for the machine in hall {7 * number}.")
        contact.note("Allergic to walnuts.")
        shown = contact.context(TURNS).shown
        calls: list[Callable[[], object]] = [
            lambda: contact.context(TURNS),
            lambda: contact.context(TURNS, shown=shown),
            lambda: contact.recall(ASKED),
        ]
        rounds = [[_milliseconds(call) for call in calls] for _ in range(ROUNDS)]
    return [median(times) for times in zip(*rounds, strict=True)]


def _milliseconds(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - begun)
