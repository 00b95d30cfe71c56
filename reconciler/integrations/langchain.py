"""An agent's tools for LangChain, bound to one contact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reconciler.errors import ConfigurationError

try:
    from langchain_core.tools import BaseTool, ToolException
except ImportError as error:
    raise ConfigurationError(
        "reconciler.integrations.langchain needs LangChain: pip install 'langchain-core>=1.2,<2'"
    ) from error

if TYPE_CHECKING:
    from reconciler.service.tools.agent_tools import AgentTools

__all__ = ["ContactTool", "langchain_tools", "sent_back"]


class ContactTool(BaseTool):
    """One of an agent's tools. What a model sends is checked by the tool itself, and told in words.

    A mistake of a model's is a message with the status ``error``.
    """

    handle_tool_error: Any = True
    agent_tools: Any

    def _run(self, /, *_: Any, **arguments: Any) -> str:
        tools: AgentTools = self.agent_tools
        return sent_back(tools, self.name, arguments)


def langchain_tools(tools: AgentTools) -> list[BaseTool]:
    """An agent's tools for ``model.bind_tools`` and an agent's ``tools``.

    Args:
        tools: as ``Memory.agent_tools`` gives them, bound to one contact and conversation.
    """
    return [
        ContactTool(
            name=definition["name"],
            description=definition["description"],
            args_schema=definition["input_schema"],
            agent_tools=tools,
        )
        for definition in tools.definitions()
    ]


def sent_back(tools: AgentTools, name: str, arguments: Mapping[str, Any]) -> str:
    """The words of a reply; an error's words are raised, so that LangChain marks them.

    Raises:
        ToolException: the call could not be carried out.
    """
    reply = tools.call(name, arguments)
    if reply.is_error:
        raise ToolException(reply.text)
    return reply.text
