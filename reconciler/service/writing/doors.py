"""The live door: where notes come in, one at a time. Checks the input, decides nothing.

``NoteFields`` is the one list of what may come with a note's text. Its bases say how far each field
reaches: an agent's tool, a line of an import, a builder's call. ``LiveDoor`` is for whoever builds
an agent, ``MemoryToolset`` for the agent itself: bound to one contact and one session, with no
argument by which a model could choose another's memory, who proposed a note, or which conversation
it comes from.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from reconciler.domain.records.candidates import Candidate, Evidence
from reconciler.domain.records.kinds import Category, SourceKind
from reconciler.domain.records.notes import (
    TEXT_LENGTH_MAX,
    Note,
    not_in_the_future,
    source_kind_of,
    utc,
)
from reconciler.domain.records.scope import Scope, check_identifier
from reconciler.errors import InvalidNoteError

if TYPE_CHECKING:
    from reconciler.domain.records.decisions import Decision
    from reconciler.domain.values.attributes import AttributeBook
    from reconciler.service.writing.write_gate import WriteGate

__all__ = [
    "AGENT_SOURCES",
    "LINE_KEYS",
    "LIVE_DOOR",
    "SCOPE_KEYS",
    "AgentFields",
    "LineFields",
    "LiveDoor",
    "MemoryToolset",
    "NoteFields",
    "SlotFields",
    "note_of",
    "own_evidence",
]

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


class SlotFields(TypedDict, total=False):
    """What a note says about whom.

    Attributes:
        subject: about whom, for example ``wife``; None for the contact itself.
        attribute: what is said, for example ``city``; ``config/attributes.toml`` lists the known
            ones, any other works by its name. None where nobody can say.
        value: its value, for example ``Pune``; None supersedes nothing.
        single_valued: whether an attribute that is not in the file holds one value at a time, so
            that another value supersedes; None for many.
    """

    subject: str | None
    attribute: str | None
    value: str | float | None
    single_valued: bool | None


class AgentFields(SlotFields, total=False):
    """What an agent may say about a note of its own.

    Attributes:
        source_kind: whose word it is, one of ``SourceKind``; give the least trusted that is true.
            A tool's output waits for somebody's yes, a model's guess is never written.
        importance: how much it matters in the long run, 0 to 1; None leaves it to the gate.
    """

    source_kind: SourceKind | str
    importance: float | None


class LineFields(AgentFields, total=False):
    """What a line of an import may say about its note.

    Attributes:
        contact_name: how a person would call the contact.
        source_reference: where it can be looked up, for example a call or a ticket.
        said_at: when it was said, time-zone aware; None for now.
        valid_from: from when it is true, time-zone aware; None for when it was said. An older note
            supersedes nothing newer.
        category: preference, fact, decision, procedure, summary, outcome or volatile; None to read
            it from the text.
        topic: a broad field of life, for example ``work``.
        tags: words to find it by.
        artefact: a document or a row that it points to, by a reference that is never fetched.
        session_id: the session that the evidence belongs to; None for one per UTC day.
        idempotency_key: the same key in a scope returns the first decision, as a replay.
    """

    contact_name: str | None
    source_reference: str | None
    said_at: datetime | None
    valid_from: datetime | None
    category: Category | str | None
    topic: str | None
    tags: Sequence[str]
    artefact: str | None
    session_id: str | None
    idempotency_key: str | None


SCOPE_KEYS = ("tenant", "agent_id", "contact_id")
LINE_KEYS = (*SCOPE_KEYS, "text", *LineFields.__annotations__)
"""What a line of an import may have."""


class NoteFields(LineFields, total=False):
    """Everything that may come with a note's text; what is left out has the default of ``Note``.

    Attributes:
        proposed_by: who puts it forward, and so may not confirm it; None for the agent.
    """

    proposed_by: str | None


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

    def add(self, scope: Scope, text: str, **fields: Unpack[NoteFields]) -> Decision:
        """What became of a note; see ``Memory.add_contact_note``.

        Args:
            scope: whose memory.
            text: one fact.
            **fields: what comes with it.

        Raises:
            TypeError: there is no such field.
            As ``Memory.add_contact_note``.
        """
        proposed_by = fields.get("proposed_by")
        proposer = f"agent:{scope.agent_id}" if proposed_by is None else proposed_by
        about = {name: value for name, value in fields.items() if name != "proposed_by"}
        note = note_of(scope, text, about, self._attributes, self._clock())
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
        importance: float | None = None,
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
            importance: how much it matters in the long run, 0 to 1; None leaves it to the gate.
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
            importance=importance,
            session_id=self._session_id,
        )


def note_of(
    scope: Scope, text: str, fields: Mapping[str, Any], attributes: AttributeBook, now: datetime
) -> Note:
    """The note that a text and its fields make, checked; a time that is not given is now.

    Args:
        scope: whose memory.
        text: one fact.
        fields: those of ``LineFields`` that are given.
        attributes: the attributes of slots that are known.
        now: the time now (UTC).

    Raises:
        TypeError: there is no such field.
        InvalidNoteError: the note cannot be used.
    """
    if unknown := sorted(fields.keys() - LineFields.__annotations__):
        raise TypeError(f"a note takes no {', '.join(unknown)}")
    about = dict(fields)
    said_at, valid_from = about.pop("said_at", None), about.pop("valid_from", None)
    if valid_from is not None:
        valid_from = not_in_the_future(utc("valid_from", valid_from), now, "valid_from")
    given = {name: about.pop(name, None) for name in SlotFields.__annotations__}
    slot = attributes.slot(is_single_valued=given.pop("single_valued"), **given)
    words = None
    if isinstance(text, str):  # else the note refuses it
        names = (about.get("contact_name"), scope.contact_id)
        slot, words = attributes.filled(slot, text, names)
    return Note(
        scope=scope,
        text=text,
        said_at=now if said_at is None else not_in_the_future(utc("said_at", said_at), now),
        is_dated=said_at is not None,
        valid_from=valid_from,
        slot=slot,
        slot_read_from=words,
        **about,
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
        "importance": {
            "type": ["number", "null"],
            "minimum": 0,
            "maximum": 1,
            "description": "How much it matters in the long run: from 0.9 a lasting wish or limit, "
            "0.5 a circumstance, 0.2 a passing remark. Null to have it judged from the words.",
        },
    }
