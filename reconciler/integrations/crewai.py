"""An agent's tools for CrewAI, bound to one contact."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reconciler.errors import ConfigurationError

try:
    from crewai.tools import BaseTool
except ImportError as error:
    raise ConfigurationError(
        "reconciler.integrations.crewai needs CrewAI: pip install 'crewai>=1.15,<2'"
    ) from error

if TYPE_CHECKING:
    from reconciler.service.tools.agent_tools import AgentTools

__all__ = ["CrewTool", "crewai_tools"]


class CrewTool(BaseTool):  # type: ignore[misc]  # CrewAI is not there where types are checked
    """One of an agent's tools. A model's mistake is answered in words, like any other call."""

    agent_tools: Any
    cache_function: Callable[..., bool] = lambda *_: False  # else a second recall is the first

    def _run(self, /, **arguments: Any) -> str:
        tools: AgentTools = self.agent_tools
        return tools.call(self.name, arguments).text


def crewai_tools(tools: AgentTools) -> list[CrewTool]:
    """Make an agent's tools for ``Agent(tools=…)``.

    Args:
        tools: as ``Memory.agent_tools`` gives them, bound to one contact and conversation.
    """
    return [
        CrewTool(
            name=definition["name"],
            description=definition["description"],
            args_schema=definition["parameters"],
            agent_tools=tools,
        )
        for definition in tools.definitions("gemini")
    ]
