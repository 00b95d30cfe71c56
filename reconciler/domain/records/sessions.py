"""Sessions: the turns of a conversation, and the jobs that wait to be read. Pure.

A session is stored with its job, and a job keeps its outcomes. Nothing is derived from turns here,
and no job is leased here. The progress and the result of a store's move to another embedding model
are here too: like a job, a move may be interrupted, and continues from its stored state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum

from reconciler.domain.records.candidates import Evidence, Role, Turn
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.kinds import Action, JobState
from reconciler.domain.records.messages import turns_of
from reconciler.domain.records.notes import Scope, check_identifier, utc
from reconciler.errors import InvalidSessionError
from reconciler.frozen import Json, frozen

WITHOUT_MODEL = "explicit-statements"
"""The beginning of the name of the extractor that needs no model."""


class Stage(IntEnum):
    """The points of a job's work at which a test may end the process; in their order."""

    LEASED = 1
    CLEANED = 2
    EXTRACTED = 3
    KEPT = 4
    PROPOSED = 5
    COMMITTED = 6
    SETTLED = 7
    DONE = 8


@frozen
class Outcomes:
    """The outcomes of a job's candidates, in numbers that add up to all of them.

    Attributes:
        added: new facts.
        superseding: facts that replaced another fact, or took one back.
        known: candidates that were already known, and were counted again.
        held: candidates that wait for a person's yes.
        refused: candidates that the gate refused, each with its decision and reason; or unusable
            candidates, which the worker's log names.
        left_out: candidates that were not important enough, or beyond the five of a turn.
    """

    added: int = 0
    superseding: int = 0
    known: int = 0
    held: int = 0
    refused: int = 0
    left_out: int = 0

    @property
    def candidates(self) -> int:
        """Count the candidates that the extractor gave."""
        return sum(asdict(self).values())

    @classmethod
    def of(cls, decisions: Iterable[Decision], left_out: int) -> Outcomes:
        """Return the outcomes of these decisions, counted."""
        made = Counter(_OUTCOMES[decision.action] for decision in decisions)
        return cls(**made, left_out=left_out)


@frozen
class ClaimOutcome:
    """The outcome of one claim that an extractor read in a session.

    Attributes:
        text: what it says, cleaned.
        outcome: one of the names in ``Outcomes``.
        why: the decision's reason; for a claim without a decision, its fault.
        decision_id: the decision about it; None without one.
        fact_id: the fact that says it; None without one.
        held_because: the gate's reason while it waits; None if it does not wait.
    """

    text: str
    outcome: str
    why: str
    decision_id: str | None = None
    fact_id: str | None = None
    held_because: str | None = None

    @classmethod
    def of(cls, decision: Decision) -> ClaimOutcome:
        """Make the outcome from a decision."""
        is_held = decision.action is Action.HOLD
        gate = decision.gate if decision.action in (Action.HOLD, Action.REJECT) else None
        return cls(
            text=decision.text,
            outcome=_OUTCOMES[decision.action],
            why=f"{gate.reason}: {gate.detail}" if gate else decision.reason,
            decision_id=decision.decision_id,
            fact_id=decision.fact_id,
            held_because=str(gate.reason) if gate and is_held else None,
        )


_OUTCOMES = {
    Action.ADD: "added",
    Action.UPDATE: "superseding",
    Action.REVOKE: "superseding",
    Action.SKIP: "known",
    Action.HOLD: "held",
    Action.REJECT: "refused",
    Action.DECLINE: "refused",
    Action.WITHDRAW: "refused",
}


@frozen
class Job:
    """A session, or new turns of a session, on the way through extractor, gate and reconciler.

    Attributes:
        job_id: its id.
        scope: the contact's.
        session_id: which session.
        state: waiting, running, done or dead.
        attempts: how often it was started.
        submitted_at: when it was handed over (UTC).
        due_at: when it starts next, or its lease ends (UTC).
        finished_at: when it was done (UTC), or None.
        extractor: who read it; None before it was read.
        last_error: why the last attempt ended, or None.
        outcomes: the outcomes of its candidates; all 0 until it is done.
        held_because: how many of the session's claims still wait, for each of the gate's reasons,
            with or without a question; empty in a list of jobs.
        told: the outcome of each claim, when the job is done; empty in a list of jobs.
    """

    job_id: str
    scope: Scope
    session_id: str
    state: JobState
    attempts: int
    submitted_at: datetime
    due_at: datetime
    finished_at: datetime | None = None
    extractor: str | None = None
    last_error: str | None = None
    outcomes: Outcomes = field(default_factory=Outcomes)
    held_because: dict[str, int] = field(default_factory=dict)
    told: tuple[ClaimOutcome, ...] = ()

    @property
    def advice(self) -> str | None:
        """Return the advice for a person; None if nothing is to be done."""
        if self.state is not JobState.DEAD:
            return None
        return f"reconciler retry {self.job_id} {self.scope.as_options()}"

    @property
    def reader(self) -> str | None:
        """Who read it, and what an extractor without a model leaves out.

        None before it was read.
        """
        if self.extractor is None or not self.extractor.startswith(WITHOUT_MODEL):
            return self.extractor
        return f"{self.extractor}, without a model: only requests and what fills a known attribute"

    def to_dict(self) -> Json:
        """As plain values."""
        return {**asdict(self), "advice": self.advice}


@frozen
class QueueReport:
    """All jobs of a store in numbers.

    Attributes:
        jobs: how many there are, by state.
        attempts: how often jobs were started.
        outcomes: the outcomes of all candidates.
        oldest_unfinished_at: when the oldest job that is neither done nor dead was handed over.
    """

    jobs: dict[JobState, int]
    attempts: int
    outcomes: Outcomes
    oldest_unfinished_at: datetime | None


