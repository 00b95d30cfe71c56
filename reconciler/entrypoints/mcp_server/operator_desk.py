"""The operator's desk: open questions, their answers, and the evidence of a fact.

The only part of the server that records an answer, under the name in the grant. Nothing of an
agent's profile may ever be here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from reconciler.domain.tools.replies import ToolReply, reply_about
from reconciler.entrypoints.access.grants import Grant
from reconciler.entrypoints.mcp_server import wording
from reconciler.entrypoints.mcp_server.operator_tools import CONTACT_FREE, OPERATOR_TOOLS
from reconciler.errors import InvalidRequestError

if TYPE_CHECKING:
    from reconciler.contact_memory import ContactMemory
    from reconciler.memory import Memory


class OperatorDesk:
    """Answers an operator's client. Safe to share between threads.

    Args:
        memory: the memory; its opener closes it.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._tools = {tool.name: tool for tool in OPERATOR_TOOLS}

    def call(
        self,
        grant: Grant,
        agent_id: str,
        contact_id: str | None,
        name: str,
        given: Mapping[str, Any],
    ) -> ToolReply:
        """The answer of one of ``OPERATOR_TOOLS``.

        Args:
            grant: who asks.
            agent_id: the agent, within the grant.
            contact_id: the contact, within the grant; None for all of the agent's contacts, if the
                tool allows that.
            name: the tool.
            given: the other arguments.

        Raises:
            ReconcilerError: what the memory's call raises.
        """
        asked = self._tools[name].read(given)
        if name in CONTACT_FREE:
            return ToolReply(text=self._overview(grant, agent_id, contact_id, name))
        about = self._memory.contact(agent_id, contact_id or "", tenant=grant.tenant)
        if name in ("confirm", "reject"):
            return self._answered(grant, about, name, asked)
        return ToolReply(text=self._looked_up(about, name, asked))

    def _overview(self, grant: Grant, agent_id: str, contact_id: str | None, name: str) -> str:
        agent = self._memory.agent(agent_id, tenant=grant.tenant)
        whose = agent if contact_id is None else agent.contact(contact_id)
        if name == "pending":
            return wording.pending_words(whose.pending())
        return wording.health_words(whose.health())

    def _answered(
        self, grant: Grant, about: ContactMemory, name: str, asked: dict[str, Any]
    ) -> ToolReply:
        by = asked.pop("answered_by")
        take = about.confirm if name == "confirm" else about.reject
        return reply_about(take(by=grant.person(by), **asked))

    def _looked_up(self, about: ContactMemory, name: str, asked: dict[str, Any]) -> str:
        looks: dict[str, Callable[..., str]] = {
            "history": lambda fact_id=None: wording.history_words(about.history(fact_id=fact_id)),
            "profile": lambda: wording.profile_words(about.profile()),
            "explain": lambda decision_id: wording.explanation_words(about.explain(decision_id)),
            "evidence": lambda **given: _evidence(about, **given),
        }
        return looks[name](**asked)


def _evidence(whose: ContactMemory, fact_id: str | None = None, about: str | None = None) -> str:
    if (fact_id is None) is (about is None):
        raise InvalidRequestError("give either fact_id or about")
    evidence = whose.evidence_about(about) if about is not None else [whose.evidence(fact_id or "")]
    return wording.evidence_words(evidence)
