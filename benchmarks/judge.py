"""The packaged judge on pairs that it was not trained on: what it ends, asks, merges, and costs.

``judge/relations.jsonl`` and ``neighbours.jsonl``, by the writers that the training held out: some
set the bounds, one only measures. What becomes of notes through the whole engine is in
``python -m benchmarks natural``.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from benchmarks.data import json_lines
from benchmarks.engines import Engines
from benchmarks.error_rate import with_interval
from benchmarks.rates import Rate
from reconciler.adapters.packaged_arbiter import PackagedArbiter
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Relation
from reconciler.domain.records.notes import Note, Scope

JUDGE = Path(__file__).resolve().parents[1] / "judge"
WRITERS = {
    "that set the bounds": {"second_language", "companion"},
    "that nothing was set on": {"care"},
}
"""As in ``tools/train_judge.py``, which needs PyTorch and so is not imported."""

SAID_AT = datetime(2026, 1, 1, tzinfo=UTC)
SCOPE = Scope(tenant="benchmark", agent_id="benchmark", contact_id="benchmark")
ANSWERS = ("ended", "asked", "said again", "both hold", "unsure")
FACTS_SHOWN, NOTES_TIMED = 5, 50
CHANGES = ("replaces", "ends", "retracted")


def main(_: Engines) -> None:
    """Print a line for each relation, and the milliseconds of a judgement."""
    judge = PackagedArbiter()
    print("## the packaged judge\n")
    print(f"{judge.name}, {time_of(judge.load):.0f} ms to load\n")
    for which, writers in WRITERS.items():
        print(f"### notes of writers {which}\n")
        _report(judge, list(pairs(writers)))
    some = list(pairs(WRITERS["that nothing was set on"]))
    facts = [fact for _, fact, _ in some][:FACTS_SHOWN]
    notes = [note for _, _, note in some][:NOTES_TIMED]
    took = [time_of(lambda text=text: judge.judge(_note(text), _known(*facts))) for text in notes]
    print(f"\na note beside {FACTS_SHOWN} facts: {median(took):.1f} ms\n", flush=True)


def _report(judge: PackagedArbiter, some: Sequence[tuple[str, str, str]]) -> None:
    print("| relation | pairs | " + " | ".join(ANSWERS) + " |")
    print("|---|--:|" + "--:|" * len(ANSWERS))
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for relation, fact, note in some:
        counts[relation][answer(judge, note, fact)] += 1
    for relation, found in counts.items():
        cells = " | ".join(str(found[each]) for each in ANSWERS)
        print(f"| {relation} | {found.total()} | {cells} |")
    for what, names in (
        ("changes ended", [each for each in counts if each in CHANGES]),
        ("true facts ended", [each for each in counts if each not in CHANGES]),
    ):
        found = sum((counts[name] for name in names), Counter[str]())
        print(f"\n{what}: {with_interval(Rate(count=found['ended'], of=found.total()))}")
    print()


def pairs(writers: set[str]) -> Iterator[tuple[str, str, str]]:
    """Relation, fact and note; what was read of whole memories is ``in a memory: …``."""
    for row in json_lines(JUDGE / "relations.jsonl"):
        if row["writer"] in writers:
            yield row["relation"], row["fact"], row["note"]
    for row in json_lines(JUDGE / "neighbours.jsonl"):
        if row["writer"] in writers and row["relation"] == "both":
            what = "picked as hard" if row["is_read"] else "any"
            yield f"both, in a memory, {what}", row["fact"], row["note"]


def answer(judge: PackagedArbiter, note: str, fact: str) -> str:
    made = judge.judge(_note(note), _known(fact))
    if made.relation is Relation.UNSURE:
        return "unsure" if made.target is None else "asked"
    return {Relation.REPLACES: "ended", Relation.SAME: "said again"}.get(made.relation, "both hold")


def time_of(call: Callable[[], object]) -> float:
    """Milliseconds of a call."""
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def _note(text: str) -> Note:
    return Note(scope=SCOPE, text=text, said_at=SAID_AT)


def _known(*texts: str) -> list[Neighbour]:
    return [
        Neighbour(fact_id=str(n), text=text, cosine=0.5, valid_from=SAID_AT)
        for n, text in enumerate(texts)
    ]
