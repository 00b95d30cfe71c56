"""Placing: what a contact's facts tell of a note's slot, before the two are compared. Pure.

They tell whom the note is about, how many values a made-up attribute holds, and which thing "Ticket
T-1 is closed." speaks of. What was said once about an attribute stays; the book is never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cached_property

from reconciler.domain.records.facts import Fact
from reconciler.domain.records.keyed_values import keyed
from reconciler.domain.records.notes import Note
from reconciler.domain.records.slots import CONTACT_SUBJECT, Slot
from reconciler.domain.values.attributes import AttributeBook
from reconciler.domain.values.subjects import Meant, People


def needs_placing(note: Note) -> bool:
    """Whether the contact's facts may tell more of a note's slot than the note does."""
    slot = note.slot
    if slot is None:
        return keyed(note.text) is not None
    return slot.subject != CONTACT_SUBJECT or (slot.attribute is not None and not slot.is_known)


class Placing:
    """Places notes among a contact's facts.

    Args:
        facts: those with an attribute.
        called: what the contact is called.
        attributes: the book.
        disputed_with: the ids of the other sides of a fact's disputes.
    """

    def __init__(
        self,
        facts: Sequence[Fact],
        called: frozenset[str],
        attributes: AttributeBook,
        disputed_with: Callable[[str], Collection[str]],
    ) -> None:
        self.called = called
        self._facts = [(fact.slot, fact) for fact in facts if fact.slot]
        self._attributes = attributes
        self._disputed_with = disputed_with

    @cached_property
    def _people(self) -> People:
        told = [(slot, fact.text) for slot, fact in self._facts]
        return People(told, self.called, self._attributes.are_one_role)

    def meant_by(self, subject: str, said: str) -> Meant:
        """Whom a folded subject means; see ``People``."""
        return self._people.meant_by(subject, said)

    def place(self, note: Note) -> Note:
        """The note with its slot as the facts complete it."""
        if note.slot is None:
            told = self._state_told(note.text)
            return replace(note, slot=told, slot_read_from=note.text) if told else note
        slot = note.slot
        if slot.attribute is not None and not slot.is_known:
            slot = self._of_its_kind(slot)
        if slot.subject != CONTACT_SUBJECT:
            subjects = self.meant_by(slot.subject, note.text).subjects
            filed = {known.subject for known, _ in self._facts if known.attribute == slot.attribute}
            subject = next((each for each in subjects if each in filed), subjects[0])
            slot = replace(slot, subject=subject)
        return note if slot == note.slot else replace(note, slot=slot)

    def _of_its_kind(self, slot: Slot) -> Slot:
        """The slot with the number of values that was said of its attribute first."""
        same = [pair for pair in self._facts if pair[0].attribute == slot.attribute]
        if any(known.is_single_valued for known, _ in same):
            return replace(slot, is_single_valued=True, is_open=False)
        beside = {
            known.value_key
            for known, fact in same
            if known.subject == slot.subject and not self._disputed_with(fact.fact_id)
        }
        has_several = len(beside) > 1  # side by side without a dispute
        return replace(slot, is_single_valued=False, is_open=False) if has_several else slot

    def _state_told(self, text: str) -> Slot | None:
        """The slot of a sentence that says how a known thing stands now."""
        told = keyed(text)
        if told is None or not (told.state and told.is_stated):
            return None
        noun = told.noun.split()[-1:]
        named = self._attributes.slot(attribute=noun[0]) if noun else None
        for known, _ in self._facts:
            is_its = known.attribute == named.attribute if named else told.is_certain
            if is_its and known.thing and known.thing.code == told.code and known.thing.state:
                return self._attributes.slot(
                    subject=known.subject,
                    attribute=known.attribute,
                    value=f"{told.number} {told.state}",
                )
        return None
