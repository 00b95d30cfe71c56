"""Submissions: candidates on their way from the gate into the graph, and their records. Pure.

A note has five forms: text, ``Note``, ``Candidate``, ``Submission``, ``Decision``.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from reconciler.domain.records.assessment import Assessment
from reconciler.domain.records.candidates import Candidate, Evidence
from reconciler.domain.records.decisions import (
    NO_MODEL,
    Comparison,
    Decision,
    Proposal,
    RecordedOpinion,
    RecordedPolicy,
    Timings,
    Verdict,
)
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, DecidedBy, Disposal, GateReason
from reconciler.domain.records.notes import Note
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.domain.records.scope import Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from reconciler.domain.gate.cleaning import Cleaned

__all__ = [
    "WITHHELD",
    "Submission",
    "own_episode_of",
    "recorded",
    "recorded_plainly",
    "recorded_policy",
    "withheld",
]

WITHHELD = (
    GateReason.PENDING_ERASURE,
    GateReason.AMBIGUOUS_OWNER,
    GateReason.PRIVATE_EVIDENCE,
)
"""Why not even a refusal's record may repeat what was proposed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A candidate as the gate disposes of it, on its way into the graph.

    Args:
        candidate: cleaned, with what the gate found out about it, and one episode or more.
        assessment: how the gate disposes of it.
        door: which door it came through, as recorded.
        decision_id: the id of its decision, the same at every attempt, so that a second try after a
            lost answer finds what the first wrote. A proposal is settled under one id.
        fact_id: the id of the fact that it may become.
        settles_id: the held or admitted proposal that this settles, which is settled once.
        answered_by: who answered it.
        held_id: the earlier decision under which the same question waits.
        amendment: who puts something right, and why; None for any other note.
        amended_id: the fact that the amendment names, if it names one.
        is_relating: whether it only says how facts that are known relate.
        cleaned: what the gate judged, so that it can judge again; None for what is on record.
        is_own_word: whether a trusted source said it, instead of it being read out of a text.
        may_ask: whether there is room for another question to the contact.
        vector: its embedding, float32, shape (dimension,), where it was made; of dimension 0
            without an embedder. What has none is compared with nothing.
        embed_ms: milliseconds that making it took.
    """

    candidate: Candidate
    assessment: Assessment
    door: str
    decision_id: str
    fact_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    settles_id: str | None = None
    answered_by: str | None = None
    held_id: str | None = None
    amendment: str | None = None
    amended_id: str | None = None
    is_relating: bool = False
    cleaned: Cleaned | None = field(default=None, repr=False)
    is_own_word: bool = False
    may_ask: bool = True
    vector: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    embed_ms: float = 0.0

    @property
    def note(self) -> Note:
        """The note to remember."""
        return self.candidate.note

    @property
    def episode_id(self) -> str:
        """The note's own evidence, by which an attempt knows its own writing."""
        return self.candidate.evidence[0].episode_id

    @property
    def scope(self) -> Scope:
        """Whom it is about."""
        return self.note.scope

    @property
    def is_admitted(self) -> bool:
        """Whether it may go to the reconciler."""
        return self.assessment.disposal is Disposal.ADMIT

    @property
    def is_reconciled(self) -> bool:
        """Whether the call that proposes it also commits it."""
        return self.is_admitted and self.is_own_word

    @property
    def ended_at(self) -> datetime | None:
        """Until when it was true (UTC), where that is over."""
        return self.candidate.ended_at

    @property
    def named_ids(self) -> tuple[str, ...]:
        """The facts that it names itself, which are compared however far away they are."""
        amended = () if self.amended_id is None else (self.amended_id,)
        related = self.candidate.relations
        return (*amended, *(related.named_ids if related else ()))

    @property
    def is_fallback(self) -> bool:
        """Whether it is raw words, which are compared with nothing, and nothing with them."""
        return self.candidate.is_fallback

    @property
    def is_repeatable(self) -> bool:
        """Whether another call may have made its decision already."""
        return self.note.idempotency_key is not None or self.settles_id is not None

    @property
    def is_withheld(self) -> bool:
        """Whether nothing of what it says is written: its refusal alone is recorded."""
        return self.assessment.reason in WITHHELD

    @property
    def is_persons_word(self) -> bool:
        """Whether it decides about what is known, which remembers nothing."""
        is_answer = self.answered_by is not None and not self.candidate.confirmed_by
        return is_answer or self.is_relating

    def about(self, note: Note) -> Submission:
        """The same, about a note that is worded or dated otherwise."""
        return replace(self, candidate=replace(self.candidate, note=note))


