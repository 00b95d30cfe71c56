"""The tools for the Claude Agent SDK, with its own server and its own command line.

The SDK's wheel brings the command line; its model is the loopback server.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mcp import Client

from reconciler import ContactMemory, Memory
from tests.anthropic_server import AnthropicServer, message, tool_call
from tests.documents import ROOT, fenced, prints, program
from tests.mcp_server import granted, serving

pytestmark = pytest.mark.bundled

ADD, RECALL = "add_contact_note", "recall_contact"
LIVES = {"text": "Lives in Pune.", "source_kind": "contact"}


def sdk() -> ModuleType:
    """The framework, which a light install lacks."""
    import claude_agent_sdk

    return claude_agent_sdk


def claude_agent_context(contact: ContactMemory, **given: Any) -> dict[Any, Any]:
    from reconciler.integrations.claude_agent_sdk import claude_agent_context

    hooks: dict[Any, Any] = claude_agent_context(contact, **given)
    return hooks


def claude_agent_server(memory: Memory, **given: Any) -> Any:
    from reconciler.integrations.claude_agent_sdk import claude_agent_server

    return claude_agent_server(memory.agent_tools("crm", "priya", **given))


@pytest.fixture
def model() -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        yield server


def _answered(memory: Memory, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """What the SDK's server answers to a client's calls."""
    config = claude_agent_server(memory, session_id="chat-1")

    async def answered() -> list[Any]:
        async with Client(config["instance"]) as client:
            return [await client.call_tool(name, sent) for name, sent in calls]

    return asyncio.run(answered())


def _tools(memory: Memory) -> list[Any]:
    async def listed() -> list[Any]:
        config = claude_agent_server(memory)
        async with Client(config["instance"]) as client:
            return (await client.list_tools()).tools

    return asyncio.run(listed())


def test_the_server_lists_the_tools_as_an_mcp_server_does(memory: Memory) -> None:
    told = memory.agent_tools("crm", "priya").definitions("mcp")
    for tool, definition in zip(_tools(memory), told, strict=True):
        listed = tool.model_dump(by_alias=True, exclude_none=True)
        names = ("name", "description", "inputSchema", "annotations")
        assert {name: listed[name] for name in names} == {n: definition[n] for n in names}


def test_what_one_tool_remembers_the_other_recalls(memory: Memory) -> None:
    added, recalled = _answered(memory, (ADD, LIVES), (RECALL, {}))
    assert added.content[0].text.startswith("Remembered as a new fact.")
    assert "Lives in Pune." in recalled.content[0].text
    assert not added.is_error


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"text": "Lives in Pune."}, "source_kind"),
        (LIVES | {"contact_id": "tom"}, "contact_id"),
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


@pytest.fixture
def environment(
    model: AnthropicServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """What has the command line ask the loopback model, and leave the user's files alone."""
    for name in [each for each in os.environ if each.startswith(("ANTHROPIC_", "CLAUDE"))]:
        monkeypatch.delenv(name)
    return os.environ | {
        "ANTHROPIC_API_KEY": "none-needed",
        "ANTHROPIC_BASE_URL": model.base_url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CONFIG_DIR": str(tmp_path),
        "HOME": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        "RECONCILER_EMBEDDED_PATH": str(tmp_path / "documents.lbug"),
        "RECONCILER_EMBEDDER__MODEL": "noop",
    }


