"""Vayl, by its client and the MCP server that it starts: ``remember``, ``recall``, ``delete``."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
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
        self._made: dict[str, dict[str, set[int]]] = defaultdict(dict)
        self._words: dict[tuple[str, int], str] = {}

    def tell(self, contact: str, person: str, text: str, at: datetime) -> None:  # noqa: ARG002
        before = self._records(contact)
        reply = _raising(self._vayl.remember(text, user_id=contact))
        after = self._records(contact)
        written = {n for n in after if n not in before or before[n]["value"] != after[n]["value"]}
        self._words |= {(contact, n): text for n in written}
        again = set(re.findall(r"\[(?:DEDUP|REFINE)\] (.+? = .*?)(?=; \[|\n|$)", reply))
        said = {n for n, each in after.items() if f"{each['subject']} = {each['value']}" in again}
        self._made[contact][text] = written | said

    def live(self, contact: str) -> Iterator[tuple[str, str, str]]:
        """A note is held while one of the records that it wrote or repeated is active or flagged.

        An event never ends here, so it counts only for a note that left no state. A flagged record
        of the same subject puts the older one in doubt.
        """
        known = self._records(contact)
        flagged = {n for n, each in known.items() if each["status"] == "FLAGGED_CONFLICT"}
        doubted = {known[n]["subject"] for n in flagged}
        for text, made in self._made[contact].items():
            own = {n for n in made if (known[n]["metadata"] or {}).get("kind") != "event"} or made
            held = [n for n in sorted(own) if known[n]["status"] == "ACTIVE" or n in flagged]
            if held:
                words = [self._words[contact, n] for n in held]
                is_sure = any(known[n]["subject"] not in doubted for n in held)
                yield text, "true" if is_sure else "doubt", text if text in words else words[0]

    def _records(self, contact: str) -> dict[int, dict[str, Any]]:
        told = json.loads(_raising(self._vayl.call("export_memory", user_id=contact)))
        return {each["id"]: each for each in told["records"]}

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
