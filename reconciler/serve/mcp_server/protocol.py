"""The protocol: a desk as a server of the official MCP SDK. Decides nothing.

Each call has a thread. A tool's failure is a result with ``isError``, in words. An unknown name and
wrong parameters are errors of the protocol. An unexpected error is logged, and the client learns no
more than that: the SDK would send the exception's own text.

Over standard input and output there is one client, with the grant of the command line.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.abc
import anyio.to_thread
import mcp_types as types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from reconciler.domain.records.notes import storable
from reconciler.serve.access.grants import Grant
from reconciler.serve.mcp_server.desk import INSTRUCTIONS, Desk, UnknownNameError

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream

CALLS_AT_ONCE_MAX = 16
"""The calls that run at once, as many as the embedded engine has connections; other calls wait."""

_NAME_LENGTH_MAX = 100
_log = logging.getLogger(__name__)
R = TypeVar("R")


class Calls:
    """Runs calls, a bounded number, each in a thread; ``wait`` waits for their end."""

    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(CALLS_AT_ONCE_MAX)

    async def run(self, call: Callable[[], R]) -> R:
        """Run the call and return its result; a call that the client cancels still ends."""
        try:
            return await anyio.to_thread.run_sync(call, limiter=self._limiter)
        except UnknownNameError as error:
            raise MCPError(
                INVALID_PARAMS, f"there is no {str(error)[:_NAME_LENGTH_MAX]!r} here"
            ) from None
        except Exception:  # noqa: BLE001  its text must not reach a client
            _log.exception("a call failed with an unexpected error")
            raise MCPError(INTERNAL_ERROR, "internal error") from None

    async def wait(self, timeout_seconds: float) -> None:
        """Wait until no call is running, or until the time-out."""
        with anyio.move_on_after(timeout_seconds):
            while self._limiter.borrowed_tokens:
                await anyio.sleep(0.02)


def mcp_server(
    desk: Desk, grant_of: Callable[[ServerRequestContext[Any, Any]], Grant], calls: Calls
) -> Server[Any]:
    """Make a server of the SDK that answers from the desk.

    Args:
        desk: answers the requests.
        grant_of: finds the client's grant, by the request.
        calls: runs the calls.
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

    return Server(
        "reconciler",
        version=metadata.version("graph-memory-reconciler"),
        title="Memory about contacts",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


_GRACE_SECONDS = 10.0
_POLL_SECONDS = 0.02
_CANCELLED = "notifications/cancelled"


def serve_stdio(desk: Desk, grant: Grant, close: Callable[[], None]) -> None:
    """Serve until standard input ends, or until SIGTERM or Ctrl-C; running calls are finished.

    Args:
        desk: answers the requests.
        grant: the memory that the client may reach.
        close: closes the memory; called if a signal ends the process: then this function does not
            return.
    """
    anyio.run(_serve, desk, grant, close)


async def _pass_on_requests(
    incoming: ReadStream[SessionMessage | Exception],
    server: WriteStream[SessionMessage | Exception],
    unanswered: set[str | int],
) -> None:
    """Pass on the client's requests; end when each has its answer, or the grace period is over.

    The SDK cancels running calls as soon as its input ends. So a client that sends requests and
    then closes its side, like a pipe, would get no answer.
    """
    async with server, incoming:
        async for received in incoming:
            request = _mended(received) if isinstance(received, ValidationError) else received
            if isinstance(request, SessionMessage):
                _read_arguments(request.message)
                _note(request.message, unanswered)
            await server.send(request)
        with anyio.move_on_after(_GRACE_SECONDS):
            while unanswered:
                await anyio.sleep(_POLL_SECONDS)


def _read_arguments(message: object) -> None:
    """Read arguments that are a text of JSON, such as "null"; the SDK refuses any other text."""
    params = getattr(message, "params", None) or {}
    if isinstance(said := params.get("arguments"), str):
        with suppress(ValueError, RecursionError):
            params["arguments"] = json.loads(said or "null")


def _note(message: object, unanswered: set[str | int]) -> None:
    if isinstance(message, JSONRPCRequest):
        unanswered.add(message.id)
    elif isinstance(message, JSONRPCNotification) and message.method == _CANCELLED:
        unanswered.discard((message.params or {}).get("requestId", ""))


async def _pass_on_replies(
    server: ReadStream[SessionMessage],
    outgoing: WriteStream[SessionMessage],
    unanswered: set[str | int],
) -> None:
    """Pass messages on to the client; note which request each one answers."""
    async with outgoing, server:
        async for item in server:
            await outgoing.send(item)
            message = item.message
            if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
                unanswered.discard(message.id)


def _mended(refused: ValidationError) -> SessionMessage | ValidationError:
    r"""Return the message of a line that the SDK refused for half a surrogate pair (``"\ud835"``).

    The SDK drops such a line, and its client waits for an answer for ever. Here a sign replaces the
    half. A line that is no message for another reason stays refused.
    """
    line = refused.errors()[0].get("input")
    try:
        mended = storable(json.dumps(json.loads(line), ensure_ascii=False))
        return SessionMessage(jsonrpc_message_adapter.validate_json(mended, by_name=False))
    except (TypeError, ValueError, RecursionError):
        return refused


async def _serve(desk: Desk, grant: Grant, close: Callable[[], None]) -> None:
    calls = Calls()
    server = mcp_server(desk, lambda _: grant, calls)
    async with anyio.create_task_group() as tasks:
        await tasks.start(_end_at_a_signal, calls, close)
        async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as passing_on:
            unanswered: set[str | int] = set()
            to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception]()
            replies, from_server = anyio.create_memory_object_stream[SessionMessage]()
            passing_on.start_soon(_pass_on_requests, incoming, to_server, unanswered)
            passing_on.start_soon(_pass_on_replies, from_server, outgoing, unanswered)
            async with replies, requests:
                await server.run(requests, replies, server.create_initialization_options())
        await calls.wait(_GRACE_SECONDS)
        tasks.cancel_scope.cancel()


async def _end_at_a_signal(
    calls: Calls,
    close: Callable[[], None],
    *,
    task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Finish the running calls and end the process.

    A thread waits for standard input, and only input wakes it. The interpreter waits for its
    threads, so it could not end by itself.
    """
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        task_status.started()
        async for _ in signals:
            await calls.wait(_GRACE_SECONDS)
            close()
            sys.stderr.flush()
            os._exit(0)
