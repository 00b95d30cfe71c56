"""A model in a full loop with the tools: the real SDK over HTTP; what Claude says is scripted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import anthropic
import pytest

from reconciler import Memory
from tests.anthropic_server import AnthropicServer, message, tool_call

ADD, RECALL = "add_contact_note", "recall_contact"
LIVES = {"text": "Lives in Pune.", "source_kind": "user_explicit"}
ASKED: Any = [{"role": "user", "content": "I live in Pune."}]
SCRIPT: tuple[tuple[str, Mapping[str, Any], str], ...] = (
    (RECALL, {"query": "Where does she live?"}, "Nothing is known."),
    (ADD, {"text": "Lives in Pune."}, "source_kind is missing"),
    (ADD, LIVES | {"tenant": "globex"}, "takes no tenant"),
    (ADD, LIVES, "Remembered as a new fact."),
    (RECALL, {"query": "Where does she live?"}, " Lives in Pune."),
)
"""What the model calls, and what it is told; the second and third are its mistakes."""


@pytest.fixture
def server() -> Iterator[AnthropicServer]:
    """A model that calls what the script says, one tool after the other."""
    with AnthropicServer() as running:
        calls = [tool_call(name, sent, f"toolu_{n}") for n, (name, sent, _) in enumerate(SCRIPT)]
        running.answers(*calls, message("Noted."))
        yield running


def results(server: AnthropicServer) -> list[tuple[str, bool]]:
    """What the model was told by tools, in the order of its calls: the words, and if an error."""
    blocks = [
        block
        for said in server.requests[-1].body["messages"]
        if isinstance(said["content"], list)
        for block in said["content"]
        if block["type"] == "tool_result"
    ]
    return [(_words(each["content"]), bool(each.get("is_error"))) for each in blocks]


def _words(content: Any) -> str:
    return content if isinstance(content, str) else "".join(each["text"] for each in content)


def check(told: list[tuple[str, bool]], memory: Memory) -> None:
    assert len(told) == len(SCRIPT)
    for (text, is_error), (_, _, said) in zip(told, SCRIPT, strict=True):
        assert said in text
        assert is_error is ("Nothing was remembered" in text)
    assert [each.fact.text for each in memory.contact("crm", "alice").recall()] == [
        "Lives in Pune."
    ]
    assert memory.agent("crm", tenant="globex").contacts() == []


@pytest.fixture
def client(server: AnthropicServer) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=server.base_url, api_key="none-needed") as client:
        yield client


def test_the_loop_that_the_documents_show_ends_with_the_fact_remembered(
    memory: Memory, server: AnthropicServer, client: anthropic.Anthropic
) -> None:
    tools = memory.agent_tools("crm", "alice", session_id="chat-1")
    messages: list[Any] = list(ASKED)
    definitions: Any = tools.definitions()
    while True:
        said = client.messages.create(
            model="claude-test", max_tokens=500, tools=definitions, messages=messages
        )
        calls = [block for block in said.content if block.type == "tool_use"]
        if not calls:
            break
        answers = []
        for block in calls:
            reply = tools.call(block.name, block.input)
            answers.append(
                {
                    "type": "tool_result",
                    "tool_use_id": block.id,
                    "content": reply.text,
                    "is_error": reply.is_error,
                }
            )
        messages += [
            {"role": "assistant", "content": said.content},
            {"role": "user", "content": answers},
        ]
    check(results(server), memory)
    assert server.requests[0].body["tools"] == definitions
    # The history of such a loop, SDK objects and all, is a session like any other.
    job_id = memory.contact("crm", "alice").submit_session("chat-1", messages)
    assert memory.contact("crm", "alice").job(job_id).state == "waiting"
