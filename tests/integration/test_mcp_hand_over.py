"""Conversations of several people, handed over by a model: one of them is the contact."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory
from reconciler.serve.access.grants import AccessProfile, Grant
from reconciler.serve.mcp_server.desk import Desk
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder
from tests.tables import every

OSLO, ROME = "I live in Oslo.", "I live in Rome."
GRANT = Grant(profile=AccessProfile.AGENT, tenant="default", agent_ids=("crm",), contact_id="ada")


def user(content: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


def handed_over(memory: Memory, *messages: dict[str, Any], **more: Any) -> str:
    reply = Desk(memory).call(GRANT, "hand_over_session", {"messages": list(messages), **more})
    return f"refused: {reply.text}" if reply.is_error else reply.text


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    path = tmp_path / "memory.lbug"
    settings = load_settings(embedded_path=path, extractor={"mode": "explicit"})
    with Memory.open(settings, embedder=HashingEmbedder()) as opened:
        yield opened


@pytest.mark.parametrize(
    "messages",
    [
        [user(f"[Ada]: {OSLO}"), user(f"[Bob]: {ROME}")],
        [user(OSLO, name="Ada"), user(ROME, name="Bob")],
    ],
)
def test_only_the_named_person_is_remembered(
    memory: Memory, messages: list[dict[str, Any]]
) -> None:
    assert "contact_name" in handed_over(memory, *messages)
    assert memory.agent("crm").jobs() == []
    assert "is kept" in handed_over(memory, *messages, contact_name="Ada")
    memory.drain()
    assert [each.value for each in memory.contact("crm", "ada").value("city")] == ["Oslo"]


@every(
    ("message", "more", "said"),
    [
        (user(OSLO), {"contact_name": 7}, "contact_name must be"),
        (user(OSLO, name="Ada"), {"contact_name": "Bob"}, "contact_name must be one of 'Ada'"),
        (user(OSLO, name=7), {}, "message 1: name must be a string"),
        (user(OSLO, reference="x"), {}, "message 1 must have role and content, may have name"),
        (user(OSLO), {"session_id": "x"}, "takes only messages and contact_name"),
    ],
)
def test_what_cannot_be_used_says_why(
    memory: Memory, message: dict[str, Any], more: dict[str, Any], said: str
) -> None:
    assert said in handed_over(memory, message, **more)
    assert memory.agent("crm").jobs() == []
