"""The real notes that the benchmarks read, from ``../shared/data`` beside the checkout."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def rows(name: str) -> list[dict[str, Any]] | None:
    """The file's rows; None, after saying so, where the data is not there."""
    path = DATA / name
    if not path.is_file():
        print(f"left out: ../shared/data/{name} is not there (see benchmarks/README.md)\n")
        return None
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def user_turns(conversations: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each user turn as an import line: one contact a conversation, the session's time kept."""
    for conversation in conversations:
        sessions = sorted(conversation["sessions"], key=lambda session: session["timestamp"])
        for session in sessions:
            said_at = datetime.fromisoformat(session["timestamp"]).replace(tzinfo=UTC)
            for turn in session["turns"]:
                if turn["role"] == "user":
                    yield {
                        "agent_id": "benchmark",
                        "contact_id": conversation["conv_id"],
                        "session_id": session["session_id"],
                        "text": turn["text"],
                        "said_at": said_at.isoformat(),
                        "idempotency_key": turn["turn_id"],
                    }
