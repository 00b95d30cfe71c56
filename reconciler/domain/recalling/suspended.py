"""Suspended facts: lasting values that a temporary one of the same slot holds back. Pure.

Nothing is written when a value is suspended or holds again: its readers compare by the clock.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from reconciler.domain.records.facts import Fact

__all__ = ["suspended_ids"]


def suspended_ids(
    facts: Iterable[Fact], now: datetime, disputes: Mapping[str, Collection[str]]
) -> set[str]:
    """The ids of the facts with another value of one slot, of which one holds only until its end.

    A fact that is in dispute, that began later, or that rests on a more trusted word is not
    suspended.

    Args:
        facts: those that are told at this time.
        now: the time (UTC).
        disputes: by the id of each fact that is in dispute the ids of the other sides.
    """
    slots: dict[tuple[str, str | None], list[Fact]] = {}
    for fact in facts:
        if fact.slot and fact.slot.is_single_valued and fact.slot.value_key:
            slots.setdefault((fact.slot.subject, fact.slot.attribute), []).append(fact)
    return {
        fact.fact_id
        for same in slots.values()
        for temporary in same
        if _holds_for_a_time(temporary, now)
        for fact in same
        if _suspends(temporary, fact) and fact.fact_id not in disputes.get(temporary.fact_id, ())
    }


def _holds_for_a_time(fact: Fact, now: datetime) -> bool:
    return fact.valid_to is not None and fact.valid_from <= now < fact.valid_to


def _suspends(temporary: Fact, fact: Fact) -> bool:
    if temporary.slot is None or fact.slot is None or temporary.valid_to is None:
        return False
    is_other = fact.slot.value_key != temporary.slot.value_key
    outlasts = fact.valid_to is None or fact.valid_to > temporary.valid_to
    is_earlier = fact.holds_since <= temporary.valid_from
    if not (is_other and outlasts and is_earlier):
        return False
    if temporary.word.is_trusted_less_than(fact.word):
        return False
    # The guard, which compares texts, is loaded only if there is such a pair.
    from reconciler.domain.reconciling.neighbours import are_other_matters

    return not are_other_matters(temporary, fact)
