"""mem0 with its default store, the qdrant that runs inside the process, by ``Memory.add``."""

from __future__ import annotations

import os
import tempfile
import uuid
from typing import Any

os.environ |= {"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none"}
os.environ["MEM0_DIR"] = tempfile.mkdtemp()

from mem0 import Memory
from qdrant_client import models
from side import DIMENSION, OneByOne, Others, serve


class Mem0(OneByOne):
    def __init__(self, config: dict[str, Any]) -> None:
        folder, shared = config["store"]["folder"], {"api_key": "none", "model": "minilm"}
        shared["openai_base_url"] = config["model_url"]
        self._memory = Memory.from_config(
            {
                "llm": {"provider": "openai", "config": shared},
                "embedder": {
                    "provider": "openai",
                    "config": shared | {"embedding_dims": DIMENSION},
                },
                "vector_store": {
                    "provider": "qdrant",
                    "config": {
                        "path": f"{folder}/qdrant",
                        "embedding_model_dims": DIMENSION,
                        "on_disk": True,
                    },
                },
                "history_db_path": f"{folder}/history.db",
            }
        )
        self._qdrant = self._memory.vector_store.client
        if not self._qdrant.collection_exists("bare"):
            size = models.VectorParams(size=DIMENSION, distance=models.Distance.COSINE)
            self._qdrant.create_collection("bare", vectors_config=size)

    def write(self, contact: str, note: dict[str, str]) -> None:
        self._memory.add([{"role": "user", "content": note["text"]}], user_id=contact)

    def live(self, contact: str) -> list[str]:
        found = self._memory.get_all(filters={"user_id": contact}, top_k=10_000)
        return [each["memory"] for each in found["results"]]

    def recall(self, contact: str, question: str, count: int) -> list[str]:
        found = self._memory.search(question, filters={"user_id": contact}, top_k=count)
        return [each["memory"] for each in found["results"]]

    def embed(self, text: str) -> list[float]:
        return self._memory.embedding_model.embed(text, "add")

    def insert(self, text: str, vector: list[float]) -> None:
        point = models.PointStruct(id=str(uuid.uuid4()), vector=vector, payload={"data": text})
        self._qdrant.upsert("bare", points=[point])

    def fill(self, count: int) -> None:
        """Behind its back, by the function with which it stores a batch of memories."""
        others = Others()
        for batch in others.rows(count):
            self._memory.vector_store.insert(
                vectors=[others.vector() for _ in batch],
                ids=[str(uuid.uuid4()) for _ in batch],
                payloads=[
                    {
                        "data": row["text"],
                        "text_lemmatized": row["text"],
                        "hash": uuid.uuid4().hex,
                        "user_id": row["contact"],
                        "created_at": "2026-01-05T09:00:00+00:00",
                        "updated_at": "2026-01-05T09:00:00+00:00",
                    }
                    for row in batch
                ],
            )

    def close(self) -> None:
        self._memory.close()
        self._qdrant.close()


serve(Mem0)
