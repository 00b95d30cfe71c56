"""Jobs: a session that waits to be read, and what became of it. Pure; nothing is leased here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, field
from datetime import datetime
from enum import IntEnum
from typing import Any

from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.kinds import Action, JobState
from reconciler.domain.records.scope import Scope
from reconciler.frozen import frozen

WITHOUT_MODEL = "explicit-statements"
"""What the name of the extractor that needs no model begins with."""


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
        superseding: facts that took another's place, or took one back.
        known: what was known already, and was counted again.
        held: waiting for a person's yes.
        refused: by the gate, each with its decision and reason; or of no use at all, which the
            worker's log tells.
        left_out: of too little importance to be proposed, or beyond the five of a turn.
    """

    added: int = 0
    superseding: int = 0
    known: int = 0
    held: int = 0
    refused: int = 0
    left_out: int = 0

    @property
    def candidates(self) -> int:
        """How many candidates the extractor gave."""
        return sum(asdict(self).values())

    @classmethod
    def of(cls, decisions: Iterable[Decision], left_out: int) -> Outcomes:
        """The outcomes of these decisions, counted."""
        made = Counter(_OUTCOMES[decision.action] for decision in decisions)
        return cls(**made, left_out=left_out)


@frozen
class ClaimOutcome:
    """What became of one thing that an extractor read out of a session.

    Attributes:
        text: what it says, cleaned.
        outcome: one of the names in ``Outcomes``.
        why: the decision's reason; for what was never decided about, what is wrong with it.
        decision_id: the decision about it; None without one.
        fact_id: the fact that says it; None without one.
        held_because: the gate's reason while it waits; None if it does not.
    """

    text: str
    outcome: str
    why: str
    decision_id: str | None = None
    fact_id: str | None = None
    held_because: str | None = None

    @classmethod
    def of(cls, decision: Decision) -> ClaimOutcome:
        """What a decision says of it."""
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
    """A session, or what was added to one, on its way through extractor, gate and reconciler.

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
        outcomes: what became of its candidates; all 0 until it is done.
        held_because: of the session's claims that still wait, with or without a question, how many
            wait for each of the gate's reasons; empty in a list of jobs.
        told: what became of each thing that was read, once it is done; empty in a list of jobs.
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
        """Advice for a person; None if nothing is to be done."""
        if self.state is not JobState.DEAD:
            return None
        return f"reconciler retry {self.job_id} {self.scope.as_options()}"

    @property
    def reader(self) -> str | None:
        """Who read it, and what is left out by one without a model; None before it was read."""
        if self.extractor is None or not self.extractor.startswith(WITHOUT_MODEL):
            return self.extractor
        return f"{self.extractor}, without a model: only requests and what fills a known attribute"

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {**asdict(self), "advice": self.advice}


@frozen
class QueueReport:
    """All jobs of a store in numbers.

    Attributes:
        jobs: how many there are, by state.
        attempts: how often jobs were started.
        outcomes: what became of all candidates.
        oldest_unfinished_at: when the oldest job that is neither done nor dead was handed over.
    """

    jobs: dict[JobState, int]
    attempts: int
    outcomes: Outcomes
    oldest_unfinished_at: datetime | None
