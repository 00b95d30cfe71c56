"""Amendments: what an operator puts right by hand, on record. Not for agents; judges nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from reconciler.domain.records.candidates import CONTACT
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import TEXT_LENGTH_MAX, check_text
from reconciler.domain.records.persons import check_person
from reconciler.domain.records.scope import Scope, check_identifier
from reconciler.errors import InvalidAnswerError, InvalidRequestError, UnknownFactError
from reconciler.service.stores.memory_store import MemoryStore
from reconciler.service.writing.doors import SlotFields, as_candidate, note_of
from reconciler.service.writing.write_gate import WriteGate

if TYPE_CHECKING:
    from reconciler.domain.records.decisions import Decision
    from reconciler.domain.records.facts import Fact
    from reconciler.domain.values.attributes import AttributeBook

__all__ = ["Amendments"]


class Amendments:
    """An operator's dated statements that end a known fact, no matter who said it.

    Args:
        gate: what every statement goes through.
        store: where the fact to amend is kept.
        attributes: the attributes of slots that are known.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self,
        *,
        gate: WriteGate,
        store: MemoryStore,
        attributes: AttributeBook,
        clock: Callable[[], datetime],
    ) -> None:
        self._gate = gate
        self._store = store
        self._attributes = attributes
        self._clock = clock

    def amend(
        self,
        scope: Scope,
        text: str,
        slot: SlotFields,
        *,
        fact_id: str | None,
        by: str,
        reason: str,
        said_at: datetime | None,
        door: str,
    ) -> Decision:
        """What became of an amendment; see ``ContactMemory.amend``."""
        check_person(by, scope)
        if by == CONTACT:
            raise InvalidAnswerError(
                "an amendment is an operator's; what the contact says is a note like any other"
            )
        check_text("reason", reason, TEXT_LENGTH_MAX)
        if (fact_id is None) is (slot.get("attribute") is None):
            raise InvalidRequestError("name what to amend: either fact_id or attribute")
        if fact_id is not None:
            slot = self._slot_of(self._fact(scope, fact_id), slot)
        if slot.get("attribute") is not None and slot.get("value") is None:
            raise InvalidRequestError(
                f"the fact is filed under {slot.get('attribute')}; give value, what holds instead"
            )
        about = {**slot, "source_kind": SourceKind.OPERATOR, "said_at": said_at}
        note = note_of(scope, text, about, self._attributes, self._clock())
        if fact_id is None and note.slot and not note.slot.is_single_valued:
            raise InvalidRequestError(
                "the attribute holds many values; say with fact_id which one to amend"
            )
        return self._gate.amend(as_candidate(note, by), fact_id, reason, door)

    def _fact(self, scope: Scope, fact_id: str) -> Fact:
        check_identifier("fact_id", fact_id, UnknownFactError)
        fact = self._store.find_fact(scope, fact_id)
        if fact is None or fact.has_ended:
            raise UnknownFactError(
                f"contact {scope.contact_id} has no fact {fact_id}, or it has ended"
            )
        return fact

    def _slot_of(self, fact: Fact, slot: SlotFields) -> SlotFields:
        """The slot that the fact is in, with the value that is given."""
        if fact.slot is None or fact.slot.attribute is None:
            return slot
        return {
            "subject": fact.slot.subject,
            "attribute": fact.slot.attribute,
            "single_valued": None if fact.slot.is_known else fact.slot.is_single_valued,
            "value": slot.get("value"),
        }
