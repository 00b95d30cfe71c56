"""Memory for the Claude Agent SDK, bound to one contact: tools, and context for replies."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from functools import partial
from typing import Any

from reconciler.errors import ConfigurationError
from reconciler.frozen import Json

try:
    from claude_agent_sdk import (
        HookMatcher,
        McpSdkServerConfig,
        SdkMcpTool,
        ToolAnnotations,
        create_sdk_mcp_server,
    )
except ImportError as error:
    raise ConfigurationError(
        "reconciler.integrations.claude_agent_sdk needs the Claude Agent SDK: "
        "pip install 'claude-agent-sdk>=0.2.189,<0.3'"
    ) from error

import anyio.to_thread
from cachetools import LRUCache

from reconciler.bound_memory import ContactMemory
from reconciler.service.tools.agent_tools import AgentTools

__all__ = ["claude_agent_context", "claude_agent_server"]

_SESSIONS_MAX = 1_000


def claude_agent_server(tools: AgentTools, name: str = "memory") -> McpSdkServerConfig:
    """Make a server for ``ClaudeAgentOptions(mcp_servers={"memory": …})``; calls run in threads.

    The SDK checks arguments against the schemas first, and reports a mistake to the model.

    Args:
        tools: as ``Memory.agent_tools`` gives them, bound to one contact and conversation.
        name: the server's name; its tools are named ``mcp__memory__add_contact_note`` and so on.
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


def claude_agent_context(
    contact: ContactMemory,
    *,
    budget_tokens: int | None = None,
    kept: MutableMapping[str, Sequence[str]] | None = None,
) -> dict[Any, list[HookMatcher]]:
    """Add context to each prompt, for ``ClaudeAgentOptions(hooks=…)``: no model has to ask.

    ``ContactMemory.context`` is added to each prompt, as data. Claude Code keeps this context in
    its session; after it has compacted the session, all facts are shown again. If the memory cannot
    be read, the prompt is blocked.

    Args:
        contact: the contact; the opener of the memory closes it.
        budget_tokens: as ``ContactMemory.context`` takes it.
        kept: the ids of the facts that were shown, by Claude's session id. Give your own mapping,
            such as a ``shelve``, if sessions are resumed after a restart; None keeps the last 1,000
            in this process.
    """
    shown = LRUCache(_SESSIONS_MAX) if kept is None else kept

    async def prompted(heard: Any, *_: Any) -> Any:
        session_id = heard["session_id"]
        turns = [{"role": "user", "content": heard["prompt"]}]
        told = shown.get(session_id)
        read = partial(contact.context, turns, budget_tokens=budget_tokens, shown=told)
        context = await anyio.to_thread.run_sync(read)
        shown[session_id] = context.shown
        if not context.text:
            return {}
        added = {"hookEventName": heard["hook_event_name"], "additionalContext": context.text}
        return {"hookSpecificOutput": added}

    async def compacted(heard: Any, *_: Any) -> Any:
        shown.pop(heard["session_id"], None)
        return {}

    return {
        "UserPromptSubmit": [HookMatcher(hooks=[prompted], on_failure="block")],
        "PreCompact": [HookMatcher(hooks=[compacted])],
    }


async def _invoke(tools: AgentTools, name: str, arguments: Json) -> Json:
    reply = await anyio.to_thread.run_sync(tools.call, name, arguments)
    return {"content": [{"type": "text", "text": reply.text}], "is_error": reply.is_error}
