"""The reconciler: the only way into the graph. Compares, decides, commits; or starts anew."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from reconciler.domain.candidates import Candidate
from reconciler.domain.decisions import (
    Action,
    Comparison,
    DecidedBy,
    Decision,
    Proposal,
    RecordedOpinion,
    RecordedPolicy,
    RecordedVerdict,
    Relation,
    Timings,
    Verdict,
)
from reconciler.domain.facts import Fact, Neighbour
from reconciler.domain.gate.assessment import Assessment, Disposal
from reconciler.domain.notes import Note
from reconciler.domain.rule import (
    ReconcilePolicy,
    contest,
    dated,
    decide,
    replaceable,
    restated,
)
from reconciler.domain.scope import Scope
from reconciler.errors import GraphConflictError, InvalidRequestError
from reconciler.ports.embedder import Embedder
from reconciler.service.arbitration import Arbitration, Opinion
from reconciler.service.contact_turns import ContactTurns
from reconciler.service.embedding import embed
from reconciler.service.memory_store import MemoryStore, Neighbourhood
from reconciler.service.retry import RetryPolicy, call_with_retries

__all__ = ["MemoryReconciler", "Submission"]

NO_MODEL = "none"
"""What embedded raw words: so no look for neighbours, and no recall by meaning, finds them."""

_NO_VECTOR: NDArray[np.float32] = np.empty(0, dtype=np.float32)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A candidate that the write gate has disposed of, on its way into the graph.

    Args:
        candidate: cleaned, with at least one episode of evidence.
        assessment: how the gate disposed of it.
        door: which door it came through, as recorded.
        decision_id: the id of its decision, the same at every attempt, so that a try whose answer
            was lost finds what it wrote. A proposal is settled under one id.
        settles_id: the held or admitted proposal that this settles, which is settled once.
        answered_by: who answered it.
        held_id: the earlier decision under which the same question waits.
    """

    candidate: Candidate
    assessment: Assessment
    door: str
    decision_id: str
    settles_id: str | None = None
    answered_by: str | None = None
    held_id: str | None = None

    @property
    def note(self) -> Note:
        """What is to be remembered."""
        return self.candidate.note


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """What stays the same however often one note is reconciled: its ids and its vector."""

    submission: Submission
    note: Note
    decision_id: str
    fact_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    vector: NDArray[np.float32] = field(default_factory=lambda: np.empty(0, dtype=np.float32))
    embed_ms: float = 0.0
    opinions: dict[tuple[Neighbour, ...], Opinion] = field(default_factory=dict)

    @property
    def is_fallback(self) -> bool:
        """Whether it is raw words, which are compared with nothing, and nothing with them."""
        return self.submission.candidate.is_fallback

    @property
    def episode_id(self) -> str:
        """The note's own evidence, by which an attempt knows its own writing."""
        return self.submission.candidate.evidence[0].episode_id


class _NotAskedYetError(Exception):
    """The arbiter has to be asked about these neighbours, once the turn was given back."""

    def __init__(
        self, arbitration: Arbitration, note: Note, shown: tuple[Neighbour, ...], attempts: int
    ) -> None:
        super().__init__(arbitration.name)
        self.arbitration, self.note, self.shown = arbitration, note, shown
        self.attempts = attempts


