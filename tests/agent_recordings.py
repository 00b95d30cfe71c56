"""Conversations in which a language model was the agent, recorded call by call, played again.

The model saw the tools' definitions and the conversation, nothing else. Ids are drawn from a seed
and the clock stands where a conversation was, so that the same calls meet the same handles. What a
model would answer to other definitions is unknown: a recording keeps the hash of those it saw.

``python -m tests.agent_recordings FILE`` plays a file's calls and prints the reply to each one that
has none on record.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from reconciler import Memory

__all__ = ["FOLDER", "Played", "hash_of_definitions", "play"]

FOLDER = Path(__file__).parent / "recordings" / "agents"
AGENT = "crm"


@dataclass
class Played:
    """What came of a recording: the reply to each call, and what is live at the end."""

    replies: list[str] = field(default_factory=list)
    live: list[str] = field(default_factory=list)
    profile: dict[str, list[str]] = field(default_factory=dict)


def play(recording: dict[str, Any], path: Path) -> Played:
    """Make all calls of a recording in a new store.

    Args:
        recording: ``contact_id``, and ``sessions``, each with its ``date`` and ``calls``.
        path: where the store is made.
    """
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    contact, played = (AGENT, recording["contact_id"]), Played()
    with (
        _seeded_ids(recording["contact_id"]),
        Memory.open(
            embedded_path=path,
            gate={"hash_key": "the key of a recording"},
            life={"use_flush_seconds": 0},  # what is new would hang on how long it takes to play
            clock=lambda: now[0],
        ) as memory,
    ):
        for number, session in enumerate(recording["sessions"], start=1):
            now[0] = datetime.fromisoformat(session["date"]).replace(hour=9, tzinfo=UTC)
            tools = memory.agent_tools(*contact, session_id=f"session-{number}")
            for call in session["calls"]:
                now[0] += timedelta(minutes=2)
                played.replies.append(tools.call(call["name"], call["arguments"]).text)
        now[0] += timedelta(minutes=2)
        live = memory.contact(*contact).recall(limit=200)
        played.live = sorted(recalled.fact.text for recalled in live)
        for value in memory.contact(*contact).profile():
            played.profile.setdefault(value.attribute, []).append(str(value.value))
    return played


def hash_of_definitions() -> str:
    """What the model was told of the tools, as a hash."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(embedded_path=Path(folder) / "memory.lbug") as memory,
    ):
        told = memory.agent_tools(AGENT, "anybody").definitions("anthropic")
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


@contextmanager
def _seeded_ids(seed: str) -> Iterator[None]:
    drawn, real = random.Random(seed), uuid.uuid4
    uuid.uuid4 = lambda: uuid.UUID(int=drawn.getrandbits(128), version=4)
    try:
        yield
    finally:
        uuid.uuid4 = real


def main() -> None:
    recording = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        played = play(recording, Path(folder) / "memory.lbug")
    calls = [call for session in recording["sessions"] for call in session["calls"]]
    for call, reply in zip(calls, played.replies, strict=True):
        if call.get("reply") is None:
            said = json.dumps(call["arguments"], ensure_ascii=False)
            sys.stdout.write(f"{call['name']} {said}\n=> {reply}\n\n")
            call["reply"] = reply
        elif call["reply"] != reply:
            sys.stdout.write(f"OTHER THAN RECORDED: {reply}\n")
    Path(sys.argv[1]).write_text(
        json.dumps(recording, ensure_ascii=False, indent=1), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
