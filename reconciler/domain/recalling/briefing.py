"""A briefing: what to know, and what to ask, when a conversation opens. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from reconciler.domain.recalling.prompting import as_prompt
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Dispute, ExpiringFact, RankedFact
from reconciler.domain.records.kinds import NOT_FOR_CONTACTS

__all__ = ["QUESTIONS_MAX", "Briefing", "is_for_the_contact", "most_important"]

QUESTIONS_MAX = 2
"""Two are answered in passing; more are an interview."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """What is known of a contact, and what only the contact can settle.

    Attributes:
        facts: as ``recall`` returns them.
        pending: what waits for the contact's answer and matters most: held, or in dispute.
        renewals: what may have changed since it was said, as far as there is room to ask.
    """

    facts: tuple[RankedFact, ...]
    pending: tuple[Decision | Dispute, ...]
    renewals: tuple[ExpiringFact, ...] = ()

    @property
    def questions(self) -> tuple[str, ...]:
        """What to ask, in the order of ``pending``, then of ``renewals``."""
        return tuple(map(_question, (*self.pending, *self.renewals)))

    def as_prompt(self) -> str:
        """Facts and questions as a model is given them: fenced, as data."""
        return as_prompt(self.facts, self.questions)

    def to_dict(self) -> dict[str, Any]:
        """As plain values; of each question its words, and what an answer names."""
        return {
            "facts": [asdict(fact) for fact in self.facts],
            "questions": [
                {"question": _question(item), **_named(item)}
                for item in (*self.pending, *self.renewals)
            ],
        }


def most_important(
    pending: Iterable[Decision | Dispute], limit: int = QUESTIONS_MAX
) -> list[Decision | Dispute]:
    """Of what waits for an answer so many, what matters most first; equals stay in their order."""
    return heapq.nsmallest(limit, pending, key=lambda item: -_importance(item))


def _importance(pending: Decision | Dispute) -> float:
    if isinstance(pending, Dispute):
        return max(fact.importance for fact in pending.facts)
    given = pending.note.importance
    judged = pending.gate.importance if pending.gate else None
    return given if given is not None else judged or 0.0


def is_for_the_contact(pending: Decision | Dispute) -> bool:
    """Whether the contact may answer it; a directive, say, is an operator's to let in."""
    if isinstance(pending, Dispute):
        return True
    return pending.gate is not None and pending.gate.reason not in NOT_FOR_CONTACTS


def _question(pending: Decision | Dispute | ExpiringFact) -> str:
    if isinstance(pending, Dispute | ExpiringFact):
        return pending.question
    return (pending.gate and pending.gate.question) or pending.text


def _named(pending: Decision | Dispute | ExpiringFact) -> dict[str, Any]:
    if isinstance(pending, ExpiringFact):
        return {"fact_ids": [pending.fact.fact_id]}
    if isinstance(pending, Dispute):
        return {"fact_ids": [fact.fact_id for fact in pending.facts]}
    return {"decision_id": pending.decision_id}