class MemoryReconciler:
    """Decides what becomes of a note and writes it, exactly once.

    Reading, embedding and arbitrating happen outside any write transaction. The commit compares
    the contact's version with the one the decision was made on; if another writer came first,
    nothing is written and the note is reconciled again, against what is there now. So that this is
    rare, the writers of one process look, decide and commit in turn; nobody has the turn while the
    note is embedded or the arbiter is asked.

    Args:
        store: where facts and decisions are kept.
        embedder: its ``dimension`` 0 makes every note an ADD.
        arbitration: judges the band between the thresholds; None leaves it to the cut.
        policy: the thresholds.
        retry_policy: how often and how long to try again.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self,
        *,
        store: MemoryStore,
        embedder: Embedder,
        arbitration: Arbitration | None,
        policy: ReconcilePolicy,
        retry_policy: RetryPolicy,
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._arbitration = arbitration
        self._policy = policy
        self._retry_policy = retry_policy
        self._clock = clock
        self._turns = ContactTurns()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors that can be compared: float32, (n, dimension), unit length.

        Raises:
            EmbeddingError: the model failed, or returned what cannot be compared.
        """
        return embed(self._embedder, texts)

    def reconcile(
        self, submission: Submission, vector: NDArray[np.float32] | None = None
    ) -> Decision:
        """The decision about an admitted note, after it and what follows from it was written.

        Args:
            submission: what to remember; the gate admitted it.
            vector: the note's embedding where the caller made it already, for many at once.

        Raises:
            EmbeddingError: the model failed; nothing was written.
            GraphUnavailableError: the engine stayed away. Whether the last attempt was written is
                unknown then; the same call with the same idempotency key settles it.
            GraphConflictError: other writers came first too often; nothing was written.
        """
        if submission.assessment.disposal is not Disposal.ADMIT:
            raise ValueError("only what the gate admits is reconciled")
        attempt = self._attempt(submission)
        has_key = submission.note.idempotency_key or submission.settles_id
        if vector is not None:
            attempt = replace(attempt, vector=vector)
        elif has_key and (earlier := self._try(lambda _: self.find_earlier(submission))):
            return earlier
        else:
            attempt = self._embedded(attempt)
        return self._reconciled(attempt)

    def reconfirm(self, submission: Submission, why: str) -> Decision | None:
        """One more observation of the live fact that says the same; None where none does.

        What agrees with what is known needs nobody's yes; it is counted, and its words are not
        written as a fact.

        Args:
            submission: what agrees, if anything does.
            why: why it would have been asked about otherwise.

        Raises:
            As ``reconcile``.
        """
        attempt = self._embedded(self._attempt(submission))
        scope = submission.note.scope
        return self.in_turn(scope, lambda number: self._reconfirm_once(attempt, number, why))

    def in_turn(self, scope: Scope, call: Callable[[int], T]) -> T:
        """What the call returns, in the contact's turn and made again while others come first.

        Args:
            scope: about whom the call looks, decides and commits.
            call: gets the attempt's number, from 1. It calls ``record`` or ``revoke``, and neither
                ``reconcile`` nor ``reconfirm``, which have turns of their own.

        Raises:
            GraphUnavailableError: the engine stayed away.
            GraphConflictError: other writers came first too often; nothing was written.
        """
        with self._turns.turn(scope) as turn:
            return call_with_retries(self._retry_policy, call, before_each=turn.take)

    def record(self, submission: Submission, action: Action, version: int) -> Decision:
        """The decision that writes no fact: how the gate disposed, or what somebody answered.

        For a call that ``in_turn`` makes.

        Raises:
            GraphConflictError: the contact moved on from ``version``; nothing was written.
            GraphUnavailableError: the engine is away.
        """
        return self._write_plain(submission, action, version, ended=())

    def revoke(self, submission: Submission, fact: Fact, version: int) -> Decision:
        """The decision that ends a fact without another in its place, and not before it began.

        Raises:
            As ``record``.
        """
        note = submission.note.no_earlier_than([fact.valid_from])
        candidate = replace(submission.candidate, note=note)
        submission = replace(submission, candidate=candidate)
        return self._write_plain(submission, Action.REVOKE, version, ended=(fact.fact_id,))

    def find_earlier(self, submission: Submission, number: int = 1) -> Decision | None:
        """The decision if it is written already: by another call, as a replay, or by this one.

        Args:
            submission: what was decided about.
            number: which try of this call asks; only a later one may find its own writing.
        """
        if number > 1:
            return self._earlier(self._attempt(submission))
        found = self._store.find_decision(submission.note.scope, submission.decision_id)
        return None if found is None else found.as_replay()

    def correct(self, scope: Scope, decision_id: str, relation: Relation) -> Decision:
        """Keep what a person says about a decision; the graph's facts stay as they are.

        Raises:
            UnknownDecisionError: the contact has no decision of that id.
            InvalidRequestError: it was compared with no fact.
        """
        if not self._get(scope, decision_id).compared_with:
            raise InvalidRequestError(
                f"decision {decision_id} was compared with no fact, so there is nothing to relate"
            )
        at = self._clock()
        self._try(lambda _: self._store.record_correction(scope, decision_id, relation, at))
        return self._get(scope, decision_id)

    def _get(self, scope: Scope, decision_id: str) -> Decision:
        return self._try(lambda _: self._store.get_decision(scope, decision_id))

    def _try(self, call: Callable[[int], T]) -> T:
        return call_with_retries(self._retry_policy, call)

    def _attempt(self, submission: Submission) -> _Attempt:
        return _Attempt(
            submission=submission, note=submission.note, decision_id=submission.decision_id
        )

    def _embedded(self, attempt: _Attempt) -> _Attempt:
        if attempt.is_fallback:
            return attempt
        vectors, embed_ms = _timed(lambda: self.embed([attempt.note.text]))
        return replace(attempt, vector=vectors[0], embed_ms=embed_ms)

    def _write_plain(
        self, submission: Submission, action: Action, version: int, ended: tuple[str, ...]
    ) -> Decision:
        verdict = Verdict(
            action=action,
            decided_by=DecidedBy.ANSWER if submission.answered_by else DecidedBy.GATE,
            reason=submission.assessment.detail,
        )
        seen = Neighbourhood(version=version, neighbours=())
        decision = self._record(self._attempt(submission), 1, seen, verdict, None, 0.0)
        kept = replace(decision.verdict, fact_id=None, superseded_ids=ended)
        decision = replace(decision, verdict=kept)
        self._commit(submission, submission.note, decision, verdict, _NO_VECTOR, version)
        return decision

    def _commit(
        self,
        submission: Submission,
        note: Note,
        decision: Decision,
        verdict: Verdict,
        vector: NDArray[np.float32],
        version: int,
    ) -> None:
        evidence = submission.candidate.evidence
        self._store.commit_decision(note, evidence, decision, verdict, vector, version)

    def _reconfirm_once(self, attempt: _Attempt, number: int, why: str) -> Decision | None:
        if number > 1 and (earlier := self._earlier(attempt)):
            return earlier
        seen, compare_ms = _timed(lambda: self._look(attempt))
        known = restated(attempt.note, seen.neighbours, self._policy)
        if known is None:
            return None
        verdict = Verdict(
            action=Action.SKIP,
            decided_by=DecidedBy.GATE,
            reason=f"agrees with what is known, so nobody is asked ({why})",
            targets=(known,),
        )
        note = dated(attempt.note, verdict)
        attempt = replace(attempt, note=note)
        decision = self._record(attempt, number, seen, verdict, None, compare_ms)
        self._commit(attempt.submission, note, decision, verdict, attempt.vector, seen.version)
        return decision

    def _reconciled(self, attempt: _Attempt) -> Decision:
        """The decision, the arbiter being asked between two turns: it may take seconds.

        It is asked again only where the neighbours that it saw changed meanwhile: another writer
        came first, as in a commit that lost. To ask it for the first time is no lost race.
        """
        before = 0
        for _ in range(1 + self._retry_policy.attempts_max):
            try:
                once = partial(self._reconcile_once, attempt, before)
                return self.in_turn(attempt.note.scope, once)
            except _NotAskedYetError as unasked:
                question = (unasked.note, unasked.shown)
                attempt.opinions[unasked.shown] = unasked.arbitration.ask(*question)
                before = unasked.attempts - (len(attempt.opinions) == 1)
        raise GraphConflictError(
            "other writers changed what this note is close to while the arbiter was asked, "
            f"{self._retry_policy.attempts_max} times; nothing was written, try again"
        )

    def _reconcile_once(self, attempt: _Attempt, before: int, number: int) -> Decision:
        number += before
        if number > 1 and (earlier := self._earlier(attempt)):
            return earlier
        seen, compare_ms = _timed(lambda: self._look(attempt))
        if not attempt.note.is_dated:
            attempt = replace(attempt, note=replace(attempt.note, said_at=self._clock()))
        verdict = decide(attempt.note, seen.neighbours, self._policy)
        opinion = self._opinion(attempt, seen, number) if verdict.can_be_arbitrated else None
        if opinion and opinion.judgement:
            verdict = decide(attempt.note, seen.neighbours, self._policy, opinion.judgement)
        note = dated(attempt.note, verdict)
        attempt = replace(attempt, note=note)
        if verdict.is_replacement:
            beneath = self._store.list_predecessors(verdict.targets, attempt.vector)
            verdict = contest(verdict, note, beneath, self._policy)
        decision = self._record(attempt, number, seen, verdict, opinion, compare_ms)
        self._commit(attempt.submission, note, decision, verdict, attempt.vector, seen.version)
        return decision

    def _earlier(self, attempt: _Attempt) -> Decision | None:
        """The decision if it is written already: by another call, or by a try of this one."""
        found = self._store.find_decision(attempt.note.scope, attempt.decision_id)
        if found is None or found.episode_id == attempt.episode_id:
            return found
        return found.as_replay()

    def _look(self, attempt: _Attempt) -> Neighbourhood:
        if attempt.is_fallback:  # it may end no fact
            version = self._store.contact_version(attempt.note.scope)
            return Neighbourhood(version=version, neighbours=())
        return self._store.find_neighbourhood(
            attempt.note, attempt.vector, self._embedder.model_id, self._clock()
        )

    def _opinion(self, attempt: _Attempt, seen: Neighbourhood, number: int) -> Opinion | None:
        """The arbiter's checked judgement, or why there is none; None without an arbiter.

        The same neighbours are asked about once, however often other writers come first.

        Raises:
            _NotAskedYetError: it was not asked about these neighbours.
        """
        if self._arbitration is None or not seen.neighbours:
            return None
        shown = tuple(replaceable(attempt.note, seen.neighbours))
        if shown not in attempt.opinions:
            note = attempt.note.no_earlier_than(fact.valid_from for fact in shown)
            raise _NotAskedYetError(self._arbitration, note, shown, number)
        return attempt.opinions[shown]

    def _record(
        self,
        attempt: _Attempt,
        number: int,
        seen: Neighbourhood,
        verdict: Verdict,
        opinion: Opinion | None,
        compare_ms: float,
    ) -> Decision:
        note, policy, neighbours = attempt.note, self._policy, seen.neighbours or ()
        submission = attempt.submission
        decided_on = next(iter((*verdict.targets, *verdict.conflicts, *neighbours)), None)
        target_ids = tuple(each.fact_id for each in verdict.targets)
        own = submission.candidate.evidence[0]
        return Decision(
            decision_id=attempt.decision_id,
            note=replace(note, session_id=own.session_id),
            verdict=RecordedVerdict(
                action=verdict.action,
                decided_by=verdict.decided_by,
                reason=verdict.reason,
                cosine=decided_on.cosine if decided_on else None,
                fact_id=target_ids[0] if verdict.action is Action.SKIP else attempt.fact_id,
                superseded_ids=target_ids if verdict.action is Action.UPDATE else (),
                conflicting_ids=tuple(each.fact_id for each in verdict.conflicts),
                history_of_id=target_ids[0] if verdict.is_history else None,
                is_contested=verdict.is_contested,
                findings=verdict.findings,
            ),
            door=submission.door,
            at=self._clock(),
            episode_id=own.episode_id,
            policy=RecordedPolicy(
                profile=policy.profile,
                cosine_update_min=policy.cosine_update_min,
                cosine_add_max=policy.cosine_add_max,
                cosine_cut=policy.cut,
                guard=policy.guard,
                embedding_model=NO_MODEL if attempt.is_fallback else self._embedder.model_id,
            ),
            gate=submission.assessment,
            proposal=Proposal(
                proposed_by=submission.candidate.proposed_by,
                answered_by=submission.answered_by,
                settles_id=submission.settles_id,
                held_id=submission.held_id,
            ),
            opinion=_recorded(self._arbitration, opinion, attempt.note, neighbours),
            timings=Timings(
                attempts=number,
                embed_ms=attempt.embed_ms,
                compare_ms=compare_ms,
                arbitrate_ms=opinion.milliseconds if opinion else 0.0,
            ),
            compared_with=tuple(
                _comparison(each, rank) for rank, each in enumerate(neighbours, start=1)
            ),
        )


