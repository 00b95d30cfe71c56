"""memvara on its SQLite file, by ``remember`` of a triple or by ``add`` of a sentence."""

from __future__ import annotations

import sqlite3
import sys
import uuid
from array import array
from typing import Any

if sqlite3.sqlite_version_info < (3, 42):
    # Its text index has deleted words wiped, which an older SQLite cannot do.
    import pysqlite3 as sqlite3

    sys.modules["sqlite3"] = sqlite3

import numpy as np
import openai
from memvara import Memvara
from memvara.llm.openai import OpenAILLM
from side import DIMENSION, Model, OneByOne, Others, serve


class Vectors:
    """The loopback server's vectors, as the package's protocol for embedders has it."""

    dim = DIMENSION
    name = "minilm"

    def __init__(self, model: Model) -> None:
        self._model = model

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.array(self._model.vectors(list(texts)), dtype=np.float32)


class RandomVectors(Vectors):
    def __init__(self) -> None:
        self._others = Others()

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.array([self._others.vector() for _ in texts], dtype=np.float32)


class Claims(OneByOne):
    def __init__(self, config: dict[str, Any]) -> None:
        self._is_triples = config["door"] == "remember"
        self._file = f"{config['store']['folder']}/memvara.db"
        self._model = Model(config["model_url"])
        client = openai.OpenAI(api_key="none", base_url=config["model_url"])
        self._llm = OpenAILLM(model="stub", client=client)
        self._memory = Memvara(
            self._file,
            embedder=Vectors(self._model),
            llm=self._llm,
            query_rewrite=False,  # no other system has a model read the question
            synthesis=False,
        )
        self._bare = sqlite3.connect(f"{self._file}.bare", isolation_level=None, timeout=60)
        self._bare.execute(
            "CREATE TABLE IF NOT EXISTS bare (id TEXT PRIMARY KEY, text TEXT, embedding BLOB)"
        )

    def write(self, contact: str, note: dict[str, str]) -> None:
        if self._is_triples:
            relation = note["relation"].replace(" ", "_")
            self._memory.remember("user", relation, note["thing"], user=contact, text=note["text"])
        else:
            self._memory.add(note["text"], user=contact)

    def live(self, contact: str) -> list[str]:
        return self._texts(self._memory.get_all(user=contact), contact)

    def recall(self, contact: str, question: str, count: int) -> list[str]:
        found = self._memory.search(question, k=count, user=contact)
        return self._texts([each.claim for each in found], contact)

    def _texts(self, claims: list[Any], contact: str) -> list[str]:
        """Claims in the words that they were told in."""
        if self._is_triples:
            return [claim.text for claim in claims]
        cited = [self._memory.why(claim.id, user=contact) for claim in claims]
        return [each.episodes[-1].content for each in cited if each and each.episodes]

    def embed(self, text: str) -> list[float]:
        return self._model.vector(text)

    def insert(self, text: str, vector: list[float]) -> None:
        row = (str(uuid.uuid4()), text, array("f", vector).tobytes())
        self._bare.execute("INSERT INTO bare VALUES (?, ?, ?)", row)

    def fill(self, count: int) -> None:
        """By ``remember``, which is quick without a model; only the vectors are made up."""
        with Memvara(self._file, embedder=RandomVectors(), llm=self._llm) as memory:
            for batch in Others().rows(count):
                for row in batch:
                    memory.remember("user", "was_sent", row["thing"], user=row["contact"])

    def close(self) -> None:
        self._memory.close()
        self._bare.close()


serve(Claims)
