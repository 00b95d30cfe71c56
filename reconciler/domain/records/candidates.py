"""Candidates: proposed facts with their evidence. Nothing is judged here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from datetime import datetime

from reconciler.domain.records.kinds import DecidedBy, SourceKind
from reconciler.domain.records.notes import (
    CLEANED_GROWTH_MAX,
    Note,
    check_text,
    check_utterance,
    source_kind_of,
    unit_interval,
    utc,
)
from reconciler.domain.records.relations import Relations
from reconciler.domain.records.scope import SCOPE_PART_LENGTH_MAX, Scope, check_identifier
from reconciler.domain.records.slots import CONTACT_SUBJECT
from reconciler.errors import InvalidNoteError
from reconciler.frozen import frozen

CONTACT = "contact"
"""Who answers for the person that a fact is about; no one else can give their consent."""

_PROPOSER_LENGTH_MAX = SCOPE_PART_LENGTH_MAX + len("agent:")

EVIDENCE_LENGTH_MAX = 20_000
"""Characters in one episode of evidence: a long message or a tool's page, not a document."""


@frozen
class Evidence:
    """One episode that a candidate rests on, and the exact words in it.

    Args:
        episode_id: the episode's id. If the contact already has an episode with it, that one is
            linked, not written again. Any other id is local to the contact, and the store replaces
            it by an id of its own.
        session_id: the session that it belongs to.
        scope: the contact's.
        text: what was said, 1 to 20,000 characters.
        said_at: when; time-zone aware, kept in UTC.
        spans: the words of the text that support the claim; empty for all of it.
        source_kind: the kind of source.
        source_reference: where it can be looked up, or None.
        is_private: whether only its own contact's memory may be derived from it.
        is_pending_erasure: whether a person asked for it to be erased.
        is_cleaned: as in ``Note``.
        is_new: whether this call drew the id, so that no other caller knows it yet.

    Raises:
        InvalidNoteError: any of the above does not hold.
    """

    episode_id: str
    session_id: str
    scope: Scope
    text: str
    said_at: datetime
    spans: tuple[str, ...] = ()
    source_kind: SourceKind = SourceKind.USER_EXPLICIT
    source_reference: str | None = None
    is_private: bool = True
    is_pending_erasure: bool = False
    is_cleaned: bool = field(default=False, compare=False, repr=False)
    is_new: bool = field(default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("episode_id", "session_id"):
            check_identifier(name, getattr(self, name), InvalidNoteError)
        length_max = EVIDENCE_LENGTH_MAX * (CLEANED_GROWTH_MAX if self.is_cleaned else 1)
        check_utterance("an episode's text", self.text, length_max)
        if not isinstance(self.spans, list | tuple):
            raise InvalidNoteError("spans must be a list of strings")
        for span in self.spans:
            check_text("a span", span, length_max)
        object.__setattr__(self, "said_at", utc("said_at", self.said_at))
        object.__setattr__(self, "spans", tuple(self.spans))
        if self.source_reference is not None:
            check_text("source_reference", self.source_reference, length_max)
        if not isinstance(self.scope, Scope):
            raise InvalidNoteError("evidence needs a scope: tenant, agent and contact")
        object.__setattr__(self, "source_kind", source_kind_of(self.source_kind))

    @property
    def quoted(self) -> tuple[str, ...]:
        """The words that the claim rests on."""
        return self.spans or (self.text,)


@frozen
class Candidate:
    """A note that was proposed as a durable fact, with its evidence; a nomination, no decision.

    Args:
        note: the claim, with its scope, source, slot, category and topic.
        evidence: the episodes that it rests on, the first one first; one that is named twice
            counts once. The gate refuses a candidate without evidence.
        is_literal: whether its words were meant literally, as far as an extractor can tell.
        is_introduced: whether the turn introduces these words as a text or as another's.
        confidence: the extractor's own, 0 to 1; None if no extractor read it.
        proposed_by: who proposed it; the same person may not confirm it.
        confirmed_by: who confirmed it after it was held. Only the gate's own answers set it; a
            candidate that arrives with it is refused.
        is_reworded: whether that person confirmed it in other words than the question's.
        ended_at: when it ceased to be true; only an import gives it. The fact is history from the
            start. Time-zone aware, kept in UTC.
        holds_until: until when it will be true, if known; recall leaves it out from then on.
            Time-zone aware, kept in UTC.
        relations: how a model that read the claim and the facts relates them; None without one.
        said_before: what the contact said earlier in the conversation.

    Raises:
        InvalidNoteError: any of the above does not hold.
    """

    note: Note
    evidence: tuple[Evidence, ...]
    proposed_by: str
    confidence: float | None = None
    is_literal: bool = True
    is_introduced: bool = False
    confirmed_by: tuple[str, ...] = ()
    is_reworded: bool = False
    ended_at: datetime | None = None
    holds_until: datetime | None = None
    relations: Relations | None = None
    said_before: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.note, Note):
            raise InvalidNoteError("a candidate needs a note: what it claims")
        _check_list("evidence", self.evidence, Evidence)
        _check_list("confirmed_by", self.confirmed_by, str)
        if not isinstance(self.relations, Relations | None):
            raise InvalidNoteError("relations must be Relations(...)")
        check_text("proposed_by", self.proposed_by, _PROPOSER_LENGTH_MAX)
        if self.confidence is not None:
            unit_interval("confidence", self.confidence)
        if self.ended_at is not None:
            object.__setattr__(self, "ended_at", utc("valid_to", self.ended_at))
        if self.holds_until is not None:
            object.__setattr__(self, "holds_until", utc("valid_to", self.holds_until))
        once = {evidence.episode_id: evidence for evidence in reversed(self.evidence)}
        object.__setattr__(self, "evidence", tuple(reversed(once.values())))

    def as_typed(self) -> Candidate:
        """The same candidate, checked against the length limits of text that no one has cleaned.

        Raises:
            InvalidNoteError: the note or an episode is longer.
        """
        return replace(
            self,
            note=replace(self.note, is_cleaned=False),
            evidence=tuple(
                replace(evidence, is_cleaned=False, is_new=False) for evidence in self.evidence
            ),
        )

    @property
    def has_contacts_yes(self) -> bool:
        """Whether the contact said yes to it; no one else can give their consent."""
        return CONTACT in self.confirmed_by

    @property
    def has_operators_yes(self) -> bool:
        """Whether a person who answers for the agent said yes to it."""
        return any(name != CONTACT for name in self.confirmed_by)

    @property
    def related_by(self) -> DecidedBy:
        """Who related the candidate to known facts: the agent or an extractor."""
        return DecidedBy.AGENT if self.confidence is None else DecidedBy.EXTRACTOR

    @property
    def claim(self) -> str:
        """The proposed fact in a sentence."""
        return self.note.text

    @property
    def subject(self) -> str:
        """Whom it is about: the contact, unless its slot names another person."""
        return self.note.slot.subject if self.note.slot else CONTACT_SUBJECT

    @property
    def sessions(self) -> frozenset[str]:
        """The distinct sessions of those episodes."""
        return frozenset(evidence.session_id for evidence in self.evidence)


