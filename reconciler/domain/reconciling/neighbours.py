"""Neighbours: which facts a note is decided on. Pure; cosines come from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations, starmap
from typing import Any

from reconciler.domain.guard import (
    are_two_things,
    denies_value,
    denies_value_ever,
    differ_only_in,
    find_differences,
    names_before,
    share_a_word,
    tell_of_other_matters,
    tells_of_change,
)
from reconciler.domain.records.facts import Fact, Neighbour
from reconciler.domain.records.kinds import Category
from reconciler.domain.records.notes import Note
from reconciler.domain.records.slots import SlotMatch, compare_slots
from reconciler.domain.values.attributes import AttributeBook
from reconciler.sensitive_data import TOKEN

NEIGHBOUR_COUNT_MAX = 10
"""Facts that are compared: those that share the note's slot first, then the nearest."""

_NEAREST_COUNT = 5
"""Neighbours that a decision keeps, beside those that share the note's slot."""

_EXPIRED_COUNT = 2
"""Expired facts that a decision keeps in addition to the live ones."""


_OF_FACT = (
    "fact_id",
    "text",
    "valid_from",
    "trust",
    "slot",
    "category",
    "observations",
    "is_confirmed_by_user",
    "is_standing",
    "is_start_given",
)


def neighbour_of(fact: Fact, cosine: float, **flags: bool) -> Neighbour:
    """A fact as the rule sees it.

    Args:
        fact: the fact.
        cosine: its raw cosine to the note, in [-1, 1].
        **flags: what ``Neighbour`` says of the moment; False if it is left out.
    """
    own: dict[str, Any] = {name: getattr(fact, name) for name in _OF_FACT}
    return Neighbour(cosine=cosine, **(own | flags))


def filed(fact: Fact, attributes: AttributeBook, names: Iterable[str | None]) -> Fact:
    """The fact; if it was stored without a slot, with the slot that is read from its words.

    A token for a sensitive value is no value that can be compared with a note's.

    Args:
        fact: the stored fact.
        attributes: the book with the phrasings to read.
        names: the contact's known names.
    """
    slot, words = attributes.filled(fact.slot, fact.text, names)
    if words is None or slot is None or TOKEN.fullmatch(slot.value or ""):
        return fact
    return replace(fact, slot=slot)


def is_rival(note: Note, fact: Fact) -> bool:
    """Whether the note's slot decides about the fact, however far away its text is."""
    if note.slot is None or fact.slot is None:
        return False
    return note.slot.decides_about(fact.slot)


def are_of_one_kind(note: Note, fact: Fact | Neighbour) -> bool:
    """Whether the two may be compared: an outcome of a task only with another outcome."""
    return (note.category is Category.OUTCOME) == (fact.category is Category.OUTCOME)


def match_of(note: Note, fact: Fact | Neighbour) -> SlotMatch:
    """How the note's slot relates to the fact's, as far as the texts are about one matter.

    The budgets of two projects are two matters, whatever their values. An attribute that the caller
    invented is always one matter. A denial of a value is not another value: a person who never
    worked at Globex may work at Nordlys, whichever is said first.
    """
    match = compare_slots(note.slot, fact.slot)
    if not note.slot or not fact.slot or match not in (SlotMatch.EQUAL, SlotMatch.CHANGED):
        return match
    is_denied = match is SlotMatch.CHANGED and (
        denies_value(note.text, note.slot.value or "")
        or denies_value_ever(fact.text, fact.slot.value or "")
    )
    return SlotMatch.APART if is_denied or are_other_matters(note, fact) else match


def are_of_several_matters(facts: Iterable[Fact | Neighbour]) -> bool:
    """Whether facts in one slot are about several things, such as the budgets of two projects."""
    return any(starmap(are_other_matters, combinations(facts, 2)))


def are_other_matters(one: Note | Fact | Neighbour, other: Fact | Neighbour) -> bool:
    """Whether both name what the slot's value belongs to, and name different things."""
    if one.slot is None or other.slot is None or not one.slot.is_known:
        return False
    values = (one.slot.value or "", other.slot.value or "")
    return tell_of_other_matters(one.text, other.text, one.slot.attribute or "", values)


def are_filed_apart(note: Note, fact: Neighbour) -> bool:
    """Whether the caller gave the note another attribute than the fact's.

    Then no cosine makes them the same: "Yes, that is fine." answers any question.
    """
    return note.slot_read_from is None and len(_attributes(note, fact)) > 1


def _attributes(note: Note, fact: Neighbour) -> tuple[str, ...]:
    """The attributes of both, the note's first, each once."""
    named = (slot.attribute for slot in (note.slot, fact.slot) if slot)
    return tuple(dict.fromkeys(filter(None, named)))


def may_both_hold(note: Note, fact: Neighbour) -> bool:
    """Whether note and fact are about two matters, so that there is nothing to ask."""
    return _are_two_questions(note, fact) or are_two_things(note.text, fact.text)


def _are_two_questions(note: Note, fact: Neighbour) -> bool:
    """Whether the caller gave the note another attribute than the fact's, so that both hold.

    Not if one name is a part of the other ("films", "films_watched"), or only the answer differs
    ("has a dog", "has no dog"). Nor if the note tells of a change of the fact's attribute, and does
    not name its own: "the new credit limit, with our terms" changes no terms.
    """
    if not are_filed_apart(note, fact):
        return False
    here, there = (set(attribute.split("_")) for attribute in _attributes(note, fact))
    new, old = (slot.value_key for slot in (note.slot, fact.slot) if slot)
    if here <= there or there <= here or new in (None, old):
        return False
    value = (fact.slot and fact.slot.value) or ""
    if denies_value(note.text, value) or names_before(note.text, value):
        return False
    names_its_own = all(share_a_word(note.text, name) for name in here - there)
    names_the_other = share_a_word(note.text, " ".join(there - here))
    if names_the_other and not names_its_own and tells_of_change(note.text):
        return False
    findings = find_differences(note.text, fact.text)
    return not differ_only_in(findings, note.text, fact.text)


def neighbours_of(
    note: Note, seen: Iterable[Neighbour], named_ids: Sequence[str] = ()
) -> tuple[Neighbour, ...]:
    """The facts that decide about a note, nearest first.

    They are the five nearest; the five nearest without siblings, which are other values of an
    attribute that holds many; and facts that are named, or share the note's slot or words. Of
    expired facts the two nearest without siblings, and those that share the slot.

    Args:
        note: the note.
        seen: the compared facts, in any order.
        named_ids: the facts that the note names, if any.

    Returns:
        The neighbours that the decision keeps, nearest first.
    """
    alike = [neighbour for neighbour in seen if are_of_one_kind(note, neighbour)]
    ordered: Sequence[Neighbour] = sorted(alike, key=lambda neighbour: -neighbour.cosine)
    matches = [compare_slots(note.slot, neighbour.slot) for neighbour in ordered]
    live = [place for place, neighbour in enumerate(ordered) if not neighbour.is_expired]
    near = [place for place, match in enumerate(matches) if match is not SlotMatch.APART]
    kept = set(live[:_NEAREST_COUNT])
    kept |= set([place for place in near if not ordered[place].is_expired][:_NEAREST_COUNT])
    kept |= set([place for place in near if ordered[place].is_expired][:_EXPIRED_COUNT])
    kept |= {place for place in near if matches[place] is not SlotMatch.UNKNOWN}
    kept |= {
        place
        for place, neighbour in enumerate(ordered)
        if neighbour.fact_id in named_ids or neighbour.shares_words
    }
    return tuple(ordered[place] for place in sorted(kept))