def _comparison(neighbour: Neighbour, rank: int) -> Comparison:
    return Comparison(
        fact_id=neighbour.fact_id,
        text=neighbour.text,
        cosine=neighbour.cosine,
        valid_from=neighbour.valid_from,
        trust=neighbour.trust,
        slot=neighbour.slot,
        category=neighbour.category,
        rank=rank,
    )


def _recorded(
    arbitration: Arbitration | None,
    opinion: Opinion | None,
    note: Note,
    neighbours: Sequence[Neighbour],
) -> RecordedOpinion:
    """What the record keeps of an arbiter; its target as a rank among all that was compared."""
    if arbitration is None or opinion is None:
        return RecordedOpinion()
    judgement, target = opinion.judgement, None
    if judgement and judgement.target is not None:
        shown = replaceable(note, neighbours)[judgement.target - 1]
        target = list(neighbours).index(shown) + 1
    return RecordedOpinion(
        arbiter=arbitration.name,
        reasoning=opinion.reasoning,
        error=opinion.error,
        relation=judgement.relation if judgement else None,
        action=judgement.action if judgement else None,
        target=target,
        confidence=judgement.confidence if judgement else None,
        cost_usd=opinion.cost_usd,
        is_cached=opinion.is_cached,
    )


def _timed(call: Callable[[], T]) -> tuple[T, float]:
    """What the call returns, and the milliseconds that it took."""
    started = time.perf_counter()
    result = call()
    return result, (time.perf_counter() - started) * 1000
