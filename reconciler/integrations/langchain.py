"""An agent's tools for LangChain, bound to one contact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from reconciler.errors import ConfigurationError
from reconciler.frozen import Json, StringMap, StringSet, Values

try:
    from langchain_core.tools import BaseTool, ToolException
except ImportError as error:
    raise ConfigurationError(
        "reconciler.integrations.langchain needs LangChain: pip install 'langchain-core>=1.2,<2'"
    ) from error

from reconciler.service.tools.agent_tools import AgentTools

__all__ = ["CallableTool", "ContactTool", "langchain_tools", "sent_back"]

_RUNTIME = "runtime"
"""The argument in which LangGraph's ``ToolNode`` gives a tool the state of the graph and the id of
the call."""


def _takes_runtime(runtime: Any) -> None:
    """Has the signature by which ``ToolNode`` sees that a tool takes its runtime."""


class CallableTool(BaseTool):
    """A tool that is given the message and the call that it answers.

    A model's mistake becomes a message with the status ``error``.
    """

    handle_tool_error: Any = True

    @property
    def func(self) -> Callable[..., None]:
        """Return the function that ``ToolNode`` reads to see which arguments the tool takes."""
        return _takes_runtime

    @property
    def _injected_args_keys(self) -> StringSet:
        return frozenset({_RUNTIME})  # no trace shows the graph's state as an argument

    def _to_args_and_kwargs(
        self, tool_input: str | Json, tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], Json]:
        words, arguments = super()._to_args_and_kwargs(tool_input, tool_call_id)
        return (_ids_of(arguments.pop(_RUNTIME, None), tool_call_id), *words), arguments

    @classmethod
    def of(cls, tools: AgentTools, **bound: Any) -> list[BaseTool]:
        """Make a tool of this class for each of the agent's tools."""
        return [
            cls(
                name=definition["name"],
                description=definition["description"],
                args_schema=definition["input_schema"],
                **bound,
            )
            for definition in tools.definitions()
        ]


class ContactTool(CallableTool):
    """One of an agent's tools. It checks itself what a model sends, and answers in words."""

    agent_tools: Any

    def _run(self, ids: StringMap, /, *_: Any, **arguments: Any) -> str:
        tools: AgentTools = self.agent_tools
        return sent_back(tools, self.name, arguments, ids)


def langchain_tools(tools: AgentTools) -> list[BaseTool]:
    """Make an agent's tools for ``model.bind_tools`` and an agent's ``tools``.

    Args:
        tools: as ``Memory.agent_tools`` gives them, bound to one contact and conversation.
    """
    return ContactTool.of(tools, agent_tools=tools)


def sent_back(tools: AgentTools, name: str, arguments: Values, ids: StringMap) -> str:
    """Return the words of a reply; an error's words are raised, so that LangChain marks them.

    Args:
        tools: the contact's tools.
        name: the tool's name.
        arguments: the arguments that the model sent.
        ids: ``call_id`` and ``message_id``, as ``AgentTools.call`` takes them.

    Raises:
        ToolException: the call could not be carried out.
    """
    reply = tools.call(name, arguments, **ids)
    if reply.is_error:
        raise ToolException(reply.text)
    return reply.text


def _ids_of(runtime: Any, tool_call_id: str | None) -> StringMap:
    """Make the ids of a call: its place after the person's message that it answers.

    If a model is asked again from a checkpoint, its message and its call get new ids, and many
    servers number calls from zero. The place in the thread stays the same.
    """
    state = getattr(runtime, "state", None)
    messages = state.get("messages") if isinstance(state, Mapping) else state
    called = messages and _place_of(messages, tool_call_id)
    return called or ({"call_id": tool_call_id} if tool_call_id else {})


def _place_of(messages: Iterable[Any], tool_call_id: str | None) -> StringMap | None:
    """Find the last person's message, and the call's number after it; None if it is not found."""
    since: list[tuple[Any, Any]] = []
    asked = None
    for message in messages:
        if getattr(message, "type", None) == "human":
            since, asked = [], message
        since += [(message, call.get("id")) for call in getattr(message, "tool_calls", None) or ()]
    places = [place for place, (_, call_id) in enumerate(since) if call_id == tool_call_id]
    if not places:
        return None
    place = places[-1]
    anchor = (asked or since[place][0]).id
    return anchor and {"message_id": str(anchor), "call_id": str(place)}
