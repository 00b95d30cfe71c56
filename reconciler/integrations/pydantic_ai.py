"""An agent's tools for Pydantic AI, bound to one contact."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from reconciler.errors import ConfigurationError

try:
    from pydantic_ai import ModelResponse, RunContext, Tool, ToolFailed
except ImportError as error:
    raise ConfigurationError(
        "reconciler.integrations.pydantic_ai needs Pydantic AI: "
        "pip install 'pydantic-ai-slim>=2.68,<3'"
    ) from error

from pydantic_core import SchemaValidator, core_schema

if TYPE_CHECKING:
    from reconciler.service.tools.agent_tools import AgentTools

__all__ = ["pydantic_ai_tools"]

_AN_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))
"""``from_schema`` accepts a list as arguments, which would end the run."""


def pydantic_ai_tools(tools: AgentTools) -> list[Tool[Any]]:
    """An agent's tools for ``Agent(tools=…)``; Pydantic AI calls them in threads.

    A model's mistake is a failed result that says so. It uses up no retry of the run.

    Args:
        tools: as ``Memory.agent_tools`` gives them, bound to one contact and conversation.
    """
    return [_tool(tools, definition) for definition in tools.definitions()]


def _tool(tools: AgentTools, definition: dict[str, Any]) -> Tool[Any]:
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
