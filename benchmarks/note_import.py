"""How much of the model's own batched speed an import keeps, on the same texts in the same run."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from benchmarks.data import rows
from benchmarks.engines import Engines
from reconciler import Memory

NOTES = 5_000
CONTACTS = 100


def main(available: Engines) -> None:
    pairs = rows("note_pairs.jsonl")
    if pairs is None:
        return
    texts = [text for pair in pairs for text in (pair["a"], pair["b"])][:NOTES]
    print(f"## import of {len(texts)} notes about {CONTACTS} contacts\n")
    print("| engine | model alone, ms a note | import, ms a note | share of the model's speed |")
    print("|---|--:|--:|--:|")
    for name in available.names:
        with Memory.open(**available.fresh(name)) as memory:
            memory.warm_up()
            before = _model_seconds(memory, texts)
            seconds = _import_seconds(memory, texts)
            alone = (before + _model_seconds(memory, texts)) / 2
        share = alone / seconds
        per_note = 1000 / len(texts)
        print(
            f"| {name} | {alone * per_note:.2f} | {seconds * per_note:.2f} | {share:.2f} |",
            flush=True,
        )
    print()


def _model_seconds(memory: Memory, texts: Sequence[str]) -> float:
    """The model's own ``encode`` of all texts, sorted by length; nothing of ours around it."""
    model = memory._services.embedder._model.load()  # type: ignore[attr-defined]
    started = time.perf_counter()
    model.encode(list(texts))
    return time.perf_counter() - started


def _import_seconds(memory: Memory, texts: Sequence[str]) -> float:
    lines = [
        json.dumps({"agent_id": "benchmark", "contact_id": f"c{number % CONTACTS}", "text": text})
        for number, text in enumerate(texts)
    ]
    started = time.perf_counter()
    report = memory.import_notes(lines)
    assert not report.errors, report.errors[:3]
    return time.perf_counter() - started
