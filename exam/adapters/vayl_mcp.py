"""Vayl, by its client and the MCP server that it starts: ``remember``, ``recall``, ``delete``."""

from __future__ import annotations

import os
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from side import serve
from vayl import Vayl


class Client:
    def __init__(self, config: dict[str, Any]) -> None:
        folder = Path(config["folder"])
        own = {
            "LLM_PROVIDER": "openai",
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": config["model_url"],
            "VAYL_DB": str(folder / "vayl.db"),
            "HOME": str(folder),
        }
        command = str(Path(sys.executable).parent / "vayl-mcp")
        self._vayl = Vayl(command=command, env=dict(os.environ) | own)

    def tell(self, contact: str, person: str, text: str, at: datetime) -> None:  # noqa: ARG002
        _raising(self._vayl.remember(text, user_id=contact))

    def recall(self, contact: str, question: str, limit: int) -> list[tuple[str, str]]:  # noqa: ARG002
        """One answer in a sentence, which is how it recalls."""
        return [(_raising(self._vayl.recall(question, user_id=contact)), "true")]

    def erase(self, contact: str, about: str) -> None:
        """By subject; which subject is meant, its list of memories says by their words."""
        listed = self._vayl.call("list_memories", user_id=contact)
        words = {word.lower() for word in about.split() if len(word) > 3}
        lines = [line for line in listed.splitlines() if "=" in line]
        best = max(lines, key=lambda line: sum(word in line.lower() for word in words), default="")
        subject = best.partition("=")[0].split()[-1] if best else about
        self._vayl.call("delete", subject=subject, user_id=contact)

    def close(self) -> None:
        self._vayl.close()


def _raising(answer: str) -> str:
    if answer.lower().startswith("error"):
        raise RuntimeError(answer)
    return answer


serve(Client)
