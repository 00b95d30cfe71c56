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
    """With a model, each contact has a file: a prompt names the predicates of the whole file."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._config = config
        self._memories: dict[str, Memvara] = {}
        self._turns: dict[str, str] = {}

    def tell(self, contact: str, person: str, text: str, at: datetime) -> None:  # noqa: ARG002
        receipt = self._of(contact).add(text, user=contact, ts=at)
        self._turns |= dict.fromkeys(receipt.episode_ids, text)

    def live(self, contact: str) -> list[tuple[str, str, str]]:
        """A note is held while a live claim cites its turn."""
        claims = self._of(contact).get_all(user=contact)
        cited = {turn for each in claims for turn in each.sources}
        texts = [text for turn, text in self._turns.items() if turn in cited]
        return [(text, "true", text) for text in texts]

    def recall(self, contact: str, question: str, limit: int) -> list[tuple[str, str]]:
        found = self._of(contact).search(question, k=limit, user=contact)
        return [(each.claim.text, "true") for each in found]

    def erase(self, contact: str, about: str) -> None:
        memory = self._of(contact)
        for found in memory.search(about, k=1, user=contact):
            memory.erase(found.claim.id, sources=True, user=contact)

    def close(self) -> None:
        for memory in self._memories.values():
            memory.close()

    def _of(self, contact: str) -> Memvara:
        has_model = self._config.get("with_model", False)
        name = f"memvara-{contact}" if has_model else "memvara"
        if name not in self._memories:
            chosen: dict[str, Any] = {"llm": _model(self._config)} if has_model else {}
            self._memories[name] = Memvara(
                str(Path(self._config["folder"]) / f"{name}.db"),
                embedder=Vectors(self._config["model_url"]),
                query_rewrite=False,
                synthesis=False,
                **chosen,
            )
        return self._memories[name]


def _model(config: dict[str, Any]) -> Any:
    import openai
    from memvara.llm.openai import OpenAILLM

    client = openai.OpenAI(api_key="none", base_url=config["model_url"], max_retries=0)
    return OpenAILLM(model="recorded", client=client)


serve(Claims)
