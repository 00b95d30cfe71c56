"""How long it takes to forget a contact, and what its marks cost the writes of others.

The baseline is what the same contact took to be imported, in the same run. Beside it stand the
export and the page of the contact, taken before it is forgotten. On a machine with other work only
the time of the processor tells anything; of a server it leaves out the server's own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from io import BytesIO
from statistics import median
from unittest.mock import patch

from benchmarks.core_side import RandomEmbedder
from benchmarks.engines import Engines
from benchmarks.sizes import sized
from reconciler import Memory, ops
from reconciler.domain.records.erasures import Erasure
from reconciler.domain.records.notes import Scope
from reconciler.ports.graph import Purged

ASKED_FACTS = sized(0, 0, "FACTS")
FACTS = (ASKED_FACTS,) if ASKED_FACTS else (sized(100, 10), sized(1_000, 50))
OTHERS = sized(1_000, 50)
LOADS = sized(30, 5)
ASKED = {"by": "contact", "reason": "I asked for it."}


def main(available: Engines) -> None:
    print(f"## forgetting a contact, beside {OTHERS:,} facts of others\n")
    print(
        "| engine | facts | imported in, s | forgotten in, s | of that the files, s | ratio "
        "| exported, page made, forgotten, s of the processor |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name in available.names:
        for count in FACTS:
            imported, forgotten, files, processor = _measure(available, name, count)
            told = ", ".join(f"{seconds:.1f}" for seconds in processor)
            print(
                f"| {name} | {count:,} | {imported:.1f} | {forgotten:.1f} | {files:.1f} "
                f"| {forgotten / imported:.2f} | {told} |",
                flush=True,
            )
    print("\n## a first look at a contact of 100 facts, medians\n")
    print("| engine | nothing forgotten, ms | one fact of 100 forgotten, ms |")
    print("|---|--:|--:|")
    for name in available.names:
        before, after = _looks(available, name)
        print(f"| {name} | {before:.2f} | {after:.2f} |", flush=True)
    print()


def _measure(
    available: Engines, name: str, count: int
) -> tuple[float, float, float, tuple[float, float, float]]:
    """Seconds: the import of a contact, its erasure, and the part of that the files took.

    Then those of the processor: its export, its page, its erasure.
    """
    with Memory.open(embedder=RandomEmbedder(), **available.fresh(name)) as memory:
        _load(memory, "others", OTHERS)
        imported = _seconds(lambda: _load(memory, "priya", count))
        store = memory._services.erasure_store
        purged: list[float] = []
        purge = store.purge

        def timed(_: object, erasure: Erasure) -> Purged:
            done: list[Purged] = []
            purged.append(_seconds(lambda: done.append(purge(erasure))))
            return done[0]

        contact = memory.contact("crm", "priya")
        exported = _processor_seconds(lambda: ops.export(contact, BytesIO()))
        shown = _processor_seconds(lambda: ops.contact_page(contact))
        began = time.process_time()
        with patch.object(type(store), "purge", timed):
            forgotten = _seconds(lambda: contact.forget(**ASKED))
        processor = (exported, shown, time.process_time() - began)
        return imported, forgotten, purged[0], processor


def _looks(available: Engines, name: str) -> tuple[float, float]:
    """Milliseconds of loading what is known of a contact, before and after a fact of it goes."""
    with Memory.open(embedder=RandomEmbedder(), **available.fresh(name)) as memory:
        _load(memory, "priya", 100)
        before = _look(memory)
        fact = memory.contact("crm", "priya").recall(limit=1)[0].fact
        memory.contact("crm", "priya").forget(fact_id=fact.fact_id, **ASKED)
        return before, _look(memory)


def _look(memory: Memory) -> float:
    scope, known = Scope(memory.settings.tenant, "crm", "priya"), memory._services.neighbourhoods

    def once() -> None:
        known.drop(scope)
        known.of(scope)

    return median(_seconds(once) for _ in range(LOADS)) * 1000


def _load(memory: Memory, contact_id: str, count: int) -> None:
    about = {"agent_id": "crm", "contact_id": contact_id}
    memory.import_notes(
        json.dumps({**about, "text": f"Owns the house with number {number} in its street."})
        for number in range(count)
    )


def _processor_seconds(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def _seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started
