"""Which facts a note speaks of; a model is believed about no others. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from reconciler.domain.guard import (
    is_english,
    share_a_word,
    stems_of,
    tells_of_change,
    tells_of_end,
)
from reconciler.domain.reconciling.verdicts import LINK_COSINE_MIN
from reconciler.domain.records.facts import Fact, Neighbour
from reconciler.domain.records.notes import Note
from reconciler.domain.records.slots import Slot

__all__ = ["holders_of", "speaks_of_any"]


def holders_of(slot: Slot, facts: Iterable[Fact]) -> tuple[list[Fact], list[Fact]]:
    """The facts that hold a slot's value, and those of its attribute that hold another value.

    A fact may hold it under another name of a caller's own, or in fewer or more words: "Bangalore"
    and "Bangalore, India". A slot without a value means the only fact of its attribute. If several
    may be meant, none is.

    Args:
        slot: an attribute, with the value or without.
        facts: the live facts of the contact.
    """
    own = [(fact, fact.slot) for fact in facts if fact.slot and fact.slot.subject == slot.subject]
    equal = [
        fact
        for fact, held in own
        if held.value_key == slot.value_key is not None
        if held.attribute == slot.attribute or not (held.is_known and slot.is_known)
    ]
    filed = [(fact, held.value or "") for fact, held in own if held.attribute == slot.attribute]
    alike = [fact for fact, value in filed if slot.value is None or _is_shorter(slot.value, value)]
    others = [fact for fact, _ in filed if fact not in (*equal, *alike)]
    return equal or (alike if len(alike) == 1 else []), others


def _is_shorter(one: str, other: str) -> bool:
    """Whether one of two values holds all words of the other."""
    words, others = stems_of(one), stems_of(other)
    return bool(words and others) and (words <= others or others <= words)


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