def withheld(submission: Submission, reason: GateReason) -> Submission:
    """The same as a refusal without a word of what it said.

    Args:
        submission: what is refused.
        reason: why, one of ``WITHHELD``.
    """
    told, assessment = submission.note, submission.assessment
    note = Note(
        scope=told.scope,
        text="(withheld: the evidence may not be used here)",
        said_at=told.said_at,
        source_kind=told.source_kind,
        idempotency_key=told.idempotency_key,
    )
    if assessment.reason is not reason:  # it was let through before that was known
        detail = "its evidence was erased, or is about to be"
        assessment = replace(
            assessment.disposed(Disposal.REJECT, reason, detail), findings=(), topic=None
        )
    return replace(
        submission,
        candidate=replace(submission.candidate, note=note, evidence=(own_episode_of(note),)),
        assessment=replace(assessment, inference_key="withheld"),
    )


def own_episode_of(note: Note) -> Evidence:
    """The note as an episode: what a note or a refusal rests on that cites no conversation."""
    return Evidence(
        episode_id=str(uuid.uuid4()),
        session_id=note.session,
        scope=note.scope,
        text=note.text,
        said_at=note.said_at,
        source_kind=note.trust,
        source_reference=note.source_reference,
        is_new=True,
    )


def recorded_policy(policy: ReconcilePolicy, embedding_model: str) -> RecordedPolicy:
    """The thresholds as decisions keep them, with the model that they measure."""
    return RecordedPolicy(
        profile=policy.profile,
        cosine_update_min=policy.cosine_update_min,
        cosine_add_max=policy.cosine_add_max,
        cosine_cut=policy.cut,
        guard=policy.guard,
        reach=policy.reach,
        embedding_model=embedding_model,
    )


def recorded(
    submission: Submission,
    verdict: Verdict,
    neighbours: Sequence[Neighbour],
    policy: RecordedPolicy,
    at: datetime,
    *,
    version: int = 0,
    opinion: RecordedOpinion | None = None,
    timings: Timings | None = None,
) -> Decision:
    """The record of what was concluded about a submission.

    Args:
        submission: what it is about.
        verdict: what was concluded.
        neighbours: what the note was compared with, nearest first.
        policy: what it was made under.
        at: now (UTC).
        version: the contact's, that it leads to.
        opinion: what an arbiter answered, where one was asked.
        timings: how long it took.
    """
    own, note = submission.candidate.evidence[0], submission.note
    if note.session_id != own.session_id:
        note = replace(note, session_id=own.session_id)
    decided_on = next(iter((*verdict.targets, *verdict.conflicts, *neighbours)), None)
    return Decision(
        decision_id=submission.decision_id,
        note=note,
        verdict=verdict.by_id(),
        cosine=decided_on.cosine if decided_on else None,
        fact_id=_fact_id(verdict, submission.fact_id),
        expired_ids=tuple(neighbour.fact_id for neighbour in neighbours if neighbour.is_expired),
        door=submission.door,
        at=at,
        episode_id=own.episode_id,
        policy=replace(policy, embedding_model=NO_MODEL) if submission.is_fallback else policy,
        gate=submission.assessment,
        proposal=Proposal(
            proposed_by=submission.candidate.proposed_by,
            answered_by=submission.answered_by,
            settles_id=submission.settles_id,
            held_id=submission.held_id,
            relations=submission.candidate.relations,
            holds_until=submission.candidate.holds_until,
        ),
        opinion=opinion or RecordedOpinion(),
        timings=timings or Timings(),
        version=version,
        compared_with=tuple(
            _comparison(neighbour, rank) for rank, neighbour in enumerate(neighbours, start=1)
        ),
    )


def recorded_plainly(
    submission: Submission,
    action: Action,
    policy: RecordedPolicy,
    at: datetime,
    *,
    version: int = 0,
    number: int = 1,
    ended_ids: tuple[str, ...] = (),
) -> Decision:
    """The record of a decision that writes no fact: how the gate disposed, or what was answered."""
    verdict = Verdict(
        action=action,
        decided_by=DecidedBy.ANSWER if submission.answered_by else DecidedBy.GATE,
        reason=submission.assessment.detail,
    )
    timings = Timings(attempts=number)
    made = recorded(submission, verdict, (), policy, at, version=version, timings=timings)
    return replace(made, verdict=replace(made.verdict, targets=ended_ids), fact_id=None)


def _fact_id(verdict: Verdict, new_id: str) -> str | None:
    """The fact that says it from here on."""
    if verdict.action is Action.SKIP:
        return verdict.targets[0].fact_id
    return None if verdict.action is Action.REVOKE else new_id


def _comparison(neighbour: Neighbour, rank: int) -> Comparison:
    return Comparison(
        fact_id=neighbour.fact_id,
        text=neighbour.text,
        cosine=neighbour.cosine,
        valid_from=neighbour.valid_from,
        trust=neighbour.trust,
        slot=neighbour.slot,
        category=neighbour.category,
        is_expired=neighbour.is_expired,
        rank=rank,
    )
