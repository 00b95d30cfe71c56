"""Continuing: finds the place of handed-over turns in a session that is already kept. Pure.

A caller may hand over a session whole and longer each time, its last turns (a window that slides),
or only what is new. Undated turns look the same in all three, so their order decides.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

TURNS_OF_ONE_CONVERSATION = 4
"""So many turns are never said again word for word, so they belong to the session that has them.
Fewer do only if that session was heard last."""


def place_in(kept: Sequence[Hashable], given: Sequence[Hashable]) -> int:
    """The number of kept turns before the given ones; all of them if none is given again.

    Args:
        kept: the identities of the kept turns, in order; a unique one for every other turn.
        given: the identities of the turns that are handed over.
    """
    known = set(kept).intersection(given)
    if not known:
        return len(kept)
    for place in range(len(kept)):
        if kept[place] == given[0] and _agree(kept[place:], given):
            is_to_the_end = len(kept) - place <= len(given)
            if is_to_the_end or len(given) >= TURNS_OF_ONE_CONVERSATION:
                return place
    is_whole = kept[0] == given[0] and 1 < len(kept) <= len(given)
    is_edited = sum(turn in known for turn in given) >= TURNS_OF_ONE_CONVERSATION
    return 0 if is_whole or is_edited else len(kept)


def shared_at_the_end(kept: Sequence[Hashable], given: Sequence[Hashable]) -> int:
    """The number of last kept turns with which the given ones begin; 0 if they do not continue."""
    for place in range(max(0, len(kept) - len(given)), len(kept)):
        if _agree(kept[place:], given):
            return len(kept) - place
    return 0


def _agree(one: Sequence[Hashable], other: Sequence[Hashable]) -> bool:
    length = min(len(one), len(other))
    return list(one[:length]) == list(other[:length])
