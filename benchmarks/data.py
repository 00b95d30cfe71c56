"""The real notes that the benchmarks read, from ``../shared/data`` beside the checkout."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.sizes import IS_SHORT

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
HALVES = ("written on", "kept aside")
LEFT_OUT = "left out: "
SHORT_CHARACTERS, SHORT_LINES_MIN = 10_000, 2


def half_of(text: str) -> str:
    """In which half of a data set it is, whatever the machine.

    Cues are written looking at the first half only. What belongs together goes by one key: a pair
    of notes by its first text, a conversation by its id, any other row by its text.
    """
    return HALVES[hashlib.sha256(text.encode()).digest()[0] % 2]


def rows(name: str) -> list[dict[str, Any]] | None:
    """The rows of ``json_lines``; None, after saying so, where the data is not there."""
    path = DATA / name
    if not path.is_file():
        print(f"{LEFT_OUT}../shared/data/{name} is not there (see benchmarks/README.md)\n")
        return None
    return json_lines(path)


def json_lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines; in a short form one from the middle of each part."""
    lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line]
    step = min(sum(map(len, lines)) // SHORT_CHARACTERS, len(lines) // SHORT_LINES_MIN)
    step = max(1, step) if IS_SHORT else 1
    return [json.loads(line) for line in lines[step // 2 :: step]]


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
