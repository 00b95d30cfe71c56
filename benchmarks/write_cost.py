"""What a write costs without its embedding, against a bare CREATE through the same driver."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.engines import Engines
from reconciler import Memory

DIMENSION = 384
FACTS_IN_SCOPE = 100
CONTACTS = 30
WRITES_PER_CONTACT = 8
WARM_UP_WRITES = 600
OTHERS = (1_000, 100_000)

BARE_CREATE = "CREATE (fact:Bare {fact_id: $fact_id, text: $text, embedding: $embedding})"


class RandomEmbedder:
    """Vectors that are near nothing, ready at once: every note is an ADD and costs no embedding."""

    model_id = "random"
    dimension = DIMENSION

    def __init__(self) -> None:
        self._random = np.random.default_rng(7)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._random.normal(size=(len(texts), DIMENSION)).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def warm_up(self) -> float:
        return 0.0

    def close(self) -> None:
        """Nothing to stop."""


def main(available: Engines) -> None:
    print(f"## a write without embedding, {FACTS_IN_SCOPE} live facts in scope, medians\n")
    print("| engine | facts of others | bare CREATE, ms | write, ms | write / bare CREATE |")
    print("|---|--:|--:|--:|--:|")
    for name in available.names:
        costs = {others: _measure(available, name, others) for others in OTHERS}
        for others, (bare, write) in costs.items():
            print(f"| {name} | {others:,} | {bare:.2f} | {write:.2f} | {write / bare:.2f} |")
        few, many = (costs[others][1] for others in OTHERS)
        print(
            f"| {name} | **{OTHERS[1]:,} against {OTHERS[0]:,}** | | | **{many / few:.2f}** |",
            flush=True,
        )
    print()


def _measure(available: Engines, name: str, others: int) -> tuple[float, float]:
    """Medians in milliseconds: the bare CREATE, and the write, taken in turn in one loop."""
    with Memory.open(embedder=RandomEmbedder(), **available.fresh(name)) as memory:
        _load_others(memory, others)
        for contact in range(CONTACTS):
            _write_facts(memory, f"contact-{contact}", FACTS_IN_SCOPE)
        create = _bare_create(memory)
        for _ in range(WARM_UP_WRITES if name != "embedded" else 50):
            create()
        bare, write = [], []
        for number in range(CONTACTS * WRITES_PER_CONTACT):
            contact = f"contact-{number % CONTACTS}"
            bare.append(_milliseconds(create))
            write.append(_milliseconds(lambda to=contact: _write_facts(memory, to, 1)))
    return median(bare), median(write)


def _write_facts(memory: Memory, contact: str, count: int) -> None:
    for _ in range(count):
        memory.add_contact_note("benchmark", contact, "Lives in Pune")


def _load_others(memory: Memory, count: int) -> None:
    """Facts of other contacts, in bulk: only their number matters."""
    graph = memory._services.store._graph._graph
    embedder = RandomEmbedder()
    for first in range(0, count, 1_000):
        rows = [
            {"id": str(uuid.uuid4()), "contact": f"others/{(first + i) // 100}", "v": vector}
            for i, vector in enumerate(embedder.embed([""] * min(1_000, count - first)).tolist())
        ]
        _LOADERS[graph.engine](graph, rows)


def _load_neo4j(graph: Any, rows: list[dict[str, Any]]) -> None:
    graph._driver.execute_query(
        "UNWIND $rows AS row MERGE (contact:Contact {contact_key: row.contact}) "
        "CREATE (fact:Fact {fact_id: row.id, text: 'x', state: 'live', embedding_model: 'random'})"
        "-[:ABOUT]->(contact) WITH fact, row "
        "CALL db.create.setNodeVectorProperty(fact, 'embedding', row.v)",
        rows=rows,
    )


def _load_embedded(graph: Any, rows: list[dict[str, Any]]) -> None:
    with graph._writer() as connection:
        contacts = [{"contact": each} for each in dict.fromkeys(row["contact"] for row in rows)]
        connection.execute(
            "UNWIND $rows AS row MERGE (contact:Contact {contact_key: row.contact})",
            {"rows": contacts},
        )
        connection.execute(
            "UNWIND $rows AS row MATCH (contact:Contact {contact_key: row.contact}) "
            "CREATE (fact:Fact {fact_id: row.id, text: 'x', state: 'live', "
            "embedding_model: 'random', embedding: row.v})-[:ABOUT]->(contact)",
            {"rows": rows},
        )


_LOADERS = {"neo4j": _load_neo4j, "embedded": _load_embedded}


def _bare_create(memory: Memory) -> Callable[[], None]:
    """The baseline: one auto-commit CREATE of a fact and its embedding, nothing else."""
    graph = memory._services.store._graph._graph
    embedder = RandomEmbedder()

    def values() -> dict[str, Any]:
        vector = embedder.embed([""])[0].tolist()
        return {"fact_id": str(uuid.uuid4()), "text": "Lives in Pune", "embedding": vector}

    if graph.engine == "embedded":
        with graph._writer() as connection:
            connection.execute(
                "CREATE NODE TABLE Bare(fact_id STRING PRIMARY KEY, text STRING, "
                f"embedding FLOAT[{DIMENSION}])"
            )

        def create_embedded() -> None:
            with graph._writer() as connection:
                connection.execute(BARE_CREATE, values()).close()

        return create_embedded

    def create() -> None:
        with graph._driver.session(database="neo4j") as session:
            session.run(BARE_CREATE, values()).consume()

    return create


def _milliseconds(call: Callable[[], None]) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000
