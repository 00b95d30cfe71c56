"""LangGraph's ``SqliteStore`` with an index of vectors, by ``put`` under a new key each."""

from __future__ import annotations

import json
import sqlite3
import urllib.request
import uuid
from datetime import datetime
from pathlib import Path
from typing import Any

from langgraph.store.sqlite import SqliteStore
from side import serve

if not hasattr(sqlite3.Connection, "enable_load_extension"):
    import pysqlite3 as sqlite3  # some Pythons cannot load the extension that compares vectors


class Store:
    def __init__(self, config: dict[str, Any]) -> None:
        self._url = config["model_url"]
        connection = sqlite3.connect(
            Path(config["folder"]) / "store.sqlite", check_same_thread=False, isolation_level=None
        )
        index = {"dims": 384, "embed": self._vectors, "fields": ["text"]}
        self._store = SqliteStore(connection, index=index)
        self._store.setup()

    def tell(self, contact: str, person: str, text: str, at: datetime) -> None:  # noqa: ARG002
        self._store.put(("memories", contact), str(uuid.uuid4()), {"text": text})

    def recall(self, contact: str, question: str, limit: int) -> list[tuple[str, str]]:
        found = self._store.search(("memories", contact), query=question, limit=limit)
        return [(item.value["text"], "true") for item in found]

    def erase(self, contact: str, about: str) -> None:
        for item in self._store.search(("memories", contact), query=about, limit=1):
            self._store.delete(("memories", contact), item.key)

    def live(self, contact: str) -> list[tuple[str, str, str]]:
        items = self._store.search(("memories", contact), limit=1000)
        return [(item.value["text"], "true", item.value["text"]) for item in items]

    def _vectors(self, texts: list[str]) -> list[list[float]]:
        sent = json.dumps({"input": list(texts)}).encode()
        asked = urllib.request.Request(f"{self._url}/embeddings", sent)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return [each["embedding"] for each in json.loads(answer.read())["data"]]

    def close(self) -> None:
        self._store.conn.close()


serve(Store)
