"""Words: the page's plain English names for stored values; never the code's own words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.erasures import Erasure, ErasureKind
from reconciler.domain.records.facts import Contact, Fact
from reconciler.domain.records.kinds import (
    FOR_OPERATORS,
    OPERATOR_DOOR,
    Action,
    DecidedBy,
    Disposal,
    GateReason,
    Sensitivity,
)
from reconciler.domain.review.explanation import Explanation
from reconciler.domain.review.timeline import why_of as why_of

OVER = "It no longer holds."
SETTLED = "Settled on the page."
UNDONE = "Undone on the page."
"""The recorded reason if a person gave none."""

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
    Action.WITHDRAW: "question withdrawn",
    Action.REVOKE: "ended",
    Action.RESOLVE: "settled",
    Action.REVERT: "undone",
    Action.ARCHIVE: "archived",
    Action.UNARCHIVE: "recalled again",
}

DISPOSALS: Mapping[Disposal, str] = {
    Disposal.ADMIT: "let in",
    Disposal.REJECT: "refused or no",
    Disposal.CONFIRM: "held for a yes",
    Disposal.CONSENT: "held for consent",
}

REVERSIBLE = frozenset(
    {
        *(Action.ADD, Action.UPDATE, Action.SKIP, Action.REVOKE, Action.RESOLVE),
        *(Action.REVERT, Action.ARCHIVE, Action.UNARCHIVE),
    }
)
"""Actions that changed facts, so that they can be undone."""


DIRECTING = frozenset({GateReason.DIRECTIVE, GateReason.UNTRUSTED_SOURCE})
"""Reasons with an unlikely yes, so that no button suggests it."""

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
    "not_said_plainly": "not said plainly by the contact",
    "span_not_in_evidence": "the cited words were not said",
    "thin_evidence": "said only once, or unsure",
    "wrong_relation": "it does not fit what is known",
}

_PLAINLY: Sequence[tuple[str, str]] = (
    (r"\barbiter\b", "judge"),
    (r"\bcosine\b", "similarity"),
    (r"\bfiled under nothing\b", "stored without an attribute"),
    (r"\bfiled under\b", "stored under"),
    (r"\bthe user's own word\b", "the contact's own word"),
    (r"\bword of user_explicit\b", "word of the contact"),
    (r"\bword of (\w+?)_(\w+)\b", r"word of \1 \2"),
    (r"\bunder policy (\S+) for domain (\S+?)(?=\.?$)", r"by the rules for \2, version \1"),
)
RECORDS: Mapping[str, str] = {"Episode": "statement"}
"""A reader's names for the kinds of records that a receipt counts; the others need none."""

_THRESHOLDS = re.compile(r'\bThe thresholds of the profile "[^"]*" decided\b')
_ISO_TIME = re.compile(r"(?<![-\w])(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d)(?::\d\d)?)?(?![-\w])")
_SCORE = "The gate was sure of it to"
_REASONED = frozenset(
    {Action.REVOKE, Action.RESOLVE, Action.REVERT, Action.ARCHIVE, Action.UNARCHIVE}
)
_QUOTED = re.compile(r'("[^"]*"|“[^”]*”)')


def plain(value: object) -> str:
    """A word of the code in a reader's words: ``sensitive_topic`` is "sensitive topic"."""
    return _PLAIN.get(str(value), str(value).replace("_", " "))


def plainly(sentence: str) -> str:
    """A sentence of an explanation without technical terms; quotations stay unchanged."""
    parts = _QUOTED.split(_THRESHOLDS.sub("How similar the two are decided", sentence))
    for place in range(0, len(parts), 2):
        for word, plain_word in _PLAINLY:
            parts[place] = re.sub(word, plain_word, parts[place])
        parts[place] = _ISO_TIME.sub(_dated, parts[place])
    return "".join(parts)


def _dated(found: re.Match[str]) -> str:
    return f"{day(datetime.fromisoformat(found[1]))}{f', {found[2]}' if found[2] else ''}"


def day(at: datetime) -> str:
    """A day for a reader, in UTC."""
    return f"{at:%-d %b %Y}"


def moment(at: datetime | None) -> str:
    """A time for a reader, in UTC."""
    return f"{day(at)}, {at:%H:%M} UTC" if at else "an unknown time"


def gist(why: Explanation) -> list[str]:
    """The part of an explanation that a reader wants first; ``details`` has the rest."""
    return [each for each in (*why.remarks, *why.rule[:1]) if not each.startswith(_SCORE)]


def details(why: Explanation) -> list[str]:
    """The figures of an explanation, and the other compared facts."""
    first = [each for each in why.rule[:1] if each.startswith(_SCORE)]
    return [*first, *why.rule[1:], *why.neighbours, *why.differences, *why.arbiter]


def holding(contact: Contact) -> int:
    """How many facts of a contact have not ended, as its page counts them."""
    return contact.live_facts + contact.expired_facts + contact.archived_facts


def ended(contact: Contact) -> int:
    """How many facts of a contact have ended; erased ones do not count."""
    return contact.superseded_facts + contact.revoked_facts


def is_erased(contact: Contact, erasures: Iterable[Erasure]) -> bool:
    """Whether nothing is left of a contact but the receipts of its erasure."""
    return 0 < contact.erased_facts == contact.facts and any(
        each.kind is ErasureKind.CONTACT and each.is_finished
        for each in erasures
        if each.scope.contact_id == contact.contact_id
    )


def tone(decision: Decision) -> str:
    """The kind of notice for a decision."""
    return "warn" if decision.action in (Action.REJECT, Action.HOLD) else "good"


def is_withdrawn(ending: Decision | None) -> bool:
    """Whether a decision that ended a fact says that it did not hold against its rivals."""
    if ending is None or ending.door != OPERATOR_DOOR:
        return False
    of_several = ending.action is Action.REVOKE and len(ending.superseded_ids) > 1
    return of_several or ending.action is Action.RESOLVE


def is_reason(decision: Decision) -> bool:
    """Whether its text is a person's reason, not the contact's words."""
    return decision.door == OPERATOR_DOOR and decision.action in _REASONED


def person(decision: Decision) -> str | None:
    """Who decided, or corrected a fact; None if no person did."""
    is_amended = decision.decided_by is DecidedBy.AMENDMENT
    by = decision.proposal.proposed_by if is_amended else None
    return decision.proposal.answered_by or by


def action(decision: Decision) -> str:
    """What was done, in a word or two."""
    if decision.action is Action.UPDATE and decision.verdict.is_restatement:
        return ACTIONS[Action.SKIP]
    return ACTIONS[decision.action]


def replaced_by(decision: Decision) -> list[str]:
    """The facts that a decision replaced, as far as its record says."""
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
    """The outcome for a person; ``Decision.answer`` is for an agent."""
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
        return f"Not remembered: {decision.reason.rstrip('.')}."
    return decision.answer


def attribute(fact: Fact) -> str | None:
    """The attribute that a fact is filed under; None without one."""
    return fact.slot.attribute if fact.slot else None


def answerers(held: Decision, name: str) -> dict[str, str]:
    """Who may answer a question: the form's value, and the name for a reader."""
    me, contact = {"operator": f"I, {name}"}, {"contact": "the contact told me"}
    if held.disposal is Disposal.CONSENT:
        return contact
    reason = held.gate.reason if held.gate else GateReason.ADMITTED
    return me if reason in FOR_OPERATORS else me | contact
