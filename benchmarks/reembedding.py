"""Moving a store to another model, in facts a second, beside embedding the same texts alone.

Bare: the same model embeds the same texts in batches of the same size, and stores nothing.
"""

from __future__ import annotations

import json
import time

from benchmarks.core_side import RandomEmbedder
from benchmarks.engines import Engines
from benchmarks.sizes import sized
from reconciler import Memory, ops
from reconciler.bootstrap.chosen_models import build_embedder
from reconciler.settings import load_settings

__all__ = ["main"]

CONTACTS, FACTS, BATCH = 10, sized(100, 5), 250


def main(available: Engines) -> None:
    """Print both rates and their ratio, on each engine."""
    print(f"## reembed, {CONTACTS} contacts of {FACTS} facts to minilm, facts a second\n")
    print("| engine | bare embedding | reembed | ratio |\n|---|--:|--:|--:|")
    texts = [
        f"Owns boat {fact} of the blue fleet, which lies at pier {contact}"
        for contact in range(CONTACTS)
        for fact in range(FACTS)
    ]
    model = build_embedder(load_settings(embedder={"model": "minilm"}))
    model.warm_up()
    for name in available.names:
        with Memory.open(embedder=RandomEmbedder(), **available.fresh(name)) as memory:
            memory.import_notes(
                json.dumps({"agent_id": "crm", "contact_id": f"c{place // FACTS}", "text": text})
                for place, text in enumerate(texts)
            )
            started = time.perf_counter()
            for first in range(0, len(texts), BATCH):
                model.embed(texts[first : first + BATCH])
            embedded = time.perf_counter()
            report = ops.reembed(memory, model, profile="minilm", batch_size=BATCH)
            ended = time.perf_counter()
        assert report.embedded == len(texts)
        bare, moved = (len(texts) / each for each in (embedded - started, ended - embedded))
        print(f"| {name} | {bare:.0f} | {moved:.0f} | {moved / bare:.2f} |", flush=True)
    print(flush=True)
