"""LangGraph's ``SqliteStore`` with an index of vectors, by ``put`` under a new key each."""

from __future__ import annotations

import sqlite3
import uuid
from array import array
from pathlib import Path
from typing import Any

from langgraph.store.base import PutOp
from langgraph.store.sqlite import SqliteStore
from side import DIMENSION, Model, Others, serve

if not hasattr(sqlite3.Connection, "enable_load_extension"):
    # The index of vectors is an extension, and some Pythons are built without a way to load any.
    import pysqlite3 as sqlite3


class Store:
    def __init__(self, config: dict[str, Any]) -> None:
        self._file = str(Path(config["store"]["folder"]) / "store.sqlite")
        self._model = Model(config["model_url"])
        self._store = _store(self._file, self._model.vectors)
        if config["is_first"]:
            self._store.setup()
        self._bare = sqlite3.connect(f"{self._file}.bare", isolation_level=None)
        self._bare.execute(
            "CREATE TABLE IF NOT EXISTS bare (id TEXT PRIMARY KEY, text TEXT, embedding BLOB)"
        )

    def write(self, contact: str, note: dict[str, str]) -> None:
        self._store.put(("memories", contact), str(uuid.uuid4()), {"text": note["text"]})

    def live(self, contact: str) -> list[str]:
        found = self._store.search(("memories", contact), limit=100_000)
        return [item.value["text"] for item in found]

    def recall(self, contact: str, question: str, count: int) -> list[str]:
        found = self._store.search(("memories", contact), query=question, limit=count)
        return [item.value["text"] for item in found]

    def load(self, told: list[dict[str, Any]]) -> None:
        self._store.batch(
            [
                PutOp(
                    ("memories", each["contact"]), str(uuid.uuid4()), {"text": each["note"]["text"]}
                )
                for each in told
            ]
        )

    def embed(self, text: str) -> list[float]:
        return self._model.vector(text)

    def insert(self, text: str, vector: list[float]) -> None:
        row = (str(uuid.uuid4()), text, array("f", vector).tobytes())
        self._bare.execute("INSERT INTO bare VALUES (?, ?, ?)", row)

    def fill(self, count: int) -> None:
        """By its own ``batch``; only the vectors are made up."""
        others = Others()
        store = _store(self._file, lambda texts: [others.vector() for _ in texts])
        for batch in others.rows(count):
            store.batch(
                [
                    PutOp(("memories", row["contact"]), str(uuid.uuid4()), {"text": row["text"]})
                    for row in batch
                ]
            )
        store.conn.close()

    def close(self) -> None:
        self._store.conn.close()
        self._bare.close()


def _store(file: str, embed: Any) -> SqliteStore:
    """As ``SqliteStore.from_conn_string`` opens it."""
    connection = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
    index = {"dims": DIMENSION, "embed": embed, "fields": ["text"]}
    return SqliteStore(connection, index=index)


serve(Store)
