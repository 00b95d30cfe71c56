"""Neighbours: which facts a note is decided on. Pure; cosines come from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reconciler.domain.records.facts import Fact, Neighbour
from reconciler.domain.records.notes import Note
from reconciler.domain.records.slots import SlotMatch, compare_slots

__all__ = ["NEIGHBOUR_COUNT_MAX", "is_rival", "neighbour_of", "neighbours_of"]

NEIGHBOUR_COUNT_MAX = 10
"""Facts that are looked at: the nearest, and before them those that share the note's slot."""

_NEAREST_COUNT = 5
"""Neighbours that a decision keeps, beside those that share the note's slot."""

_EXPIRED_COUNT = 2
"""Expired facts that it keeps in addition: the live ones keep their places."""


def neighbour_of(fact: Fact, cosine: float, *, is_expired: bool = False) -> Neighbour:
    """A fact as the rule sees it, with its raw cosine to the note, in [-1, 1]."""
    return Neighbour(
        fact_id=fact.fact_id,
        text=fact.text,
        cosine=cosine,
        valid_from=fact.valid_from,
        trust=fact.trust,
        slot=fact.slot,
        category=fact.category,
        is_expired=is_expired,
        observations=fact.observations,
        is_confirmed_by_user=fact.is_confirmed_by_user,
    )


def is_rival(note: Note, fact: Fact) -> bool:
    """Whether the note's slot decides about the fact, however far away its text is."""
    prefix = note.slot.rival_prefix if note.slot else None
    key = fact.slot.key if fact.slot and prefix else None
    return key is not None and prefix is not None and key.startswith(prefix)


def neighbours_of(
    note: Note, found: Iterable[Neighbour], named_id: str | None = None
) -> tuple[Neighbour, ...]:
    """The five nearest, the five nearest that are no siblings, what shares the slot or is named.

    Of expired facts the two nearest that are no siblings, and what shares the slot.

    Args:
        note: what is compared.
        found: what was looked at, in any order.
        named_id: the fact that the note names, if any.

    Returns:
        Those that the decision keeps, nearest first.
    """
    ordered: Sequence[Neighbour] = sorted(found, key=lambda each: -each.cosine)
    matches = [compare_slots(note.slot, each.slot) for each in ordered]
    live = [place for place, each in enumerate(ordered) if not each.is_expired]
    near = [place for place, match in enumerate(matches) if match is not SlotMatch.APART]
    kept = set(live[:_NEAREST_COUNT])
    kept |= set([place for place in near if not ordered[place].is_expired][:_NEAREST_COUNT])
    kept |= set([place for place in near if ordered[place].is_expired][:_EXPIRED_COUNT])
    kept |= {place for place in near if matches[place] is not SlotMatch.UNKNOWN}
    kept |= {place for place, each in enumerate(ordered) if each.fact_id == named_id}
    return tuple(ordered[place] for place in sorted(kept))
