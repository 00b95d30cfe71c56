"""memvara on its SQLite file, by ``add`` of a sentence, with or without a language model."""

from __future__ import annotations

import json
import sqlite3
import sys
import urllib.request
from datetime import datetime
from pathlib import Path
from typing import Any

if sqlite3.sqlite_version_info < (3, 42):
    import pysqlite3 as sqlite3  # its text index needs a newer SQLite than some Pythons have

    sys.modules["sqlite3"] = sqlite3

import numpy as np
from memvara import Memvara
from side import serve


class Vectors:
    """The loopback server's vectors, as the package's protocol for embedders has it."""

    dim, name = 384, "minilm"

    def __init__(self, url: str) -> None:
        self._url = url

    def encode(self, texts: list[str]) -> np.ndarray:
        sent = json.dumps({"input": list(texts)}).encode()
        asked = urllib.request.Request(f"{self._url}/embeddings", sent)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            data = json.loads(answer.read())["data"]
        return np.array([each["embedding"] for each in data], dtype=np.float32)


class Claims:
    def __init__(self, config: dict[str, Any]) -> None:
        chosen: dict[str, Any] = {"llm": _model(config)} if config.get("with_model") else {}
        self._memory = Memvara(
            str(Path(config["folder"]) / "memvara.db"),
            embedder=Vectors(config["model_url"]),
            query_rewrite=False,
            synthesis=False,
            **chosen,
        )
        self._turns: dict[str, str] = {}

    def tell(self, contact: str, person: str, text: str, at: datetime) -> None:  # noqa: ARG002
        receipt = self._memory.add(text, user=contact, ts=at)
        self._turns |= dict.fromkeys(receipt.episode_ids, text)

    def live(self, contact: str) -> list[tuple[str, str, str]]:
        """A note is held while a live claim cites its turn."""
        cited = {turn for each in self._memory.get_all(user=contact) for turn in each.sources}
        texts = [text for turn, text in self._turns.items() if turn in cited]
        return [(text, "true", text) for text in texts]

    def recall(self, contact: str, question: str, limit: int) -> list[tuple[str, str]]:
        found = self._memory.search(question, k=limit, user=contact)
        return [(each.claim.text, "true") for each in found]

    def erase(self, contact: str, about: str) -> None:
        for found in self._memory.search(about, k=1, user=contact):
            self._memory.erase(found.claim.id, sources=True, user=contact)

    def close(self) -> None:
        self._memory.close()


def _model(config: dict[str, Any]) -> Any:
    import openai
    from memvara.llm.openai import OpenAILLM

    client = openai.OpenAI(api_key="none", base_url=config["model_url"], max_retries=0)
    return OpenAILLM(model="recorded", client=client)


serve(Claims)
