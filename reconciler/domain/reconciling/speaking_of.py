"""Whether a note speaks of what a model says that it ends; else the model is not believed. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from reconciler.domain.guard import is_english, share_a_word, tells_of_change, tells_of_end
from reconciler.domain.reconciling.verdicts import LINK_COSINE_MIN
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.notes import Note

__all__ = ["speaks_of_any"]


def speaks_of_any(note: Note, facts: Iterable[Neighbour]) -> bool:
    """Whether a note says that something changed or ended, or is about one of these facts.

    An agent that was talked into an end seldom has such a note: "Likes the house rules" ends no
    "Never call before nine". A city, a landlord and a rent go together, so one of them is enough.

    Args:
        note: what is said to end them.
        facts: what would end.
    """
    if tells_of_change(note.text) or tells_of_end(note.text):
        return True
    return any(_is_about(note, fact) for fact in facts)


def _is_about(note: Note, fact: Neighbour) -> bool:
    """Whether both share an attribute, a word of content or a meaning, as far as it can be read."""
    if fact.cosine >= LINK_COSINE_MIN or not (is_english(note.text) and is_english(fact.text)):
        return True
    if note.slot and fact.slot and note.slot.attribute == fact.slot.attribute is not None:
        return True
    return share_a_word(note.text, fact.text)
