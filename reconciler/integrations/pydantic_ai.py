"""Memory for Pydantic AI, bound to one contact: tools, and context for replies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from reconciler.errors import ConfigurationError
from reconciler.frozen import Json

try:
    from pydantic_ai import (
        ModelMessage,
        ModelRequest,
        ModelResponse,
        RunContext,
        Tool,
        ToolFailed,
        UserPromptPart,
    )
    from pydantic_ai.capabilities import ProcessHistory
except ImportError as error:
    raise ConfigurationError(
        "reconciler.integrations.pydantic_ai needs Pydantic AI: "
        "pip install 'pydantic-ai-slim>=2.68,<3'"
    ) from error

from pydantic_core import SchemaValidator, core_schema

from reconciler.bound_memory import ContactMemory
from reconciler.service.tools.agent_tools import AgentTools

__all__ = ["pydantic_ai_context", "pydantic_ai_tools"]

_SHOWN = "reconciler_shown"
"""The key of a request's metadata that keeps the ids of the facts that it shows."""

_AN_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))
"""A tool's arguments as an object: ``from_schema`` also accepts a list, which would end the run."""


def pydantic_ai_tools(tools: AgentTools) -> list[Tool[Any]]:
    """Make an agent's tools for ``Agent(tools=…)``; Pydantic AI calls them in threads.

    A model's mistake is a failed result that says so. It uses up no retry of the run.

    Args:
        tools: as ``Memory.agent_tools`` gives them, bound to one contact and conversation.
    """
    return [_tool(tools, definition) for definition in tools.definitions()]


def pydantic_ai_context(
    contact: ContactMemory, *, budget_tokens: int | None = None
) -> ProcessHistory[Any]:
    """Add context to each prompt, for ``Agent(capabilities=[…])``: no model has to ask.

    ``ContactMemory.context`` is put before each new prompt, as data, and stays in the run's
    messages. A request's ``metadata`` keeps the ids of the shown facts. So pass on the messages of
    a conversation as ``message_history``, also from a file. Messages that are dropped from it count
    as not shown.

    Args:
        contact: the contact; the opener of the memory closes it.
        budget_tokens: as ``ContactMemory.context`` takes it.
    """

    def with_context(messages: list[ModelMessage]) -> list[ModelMessage]:
        prompts = [
            (place, message)
            for place, message in enumerate(messages)
            if isinstance(message, ModelRequest) and _prompt_place(message) is not None
        ]
        if not prompts or _SHOWN in _kept(prompts[-1][1]):
            return messages
        place, request = prompts[-1]
        return [*messages[:place], completed(messages, request), *messages[place + 1 :]]

    def completed(messages: Sequence[ModelMessage], request: ModelRequest) -> ModelRequest:
        kept = [_kept(message)[_SHOWN] for message in messages if _SHOWN in _kept(message)]
        shown = [fact_id for ids in kept for fact_id in ids] if kept else None
        said = [part.content for part in request.parts if isinstance(part, UserPromptPart)]
        turns = [{"role": "user", "content": _words(content)} for content in said]
        context = contact.context(turns, budget_tokens=budget_tokens, shown=shown)
        at = _prompt_place(request) or 0
        told = [UserPromptPart(context.text)] if context.text else []
        return replace(
            request,
            parts=[*request.parts[:at], *told, *request.parts[at:]],
            metadata=_kept(request) | {_SHOWN: context.new_ids(shown or ())},
        )

    return ProcessHistory(with_context)


def _prompt_place(message: ModelMessage) -> int | None:
    """Find the person's first words in a request; None without any."""
    places = (at for at, part in enumerate(message.parts) if isinstance(part, UserPromptPart))
    return next(places, None)


def _kept(message: ModelMessage) -> Json:
    return message.metadata or {}


def _words(content: Any) -> str:
    """Return the words of a prompt; pictures and other files have none."""
    if isinstance(content, str):
        return content
    texts = (getattr(part, "content", part) for part in content)
    return "\n".join(text for text in texts if isinstance(text, str))


def _tool(tools: AgentTools, definition: Json) -> Tool[Any]:
    made: Tool[Any] = Tool.from_schema(
        partial(_invoke, tools, definition["name"]),
        name=definition["name"],
        description=definition["description"],
        json_schema=definition["input_schema"],
        takes_ctx=True,
    )
    made.function_schema.validator = _AN_OBJECT
    return made


def _invoke(tools: AgentTools, name: str, run: RunContext[Any], /, **arguments: Any) -> str:
    answers = [told for told in run.messages if isinstance(told, ModelResponse)]
    message_id = answers[-1].timestamp.isoformat() if answers else None
    reply = tools.call(name, arguments, call_id=run.tool_call_id, message_id=message_id)
    if reply.is_error:
        raise ToolFailed(reply.text)
    return reply.text
