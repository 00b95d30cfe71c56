"""Decay: the strength of a fact that is no longer said, until it is archived. Pure.

Facts that are more important, or were recalled more often, last longer. Nothing is deleted: a fact
below a floor is archived; if it is said again, it becomes live again.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from reconciler.domain.recalling.ranking import numbers_of, strengths
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.policies import DecayPolicy
from reconciler.reading.kinds import Category, RecallSemantics

_PROTECTED_KINDS = frozenset({Category.DECISION, Category.PROCEDURE})
_BINDING = frozenset({RecallSemantics.CONSTRAINT, RecallSemantics.NEGATIVE})


def is_protected(fact: Fact) -> bool:
    """True if a fact is never archived: standing, confirmed, a decision or a procedure."""
    return (
        fact.is_confirmed_by_user
        or fact.category in _PROTECTED_KINDS
        or fact.recall_semantics in _BINDING
    )


def faded(
    facts: Iterable[Fact], disputed_ids: Iterable[str], now: datetime, policy: DecayPolicy
) -> list[Fact]:
    """Facts that are weaker than the floor, the weakest first.

    Expired facts count, too: a recall returns them with a mark. Protected facts, facts in dispute,
    and facts that hold from a later day on are left out.

    Args:
        facts: of one contact, in any state.
        disputed_ids: the ids of the facts that are in dispute.
        now: the time now (UTC).
        policy: the half-life and the floor.
    """
    waiting = set(disputed_ids)
    may_fade = [
        fact
        for fact in facts
        if fact.as_of(now).is_told()
        and not fact.is_upcoming(now)
        and fact.fact_id not in waiting
        and not is_protected(fact)
    ]
    left = zip(strengths(numbers_of(may_fade), policy, now).tolist(), may_fade, strict=True)
    weak = [(share, fact.fact_id, fact) for share, fact in left if share < policy.floor]
    return [fact for *_, fact in sorted(weak, key=lambda one: one[:2])]
