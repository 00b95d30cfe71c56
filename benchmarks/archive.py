"""Export, restore and backup: nodes a second on each engine, and a backup of 100,000 facts.

``FACTS`` is how many facts the store that is backed up has.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.core_side import RandomEmbedder, Store
from benchmarks.engines import Engines
from benchmarks.sizes import sized
from reconciler import Memory, ops

FACTS = sized(100_000, 100, "FACTS")
FACTS_OF_A_CONTACT = sized(1_000, 50)
BARE = sized(300, 20)
STORES = {
    f"one contact of {FACTS_OF_A_CONTACT:,} facts": (1, FACTS_OF_A_CONTACT),
    f"20 contacts of {(MANY := sized(50, 3))} facts": (20, MANY),
}


def main(available: Engines) -> None:
    print("## export and restore, nodes a second; bare: an auto-commit CREATE of one fact\n")
    print("| engine | store | nodes | links | bare | export | + vectors | restore | + embedding |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for engine in available.names:
        for name, (contacts, facts) in STORES.items():
            _moved(available, engine, name, contacts, facts)
    print(f"\n## backup of {FACTS:,} facts of an embedded store\n")
    if "embedded" in available.names:
        _backed_up(available.fresh("embedded"))


def _moved(available: Engines, engine: str, name: str, contacts: int, facts: int) -> None:
    embedder = RandomEmbedder()
    with TemporaryDirectory() as folder:
        plain, whole = Path(folder) / "plain.jsonl", Path(folder) / "whole.jsonl"
        with Memory.open(embedder=embedder, **available.fresh(engine)) as memory:
            memory.import_notes(_lines(contacts, facts))
            plain_seconds, _ = _timed(lambda: ops.export(memory, plain, keys=True))
            whole_seconds, report = _timed(
                lambda: ops.export(memory, whole, keys=True, vectors=True)
            )
        seconds = [_bare_seconds(available.fresh(engine)), plain_seconds, whole_seconds]
        for path in (whole, plain):
            given = available.fresh(engine)
            seconds.append(_timed(lambda p=path, g=given: _restored(p, embedder, g))[0])
    nodes, links = report.nodes.total(), report.links.total()
    rates = " | ".join(
        f"{count / each:,.0f}" for count, each in zip((BARE, *[nodes] * 4), seconds, strict=True)
    )
    print(f"| {engine} | {name} | {nodes:,} | {links:,} | {rates} |", flush=True)


def _bare_seconds(given: dict[str, Any]) -> float:
    store = Store(given, has_model=False)
    store.bare()
    seconds, _ = _timed(lambda: [store.bare() for _ in range(BARE)])
    store.memory.close()
    return seconds


def _restored(path: Path, embedder: RandomEmbedder, given: dict[str, Any]) -> Any:
    return ops.restore(path, embedder=embedder, **given)


def _lines(contacts: int, facts: int, first: int = 0) -> list[str]:
    return [
        json.dumps(
            {
                "agent_id": "crm",
                "contact_id": f"c{first + place}",
                "text": f"Owns house number {number}.",
            }
        )
        for place in range(contacts)
        for number in range(facts)
    ]


def _backed_up(given: dict[str, Any]) -> None:
    """Through the door, a thousand facts of one contact after another."""
    for contact in range(0, FACTS // FACTS_OF_A_CONTACT):
        with Memory.open(embedder=RandomEmbedder(), **given) as memory:
            memory.import_notes(_lines(1, FACTS_OF_A_CONTACT, contact))
    memory = Memory.open(embedder=RandomEmbedder(), **given)
    path: Path = given["embedded_path"]
    with TemporaryDirectory() as folder:
        copied, archive = Path(folder) / "copy.lbug", Path(folder) / "memory.zip"
        waits, backup = _timed(lambda: ops.backup(memory, archive))
        bare, _ = _timed(lambda: shutil.copyfile(path, copied))
        target = {**given, "embedded_path": Path(folder) / "target" / "memory.lbug"}
        back, _ = _timed(lambda: _restored(archive, RandomEmbedder(), target))
    print("| store | archive | backup | restore | bare copy of the file |\n|--:|--:|--:|--:|--:|")
    sizes = f"{backup.store_bytes / 1e6:,.0f} MB | {backup.archive_bytes / 1e6:,.0f} MB"
    memory.close()
    print(f"| {sizes} | {waits:.1f} s | {back:.1f} s | {bare:.1f} s |")


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    done = call()
    return time.perf_counter() - started, done
