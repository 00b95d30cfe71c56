"""Words: the page's plain English names for stored values; never the code's own words.

They also say which fact a decision was about, which facts it replaced, and what happened to it
later. The text of a person's decision is the reason; a reader wants to know the fact.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from reconciler.bound_memory import ContactMemory
from reconciler.domain.erasing import planning
from reconciler.domain.explanation import Explanation
from reconciler.domain.reconciling.reverting import undone_by
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.erasures import Erasure, ErasureKind
from reconciler.domain.records.facts import Contact
from reconciler.domain.records.kinds import (
    FOR_OPERATORS,
    OPERATOR_DOOR,
    Action,
    DecidedBy,
    Disposal,
    GateReason,
)
from reconciler.errors import UnknownDecisionError, UnknownFactError
from reconciler.frozen import Match, StringMap, frozen
from reconciler.memory import Memory
from reconciler.ops.pages.report import why_of as why_of
from reconciler.reading.lexicon import lexicon
from reconciler.reading.quoting import in_marks
from reconciler.service.writing.submissions import settlement_id_of

OVER = "It no longer holds."
SETTLED = "Settled on the page."
UNDONE = "Undone on the page."
"""The recorded reason if a person gave none."""

_TABLES: Mapping[str, StringMap] = tomllib.loads(
    Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
)
FIELDS, ACTIONS, DISPOSALS = _TABLES["fields"], _TABLES["actions"], _TABLES["disposals"]
SENSITIVITIES, _PLAIN = _TABLES["sensitivities"], _TABLES["plain"]
QUESTIONS, RECORDS = _TABLES["questions"], _TABLES["records"]
_UNTIL_NOW = " ".join(lexicon("questions").words("beside")).partition("“")[0]

REVERSIBLE = frozenset(
    {
        *(Action.ADD, Action.UPDATE, Action.SKIP, Action.REVOKE, Action.RESOLVE),
        *(Action.REVERT, Action.ARCHIVE, Action.UNARCHIVE, Action.MERGE),
    }
)
"""Actions that changed facts, so that they can be undone."""


DIRECTING = frozenset({GateReason.DIRECTIVE, GateReason.UNTRUSTED_SOURCE})
"""Reasons for which a yes is unlikely, so that no button suggests it."""

_THRESHOLDS = re.compile(r'\bThe thresholds of the profile "[^"]*" decided\b')
_ISO_TIME = re.compile(r"(?<![-\w])(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d)(?::\d\d)?)?(?![-\w])")
_SCORE = "The gate was sure of it to"
_REASONED = REVERSIBLE - {Action.ADD, Action.UPDATE, Action.SKIP}
_QUOTED = re.compile(r'("[^"]*"|“[^”]*”)')


def plain(value: object) -> str:
    """Put a word of the code in a reader's words: ``sensitive_topic`` is "sensitive topic"."""
    return _PLAIN.get(str(value), str(value).replace("_", " "))


def plainly(sentence: str) -> str:
    """Write a sentence of an explanation without technical terms; quotations stay unchanged."""
    parts = _QUOTED.split(_THRESHOLDS.sub("How similar the two are decided", sentence))
    for place in range(0, len(parts), 2):
        for word, plain_word in _TABLES["plainly"].items():
            parts[place] = re.sub(word, plain_word, parts[place])
        parts[place] = _ISO_TIME.sub(_dated, parts[place])
    return "".join(parts)


def _dated(found: Match) -> str:
    return f"{day(datetime.fromisoformat(found[1]))}{f', {found[2]}' if found[2] else ''}"


def day(at: datetime) -> str:
    """Show a day to a reader, in UTC."""
    return f"{at:%-d %b %Y}"


def moment(at: datetime | None) -> str:
    """Show a time to a reader, in UTC."""
    return f"{day(at)}, {at:%H:%M} UTC" if at else "an unknown time"


def gist(why: Explanation) -> list[str]:
    """Return the part of an explanation that a reader wants first; ``details`` has the rest."""
    return [each for each in (*why.remarks, *why.rule[:1]) if not each.startswith(_SCORE)]


def details(why: Explanation) -> list[str]:
    """Return the figures of an explanation, and the other compared facts."""
    first = [each for each in why.rule[:1] if each.startswith(_SCORE)]
    return [*first, *why.rule[1:], *why.neighbours, *why.differences, *why.arbiter]


def is_erased(contact: Contact, erasures: Iterable[Erasure]) -> bool:
    """True if only the receipts of its erasure are left of a contact."""
    return 0 < contact.erased_facts == contact.facts and any(
        each.kind is ErasureKind.CONTACT and each.is_finished
        for each in erasures
        if each.scope.contact_id == contact.contact_id
    )


def is_withdrawn(ending: Decision | None) -> bool:
    """True if a decision that ended a fact says that it did not hold against its rivals."""
    if ending is None or ending.door != OPERATOR_DOOR:
        return False
    of_several = ending.action is Action.REVOKE and len(ending.superseded_ids) > 1
    return of_several or ending.action is Action.RESOLVE


def is_reason(decision: Decision) -> bool:
    """True if the decision's text is a person's reason, not the contact's words."""
    return decision.door == OPERATOR_DOOR and decision.action in _REASONED


def person(decision: Decision) -> str | None:
    """Return who decided, or corrected a fact; None if no person did."""
    is_amended = decision.decided_by is DecidedBy.AMENDMENT
    by = decision.proposal.proposed_by if is_amended else None
    return decision.proposal.answered_by or by


