"""Decisions: what a rule concluded about a note, and the record that is kept of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from reconciler.domain.facts import Neighbour

__all__ = ["Action", "Comparison", "DecidedBy", "Decision", "Judgement", "Relation", "Verdict"]


class Action(StrEnum):
    """What is written: a new fact, a new fact in another's place, or an observation only."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    SKIP = "SKIP"


class DecidedBy(StrEnum):
    """Which rule decided; the first that matches, in the order of ``decide``."""

    NOOP = "noop"
    THRESHOLD = "threshold"
    ARBITER = "arbiter"
    MIDPOINT = "midpoint"


class Relation(StrEnum):
    """How a note relates to the fact it was compared with, as the arbiter words it."""

    SAME = "same"
    REFINES = "refines"
    REPLACES = "replaces"
    COEXISTS = "coexists"
    UNRELATED = "unrelated"


ACTIONS_OF_RELATION: Mapping[Relation, frozenset[Action]] = {
    Relation.SAME: frozenset({Action.SKIP, Action.UPDATE}),
    Relation.REFINES: frozenset({Action.UPDATE}),
    Relation.REPLACES: frozenset({Action.UPDATE}),
    Relation.COEXISTS: frozenset({Action.ADD}),
    Relation.UNRELATED: frozenset({Action.ADD}),
}
"""Which actions agree with a relation; an answer in which they disagree is no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What an arbiter answered; not yet checked against the neighbours it was shown.

    ``target`` is the neighbour's number as shown, counted from 1; None with ADD.
    """

    reasoning: str
    relation: Relation
    target: int | None
    action: Action


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the rule concluded, before anything is written.

    Attributes:
        target: the fact that is superseded (UPDATE) or repeated (SKIP); None with ADD.
        is_restatement: whether the new fact says the same as its predecessor, and so carries its
            observations and evidence along. A midpoint's UPDATE does not claim that much.
    """

    action: Action
    decided_by: DecidedBy
    reason: str
    target: Neighbour | None = None
    is_restatement: bool = False

    @property
    def can_be_arbitrated(self) -> bool:
        """Whether an arbiter, where there is one, is asked before this is written."""
        return self.decided_by is DecidedBy.MIDPOINT


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One neighbour that a decision looked at; rank 1 is the nearest."""

    fact_id: str
    cosine: float
    rank: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The record of one attempt to remember something.

    Attributes:
        text: the note, word for word.
        cosine: raw cosine to the fact it was decided on (the target, else the nearest), in
            [-1, 1]; None without a neighbour or an embedder.
        fact_id: the fact that now says it: the new one, or with SKIP the one it repeats.
        superseded_id: the fact that was ended, with UPDATE only.
        episode_id: the evidence that the note left.
        arbiter: the arbiter's name where one was asked, else None.
        arbiter_reasoning: what it argued; None where none answered.
        arbiter_error: why its answer was not used; None where it was, or none was asked.
        attempts: how often the note was reconciled because another writer came first; 1 or more.
        embed_ms, compare_ms, arbitrate_ms: milliseconds by stage, of the last attempt.
        replayed: this decision was made by an earlier call with the same idempotency key.
    """

    decision_id: str
    action: Action
    decided_by: DecidedBy
    cosine: float | None
    reason: str
    text: str
    fact_id: str
    superseded_id: str | None
    episode_id: str
    contact_id: str
    cosine_update_min: float
    cosine_add_max: float
    embedding_model: str
    arbiter: str | None
    arbiter_reasoning: str | None
    arbiter_error: str | None
    door: str
    idempotency_key: str | None
    attempts: int
    embed_ms: float
    compare_ms: float
    arbitrate_ms: float
    said_at: datetime
    at: datetime
    compared_with: tuple[Comparison, ...] = field(default=())
    replayed: bool = False

    def as_replay(self) -> Decision:
        """The same decision, marked as returned again rather than made."""
        return replace(self, replayed=True)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: enumerations as words, times as ISO 8601 in UTC."""
        plain = asdict(self)
        return plain | {
            "action": str(self.action),
            "decided_by": str(self.decided_by),
            "said_at": self.said_at.isoformat(),
            "at": self.at.isoformat(),
        }
