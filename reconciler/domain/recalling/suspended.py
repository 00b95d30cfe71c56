"""Suspended facts: lasting values that a temporary one of the same slot holds back. Pure.

Nothing is written when a value is suspended or holds again: its readers compare by the clock.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from reconciler.domain.records.facts import Fact


def suspended_ids(
    facts: Iterable[Fact], now: datetime, disputes: Mapping[str, Collection[str]]
) -> set[str]:
    """The ids of the facts with another value of one slot, of which one holds only until its end.

    A fact that is in dispute with it, or that began later, is not suspended.

    Args:
        facts: those that are told at this time.
        now: the time (UTC).
        disputes: by the id of each fact that is in dispute the ids of the other sides.
    """
    slots: dict[tuple[str, str | None], list[Fact]] = {}
    for fact in facts:
        if question := _question(fact):
            slots.setdefault(question, []).append(fact)
    return {
        fact.fact_id
        for same in slots.values()
        for temporary in same
        if temporary.valid_to is not None and temporary.valid_from <= now < temporary.valid_to
        for fact in same
        if suspends(temporary, fact) and fact.fact_id not in disputes.get(temporary.fact_id, ())
    }


def suspends(temporary: Fact, fact: Fact) -> bool:
    """Whether a fact, while it holds, suspends one with another value of its slot."""
    question = _question(temporary)
    if temporary.valid_to is None or question is None or question != _question(fact):
        return False
    outlasts = fact.valid_to is None or fact.valid_to > temporary.valid_to
    is_earlier = fact.holds_since <= temporary.valid_from
    if not (outlasts and is_earlier) or _value(temporary) == _value(fact):
        return False
    # The guard, which compares texts, is loaded only if there is such a pair.
    from reconciler.domain.reconciling.neighbours import are_other_matters

    return not are_other_matters(temporary, fact)


def _question(fact: Fact) -> tuple[str, str | None] | None:
    """The question of a slot that holds one value; None without one."""
    if fact.slot is None or not fact.slot.is_single_valued or _value(fact) is None:
        return None
    return fact.slot.subject, fact.slot.attribute


def _value(fact: Fact) -> str | None:
    return fact.slot.value_key if fact.slot else None
