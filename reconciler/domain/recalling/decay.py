"""Decay: the strength of a fact that is no longer said, until it is archived. Pure.

What matters more, and what was recalled more often, lasts longer. Nothing is deleted by it: what
falls below a floor is archived; saying it again makes it live again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime, timedelta

from reconciler.domain.records.facts import Fact
from reconciler.domain.records.policies import DecayPolicy
from reconciler.reading.kinds import Category, RecallSemantics

_DAY = timedelta(days=1)
_PROTECTED_KINDS = frozenset({Category.DECISION, Category.PROCEDURE})
_BINDING = frozenset({RecallSemantics.CONSTRAINT, RecallSemantics.NEGATIVE})


def strength(importance: float, age_days: float, recall_count: int, policy: DecayPolicy) -> float:
    """Strength of a fact, in [0, 1]: 1 when it is said, and half of it after each half-life.

    The half-life doubles if importance rises from 0.5 to 1, halves if it falls from 0.5 to 0, and
    grows by its own length with each doubling of the number of recalls.

    Args:
        importance: 0 to 1.
        age_days: since it was last said; below 0 counts as 0.
        recall_count: how often it was recalled, 0 or more.
        policy: the half-life of a fact of importance 0.5 that was never recalled.

    A fact that was said six sessions ago and never recalled is worth less than one that was said
    last week and recalled since. The numbers are ours.
    """
    use = 1 + math.log2(1 + recall_count)
    half_life = policy.half_life_days * 2 ** (2 * importance - 1) * use
    return float(0.5 ** (max(age_days, 0.0) / half_life))


def strength_of(fact: Fact, now: datetime, policy: DecayPolicy) -> float:
    """Strength of a fact at a time (UTC)."""
    age_days = (now - fact.last_confirmed_at) / _DAY
    return strength(fact.importance, age_days, fact.recall_count, policy)


def is_protected(fact: Fact) -> bool:
    """True if a fact is never archived: it binds, was confirmed, or is a decision or procedure."""
    return (
        fact.is_confirmed_by_user
        or fact.category in _PROTECTED_KINDS
        or fact.recall_semantics in _BINDING
    )


def faded(
    facts: Iterable[Fact], disputed_ids: Iterable[str], now: datetime, policy: DecayPolicy
) -> list[Fact]:
    """Facts that are weaker than the floor, the weakest first.

    Expired facts count, too: a recall tells them with a mark. Left out are protected facts, facts
    in dispute, which wait for an answer, and facts that hold from a later day on.

    Args:
        facts: of one contact, in any state.
        disputed_ids: those of them that are in dispute.
        now: the time now (UTC).
        policy: the half-life and the floor.
    """
    waiting = set(disputed_ids)
    facts_faded = [
        fact
        for fact in facts
        if fact.as_of(now).is_told()
        and not fact.is_upcoming(now)
        and fact.fact_id not in waiting
        and not is_protected(fact)
        and strength_of(fact, now, policy) < policy.floor
    ]
    return sorted(facts_faded, key=lambda fact: (strength_of(fact, now, policy), fact.fact_id))