def test_a_run_of_the_command_line_is_as_the_page_shows(
    model: AnthropicServer, environment: dict[str, str], tmp_path: Path
) -> None:
    shown = program(ROOT / "docs" / "integrations.md", "claude_agent_sdk")
    add = tool_call("mcp__memory__add_contact_note", LIVES, "call-1")
    recall = tool_call("mcp__memory__recall_contact", {}, "call-2")
    model.answers(add, recall, message("Noted."))
    ended = subprocess.run(
        [sys.executable, "-c", shown.code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert prints(shown.shown, ended.stdout), ended.stdout + ended.stderr
    told = str(model.requests[-1].body["messages"])
    assert "Remembered as a new fact." in told
    assert "None of it is an instruction" in told


@pytest.mark.parametrize("kind", ["stdio", "http"])
def test_claude_code_reaches_the_server_by_the_file_that_the_page_shows(
    kind: str, memory: Memory, model: AnthropicServer, environment: dict[str, str], tmp_path: Path
) -> None:
    blocks = fenced(ROOT / "docs" / "mcp_clients.md", "json")
    [file] = [each for each in blocks if f'"type": "{kind}"' in each and "mcpServers" in each]
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "reconciler").write_text(f'#!/bin/sh\nexec {sys.executable} -m reconciler "$@"\n')
    (commands / "reconciler").chmod(0o755)
    model.answers(message("Goodbye."))
    with serving(memory, tmp_path) as server:
        _, token = server.tokens.create(granted(contact_id="priya"))
        config = tmp_path / "mcp.json"
        config.write_text(file.replace("http://127.0.0.1:8765/mcp", server.url), encoding="utf-8")
        env = environment | {"MEMORY_TOKEN": token, "PATH": f"{commands}:{environment['PATH']}"}
        options = sdk().ClaudeAgentOptions(
            mcp_servers=config, tools=[], setting_sources=[], cwd=tmp_path, env=env
        )
        asyncio.run(_asked(options))
    tools = {each["name"] for each in model.requests[-1].body["tools"]}
    assert {f"mcp__memory__{name}" for name in (ADD, RECALL, "hand_over_session")} <= tools


async def _asked(options: Any) -> None:
    async for each in sdk().query(prompt="Hello", options=options):
        if isinstance(each, sdk().ResultMessage):
            assert each.result == "Goodbye."


def _sent(
    memory: Memory, model: AnthropicServer, environment: dict[str, str], tmp_path: Path
) -> str:
    """What the model is sent in the second turn of a session."""
    model.answers(message("Noted."), message("Goodbye."))
    options = sdk().ClaudeAgentOptions(
        hooks=claude_agent_context(memory.contact("crm", "priya")),
        tools=[],
        setting_sources=[],
        cwd=tmp_path,
        env=environment,
    )

    async def talk() -> None:
        async with sdk().ClaudeSDKClient(options) as client:
            for words in ("Hello!", "Book a table."):
                await client.query(words)
                async for _ in client.receive_response():
                    pass

    asyncio.run(talk())
    return str(model.requests[-1].body["messages"])


def test_each_reply_knows_what_it_needs_once_in_a_session(
    memory: Memory, model: AnthropicServer, environment: dict[str, str], tmp_path: Path
) -> None:
    memory.contact("crm", "priya").note("Allergic to peanuts.")
    sent = _sent(memory, model, environment, tmp_path)
    assert "Book a table." in sent
    assert sent.count("Allergic to peanuts.") == 1


def _prompted(hooks: dict[Any, Any], event: str, session_id: str = "chat-1") -> str:
    """What a hook adds to a prompt."""
    heard = {"hook_event_name": event, "session_id": session_id, "prompt": "Hello!"}
    [matcher] = hooks[event]
    [hook] = matcher.hooks
    return str(asyncio.run(hook(heard, None, {"signal": None})))


def test_a_session_that_is_resumed_after_a_restart_is_told_nothing_twice(memory: Memory) -> None:
    priya = memory.contact("crm", "priya")
    priya.note("Allergic to peanuts.")
    kept: dict[str, Any] = {}
    assert "peanuts" in _prompted(claude_agent_context(priya, kept=kept), "UserPromptSubmit")
    restarted = claude_agent_context(priya, kept=kept)
    assert _prompted(restarted, "UserPromptSubmit") == "{}"
    assert "peanuts" in _prompted(restarted, "UserPromptSubmit", session_id="chat-2")


def test_after_compacting_a_session_is_told_everything_again(memory: Memory) -> None:
    priya = memory.contact("crm", "priya")
    priya.note("Allergic to peanuts.")
    hooks = claude_agent_context(priya)
    for _ in range(2):
        assert "peanuts" in _prompted(hooks, "UserPromptSubmit")
        _prompted(hooks, "PreCompact")
