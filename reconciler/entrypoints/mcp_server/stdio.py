"""The server over standard input and output: one client, whose grant the command line gives."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

import anyio
import anyio.abc
from mcp.server.stdio import stdio_server

from reconciler.entrypoints.mcp_server.desk import Desk
from reconciler.entrypoints.mcp_server.grants import Grant
from reconciler.entrypoints.mcp_server.protocol import Calls, mcp_server

__all__ = ["serve_stdio"]

_GRACE_SECONDS = 10.0


def serve_stdio(desk: Desk, grant: Grant, close: Callable[[], None]) -> None:
    """Serve until standard input ends, or until SIGTERM or Ctrl-C; calls under way are finished.

    Args:
        desk: what answers.
        grant: what the client may reach.
        close: closes the memory; called where a signal ends the process, which does not return.
    """
    anyio.run(_serve, desk, grant, close)


async def _serve(desk: Desk, grant: Grant, close: Callable[[], None]) -> None:
    calls = Calls()
    server = mcp_server(desk, lambda _: grant, calls, instructions=desk.instructions(grant.profile))
    async with anyio.create_task_group() as tasks:
        await tasks.start(_end_at_a_signal, calls, close)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        await calls.wait(_GRACE_SECONDS)
        tasks.cancel_scope.cancel()


async def _end_at_a_signal(
    calls: Calls,
    close: Callable[[], None],
    *,
    task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Finish what is under way and end the process.

    A thread waits for standard input, and nothing but input wakes it; so the interpreter, which
    waits for its threads, could not end by itself.
    """
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        task_status.started()
        async for _ in signals:
            await calls.wait(_GRACE_SECONDS)
            close()
            sys.stderr.flush()
            os._exit(0)