class MoveState(StrEnum):
    """How far a store is on its way to another model."""

    NONE = "none"
    EMBEDDING = "embedding"
    SETTLING = "settling"


@frozen
class ModelMove:
    """The model that a store is bound to, and the model to which it moves.

    Attributes:
        state: ``embedding`` while facts get a second vector, of the next model; ``settling`` when
            the store is bound to the next model, while some facts still have two vectors; ``none``
            if the store does not move.
        model: name and fingerprint of the model that the store is bound to.
        dimension: length of its vectors.
        next_model: the model that it moves to; None if it does not move.
        next_dimension: length of the next model's vectors.
        facts: how many facts need a vector of the next model, while the move embeds them.
        moved: how many of them have one.
    """

    state: MoveState
    model: str
    dimension: int
    next_model: str | None = None
    next_dimension: int | None = None
    facts: int = 0
    moved: int = 0

    def to_dict(self) -> Json:
        """As JSON has it."""
        return asdict(self)


@frozen
class ReembedReport:
    """The result of a run of ``reembed``; the store is now bound to the new model.

    Attributes:
        old_model: the model that the store was bound to before.
        model: the model that it is bound to now.
        dimension: length of its vectors.
        embedded: how many facts this run embedded.
        resumed: how many an earlier, interrupted run had embedded.
        switch_attempts: how often the last step was tried; more than once if others wrote at that
            time.
        settings: the settings to use from now on, by environment variable. Empty if the caller gave
            an embedder of its own.
        is_calibrated: whether the profile was calibrated on the new model.
    """

    old_model: str
    model: str
    dimension: int
    embedded: int = 0
    resumed: int = 0
    switch_attempts: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)
    is_calibrated: bool = False

    def to_dict(self) -> Json:
        """As JSON has it."""
        return asdict(self)


_MOMENT = timedelta(microseconds=1)
"""The least difference between two times that both engines keep."""


@frozen
class Session:
    """A conversation as it is handed over, complete or not.

    Args:
        scope: the contact's.
        session_id: its id; a second hand-over under the same id adds only what is new.
        turns: in their order, at least one. A message as a dictionary, in the form of chat APIs,
            works too; it becomes one or more turns.
        channel: how it was held, for example ``chat``.
        started_at: when it began, time-zone aware; None for its first turn's time, or now.

    Raises:
        InvalidSessionError: any of the above does not hold.
    """

    scope: Scope
    session_id: str
    turns: Sequence[Turn]
    channel: str = "chat"
    started_at: datetime | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.scope, Scope):
            raise InvalidSessionError("a session needs a scope: tenant, agent and contact")
        check_identifier("session_id", self.session_id, InvalidSessionError)
        check_identifier("channel", self.channel, InvalidSessionError)
        object.__setattr__(self, "turns", tuple(turns_of(self.turns or ())))
        if not self.turns:
            raise InvalidSessionError("the session is empty: hand over at least one turn")
        if self.started_at is not None:
            began = utc("started_at", self.started_at, InvalidSessionError)
            object.__setattr__(self, "started_at", began)

    @property
    def is_dated(self) -> bool:
        """True if the caller gave its start, or the time of a turn."""
        return self.started_at is not None or any(turn.said_at for turn in self.turns)


def time_of_saying(now: datetime, heard_at: datetime | None) -> datetime:
    """Return the time of an undated statement: now, and after all earlier statements.

    Clocks step back, and hosts' clocks differ. A session is read some time after it was handed
    over, so its place in the order of arrival has to be kept in its turns' times.

    Args:
        now: the time now (UTC), by this host's clock.
        heard_at: when the contact's last statement was said (UTC), by any clock; None for never.
    """
    return now if heard_at is None else max(now, heard_at + _MOMENT)


@frozen
class Episode:
    """One stored turn: append-only evidence, with its own id.

    Attributes:
        episode_id: the same for the same turn of the same session, whenever it is handed over.
        session_id: its session.
        role: who speaks.
        text: what was said.
        said_at: when (UTC).
        position: its place in the session, from 0.
        reference: how the caller finds it again, or None.
        job_id: the job that brought it; None if none did.
        is_cleaned: whether personal data and secrets were taken out of the text.
    """

    episode_id: str
    session_id: str
    role: Role
    text: str
    said_at: datetime
    position: int
    reference: str | None = None
    job_id: str | None = None
    is_cleaned: bool = False

    def evidence(self, scope: Scope, spans: Sequence[str] = ()) -> Evidence:
        """Return the episode as evidence, with the words in it that support a claim."""
        return Evidence(
            episode_id=self.episode_id,
            session_id=self.session_id,
            scope=scope,
            text=self.text,
            said_at=self.said_at,
            spans=tuple(spans),
            source_kind=self.role.source_kind,
            source_reference=self.reference,
            is_cleaned=self.is_cleaned,
        )


Episodes = Sequence[Episode]
"""Turns in their order, which the reader does not change."""


@frozen
class SessionRecord:
    """A stored session, without its turns.

    Attributes:
        session_id: its id.
        channel: how it was held.
        started_at: when its first turn was said (UTC).
        ended_at: when its last one was (UTC).
        summary: a digest by the extractor, never recalled as a fact; None if there is none.
        outcomes: the outcomes of the candidates of all its jobs.
    """

    session_id: str
    channel: str
    started_at: datetime
    ended_at: datetime
    summary: str | None
    outcomes: Outcomes
