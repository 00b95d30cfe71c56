"""Turns: one message of a conversation each, as it is handed over, checked."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from reconciler.domain.records.candidates import EVIDENCE_LENGTH_MAX
from reconciler.domain.records.choices import one_of
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import check_text, check_utterance, storable, utc
from reconciler.domain.records.scope import SCOPE_PART_LENGTH_MAX, check_identifier
from reconciler.errors import InvalidNoteError, InvalidSessionError
from reconciler.frozen import frozen


class Role(StrEnum):
    """Who speaks in a session; ``contact`` is whom the memory is about.

    ``user`` and ``assistant`` are understood as ``contact`` and ``agent``.
    """

    CONTACT = "contact"
    OPERATOR = "operator"
    TOOL = "tool"
    AGENT = "agent"
    SYSTEM = "system"

    @classmethod
    def _missing_(cls, value: object) -> Role | None:
        """The names that chat APIs use for two of them."""
        return {"user": cls.CONTACT, "assistant": cls.AGENT}.get(str(value))

    @property
    def source_kind(self) -> SourceKind:
        """The kind of source. What the agent says, or was told, is no evidence of anything."""
        return _SOURCES.get(self, SourceKind.MODEL_GUESS)

    @property
    def is_evidence(self) -> bool:
        """Whether a fact may rest on what this role says."""
        return self in _SOURCES


AnyRole: TypeAlias = (
    Role | Literal["contact", "operator", "tool", "agent", "system", "user", "assistant"]
)

_SOURCES = {
    Role.CONTACT: SourceKind.USER_EXPLICIT,
    Role.OPERATOR: SourceKind.OPERATOR,
    Role.TOOL: SourceKind.TOOL_OUTPUT,
}


@frozen
class Turn:
    """One message of a session, as it is handed over.

    Args:
        role: who speaks.
        text: what was said, 1 to 20,000 characters; "👍" and "…" are kept, but give no fact. A
            sign that no engine stores, such as a null byte, is replaced in others' words.
        said_at: when, time-zone aware; None for the session's start, or else for now, after
            everything that the contact said before.
        reference: how the caller finds it again, for example a message's id, or None.
        name: who speaks, by name, where several people speak in one role; it is not kept.

    Raises:
        InvalidSessionError: any of the above does not hold.
    """

    role: AnyRole
    text: str
    said_at: datetime | None = None
    reference: str | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        role = one_of(Role, "role", self.role, InvalidSessionError)
        object.__setattr__(self, "role", role)
        if isinstance(self.text, str) and len(self.text) > EVIDENCE_LENGTH_MAX:
            raise InvalidSessionError(
                f"a turn has {len(self.text):,} characters, at most {EVIDENCE_LENGTH_MAX:,} are "
                "taken; cut it, or hand it over as several turns"
            )
        if isinstance(self.text, str) and role is not Role.CONTACT:
            object.__setattr__(self, "text", storable(self.text))
        try:
            check_utterance("a turn's text", self.text, EVIDENCE_LENGTH_MAX)
            if self.said_at is not None:
                object.__setattr__(self, "said_at", utc("said_at", self.said_at))
            if self.reference is not None:
                check_identifier("reference", self.reference, InvalidNoteError)
            if self.name is not None:
                check_text("a speaker's name", self.name, SCOPE_PART_LENGTH_MAX)
        except InvalidNoteError as error:
            raise InvalidSessionError(str(error)) from error