@frozen
class Precedents:
    """Earlier decisions about the same inference about the contact.

    Attributes:
        declined_id: the decision by which a person said no to it; None without one.
        pending_id: the decision that still waits for an answer; None if none does.
        waiting_id: the decision that waits without a question; None if none does.
        is_answered: whether something said after the candidate already answers the question.
        episode_ids: the episodes that supported it then.
        sessions: their sessions.
        contradicted: the text of a live fact that the candidate would end; None without one.
    """

    declined_id: str | None = None
    pending_id: str | None = None
    waiting_id: str | None = None
    is_answered: bool = False
    episode_ids: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    contradicted: str | None = None

    def observations_with(self, candidate: Candidate) -> int:
        """Distinct episodes, those of the candidate among them."""
        return len(self.episode_ids | _ids(candidate.evidence))

    def sessions_with(self, candidate: Candidate) -> int:
        """Distinct sessions, those of the candidate among them."""
        return len(self.sessions | candidate.sessions)


def _check_list(name: str, given: object, kind: type) -> None:
    """Refuse what is not a list of this type."""
    if not isinstance(given, list | tuple) or not all(isinstance(item, kind) for item in given):
        raise InvalidNoteError(f"{name} must be a list of {kind.__name__}")


def _ids(evidence: Iterable[Evidence]) -> frozenset[str]:
    return frozenset(one.episode_id for one in evidence)
