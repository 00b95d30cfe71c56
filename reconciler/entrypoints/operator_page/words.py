"""Words: what the page calls what is kept, in plain English; never a value of the code."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import FOR_OPERATORS, Action, Disposal, GateReason, Sensitivity
from reconciler.domain.review.timeline import why_of

__all__ = [
    "ACTIONS",
    "DIRECTING",
    "DISPOSALS",
    "FIELDS",
    "OVER",
    "RECORDS",
    "REVERSIBLE",
    "SENSITIVITIES",
    "SETTLED",
    "UNDONE",
    "action",
    "answer",
    "answerers",
    "attribute",
    "is_declined",
    "plain",
    "plainly",
    "replaced_by",
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
    Action.UPDATE: "changed",
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
    Disposal.REJECT: "refused, or answered no",
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


DIRECTING = frozenset({GateReason.DIRECTIVE, GateReason.UNTRUSTED_SOURCE})
"""Reasons for which a yes is not the likely answer, so that no button leads to it."""

SENSITIVITIES: Mapping[Sensitivity, str] = {
    Sensitivity.NONE: "not sensitive",
    Sensitivity.LOW: "a little sensitive",
    Sensitivity.PII: "personal data",
    Sensitivity.PHI: "health data",
    Sensitivity.SECRET: "secret",
}

_PLAIN: Mapping[str, str] = {
    "admitted": "nothing against it",
    "below_floor": "too unsure",
    "directive": "it tells the agent what to do",
    "not_literal": "not meant literally",
    "span_not_in_evidence": "the cited words were not said",
    "thin_evidence": "said only once, or unsure",
    "wrong_relation": "it does not fit what is known",
}

_PLAINLY: Sequence[tuple[str, str]] = (
    (r"\barbiter\b", "judge"),
    (r"\bcosine\b", "similarity"),
    (r"\bThe thresholds of the profile\b", "The limits of similarity of the set"),
    (r"\bfiled under nothing\b", "stored without an attribute"),
    (r"\bfiled under\b", "stored under"),
    (r"\bword of user_explicit\b", "word of the contact"),
    (r"\bword of (\w+?)_(\w+)\b", r"word of \1 \2"),
    (r"\bunder policy (\S+) for domain (\S+?)(?=\.?$)", r"by the rules for \2, version \1"),
)
RECORDS: Mapping[str, str] = {"Episode": "statement"}
"""The kinds of records that a receipt counts, as a reader knows them; the others are plain."""

_QUOTED = re.compile(r'("[^"]*"|“[^”]*”)')


def plain(value: object) -> str:
    """A word of the code as a reader knows it: ``sensitive_topic`` is "sensitive topic"."""
    return _PLAIN.get(str(value), str(value).replace("_", " "))


def plainly(sentence: str) -> str:
    """A sentence of an explanation without words of the trade; what it quotes stays as it is."""
    parts = _QUOTED.split(sentence)
    for place in range(0, len(parts), 2):
        for word, plain_word in _PLAINLY:
            parts[place] = re.sub(word, plain_word, parts[place])
    return "".join(parts)


def action(decision: Decision) -> str:
    """What was done, in a word or two."""
    if decision.action is Action.UPDATE and decision.verdict.is_restatement:
        return ACTIONS[Action.SKIP]
    return ACTIONS[decision.action]


def replaced_by(decision: Decision) -> list[str]:
    """What a decision took the place of, as far as its record says."""
    if decision.action is not Action.UPDATE or decision.verdict.is_restatement:
        return []
    texts = {each.fact_id: each.text for each in decision.compared_with}
    return [texts[fact_id] for fact_id in decision.superseded_ids if fact_id in texts]


def is_declined(decision: Decision) -> bool:
    """Whether the note is not remembered because a person said no, now or before."""
    reason = decision.gate.reason if decision.gate else None
    is_no = decision.action in (Action.DECLINE, Action.WITHDRAW)
    return is_no or (decision.action is Action.REJECT and reason is GateReason.DECLINED_BEFORE)


def answer(decision: Decision) -> str:
    """What became of it, for a person; ``Decision.answer`` tells an agent."""
    if decision.action is Action.REVERT:
        return "What held before it holds again."
    if decision.action is Action.REJECT and is_declined(decision):
        return (
            "The same was answered no before, so these words are not asked again. "
            "If it is true, write it in other words."
        )
    if decision.action is Action.HOLD:
        return "Not remembered yet: it waits for a yes below."
    if decision.action is Action.REJECT:
        return f"Not remembered: {decision.reason}."
    return decision.answer


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
