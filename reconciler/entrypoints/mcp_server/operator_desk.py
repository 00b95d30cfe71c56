"""The operator's desk: open questions, their answers, and the evidence of a fact.

The only part of the server that records an answer, under the name in the grant. Nothing of an
agent's profile may ever be here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from reconciler.domain.tools.replies import ToolReply, reply_about
from reconciler.entrypoints.access.grants import Grant
from reconciler.entrypoints.mcp_server import answers
from reconciler.entrypoints.mcp_server.operator_tools import OPERATOR_TOOLS
from reconciler.errors import InvalidRequestError

if TYPE_CHECKING:
    from reconciler.contact_memory import ContactMemory
    from reconciler.memory import Memory

_TOOLS = {tool.name: tool for tool in OPERATOR_TOOLS}


def operator_reply(
    memory: Memory,
    grant: Grant,
    agent_id: str,
    contact_id: str | None,
    name: str,
    given: Mapping[str, Any],
) -> ToolReply:
    """The answer of one of ``OPERATOR_TOOLS``.

    Args:
        memory: the memory.
        grant: who asks.
        agent_id: the agent, within the grant.
        contact_id: the contact, within the grant; None for all of the agent's contacts, if the
            tool allows that.
        name: the tool.
        given: the other arguments.

    Raises:
        ReconcilerError: what the memory's call raises.
    """
    asked = _TOOLS[name].read(given)
    agent = memory.agent(agent_id, tenant=grant.tenant)
    whose: Any = agent if contact_id is None else agent.contact(contact_id)
    if name in ("confirm", "reject"):
        take = whose.confirm if name == "confirm" else whose.reject
        return reply_about(take(by=grant.person(asked.pop("answered_by")), **asked))
    return ToolReply(text=_LOOKS[name](whose, **asked))


def _evidence(whose: ContactMemory, fact_id: str | None = None, about: str | None = None) -> str:
    if (fact_id is None) is (about is None):
        raise InvalidRequestError("give either fact_id or about")
    evidence = whose.evidence_about(about) if about is not None else [whose.evidence(fact_id or "")]
    return answers.evidence_words(evidence)


_LOOKS: Mapping[str, Callable[..., str]] = {
    "pending": lambda whose: answers.pending_words(whose.pending()),
    "health": lambda whose: answers.health_words(whose.health()),
    "history": lambda about, **asked: answers.history_words(about.history(**asked)),
    "profile": lambda about: answers.profile_words(about.profile()),
    "explain": lambda about, **asked: answers.joined(about.explain(**asked).sentences()),
    "evidence": _evidence,
}
"""The tools that only read, by name; the first parameter is the contact's or the agent's memory."""
