"""Which facts a note speaks of; a model is believed about no others. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from reconciler.domain.guard import (
    find_changes,
    is_english,
    shared_words,
    stems_of,
    tells_of_change,
    tells_of_end,
)
from reconciler.domain.guard.reading import folded, read
from reconciler.domain.reconciling.neighbours import match_of
from reconciler.domain.reconciling.verdicts import LINK_COSINE_MIN
from reconciler.domain.records.facts import Fact, Neighbour
from reconciler.domain.records.notes import Note
from reconciler.domain.records.slots import Slot, SlotMatch

_APART_COSINE_MIN = 0.7
"""The same for texts that share no more than whom they are about, or that are not English: the
packaged model puts all texts of another language near each other. Source: as that of replies."""


def may_end(note: Note, fact: Neighbour) -> bool:
    """Whether a model that says that a note ends a fact may be believed.

    The note speaks of that fact: it names something that the fact says, answers its question, or
    means the like. Whom all facts are about is no such thing. A fact that orders or forbids, or
    that recall never cuts, ends only by another value of its slot or by words that name it; the
    latter by words that tell of an end, too: "Orders the peanut menu" ends no allergy. To name the
    attribute alone is enough only with such words: "Has a new budget line" ends no budget.
    """
    if match_of(note, fact) is SlotMatch.CHANGED:
        return True
    named = named_of(note, fact)
    tells = tells_of_change(note.text) or tells_of_end(note.text)
    if fact.is_vital:
        return bool(named) and (tells or bool(find_changes(note.text, fact.text)))
    question = ((fact.slot and fact.slot.attribute) or "").replace("_", " ")
    if named and (tells or shared_words(" ".join(named), question) != named):
        return True
    if fact.is_standing:
        return False
    told, known = note.slot, fact.slot
    if told and known and told.attribute and told.question == known.question:
        return True
    is_read = is_english(note.text) and is_english(fact.text)
    is_far = not is_read or bool(shared_words(note.text, fact.text))  # a name, as far as they go
    return fact.cosine >= (_APART_COSINE_MIN if is_far else LINK_COSINE_MIN)


def named_of(note: Note, fact: Neighbour) -> frozenset[str]:
    """The words of the fact that the note has, without those for whom both are about."""
    value = (fact.slot and fact.slot.value) or ""
    names = f"{note.contact_name or ''} {note.scope.contact_id} {_subject_of(note, fact)}"
    return shared_words(note.text, f"{fact.text} {value}", names)


def _subject_of(note: Note, fact: Neighbour) -> str:
    """The name with which both texts open, mostly the contact's; empty if they open with none."""
    pairs = zip(note.text.split(), fact.text.split(), strict=False)
    run = [one for one, _ in takewhile(lambda pair: pair[0] == pair[1] != pair[0].lower(), pairs)]
    names = read(note.text).names | read(fact.text).names
    return " ".join(run) if any(folded(word.strip(".,:")) in names for word in run) else ""


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
