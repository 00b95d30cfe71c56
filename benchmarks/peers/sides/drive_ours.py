"""This project, on Neo4j or on the embedded engine, by its live door and its background door."""

from __future__ import annotations

import json
import tempfile
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from side import DIMENSION, Bare, Model, Others, serve

from reconciler import Memory, Turn
from reconciler.adapters.onnx_minilm import OnnxMinilm
from reconciler.domain.records.kinds import Action
from reconciler.reading.canonical import canonical_text
from reconciler.settings import load_settings

AGENT = "benchmark"
CONTACTS = "UNWIND $rows AS row MERGE (contact:Contact {contact_key: row.contact})"
OWN = "fact_id: row.id, text: row.text, state: 'live', embedding_model: 'random'"
FACTS = f"CREATE (fact:Fact {{{OWN}}})-[:ABOUT]->(contact) WITH fact, row"
VECTOR_NEO4J = "CALL db.create.setNodeVectorProperty(fact, 'embedding', row.vector)"
CONTACTS_EMBEDDED = "UNWIND $contacts AS key MERGE (:Contact {contact_key: key})"
FACTS_EMBEDDED = (
    "UNWIND $rows AS row MATCH (contact:Contact {contact_key: row.contact}) "
    f"CREATE (:Fact {{{OWN}, embedding: row.vector}})-[:ABOUT]->(contact)"
)


class LoopbackEmbedder:
    """The vectors of the loopback server, under the name of the model that it serves."""

    dimension = DIMENSION

    def __init__(self, model: Model) -> None:
        self._model = model
        self.model_id = OnnxMinilm().model_id

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.empty((0, DIMENSION), dtype=np.float32)
        vectors = self._model.vectors([canonical_text(text) for text in texts])
        return np.array(vectors, dtype=np.float32)

    def warm_up(self) -> float:
        return 0.0

    def close(self) -> None:
        """Nothing to stop."""


class Ours:
    def __init__(self, config: dict[str, Any]) -> None:
        self._settings = config["store"]
        self.remarks: list[str] = []
        self._model = Model(config["model_url"])
        judge = {"mode": "auto", "provider": "openai", "base_url": config["model_url"]}
        judge |= {"model": "stub", "calls_per_minute_max": 1_000_000}
        own = {
            "arbiter": judge if config["is_judged"] else {"mode": "off"},
            "extractor": {"mode": "explicit"},
        }
        self._memory = Memory.open(
            load_settings(**self._settings, **own), embedder=LoopbackEmbedder(self._model)
        )
        self._bare = (
            _BareEmbedded(Path(self._settings["embedded_path"]).parent)
            if self._settings["graph"] == "embedded"
            else Bare(self._settings["neo4j"])
        )

    def write(self, contact: str, note: dict[str, str]) -> None:
        decision = self._memory.add_contact_note(AGENT, contact, note["text"])
        if decision.action is not Action.ADD:
            self.remarks.append(f"{note['text']} {decision.action}: {decision.reason}")

    def live(self, contact: str) -> list[str]:
        chains = self._memory.contact(AGENT, contact).history()
        return [fact.text for chain in chains for fact in chain.facts if fact.is_live]

    def recall(self, contact: str, question: str, count: int) -> list[str]:
        found = self._memory.contact(AGENT, contact).recall(question, limit=count)
        return [hit.fact.text for hit in found]

    def load(self, told: list[dict[str, Any]]) -> None:
        report = self._memory.import_notes(
            json.dumps(
                {"agent_id": AGENT, "contact_id": each["contact"], "text": each["note"]["text"]}
            )
            for each in told
        )
        assert not report.errors, report.errors[:3]

    def embed(self, text: str) -> list[float]:
        return self._model.vector(text)

    def insert(self, text: str, vector: list[float]) -> None:
        self._bare.insert(text, vector)

    def fill(self, count: int) -> None:
        """Behind its back, by the memory's own connection."""
        graph = self._memory._services.fact_store.graph.graph
        others = Others()
        for batch in others.rows(count):
            rows = [row | {"id": str(uuid.uuid4()), "vector": others.vector()} for row in batch]
            if self._settings["graph"] == "neo4j":
                graph._drivers.newest.execute_query(f"{CONTACTS} {FACTS} {VECTOR_NEO4J}", rows=rows)
                continue
            with graph._writer() as connection:
                contacts = list(dict.fromkeys(row["contact"] for row in rows))
                connection.execute(CONTACTS_EMBEDDED, {"contacts": contacts}).close()
                connection.execute(FACTS_EMBEDDED, {"rows": rows}).close()

    def hand_over(self, contact: str, note: dict[str, str]) -> None:
        turns = [Turn(role="contact", text=note["text"])]
        self._memory.contact(AGENT, contact).submit_session(f"chat-{note['thing']}", turns)

    def drain(self) -> None:
        self._memory.drain()

    def close(self) -> None:
        self._memory.close()
        self._bare.close()


class _BareEmbedded:
    """One auto-commit CREATE of the embedded engine, in a file of its own."""

    QUERY = "CREATE (:Bare {fact_id: $fact_id, text: $text, embedding: $embedding})"

    def __init__(self, folder: Path) -> None:
        import ladybug

        path = Path(tempfile.mkdtemp(dir=folder)) / "bare.lbug"
        self._database = ladybug.Database(path, buffer_pool_size=1 << 28)
        self._connection = ladybug.Connection(self._database)
        self._connection.execute(
            "CREATE NODE TABLE Bare(fact_id STRING PRIMARY KEY, text STRING, "
            f"embedding FLOAT[{DIMENSION}])"
        ).close()

    def insert(self, text: str, vector: list[float]) -> None:
        given = {"fact_id": str(uuid.uuid4()), "text": text, "embedding": vector}
        self._connection.execute(self.QUERY, given).close()

    def close(self) -> None:
        self._connection.close()
        self._database.close()


serve(Ours)
