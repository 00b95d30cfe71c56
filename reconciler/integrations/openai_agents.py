"""An agent's tools for the OpenAI Agents SDK, bound to one contact."""

from __future__ import annotations

import hashlib
import json
from functools import partial
from typing import TYPE_CHECKING, Any

from reconciler.errors import ConfigurationError

try:
    from agents import FunctionTool
except ImportError as error:
    raise ConfigurationError(
        "reconciler.integrations.openai_agents needs the OpenAI Agents SDK: "
        "pip install 'openai-agents>=0.24,<0.25'"
    ) from error

import anyio.to_thread

if TYPE_CHECKING:
    from agents.tool_context import ToolContext

    from reconciler.service.tools.agent_tools import AgentTools

__all__ = ["openai_agents_tools"]


def openai_agents_tools(tools: AgentTools) -> list[FunctionTool]:
    """An agent's tools for ``Agent(tools=…)``, with strict schemas; calls run in threads.

    A model's mistake is answered in words, like any other call.

    Args:
        tools: as ``Memory.agent_tools`` gives them, bound to one contact and conversation.
    """
    return [
        FunctionTool(
            name=definition["name"],
            description=definition["description"],
            params_json_schema=definition["parameters"],
            on_invoke_tool=partial(_invoke, tools, definition["name"]),
            strict_json_schema=True,
        )
        for definition in tools.definitions("openai-responses", strict=True)
    ]


async def _invoke(tools: AgentTools, name: str, called: ToolContext[Any], arguments: str) -> str:
    call = partial(
        tools.call, name, arguments, call_id=called.tool_call_id, message_id=_heard(called)
    )
    return (await anyio.to_thread.run_sync(call)).text


def _heard(called: ToolContext[Any]) -> str:
    """The conversation up to the call, as its message: the SDK names no message of its own."""
    told = json.dumps(called.turn_input, default=str, sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()
