"""The tools for the Claude Agent SDK, with its own server and its own command line.

The SDK's wheel brings the command line; its model is the loopback server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query
from mcp import Client

from reconciler import Memory
from reconciler.integrations.claude_agent_sdk import claude_agent_server
from reconciler.testing import HashingEmbedder
from tests.anthropic_server import AnthropicServer, Reply, message, tool_call
from tests.engines import embedded_engine

ADD, RECALL = "add_contact_note", "recall_contact"
LIVES = {"text": "Lives in Pune.", "source_kind": "user_explicit"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    arguments = embedded_engine(tmp_path).settings_arguments
    with Memory.open(embedder=HashingEmbedder(), **arguments) as opened:
        yield opened


@pytest.fixture
def model() -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        yield server


def _answered(memory: Memory, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """What the SDK's server answers to a client's calls."""
    config = claude_agent_server(memory.agent_tools("crm", "priya", session_id="chat-1"))

    async def answered() -> list[Any]:
        async with Client(config["instance"]) as client:
            return [await client.call_tool(name, sent) for name, sent in calls]

    return asyncio.run(answered())


def _tools(memory: Memory) -> list[Any]:
    async def listed() -> list[Any]:
        config = claude_agent_server(memory.agent_tools("crm", "priya"))
        async with Client(config["instance"]) as client:
            return (await client.list_tools()).tools

    return asyncio.run(listed())


def test_the_server_lists_the_tools_as_an_mcp_server_does(memory: Memory) -> None:
    told = memory.agent_tools("crm", "priya").definitions("mcp")
    for tool, definition in zip(_tools(memory), told, strict=True):
        listed = tool.model_dump(by_alias=True, exclude_none=True)
        assert {name: definition[name] for name in listed if name != "_meta"} == listed


def test_what_one_tool_remembers_the_other_recalls(memory: Memory) -> None:
    added, recalled = _answered(memory, (ADD, LIVES | {"source_kind": "contact"}), (RECALL, {}))
    assert added.content[0].text.startswith("Remembered as a new fact.")
    assert "Lives in Pune." in recalled.content[0].text
    assert not added.is_error


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"text": "Lives in Pune."}, "source_kind"),
        (LIVES | {"source_kind": "contact", "contact_id": "tom"}, "contact_id"),
        ({"text": " ", "source_kind": "contact"}, "Nothing was remembered."),
    ],
)
def test_a_models_mistake_is_an_error_that_says_so(
    memory: Memory, arguments: dict[str, Any], told: str
) -> None:
    [answer] = _answered(memory, (ADD, arguments))
    assert answer.is_error
    assert told in answer.content[0].text
    assert memory.contact("crm", "priya").recall() == []


def _ran(memory: Memory, model: AnthropicServer, folder: Path, *calls: Reply) -> ResultMessage:
    """How the command line ended, in which a model made these calls, one a turn."""
    model.answers(*calls, message("Goodbye."))
    server = claude_agent_server(memory.agent_tools("crm", "priya", session_id="chat-1"))
    options = ClaudeAgentOptions(
        mcp_servers={"memory": server},
        allowed_tools=["mcp__memory"],
        tools=[],
        setting_sources=[],
        model="claude-test",
        cwd=folder,
        env={
            "ANTHROPIC_BASE_URL": model.base_url,
            "ANTHROPIC_API_KEY": "none-needed",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CONFIG_DIR": str(folder),
            "HOME": str(folder),
        },
    )

    async def ran() -> ResultMessage:
        messages = [each async for each in query(prompt="I live in Pune.", options=options)]
        assert isinstance(messages[-1], ResultMessage)
        return messages[-1]

    return asyncio.run(ran())


def test_a_run_of_the_command_line_remembers_and_recalls(
    memory: Memory, model: AnthropicServer, tmp_path: Path
) -> None:
    said = LIVES | {"source_kind": "contact"}
    add = tool_call("mcp__memory__add_contact_note", said, "call-1")
    recall = tool_call("mcp__memory__recall_contact", {}, "call-2")
    ended = _ran(memory, model, tmp_path, add, recall)
    assert (ended.result, ended.is_error) == ("Goodbye.", False)
    told = str(model.requests[-1].body["messages"])
    assert "Remembered as a new fact." in told
    assert "- #" in told
    [fact] = [each.fact for each in memory.contact("crm", "priya").recall()]
    assert fact.text == "Lives in Pune."
