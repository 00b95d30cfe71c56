"""MCP servers for tests: one over HTTP in this process, and clients of the official SDK for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent

from reconciler import Memory
from reconciler.serve.access.connections import Bounds
from reconciler.serve.access.grants import AccessProfile, Grant
from reconciler.serve.access.http_door import Address
from reconciler.serve.access.tokens import TokenFile
from reconciler.serve.mcp_server.desk import Desk
from reconciler.serve.mcp_server.streamable_http import PATH, http_app
from tests.http_servers import LOCAL, RunningServer, running

__all__ = ["HttpServer", "asked", "called", "granted", "serving"]

R = TypeVar("R")


def granted(profile: str = "agent", *agents: str, **others: Any) -> Grant:
    """A grant for the tests' agent, or those named."""
    return Grant(
        profile=AccessProfile(profile), tenant=others.pop("tenant", "default"),
        agent_ids=agents or ("crm",), **others,
    )  # fmt: skip


class HttpServer(RunningServer):
    """A running MCP server."""

    def asked(self, token: str, ask: Callable[[Client], Awaitable[R]], **others: Any) -> R:
        """What a client with that token gets."""

        return anyio.run(_answer, self.client(token, **others), ask)

    @asynccontextmanager
    async def client(self, token: str, **others: Any) -> AsyncIterator[Client]:
        """A connected client of the official SDK."""
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(self.url, http_client=http), **others) as client,
        ):
            yield client

    def post(self, body: object = None, **headers: str) -> httpx2.Response:
        """What a bare request gets, a listing of the tools unless the body is given."""
        listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        taken = {"Accept": "application/json, text/event-stream"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx2.post(self.url, json=body or listing, headers=taken | named, timeout=60)


@contextmanager
def serving(
    memory: Memory,
    folder: Path,
    *,
    calls_per_minute: int = 10_000,
    bounds: Bounds | None = None,
    address: Address = LOCAL,
) -> Iterator[HttpServer]:
    """A server over HTTP in a thread, on a free port of loopback."""
    tokens = TokenFile(folder / "tokens.json")
    app = http_app(Desk(memory), tokens, address, calls_per_minute=calls_per_minute)
    with running(app, address, bounds) as url:
        yield HttpServer(f"{url}{PATH}", tokens)


def asked(server: Any, ask: Callable[[Client], Awaitable[R]], **others: Any) -> R:
    """What a client gets from a server that the SDK starts, or from one in this process."""
    return anyio.run(_answer, Client(server, **others), ask)


async def _answer(
    connecting: AbstractAsyncContextManager[Client], ask: Callable[[Client], Awaitable[R]]
) -> R:
    """What the client gets; an error of the protocol's as itself, not in the group of its tasks."""
    async with connecting as client:
        try:
            return await ask(client)
        except MCPError as error:
            failed = error
    raise failed


def called(
    tool: str, arguments: Mapping[str, Any] | None = None
) -> Callable[[Client], Awaitable[tuple[str, bool]]]:
    """A call of a tool: what it says, and whether it is an error."""

    async def ask(client: Client) -> tuple[str, bool]:
        result = await client.call_tool(tool, dict(arguments or {}))
        [said] = result.content
        assert isinstance(said, TextContent)
        return said.text, result.is_error

    return ask
