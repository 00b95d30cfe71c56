"""The protocol: a desk as a server of the official MCP SDK. Decides nothing.

Each call has a thread. A tool's failure is a result with ``isError``, in words. Errors in the
protocol's sense, an unknown name or wrong parameters, are protocol errors. An unexpected error is
logged, and the client learns no more than that: the SDK would send the exception's own text.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from importlib import metadata
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from reconciler.entrypoints.access.grants import Grant
from reconciler.entrypoints.mcp_server.desk import Desk, UnknownNameError
from reconciler.errors import InvalidRequestError, ReconcilerError

CALLS_AT_ONCE_MAX = 16
"""As many as the embedded engine has connections; other calls wait."""

_NAME_LENGTH_MAX = 100
_log = logging.getLogger(__name__)
R = TypeVar("R")


class Calls:
    """The running calls: a bounded number, each in a thread; ``wait`` waits for their end."""

    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(CALLS_AT_ONCE_MAX)

    async def run(self, call: Callable[[], R]) -> R:
        """The result of the call; if the client cancels it, it still runs to its end."""
        try:
            return await anyio.to_thread.run_sync(call, limiter=self._limiter)
        except UnknownNameError as error:
            raise MCPError(INVALID_PARAMS, f"there is no {_short(str(error))!r} here") from None
        except InvalidRequestError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None
        except ReconcilerError as error:
            _log.warning("a call failed: %s", error)
            raise MCPError(INTERNAL_ERROR, "the memory does not answer") from None
        except Exception:  # noqa: BLE001  its text must not reach a client
            _log.exception("a call failed with an unexpected error")
            raise MCPError(INTERNAL_ERROR, "internal error") from None

    async def wait(self, timeout_seconds: float) -> None:
        """Wait until no call is running, or until the time-out."""
        with anyio.move_on_after(timeout_seconds):
            while self._limiter.borrowed_tokens:
                await anyio.sleep(0.02)


def mcp_server(
    desk: Desk,
    grant_of: Callable[[ServerRequestContext[Any, Any]], Grant],
    calls: Calls,
    *,
    instructions: str | None = None,
) -> Server[Any]:
    """A server of the SDK that answers from the desk.

    Args:
        desk: answers the requests.
        grant_of: finds the client's grant, by the request.
        calls: runs the calls.
        instructions: the text about the server for a client's model.
    """

    async def list_tools(ctx: Any, _: Any) -> types.ListToolsResult:
        listed = await calls.run(partial(desk.tools, grant_of(ctx)))
        return types.ListToolsResult.model_validate({"tools": listed})

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        arguments = params.arguments or {}
        reply = await calls.run(partial(desk.call, grant_of(ctx), params.name, arguments))
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=reply.text)], is_error=reply.is_error
        )

    async def list_prompts(ctx: Any, _: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult.model_validate({"prompts": desk.prompts(grant_of(ctx))})

    async def get_prompt(ctx: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        asked = partial(desk.opening, grant_of(ctx), params.name, params.arguments or {})
        said = types.TextContent(type="text", text=await calls.run(asked))
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=said)])

    return Server(
        "reconciler",
        version=metadata.version("graph-memory-reconciler"),
        title="Memory about contacts",
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def _short(text: str) -> str:
    return text if len(text) <= _NAME_LENGTH_MAX else f"{text[:_NAME_LENGTH_MAX]}…"
