"""Replies: what a tool says to the model that called it. Short, in words, and never a secret.

What is quoted of the memory is data: on one line, without markup, and cut.
"""

from __future__ import annotations

from dataclasses import dataclass

from reconciler.domain.recalling.briefing import is_for_the_contact
from reconciler.domain.recalling.prompting import quoted
from reconciler.domain.records.assessment import GateReason
from reconciler.domain.records.decisions import Action, Decision
from reconciler.errors import ReconcilerError

__all__ = ["ToolReply", "reply_about"]

_QUOTES_MAX = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReply:
    """What a tool answers.

    Attributes:
        text: for the model; it can be sent as it is.
        is_error: whether the call could not be carried out. What the gate refused is no error.
        decision: what became of a note; None where nothing was decided.
        error: what went wrong, for whoever runs the agent; None where nothing did.
    """

    text: str
    is_error: bool = False
    decision: Decision | None = None
    error: ReconcilerError | None = None

    def __post_init__(self) -> None:
        # Half a surrogate pair, which a model may send and be told of, ends the next request.
        sendable = self.text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")
        object.__setattr__(self, "text", sendable)


def reply_about(decision: Decision) -> ToolReply:
    """What became of a note: in the decision's words, with what it replaced or stands beside."""
    told = [decision.answer, _whom_to_ask(decision)]
    ended = "It took back" if decision.action is Action.REVOKE else "It replaced"
    told.append(_naming(ended, decision, decision.superseded_ids))
    told.append(_naming("Beside it stands", decision, decision.conflicting_ids))
    return ToolReply(text=" ".join(filter(None, told)), decision=decision)


def _whom_to_ask(decision: Decision) -> str:
    if decision.question is None or _is_quarantined(decision):
        return ""
    if is_for_the_contact(decision):
        return "Ask the contact, once."
    return "That is an operator's to answer; do not ask the contact."


def _is_quarantined(decision: Decision) -> bool:
    """Whether its answer has said already that nobody is to be asked."""
    return decision.gate is not None and decision.gate.reason is GateReason.DIRECTIVE


def _naming(what: str, decision: Decision, fact_ids: tuple[str, ...]) -> str:
    seen = [fact.text for fact in decision.compared_with if fact.fact_id in fact_ids]
    return f"{what}: {', '.join(map(quoted, seen[:_QUOTES_MAX]))}." if seen else ""
