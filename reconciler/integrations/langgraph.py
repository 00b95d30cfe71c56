"""Memory for LangGraph: tools, and what a reply needs to know, for the contact of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from reconciler.errors import ConfigurationError, InvalidScopeError

try:
    from langchain_core.messages import HumanMessage
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool
except ImportError as error:
    raise ConfigurationError(
        "reconciler.integrations.langgraph needs LangGraph: pip install 'langgraph>=1.2,<2'"
    ) from error

from cachetools import LRUCache

from reconciler.integrations.langchain import CallableTool, sent_back

if TYPE_CHECKING:
    from reconciler.memory import Memory
    from reconciler.service.tools.agent_tools import AgentTools

__all__ = ["RunTool", "langgraph_context", "langgraph_tools"]

_RUNS_MAX = 1_000
_SHOWN = "reconciler_shown"
"""Where a message of facts keeps their ids; it is sent to no model."""


class _Runs:
    """The tools of recent runs, each bound by its configuration."""

    def __init__(self, memory: Memory, **bound: Any) -> None:
        self._memory = memory
        self._bound = bound
        self._tools: LRUCache[tuple[str | None, ...], AgentTools] = LRUCache(_RUNS_MAX)
        self._lock = Lock()

    def tools(self, config: Mapping[str, Any]) -> AgentTools:
        """The tools of one run.

        Raises:
            InvalidScopeError: its configuration names no agent or no contact.
        """
        given = config.get("configurable") or {}
        agent_id, contact_id = _named(given, "agent_id"), _named(given, "contact_id")
        thread_id = given.get("thread_id")
        session_id = None if thread_id is None else str(thread_id)
        colleague = given.get("colleague")
        key = (agent_id, contact_id, session_id, colleague)
        with self._lock:
            if (tools := self._tools.get(key)) is None:
                tools = self._memory.agent_tools(
                    agent_id,
                    contact_id,
                    session_id=session_id,
                    colleague=colleague,
                    **self._bound,
                )
                self._tools[key] = tools
            return tools


class RunTool(CallableTool):
    """One of an agent's tools, for the contact that the run's configuration names."""

    runs: Any

    def _run(
        self, ids: Mapping[str, str], /, *_: Any, config: RunnableConfig, **arguments: Any
    ) -> str:
        runs: _Runs = self.runs
        return sent_back(runs.tools(config), self.name, arguments, ids)


def langgraph_tools(
    memory: Memory,
    *,
    tenant: str | None = None,
    can_recall: bool = True,
    budget_tokens: int | None = None,
    trusted_tools: Sequence[str] | None = None,
    with_colleague: bool = False,
) -> list[BaseTool]:
    """Tools for all runs of a graph; each run names its contact.

    A run names ``agent_id``, ``contact_id`` and ``thread_id`` in ``config={"configurable": {…}}``.
    The thread is the conversation under which notes are filed; all notes without a thread are filed
    under one. A run that names no contact fails with ``InvalidScopeError``, and its model is told
    nothing.

    Args:
        memory: the memory; its opener closes it.
        tenant: the tenant; None for the configured one.
        can_recall: whether there is ``recall_contact``.
        budget_tokens: the size of one recall; None for 500.
        trusted_tools: as ``Memory.agent_tools`` takes it.
        with_colleague: whether the model is told that it may note a colleague's word. If one of
            your own people takes part in a run, the run names this person as ``colleague``, beside
            the contact; in any other run a colleague's word is refused.
    """
    runs = _Runs(
        memory,
        tenant=tenant,
        can_recall=can_recall,
        budget_tokens=budget_tokens,
        trusted_tools=trusted_tools,
    )
    described = memory.agent_tools(
        "any",
        "any",
        tenant=tenant,
        can_recall=can_recall,
        trusted_tools=trusted_tools,
        colleague="any" if with_colleague else None,
    )
    return [
        RunTool(
            name=definition["name"],
            description=definition["description"],
            args_schema=definition["input_schema"],
            runs=runs,
        )
        for definition in described.definitions()
    ]


def langgraph_context(
    memory: Memory, *, tenant: str | None = None, budget_tokens: int | None = None
) -> Callable[[Mapping[str, Any], RunnableConfig], dict[str, list[HumanMessage]]]:
    """What each reply needs to know: a node before the model's, or a ``pre_model_hook``.

    It adds ``ContactMemory.context`` to the ``messages``, as data, once for each of the person's
    turns. The message keeps which facts it shows, and so does the checkpoint of the thread; what is
    removed from the state counts as not shown. The run names agent and contact as for
    ``langgraph_tools``.

    Args:
        memory: the memory; its opener closes it.
        tenant: the tenant; None for the configured one.
        budget_tokens: as ``ContactMemory.context`` takes it.
    """

    def with_context(
        state: Mapping[str, Any], config: RunnableConfig
    ) -> dict[str, list[HumanMessage]]:
        given = config.get("configurable") or {}
        names = _named(given, "agent_id"), _named(given, "contact_id")
        heard = [message for message in state["messages"] if isinstance(message, HumanMessage)]
        if not heard or _SHOWN in heard[-1].response_metadata:
            return {"messages": []}
        kept = [
            each.response_metadata[_SHOWN] for each in heard if _SHOWN in each.response_metadata
        ]
        shown = [fact_id for ids in kept for fact_id in ids] if kept else None
        context = memory.contact(*names, tenant=tenant).context(
            [{"role": "user", "content": heard[-1].content}],
            budget_tokens=budget_tokens,
            shown=shown,
        )
        if not context.text:
            return {"messages": []}
        told = HumanMessage(
            context.text,
            id=heard[-1].id and f"{heard[-1].id}-context",
            response_metadata={_SHOWN: context.new_ids(shown or ())},
        )
        return {"messages": [told]}

    return with_context


def _named(given: Mapping[str, Any], name: str) -> str:
    if not isinstance(named := given.get(name), str) or not named:
        raise InvalidScopeError(
            f"the run's configuration names no {name}; invoke the graph with "
            f"config={{'configurable': {{'{name}': …}}}}"
        )
    return named
