"""Evidence for a reader: the turns that a fact rests on, and the decisions that used each."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import Action, SourceKind
from reconciler.frozen import frozen


@frozen
class TakenBy:
    """A decision that was made on a turn.

    Attributes:
        decision_id: its record; ``explain`` says why it came out so.
        fact_id: the fact that it is about; None if it wrote and counted none.
        action: what was done.
        door: which door it came through.
        proposed_by, answered_by: who put it forward, and who said yes or no to it, as far as
            that is on record.
        at: when (UTC).
    """

    decision_id: str
    fact_id: str | None
    action: Action
    door: str
    proposed_by: str | None
    answered_by: str | None
    at: datetime


@frozen
class EvidenceTurn:
    """One turn that a fact rests on.

    Attributes:
        episode_id: its id.
        fact_id: the fact that first used it: the one asked about, or one beneath it.
        is_beneath: whether that fact lies beneath the one asked about, which restates it.
        speaker: who spoke: the role in its session, else the kind of source.
        text: the turn, as it is kept.
        spans: the words of it that are cited; empty for all of it.
        said_at: when (UTC).
        session_id, channel: the session that it belongs to, and how that was held.
        source_kind, source_reference: the kind of source, and where it can be looked up.
        is_answer: whether it is a person's answer to a question, not a statement of their own.
        taken_by: the decisions that used it for the fact, the oldest first; empty for turns from
            before this was recorded.
    """

    episode_id: str
    fact_id: str
    is_beneath: bool
    speaker: str
    text: str
    spans: tuple[str, ...] = ()
    said_at: datetime
    session_id: str
    channel: str | None = None
    source_kind: SourceKind
    source_reference: str | None = None
    is_answer: bool = False
    taken_by: tuple[TakenBy, ...] = ()

    @property
    def is_contacts(self) -> bool:
        """Whether the contact said these words unasked."""
        return self.source_kind is SourceKind.USER_EXPLICIT and not self.is_answer


@frozen
class FactEvidence:
    """A fact's evidence, as one answer to "I never told you that".

    Attributes:
        fact: the fact asked about, live or ended.
        statement: one sentence: whether the contact said it, when and where; if not, who did.
        turns: the turns, the oldest first; those beneath the fact among them.
    """

    fact: Fact
    statement: str
    turns: tuple[EvidenceTurn, ...]

    @property
    def has_contacts_words(self) -> bool:
        """Whether any of it is in the contact's own words."""
        return any(turn.is_contacts for turn in self.turns)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, with ``has_contacts_words``."""
        return {"has_contacts_words": self.has_contacts_words, **asdict(self)}
