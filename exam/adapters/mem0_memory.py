"""mem0 with its default store, the qdrant that runs inside the process, by ``Memory.add``."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import Any

os.environ |= {"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none"}

from side import serve


class Mem0:
    def __init__(self, config: dict[str, Any]) -> None:
        os.environ["MEM0_DIR"] = str(Path(config["folder"]) / "mem0")
        from mem0 import Memory

        shared = {"api_key": "none", "openai_base_url": config["model_url"]}
        self._memory = Memory.from_config(
            {
                "llm": {"provider": "openai", "config": shared | {"model": "recorded"}},
                "embedder": {
                    "provider": "openai",
                    "config": shared | {"model": "minilm", "embedding_dims": 384},
                },
                "vector_store": {
                    "provider": "qdrant",
                    "config": {
                        "path": f"{config['folder']}/qdrant",
                        "embedding_model_dims": 384,
                        "on_disk": True,
                    },
                },
                "history_db_path": f"{config['folder']}/history.db",
            }
        )

        self._infer = config.get("infer", True)
        self._notes: dict[str, str] = {}

    def tell(self, contact: str, person: str, text: str, at: datetime) -> None:  # noqa: ARG002
        said = [{"role": "user", "content": text}]
        given = self._memory.add(said, user_id=contact, infer=self._infer)
        self._notes |= {each["id"]: text for each in given["results"]}

    def live(self, contact: str) -> list[tuple[str, str, str]]:
        """A note is held while one of the memories that ``add`` made of it is there."""
        found = self._memory.get_all(filters={"user_id": contact}, top_k=1000)["results"]
        texts = {self._notes[each["id"]] for each in found}
        return [(text, "true", text) for text in texts]

    def recall(self, contact: str, question: str, limit: int) -> list[tuple[str, str]]:
        found = self._memory.search(question, filters={"user_id": contact}, top_k=limit)
        return [(each["memory"], "true") for each in found["results"]]

    def erase(self, contact: str, about: str) -> None:
        found = self._memory.search(about, filters={"user_id": contact}, top_k=1)
        for each in found["results"]:
            self._memory.delete(each["id"])

    def close(self) -> None:
        self._memory.close()


serve(Mem0)
