"""Current values: what a contact's slots hold now, one line a value. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from reconciler.domain.guard import denies_value
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import Category, SourceKind
from reconciler.domain.records.slots import CONTACT_SUBJECT, Slot
from reconciler.domain.values.attributes import AttributeBook

__all__ = ["SlotValue", "current_values"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotValue:
    """One value that a slot holds now, and how well it is known.

    Attributes:
        subject: about whom; ``contact`` for the contact itself.
        attribute: what is said, by its canonical name.
        value: as it was said.
        since: from when it is true, as far as anybody said (UTC).
        word: whose word it is, the contact's where they confirmed it.
        observations: how often it was said.
        last_confirmed_at: when it was last said (UTC).
        is_disputed: whether another fact contradicts it, and nobody settled that.
        is_contested: whether it took the place of another in a to and fro.
        is_single_valued: whether the attribute holds one value at a time.
        fact_id, text: the fact that it is a part of.
    """

    subject: str
    attribute: str
    value: str
    since: datetime
    word: SourceKind
    observations: int
    last_confirmed_at: datetime
    is_disputed: bool
    is_contested: bool
    is_single_valued: bool
    fact_id: str
    text: str


def current_values(
    facts: Iterable[Fact], disputed_ids: Collection[str], attributes: AttributeBook
) -> list[SlotValue]:
    """The values of these facts: the contact's own first, by attribute, the newest of each first.

    A procedure has a slot of its own kind and is none of them. "No longer works at Globex" is filed
    under Globex, which is no value now.

    Args:
        facts: those that hold.
        disputed_ids: those of them that are in dispute.
        attributes: the attributes of slots that are known.
    """
    found = [
        _value(fact, slot, fact.fact_id in disputed_ids)
        for fact in facts
        if (slot := fact.slot) and slot.value and fact.category is not Category.PROCEDURE
        if not _is_denied(fact, slot, attributes)
    ]
    found.sort(
        key=lambda value: (value.since, value.last_confirmed_at, value.fact_id), reverse=True
    )
    return sorted(found, key=_place)


def _value(fact: Fact, slot: Slot, is_disputed: bool) -> SlotValue:
    return SlotValue(
        subject=slot.subject,
        attribute=slot.attribute or "",
        value=slot.value or "",
        since=fact.valid_from,
        word=fact.word,
        observations=fact.observations,
        last_confirmed_at=fact.last_confirmed_at,
        is_disputed=is_disputed,
        is_contested=fact.is_contested,
        is_single_valued=slot.is_single_valued,
        fact_id=fact.fact_id,
        text=fact.text,
    )


def _is_denied(fact: Fact, slot: Slot, attributes: AttributeBook) -> bool:
    """Whether the fact says of its value that it does not hold, or no longer.

    Looked for only where one value holds: "cannot eat peanuts" affirms an allergy.
    """
    known = attributes.find(slot.attribute or "")
    if known is None or not known.is_single_valued:
        return False
    if denies_value(fact.text, slot.value or ""):
        return True
    # What was read as denied decides about its own value alone, and is kept so.
    read = None if slot.is_single_valued else attributes.read_slot(fact.text)
    return read is not None and read.is_denied


def _place(value: SlotValue) -> tuple[bool, str, str]:
    return value.subject != CONTACT_SUBJECT, value.subject, value.attribute
