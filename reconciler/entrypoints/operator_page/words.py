"""Words: what the page calls what is kept, in plain English; never a value of the code."""

from __future__ import annotations

from collections.abc import Mapping

from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import FOR_OPERATORS, Action, Disposal, GateReason
from reconciler.domain.review.timeline import why_of

__all__ = [
    "ACTIONS",
    "DISPOSALS",
    "FIELDS",
    "OVER",
    "REVERSIBLE",
    "SETTLED",
    "UNDONE",
    "answerers",
    "attribute",
    "plain",
    "why_of",
]

OVER = "It no longer holds."
SETTLED = "Settled on the page."
UNDONE = "Undone on the page."
"""The reason that is kept where a person gave none."""

FIELDS: Mapping[str, str] = {
    "at": "the day",
    "confirm": "the contact's id",
    "fact": "the fact",
    "reason": "the reason",
    "since": "the first day",
    "text": "the text",
    "token": "the token",
    "true_from": "the day from which it is true",
    "until": "the last day",
    "value": "the value",
}

ACTIONS: Mapping[Action, str] = {
    Action.ADD: "remembered",
    Action.UPDATE: "replaced",
    Action.SKIP: "said again",
    Action.ADMIT: "let through",
    Action.HOLD: "held",
    Action.REJECT: "refused",
    Action.DECLINE: "answered no",
    Action.WITHDRAW: "taken back",
    Action.REVOKE: "ended",
    Action.RESOLVE: "settled",
    Action.REVERT: "undone",
    Action.ARCHIVE: "archived",
    Action.UNARCHIVE: "recalled again",
}

DISPOSALS: Mapping[Disposal, str] = {
    Disposal.ADMIT: "let in",
    Disposal.REJECT: "refused",
    Disposal.CONFIRM: "held for a yes",
    Disposal.CONSENT: "held for consent",
}

REVERSIBLE = frozenset(
    {
        *(Action.ADD, Action.UPDATE, Action.SKIP, Action.REVOKE, Action.RESOLVE),
        *(Action.REVERT, Action.ARCHIVE, Action.UNARCHIVE),
    }
)
"""What changed facts, so that it can be undone."""


def plain(value: object) -> str:
    """A word of the code as a reader knows it: ``sensitive_topic`` is "sensitive topic"."""
    return str(value).replace("_", " ")


def attribute(fact: Fact) -> str | None:
    """The attribute that a fact is filed under; None without one."""
    return fact.slot.attribute if fact.slot else None


def answerers(held: Decision, name: str) -> dict[str, str]:
    """Who may answer a question, as a form sends it and as a reader knows it."""
    me, contact = {"operator": f"I, {name}"}, {"contact": "the contact told me"}
    if held.disposal is Disposal.CONSENT:
        return contact
    reason = held.gate.reason if held.gate else GateReason.ADMITTED
    return me if reason in FOR_OPERATORS else me | contact
