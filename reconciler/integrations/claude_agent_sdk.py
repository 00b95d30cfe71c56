"""An agent's tools for the Claude Agent SDK, bound to one contact."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from reconciler.errors import ConfigurationError

try:
    from claude_agent_sdk import SdkMcpTool, ToolAnnotations, create_sdk_mcp_server
except ImportError as error:
    raise ConfigurationError(
        "reconciler.integrations.claude_agent_sdk needs the Claude Agent SDK: "
        "pip install 'claude-agent-sdk>=0.2.189,<0.3'"
    ) from error

import anyio.to_thread

if TYPE_CHECKING:
    from claude_agent_sdk import McpSdkServerConfig

    from reconciler.service.tools.agent_tools import AgentTools

__all__ = ["claude_agent_server"]


def claude_agent_server(tools: AgentTools, name: str = "memory") -> McpSdkServerConfig:
    """A server for ``ClaudeAgentOptions(mcp_servers={"memory": …})``; calls run in threads.

    The SDK checks arguments against the schemas first, and tells the model of a mistake.

    Args:
        tools: as ``Memory.agent_tools`` gives them, bound to one contact and conversation.
        name: of the server; its tools are called ``mcp__memory__add_contact_note`` and so on.
    """
    return create_sdk_mcp_server(
        name,
        tools=[
            SdkMcpTool(
                name=definition["name"],
                description=definition["description"],
                input_schema=definition["inputSchema"],
                handler=partial(_invoke, tools, definition["name"]),
                annotations=ToolAnnotations(**definition["annotations"]),
            )
            for definition in tools.definitions("mcp")
        ],
    )


async def _invoke(tools: AgentTools, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    reply = await anyio.to_thread.run_sync(tools.call, name, arguments)
    return {"content": [{"type": "text", "text": reply.text}], "is_error": reply.is_error}
