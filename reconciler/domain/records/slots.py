"""Slots: which question about whom a note answers, and how two answers relate. Pure.

``reconciler.domain.values.attributes`` names the attributes and says whether each holds one value;
``reconciler.domain.values`` normalises values. This module only compares normalised slots.
"""

from __future__ import annotations

import unicodedata
from dataclasses import field
from enum import StrEnum

from reconciler.domain.records.keyed_values import KeyedValue, keyed
from reconciler.frozen import frozen

CONTACT_SUBJECT = "contact"
"""The subject of a slot that is about the contact itself."""


@frozen
class Slot:
    """Subject, attribute and value of a note, normalised so that equal means equal.

    Attributes:
        subject: about whom, normalised; ``contact`` for the contact itself, else for example
            ``wife``.
        attribute: the canonical name of the attribute, for example ``city``; None if only the
            subject is known.
        value: the value as it was said; None if the note names none.
        value_key: the value normalised, which is what is compared; None exactly with ``value``.
        is_single_valued: whether the attribute holds one value at a time.
        is_open: neither the book nor the caller said how many values the attribute holds, so
            another value may end this one or stand beside it; never stored with a fact.
        is_known: whether the book lists the attribute, so that its name is unique; a made-up name
            may be a synonym of another.
        said_subject, said_attribute: the words as they were said, until the gate has looked at
            them; never stored.
        is_personal: whether the value is personal data, which no reason or prompt repeats.
    """

    subject: str
    attribute: str | None = None
    value: str | None = None
    value_key: str | None = None
    is_single_valued: bool
    is_open: bool = False
    is_known: bool = False
    is_personal: bool = False
    said_subject: str | None = field(default=None, compare=False, repr=False)
    said_attribute: str | None = field(default=None, compare=False, repr=False)

    @property
    def shown_value(self) -> str | None:
        """The value as a reason or a prompt may show it."""
        return "(personal data)" if self.is_personal else self.value

    @property
    def key(self) -> str | None:
        """Subject, attribute and value in one, by which facts are found; None without a value."""
        if self.attribute is None or self.value_key is None:
            return None
        return self.question + _escaped(self.value_key)

    @property
    def rival_prefix(self) -> str | None:
        """The key prefix of the facts that this slot is compared with; None without a value.

        If only one value holds, or may hold, these are all answers to the question; else the equal
        ones.
        """
        if self.value_key is None:
            return None
        return self.question if self.is_single_valued or self.is_open else self.key

    def decides_about(self, other: Slot) -> bool:
        """Whether it is compared with facts of the other slot, however different the texts are."""
        prefix, key = self.rival_prefix, other.key
        if prefix is None or key is None:
            return False
        return key.startswith(prefix) or (
            self.question == other.question and _compare_things(self, other) is SlotMatch.CHANGED
        )

    @property
    def thing(self) -> KeyedValue | None:
        """The numbered thing that the value is about; None if it can be about none.

        Of the book's attributes those are that hold identifiers: their keys have no spaces.
        """
        is_one = self.is_single_valued or self.value_key is None or self.is_personal
        if is_one or (self.is_known and " " in (self.value_key or "")):
            return None
        return keyed(self.value or "")

    @property
    def question(self) -> str:
        """The key prefix of all answers to its question."""
        return _escaped(self.subject) + _escaped(self.attribute or "")


def _escaped(part: str) -> str:
    return part.replace("%", "%25").replace("/", "%2F") + "/"


class SlotMatch(StrEnum):
    """How a note's slot relates to a fact's."""

    UNKNOWN = "unknown"
    """The slots do not tell; the texts decide."""

    EQUAL = "equal"
    """The same answer to the same question: a restatement at any cosine."""

    CHANGED = "changed"
    """Another answer to a question that has only one: a contradiction at any cosine."""

    OPEN = "open"
    """Another answer to a question that may have one answer or several: only a reader can tell."""

    APART = "apart"
    """Both hold side by side; neither may take the other's place, however alike they sound."""


def compare_slots(note: Slot | None, fact: Slot | None) -> SlotMatch:
    """How the note's slot relates to the fact's.

    A note without a value never touches a fact that has one; two values of a many-valued attribute
    are siblings.
    """
    if note is None and fact is None:
        return SlotMatch.UNKNOWN
    # What is filed without a subject counts as about the contact.
    about = note.subject if note else CONTACT_SUBJECT
    if about != (fact.subject if fact else CONTACT_SUBJECT):
        return SlotMatch.APART
    if note is None or fact is None:
        return SlotMatch.UNKNOWN
    if note.attribute is None or fact.attribute is None:
        return SlotMatch.UNKNOWN
    if note.value_key is None and fact.value_key is not None:
        return SlotMatch.APART
    if note.attribute != fact.attribute:
        # One thing may have two names, unless both are the book's; then two values are two things.
        are_two = note.is_known and fact.is_known and note.value_key != fact.value_key
        return SlotMatch.APART if are_two else SlotMatch.UNKNOWN
    return _compare_values(note, fact)


def _compare_values(note: Slot, fact: Slot) -> SlotMatch:
    if note.value_key is None or fact.value_key is None:
        return SlotMatch.UNKNOWN
    if note.value_key == fact.value_key or _differ_in_accents(note.value_key, fact.value_key):
        return SlotMatch.EQUAL
    if note.is_single_valued:
        return SlotMatch.CHANGED
    otherwise = SlotMatch.OPEN if note.is_open else SlotMatch.APART
    return _compare_things(note, fact) or otherwise


_PLAIN_LETTERS = str.maketrans("łŁøØđĐı", "lLoOdDi")


def unaccented(said: str) -> str:
    """Latin letters without accents, and plain ones for those that Unicode does not take apart."""
    decomposed = unicodedata.normalize("NFKD", said.translate(_PLAIN_LETTERS))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def _differ_in_accents(one: str, other: str) -> bool:
    """Whether two Latin values are one but for accents: Malmö and Malmo.

    In other scripts the mark is another letter, so nothing is left out there.
    """
    if one.isascii() and other.isascii():
        return False
    bare = unaccented(one)
    return bare.isascii() and bare == unaccented(other)


def _compare_things(note: Slot, fact: Slot) -> SlotMatch | None:
    """How two values relate that each name a thing by its number; None if they do not tell."""
    one, other = note.thing, fact.thing
    if one is None or other is None:
        return None
    if one.code != other.code:
        return SlotMatch.APART if one.is_certain and other.is_certain else None
    return SlotMatch.CHANGED if one.state and other.state else SlotMatch.APART
