"""Memory for the OpenAI Agents SDK, bound to one contact: tools, and context for replies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from reconciler.errors import ConfigurationError

try:
    from agents import FunctionTool
    from agents.run import CallModelData, ModelInputData
    from agents.tool_context import ToolContext
except ImportError as error:
    raise ConfigurationError(
        "reconciler.integrations.openai_agents needs the OpenAI Agents SDK: "
        "pip install 'openai-agents>=0.24,<0.25'"
    ) from error

import anyio.to_thread

from reconciler.bound_memory import ContactMemory
from reconciler.service.tools.agent_tools import AgentTools

__all__ = ["openai_agents_context", "openai_agents_tools"]

_TURNS_MAX = 4
"""The number of the person's latest turns that get their facts again in each call of the model."""


def openai_agents_tools(tools: AgentTools) -> list[FunctionTool]:
    """Make an agent's tools for ``Agent(tools=…)``, with strict schemas; calls run in threads.

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


def openai_agents_context(
    contact: ContactMemory, *, budget_tokens: int | None = None
) -> Callable[[CallModelData[Any]], Awaitable[ModelInputData]]:
    """Make a filter that adds context, for ``RunConfig(call_model_input_filter=…)``.

    ``ContactMemory.context`` is put before the person's latest four turns, as data: the briefing
    before the first of them. The SDK keeps nothing that a filter adds, so each call of the model
    gets the present facts, each once. Do not use this filter for a conversation that OpenAI's
    server keeps; call ``ContactMemory.context`` yourself.

    Args:
        contact: the contact; the opener of the memory closes it.
        budget_tokens: as ``ContactMemory.context`` takes it, for each turn.
    """

    def with_context(items: Sequence[Any]) -> list[Any]:
        runs = [(is_said, list(run)) for is_said, run in groupby(items, _is_a_persons)]
        older = sum(is_said for is_said, _ in runs) - _TURNS_MAX
        given: list[Any] = []
        shown: tuple[str, ...] | None = None
        for is_said, run in runs:
            if is_said and older <= 0:
                context = contact.context(run, budget_tokens=budget_tokens, shown=shown)
                shown = context.shown
                given += [{"role": "user", "content": context.text}] if context.text else []
            older -= is_said
            given += run
        return given

    async def filtered(call: CallModelData[Any]) -> ModelInputData:
        called = call.model_data
        items = await anyio.to_thread.run_sync(with_context, called.input)
        return ModelInputData(input=items, instructions=called.instructions)

    return filtered


def _is_a_persons(item: Any) -> bool:
    return isinstance(item, Mapping) and item.get("role") == "user"


async def _invoke(tools: AgentTools, name: str, called: ToolContext[Any], arguments: str) -> str:
    call = partial(
        tools.call, name, arguments, call_id=called.tool_call_id, message_id=_heard(called)
    )
    return (await anyio.to_thread.run_sync(call)).text


def _heard(called: ToolContext[Any]) -> str:
    """Return the conversation up to the call as its message: the SDK names no message."""
    told = json.dumps(called.turn_input, default=str, sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()
