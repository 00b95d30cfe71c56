"""This project, on Neo4j or on the embedded engine, by its live door and its background door."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from side import DIMENSION, Bare, Model, serve

from reconciler import Memory, Turn
from reconciler.adapters.onnx_minilm import OnnxMinilm
from reconciler.domain.records.kinds import Action
from reconciler.domain.records.notes import canonical_text
from reconciler.settings import load_settings

AGENT = "benchmark"


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
        own = {"arbiter": {"mode": "off"}, "extractor": {"mode": "explicit"}}
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

    def embed(self, text: str) -> list[float]:
        return self._model.vector(text)

    def insert(self, text: str, vector: list[float]) -> None:
        self._bare.insert(text, vector)

    def fill(self, count: int) -> None:
        """Behind its back, as the benchmark ``write`` does: by the memory's own connection."""
        from benchmarks import write_cost  # not sooner: forty processes here never fill anything

        write_cost._load_others(self._memory, count)

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
