"""Graph Memory Reconciler on its embedded engine, by the live door, with default settings."""

from __future__ import annotations

import re
import uuid
from datetime import datetime
from pathlib import Path
from typing import Any

from side import serve

from reconciler import Memory

AGENT = "exam"


class Ours:
    def __init__(self, config: dict[str, Any]) -> None:
        self._memory = Memory.open(embedded_path=Path(config["folder"]) / "memory.lbug")

    def tell(self, contact: str, person: str, text: str, at: datetime) -> None:
        session_id = f"{contact}-{at:%Y-%m-%d}-{uuid.uuid4()}"  # a conversation each
        self._memory.contact(AGENT, contact).note(
            text, said_at=at, session_id=session_id, contact_name=person
        )

    def recall(self, contact: str, question: str, limit: int) -> list[tuple[str, str]]:
        found = self._memory.contact(AGENT, contact).recall(question, limit=limit)
        return [(hit.fact.text, _state(hit)) for hit in found]

    def erase(self, contact: str, about: str) -> None:
        """A fact by its id; what was never kept as a fact goes with its conversation."""
        known = self._memory.contact(AGENT, contact)
        why = {"by": "contact", "reason": "The contact wishes it."}
        for hit in list(known.recall(about, limit=1)):
            known.forget(fact_id=hit.fact.fact_id, **why)
        for each in known.decisions(disposal="consent"):
            if _words(about) & _words(each.note.text):
                known.forget(session_id=each.note.session_id, **why)

    def close(self) -> None:
        self._memory.close()


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 3}


def _state(hit: Any) -> str:
    if hit.fact.state != "live":
        return "over"
    return "doubt" if hit.disputed_with or hit.is_upcoming else "true"


serve(Ours)
