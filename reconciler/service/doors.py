"""The doors: where notes come in from agents. Checks the input, decides nothing."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from reconciler.domain.attributes import AttributeBook
from reconciler.domain.candidates import Candidate, Evidence
from reconciler.domain.decisions import Decision
from reconciler.domain.gate.classification import Category
from reconciler.domain.notes import TEXT_LENGTH_MAX, Note, SourceKind, not_in_the_future, utc
from reconciler.domain.scope import Scope
from reconciler.errors import InvalidNoteError
from reconciler.service.write_gate import WriteGate

__all__ = ["AGENT_SOURCES", "LIVE_DOOR", "MemoryToolset", "own_evidence"]

LIVE_DOOR = "live"
AGENT_SOURCES = frozenset(
    {
        SourceKind.USER_EXPLICIT,
        SourceKind.EXTRACTOR,
        SourceKind.TOOL_OUTPUT,
        SourceKind.MODEL_GUESS,
    }
)
"""Whose word an agent may pass on; an operator and an approved document speak for themselves."""

_TOOL_DESCRIPTION = (
    "Remember one durable fact about the contact you are talking with. One call for each fact. "
    "Whenever the fact is the value of some attribute, give attribute and value as well: that is "
    "how a new city, employer or budget takes the place of the old one. Where something has ended, "
    "say so in the text and give the value that ended. The answer says whether it is remembered, "
    "waits for the contact's yes, with the question to ask, or was refused, and why."
)


class MemoryToolset:
    """The live door: the tools that an agent calls in the middle of a conversation.

    Args:
        gate: what every note goes through.
        attributes: the attributes of slots that are known.
        sources: whose word its holder may give a note as; an agent speaks for no operator.
        default_tenant: the tenant of calls that name none.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self,
        *,
        gate: WriteGate,
        attributes: AttributeBook,
        sources: frozenset[SourceKind],
        default_tenant: str,
        clock: Callable[[], datetime],
    ) -> None:
        self._gate = gate
        self._attributes = attributes
        self._sources = sources
        self._default_tenant = default_tenant
        self._clock = clock

    def tool_definition(self) -> dict[str, Any]:
        """The tool as a model is told of it: name, description and ``input_schema`` (JSON Schema).

        Whoever serves the model adds ``agent_id`` and ``contact_id`` to the call; a model that
        could choose them could write into another contact's memory.
        """
        return {
            "name": "add_contact_note",
            "description": _TOOL_DESCRIPTION,
            "input_schema": {
                "type": "object",
                "properties": _tool_properties(self._attributes),
                "required": ["text", "source_kind"],
                "additionalProperties": False,
            },
        }

    def add_contact_note(
        self,
        agent_id: str,
        contact_id: str,
        text: str,
        *,
        subject: str | None = None,
        attribute: str | None = None,
        value: str | float | None = None,
        single_valued: bool | None = None,
        tenant: str | None = None,
        contact_name: str | None = None,
        source_kind: SourceKind | str = SourceKind.USER_EXPLICIT,
        source_reference: str | None = None,
        said_at: datetime | None = None,
        valid_from: datetime | None = None,
        importance: float = 0.5,
        category: Category | str | None = None,
        topic: str | None = None,
        tags: Sequence[str] = (),
        proposed_by: str | None = None,
        session_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Decision:
        """Remember something about a contact; the decision says what became of it.

        The write gate comes first. What the contact or an operator said is reconciled at once,
        unless it is sensitive, not meant as it stands, or a directive; then it is held or refused,
        and ``answer`` says what to tell. What was read out of something is only proposed here.

        Args:
            agent_id: which agent remembers.
            contact_id: whom the note is about.
            text: one fact, 1 to 2,000 characters.
            subject: about whom, for example ``wife``; None for the contact itself.
            attribute: what is said, for example ``city``; ``config/attributes.toml`` lists the
                known ones, any other works by its name. None where nobody can say.
            value: its value, for example ``Pune``; None supersedes nothing.
            single_valued: whether an attribute that is not in the file holds one value at a time,
                so that another value supersedes; None for many.
            tenant: whose deployment; None for the configured one.
            contact_name: how a person would call the contact.
            source_kind: whose word it is, one of ``SourceKind``; give the least trusted that is
                true. A tool's output waits for somebody's yes, a model's guess is never written.
            source_reference: where it can be looked up, for example a call or a ticket.
            said_at: when it was said, time-zone aware; None for now.
            valid_from: from when it is true, time-zone aware; None for when it was said. An older
                note supersedes nothing newer.
            importance: 0 to 1.
            category: preference, fact, decision, procedure, summary or volatile; None to read it
                from the text.
            topic: a broad field of life, for example ``work``.
            tags: words to find it by.
            proposed_by: who puts it forward, and so may not confirm it; None for the agent.
            session_id: the session that the evidence belongs to; None for one per UTC day.
            idempotency_key: the same key in a scope returns the first decision, as a replay.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used; nothing was written.
            InvalidNoteError: the note cannot be used; nothing was written.
            EmbeddingError: the model failed; nothing was written.
            GraphUnavailableError: the engine stayed away; call again with the same key.
            GraphConflictError: other writers came first too often; nothing was written.
        """
        if valid_from is not None:
            valid_from = not_in_the_future(
                utc("valid_from", valid_from), self._clock(), "valid_from"
            )
        scope = Scope(self._default_tenant if tenant is None else tenant, agent_id, contact_id)
        note = Note(
            scope=scope,
            text=text,
            said_at=self._said_at(said_at),
            is_dated=said_at is not None,
            importance=importance,
            source_kind=source_kind,
            source_reference=source_reference,
            contact_name=contact_name,
            session_id=session_id,
            idempotency_key=idempotency_key,
            valid_from=valid_from,
            category=category,
            topic=topic,
            tags=tags,
            slot=self._attributes.slot(
                subject=subject,
                attribute=attribute,
                value=value,
                is_single_valued=single_valued,
            ),
        )
        if note.trust not in self._sources:
            may = ", ".join(sorted(self._sources))
            raise InvalidNoteError(f"source_kind {note.trust} is not an agent's to give; use {may}")
        return self._gate.submit(own_evidence(note, proposed_by or f"agent:{agent_id}"), LIVE_DOOR)

    def _said_at(self, said_at: datetime | None) -> datetime:
        now = self._clock()
        return now if said_at is None else not_in_the_future(utc("said_at", said_at), now)


def own_evidence(note: Note, proposed_by: str) -> Candidate:
    """A note as a candidate that rests on nothing but having been said."""
    said = Evidence(
        episode_id=str(uuid.uuid4()),
        session_id=note.session,
        scope=note.scope,
        text=note.text,
        said_at=note.said_at,
        source_kind=note.trust,
        source_reference=note.source_reference,
    )
    return Candidate(note=note, evidence=(said,), proposed_by=proposed_by)


def _tool_properties(attributes: AttributeBook) -> dict[str, Any]:
    one = ", ".join(each.name for each in attributes if each.is_single_valued)
    many = ", ".join(each.name for each in attributes if not each.is_single_valued)
    return {
        "text": {
            "type": "string",
            "maxLength": TEXT_LENGTH_MAX,
            "description": "The fact in a sentence that stands alone: 'Moved to Pune in March.'",
        },
        "source_kind": {
            "type": "string",
            "enum": [
                SourceKind.USER_EXPLICIT,
                SourceKind.TOOL_OUTPUT,
                SourceKind.MODEL_GUESS,
            ],
            "description": (
                "Whose word it is. user_explicit: the contact said so in this conversation, and "
                "meant it. tool_output: a tool, a page or a document said so. model_guess: you "
                "concluded it. If several hold, the last of them."
            ),
        },
        "subject": {
            "type": ["string", "null"],
            "description": "Whom it is about, if not the contact: 'wife', 'assistant'.",
        },
        "attribute": {
            "type": ["string", "null"],
            "description": (
                f"What is said. One value at a time: {one}. Several at once: {many}. Any other "
                "name in snake_case works too. Null where the fact is no such value."
            ),
        },
        "value": {
            "type": ["string", "null"],
            "description": "The attribute's value alone: 'Pune', '40,000 EUR', '1 March'. Null "
            "where the fact names none.",
        },
        "single_valued": {
            "type": ["boolean", "null"],
            "description": "Only for an attribute that is not listed: whether it holds one value "
            "at a time, so that a new value replaces the old one.",
        },
    }
