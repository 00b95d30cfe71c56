"""The live door: where notes come in, one at a time. Checks the input, decides nothing.

``LiveDoor`` is for whoever builds an agent, ``MemoryToolset`` for the agent itself: bound to one
contact and one session, with no argument by which a model could choose another's memory, who
proposed a note, or which conversation it comes from.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any

from reconciler.domain.attributes import AttributeBook
from reconciler.domain.candidates import Candidate, Evidence
from reconciler.domain.decisions import Decision
from reconciler.domain.kinds import SourceKind
from reconciler.domain.notes import TEXT_LENGTH_MAX, Note, not_in_the_future, source_kind_of, utc
from reconciler.domain.scope import Scope, check_identifier
from reconciler.errors import InvalidNoteError
from reconciler.service.write_gate import WriteGate

__all__ = ["AGENT_SOURCES", "LIVE_DOOR", "LiveDoor", "MemoryToolset", "own_evidence"]

LIVE_DOOR = "live"
AGENT_SOURCES = (SourceKind.USER_EXPLICIT, SourceKind.TOOL_OUTPUT, SourceKind.MODEL_GUESS)
"""Whose word an agent may pass on; an operator and an approved document speak for themselves."""

_AGENTS_SESSION = "agent"
"""Where the notes of a toolset without a session are filed: all in one, however many days it works,
so that an agent's repetitions never count as several conversations."""

_TOOL_DESCRIPTION = (
    "Remember one durable fact about the contact you are talking with. One call for each fact. "
    "Whenever the fact is the value of some attribute, give attribute and value as well: that is "
    "how a new city, employer or budget takes the place of the old one. Where something has ended, "
    "say so in the text and give the value that ended. The answer says whether it is remembered, "
    "waits for the contact's yes, with the question to ask, or was refused, and why."
)


class LiveDoor:
    """Makes candidates of notes that are given one at a time, and hands them to the gate.

    Args:
        gate: what every note goes through.
        attributes: the attributes of slots that are known.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self, *, gate: WriteGate, attributes: AttributeBook, clock: Callable[[], datetime]
    ) -> None:
        self._gate = gate
        self._attributes = attributes
        self._clock = clock

    @property
    def attributes(self) -> AttributeBook:
        """The attributes of slots that are known."""
        return self._attributes

    def add(
        self,
        scope: Scope,
        text: str,
        *,
        subject: str | None = None,
        attribute: str | None = None,
        value: str | float | None = None,
        single_valued: bool | None = None,
        said_at: datetime | None = None,
        valid_from: datetime | None = None,
        proposed_by: str | None = None,
        **about: Any,
    ) -> Decision:
        """What became of a note; see ``Memory.add_contact_note``.

        Args:
            scope: whose memory.
            text: one fact.
            subject: about whom, if not the contact.
            attribute: what is said.
            value: its value.
            single_valued: of an attribute that is not known, whether it holds one value.
            said_at: when it was said; None for now.
            valid_from: from when it is true; None for when it was said.
            proposed_by: who puts it forward; None for the agent.
            **about: further fields of ``Note``.

        Raises:
            As ``Memory.add_contact_note``.
        """
        now = self._clock()
        if valid_from is not None:
            valid_from = not_in_the_future(utc("valid_from", valid_from), now, "valid_from")
        note = Note(
            scope=scope,
            text=text,
            said_at=now if said_at is None else not_in_the_future(utc("said_at", said_at), now),
            is_dated=said_at is not None,
            valid_from=valid_from,
            slot=self._attributes.slot(
                subject=subject,
                attribute=attribute,
                value=value,
                is_single_valued=single_valued,
            ),
            **about,
        )
        proposer = f"agent:{scope.agent_id}" if proposed_by is None else proposed_by
        return self._gate.propose(own_evidence(note, proposer), LIVE_DOOR, may_commit=True)


class MemoryToolset:
    """The tools that an agent calls in the middle of a conversation, bound to its contact.

    ``Memory.toolset`` makes one. What the model sends goes in as it is:
    ``toolset.add_contact_note(**block.input)``.

    Args:
        door: what every note goes through.
        scope: whose memory; nothing that the agent sends can choose another.
        session_id: the conversation that the agent is in; None files all of its notes in one.
    """

    def __init__(self, *, door: LiveDoor, scope: Scope, session_id: str | None = None) -> None:
        if session_id is not None:
            check_identifier("session_id", session_id, InvalidNoteError)
        self._door = door
        self._scope = scope
        self._session_id = _AGENTS_SESSION if session_id is None else session_id

    def tool_definition(self) -> dict[str, Any]:
        """The tool as a model is told of it: name, description and ``input_schema`` (JSON Schema).

        It lists exactly what ``add_contact_note`` takes.
        """
        return {
            "name": "add_contact_note",
            "description": _TOOL_DESCRIPTION,
            "input_schema": {
                "type": "object",
                "properties": _tool_properties(self._door.attributes),
                "required": ["text", "source_kind"],
                "additionalProperties": False,
            },
        }

    def add_contact_note(
        self,
        text: str,
        *,
        source_kind: SourceKind | str,
        subject: str | None = None,
        attribute: str | None = None,
        value: str | float | None = None,
        single_valued: bool | None = None,
        **unknown: Any,
    ) -> Decision:
        """Remember something about the contact; ``answer`` of the decision is what to tell.

        Args:
            text: one fact, 1 to 2,000 characters.
            source_kind: whose word it is: ``user_explicit``, ``tool_output`` or ``model_guess``;
                the least trusted that is true. A tool's output waits for somebody's yes, a model's
                guess is never written.
            subject: about whom, if not the contact, for example ``wife``.
            attribute: what is said, for example ``city``.
            value: its value, for example ``Pune``.
            single_valued: of an attribute that is not known, whether it holds one value at a time.
            **unknown: what a model may have made up; refused.

        Raises:
            InvalidNoteError: the note cannot be used, or there are arguments beyond these; nothing
                was written.
            EmbeddingError, GraphUnavailableError, GraphConflictError: call again.
        """
        if unknown:
            raise InvalidNoteError(
                f"add_contact_note takes no {', '.join(sorted(unknown))}; "
                f"it takes {', '.join(_tool_properties(self._door.attributes))}"
            )
        if source_kind_of(source_kind) not in AGENT_SOURCES:
            may = ", ".join(AGENT_SOURCES)
            raise InvalidNoteError(
                f"source_kind {source_kind} is not an agent's to give; use {may}"
            )
        return self._door.add(
            self._scope,
            text,
            source_kind=source_kind,
            subject=subject,
            attribute=attribute,
            value=value,
            single_valued=single_valued,
            session_id=self._session_id,
        )


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
        is_new=True,
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
            "enum": list(AGENT_SOURCES),
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
