"""Telling: what a decision was about, what it replaced, and what became of it since.

The text of a person's decision is their reason; a reader wants to know which fact it was about.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from reconciler.contact_memory import ContactMemory
from reconciler.domain.erasing.redaction import is_erased
from reconciler.domain.quoting import in_marks
from reconciler.domain.reconciling.reverting import undone_by
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.kinds import OPERATOR_DOOR, Action, DecidedBy
from reconciler.entrypoints.operator_page import words
from reconciler.errors import UnknownDecisionError, UnknownFactError
from reconciler.frozen import frozen
from reconciler.memory import Memory
from reconciler.service.writing.decision_ids import settlement_id_of

_READ_MAX = 1_000
_NAMED_MAX = 3


@frozen
class Since:
    """What became of a decision since.

    Attributes:
        settled: how a held note was answered; None while it waits.
        undone: the decision that undid it, and was not undone itself.
        is_erased: whether its words were erased.
        is_reversible: whether it can be undone now.
        has_lapsed: whether the time for an answer is over.
    """

    settled: Decision | None
    undone: Decision | None
    is_erased: bool
    has_lapsed: bool
    is_reversible: bool


def since(about: ContactMemory, decision: Decision) -> Since:
    """What became of a decision of this contact since."""
    undone, gone = None, is_erased(decision)
    if decision.action in words.REVERSIBLE:
        later = about.decisions(since=decision.at, door=OPERATOR_DOOR, limit=_READ_MAX)
        undone = undone_by(decision, later)
    ends_at = decision.gate.lapses_at if decision.gate else None
    settled = settled_by(about, decision) if decision.action is Action.HOLD else None
    return Since(
        settled=settled,
        undone=undone,
        is_erased=gone,
        has_lapsed=settled is None and ends_at is not None and ends_at <= datetime.now(UTC),
        is_reversible=decision.action in words.REVERSIBLE and undone is None and not gone,
    )


def settled_by(about: ContactMemory, held: Decision) -> Decision | None:
    """The decision that answered a question; None while it waits."""
    try:
        return about.decision(settlement_id_of(held.proposal.held_id or held.decision_id))
    except UnknownDecisionError:
        return None


def subject_of(memory: Memory, decision: Decision) -> str:
    """The fact or facts that a decision was about; its own text if that says it."""
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
    """The decision that a person asked to undo; later ones that were undone with it come first."""
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
