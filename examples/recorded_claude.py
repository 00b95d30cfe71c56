"""What Claude answered in the conversations of ``crm_agent.py``, given again on the loopback.

An answer is found by the day of its conversation and by how many came before it. A hash of all that
the model saw is kept beside it: what the model would have answered to anything else is unknown.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import anthropic
from scripted_claude import ScriptedClaude, message, text_block

__all__ = ["ANSWERS", "RecordedClaude", "hash_of", "what_is_missing"]

ANSWERS = Path(__file__).with_name("crm_answers.json")


class RecordedClaude(ScriptedClaude):
    """The server, as a context manager.

    Replies name facts by handles, which are made of random ids. While it runs, ids are drawn from a
    seed, which every answer sets, so that the handles are those that the model saw.

    Args:
        path: where the answers are.

    Attributes:
        answers: the answers of each day, in their order.
        stale: days and turns of answers to other words than were sent now.
    """

    def __init__(self, path: Path = ANSWERS) -> None:
        super().__init__(self._reply_to)
        self.answers = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        self.stale: list[tuple[str, int]] = []
        self._ids, self._uuid4 = random.Random(0), uuid.uuid4  # noqa: S311  no secret

    def __enter__(self) -> Self:
        uuid.uuid4 = lambda: uuid.UUID(int=self._ids.getrandbits(128), version=4)
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        uuid.uuid4 = self._uuid4

    def client(self) -> anthropic.Anthropic:
        """The SDK, talking with this server."""
        no_proxy = anthropic.DefaultHttpxClient(trust_env=False)
        return anthropic.Anthropic(
            base_url=self.base_url, api_key="none-needed", http_client=no_proxy
        )

    def find(self, day: str, turn: int, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer to a request.

        Raises:
            LookupError: none is on record.
        """
        recorded = self.answers.get(day, [])
        if turn >= len(recorded):
            raise LookupError(f"turn {turn + 1} of {day} has no recorded answer of a model yet")
        if recorded[turn]["shown"] != hash_of(request):
            self.stale.append((day, turn + 1))
        return dict(recorded[turn])

    def _reply_to(self, request: dict[str, Any]) -> dict[str, Any]:
        day, turn = _place_of(request)
        answer = self.find(day, turn, request)
        self._ids.seed(f"{day} {turn}")
        said = [text_block(answer["text"])] if answer["text"] else []
        calls = [
            {"type": "tool_use", "id": f"toolu_{turn}_{number}", **call}
            for number, call in enumerate(answer["calls"])
        ]
        return message([*said, *calls], "tool_use" if calls else "end_turn")


def what_is_missing(error: anthropic.NotFoundError) -> str:
    """The words of an error 404, such as which answer is not on record."""
    told = error.body if isinstance(error.body, Mapping) else {}
    return str(told.get("error", {}).get("message", error))


def _place_of(request: Mapping[str, Any]) -> tuple[str, int]:
    """The day of a request's conversation, and how many answers came before."""
    found = re.search(r"Today is ([0-9-]+)\.", request["system"])
    assert found  # noqa: S101  the agent's instructions say so
    return found[1], sum(each["role"] == "assistant" for each in request["messages"])


def hash_of(request: Mapping[str, Any]) -> str:
    """A hash of all that a model sees of a request."""
    seen = [
        [each["role"], each["content"]]
        if isinstance(each["content"], str)
        else [each["role"], [_seen(block) for block in each["content"]]]
        for each in request["messages"]
    ]
    shown = json.dumps([request["system"], request["tools"], seen], sort_keys=True)
    return hashlib.sha256(shown.encode()).hexdigest()[:16]


def _seen(block: Mapping[str, Any]) -> dict[str, Any]:
    """A block without its ids and what an SDK's version adds."""
    return {name: block[name] for name in ("text", "name", "input", "content") if name in block}