def action(decision: Decision) -> str:
    """Say what was done, in a word or two; ending another fact counts more than repeating one."""
    done = decision.action
    if done in (Action.SKIP, Action.UPDATE):
        is_change = decision.verdict.is_replacement or replaced_by(decision)
        done = Action.UPDATE if is_change else Action.SKIP
    return ACTIONS[done]


def replaced_by(decision: Decision) -> list[str]:
    """Return the facts that a note ended, without the fact that it repeats."""
    if not decision.action.is_reconciled:
        return []
    ended = {*decision.superseded_ids} - {
        *decision.verdict.targets[: decision.verdict.is_restatement]
    }
    return [each.text for each in decision.compared_with if each.fact_id in ended]


def is_declined(decision: Decision) -> bool:
    """True if the note is not remembered because a person said no, now or before."""
    reason = decision.gate.reason if decision.gate else None
    is_no = decision.action in (Action.DECLINE, Action.WITHDRAW)
    return is_no or (decision.action is Action.REJECT and reason is GateReason.DECLINED_BEFORE)


def answer(decision: Decision) -> str:
    """Return the outcome for a person; ``Decision.answer`` is for an agent."""
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


def question(held: Decision) -> str:
    """Return the question for an operator; ``Decision.question`` is mostly for the contact."""
    asked = QUESTIONS.get(held.disposal) or QUESTIONS.get(held.judged.reason, QUESTIONS["other"])
    _, found, known = (held.question or "").rpartition(_UNTIL_NOW)
    return f"{asked} Known until now: {known.rpartition('”')[0]}”." if found else asked


def answerers(held: Decision, name: str) -> StringMap:
    """Return who may answer a question: the value that the form sends, and the name to show."""
    me, contact = {"operator": f"I, {name}"}, {"contact": "the contact told me"}
    if held.disposal is Disposal.CONSENT:
        return contact
    reason = held.gate.reason if held.gate else GateReason.ADMITTED
    return me if reason in FOR_OPERATORS else me | contact


_READ_MAX = 1_000
_NAMED_MAX = 3


@frozen
class Since:
    """The later fate of a decision.

    Attributes:
        settled: the answer to a held note; None while it waits.
        undone: the decision that undid it, unless that decision was undone itself.
        is_erased: whether its words were erased.
        is_reversible: whether it can be undone now.
        has_lapsed: whether it is too late for an answer.
    """

    settled: Decision | None
    undone: Decision | None
    is_erased: bool
    has_lapsed: bool
    is_reversible: bool


def since(about: ContactMemory, decision: Decision) -> Since:
    """Find out what happened to a decision of this contact later."""
    undone, gone = None, planning.is_erased(decision)
    if decision.action in REVERSIBLE:
        later = about.decisions(since=decision.at, door=OPERATOR_DOOR, limit=_READ_MAX)
        undone = undone_by(decision, later)
    ends_at = decision.gate.lapses_at if decision.gate else None
    settled = settled_by(about, decision) if decision.action is Action.HOLD else None
    return Since(
        settled=settled,
        undone=undone,
        is_erased=gone,
        has_lapsed=settled is None and ends_at is not None and ends_at <= datetime.now(UTC),
        is_reversible=decision.action in REVERSIBLE and undone is None and not gone,
    )


def settled_by(about: ContactMemory, held: Decision) -> Decision | None:
    """Find the decision that answered a question; None while it waits."""
    try:
        return about.decision(settlement_id_of(held.proposal.held_id or held.decision_id))
    except UnknownDecisionError:
        return None


def subject_of(memory: Memory, decision: Decision) -> str:
    """Return the fact or facts that a decision was about; its own text if that names the fact."""
    scope = decision.scope
    about = memory.contact(scope.agent_id, scope.contact_id, tenant=scope.tenant)
    if decision.action is Action.REVERT:
        undone = _undone(about, decision)
        if undone is None:
            return decision.text
        told = subject_of(memory, undone)
        if undone.action is Action.REVERT:
            return f"The undoing of {in_marks(told)}"
        return f"The answer that {told}" if undone.action is Action.RESOLVE else told
    ids: Iterable[str] = ()
    if decision.action is Action.REVOKE:
        ids = decision.superseded_ids
    elif decision.action is Action.RESOLVE and decision.decided_by is DecidedBy.ANSWER:
        ids = [each for each in (decision.fact_id, *decision.closed_ids) if each]
    texts = [*dict.fromkeys(filter(None, (_text(about, each) for each in ids)))]
    if not texts:
        return decision.text
    more = f" and {len(texts) - _NAMED_MAX} more" if len(texts) > _NAMED_MAX else ""
    told = " · ".join(texts[:_NAMED_MAX]) + more
    if decision.action is Action.RESOLVE:
        return f"{in_marks(told)} {'holds' if len(texts) == 1 else 'hold'}"
    return told


def _undone(about: ContactMemory, revert: Decision) -> Decision | None:
    """Find the decision that a person asked to undo; later ones undone with it come first."""
    ids = revert.undo.decision_ids if revert.undo else ()
    try:
        return about.decision(ids[-1]) if ids else None
    except UnknownDecisionError:
        return None


def _text(about: ContactMemory, fact_id: str) -> str | None:
    try:
        return about.evidence(fact_id).fact.text
    except UnknownFactError:
        return None
