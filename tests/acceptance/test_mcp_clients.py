"""The files of the page about MCP clients: each can be read, and what it names serves a client."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.documents import ROOT, fenced
from tests.mcp_server import asked

PAGE = ROOT / "docs" / "mcp_clients.md"
CLIENTS = 5
URL = "http://127.0.0.1:8765/mcp"
KEYS = ("mcpServers", "servers", "mcp_servers")
TOOLS = ["add_contact_note", "relate_contact_note", "recall_contact", "hand_over_session"]


def _servers() -> Iterator[dict[str, Any]]:
    read = [json.loads(block) for block in fenced(PAGE, "json")]
    for file in read + [tomllib.loads(block) for block in fenced(PAGE, "toml")]:
        [key] = file.keys() & set(KEYS)
        [server] = file[key].values()
        yield server


def test_each_client_has_a_file_for_stdio_and_one_for_http() -> None:
    servers = list(_servers())
    started = [each for each in servers if each.get("command") == "reconciler"]
    reached = [each for each in servers if each not in started]
    assert (len(started), len(reached)) == (CLIENTS, CLIENTS)
    assert all(URL in (each.get("url"), *each.get("args", ())) for each in reached)
    assert all("token" in json.dumps(each).lower() for each in reached)


async def _tool_names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


def test_the_command_of_each_file_serves_a_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECONCILER_EMBEDDED_PATH", str(tmp_path / "memory.lbug"))
    monkeypatch.setenv("RECONCILER_EMBEDDER__MODEL", "noop")
    ours = [each for each in _servers() if each.get("command") == "reconciler"]
    for arguments in {tuple(each["args"]) for each in ours}:
        started = ["-m", "reconciler", *arguments]
        server = StdioServerParameters(command=sys.executable, args=started, env=dict(os.environ))
        assert asked(server, _tool_names) == TOOLS
