"""The reconciler: the only way into the graph. Compares, decides, commits; or starts anew."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from reconciler.domain.decisions import Action, Comparison, Decision, Judgement, Verdict
from reconciler.domain.facts import Neighbour
from reconciler.domain.notes import Note
from reconciler.domain.rule import ReconcilePolicy, check_judgement, decide
from reconciler.ports.arbiter import Arbiter
from reconciler.ports.embedder import Embedder
from reconciler.service.embedding import embed
from reconciler.service.memory_store import MemoryStore, Neighbourhood
from reconciler.service.retry import RetryPolicy, call_with_retries

__all__ = ["MemoryReconciler", "decision_id_of"]

_NAMESPACE = uuid.UUID("3f6d2f0e-7d0b-5a39-9f5e-0a6d1f0c4b7a")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opinion:
    """What the arbiter contributed: a checked judgement, or why there is none."""

    judgement: Judgement | None
    error: str | None
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """What stays the same however often one note is reconciled: its ids and its vector."""

    note: Note
    door: str
    decision_id: str
    fact_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    episode_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    vector: NDArray[np.float32] = field(default_factory=lambda: np.empty(0, dtype=np.float32))
    embed_ms: float = 0.0
    opinions: dict[tuple[Neighbour, ...], _Opinion] = field(default_factory=dict)


class MemoryReconciler:
    """Decides what becomes of a note and writes it, exactly once.

    Reading, embedding and arbitrating happen outside any write transaction. The commit compares
    the contact's version with the one the decision was made on; if another writer came first,
    nothing is written and the note is reconciled again, against what is there now.

    Args:
        store: where facts and decisions are kept.
        embedder: its ``dimension`` 0 makes every note an ADD.
        arbiter: judges the band between the thresholds; None leaves it to the midpoint.
        policy: the thresholds.
        retry_policy: how often and how long to try again.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self,
        *,
        store: MemoryStore,
        embedder: Embedder,
        arbiter: Arbiter | None,
        policy: ReconcilePolicy,
        retry_policy: RetryPolicy,
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._arbiter = arbiter
        self._policy = policy
        self._retry_policy = retry_policy
        self._clock = clock

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors that can be compared: float32, (n, dimension), unit length.

        Raises:
            EmbeddingError: the model failed, or returned what cannot be compared.
        """
        return embed(self._embedder, texts)

    def reconcile(
        self, note: Note, door: str, vector: NDArray[np.float32] | None = None
    ) -> Decision:
        """The decision about a note, after it and all that follows from it was written.

        Args:
            note: what to remember.
            door: which door it came through, as recorded.
            vector: the note's embedding where the caller made it already, for many at once.

        Raises:
            EmbeddingError: the model failed; nothing was written.
            GraphUnavailableError: the engine stayed away. Whether the last attempt was written is
                unknown then; the same call with the same idempotency key settles it.
            GraphConflictError: other writers came first too often; nothing was written.
        """
        attempt = _Attempt(note=note, door=door, decision_id=decision_id_of(note))
        if vector is not None:
            attempt = replace(attempt, vector=vector)
        elif note.idempotency_key and (earlier := self._try(lambda _: self._earlier(attempt))):
            return earlier
        else:
            vectors, embed_ms = _timed(lambda: self.embed([note.text]))
            attempt = replace(attempt, vector=vectors[0], embed_ms=embed_ms)
        return self._try(lambda number: self._reconcile_once(attempt, number))

    def _try(self, call: Callable[[int], T]) -> T:
        return call_with_retries(self._retry_policy, call)

    def _reconcile_once(self, attempt: _Attempt, number: int) -> Decision:
        if number > 1 and (earlier := self._earlier(attempt)):
            return earlier
        seen, compare_ms = _timed(lambda: self._look(attempt))
        verdict = decide(seen.neighbours, self._policy)
        opinion = self._ask(attempt, seen) if verdict.can_be_arbitrated else None
        if opinion and opinion.judgement:
            verdict = decide(seen.neighbours, self._policy, opinion.judgement)
        decision = self._record(attempt, number, seen, verdict, opinion, compare_ms)
        self._store.commit_decision(
            attempt.note,
            decision,
            attempt.vector,
            version=seen.version,
            is_restatement=verdict.is_restatement,
        )
        return decision

    def _earlier(self, attempt: _Attempt) -> Decision | None:
        """The decision if it is written already: by another call, or by a try of this one."""
        found = self._store.find_decision(attempt.decision_id)
        if found is None or found.episode_id == attempt.episode_id:
            return found
        return found.as_replay()

    def _look(self, attempt: _Attempt) -> Neighbourhood:
        return self._store.find_neighbourhood(
            attempt.note.scope,
            attempt.vector,
            self._embedder.model_id,
        )

    def _ask(self, attempt: _Attempt, seen: Neighbourhood) -> _Opinion | None:
        """The arbiter's checked judgement, or why there is none; None without an arbiter.

        The same neighbours are asked about once, however often other writers come first.
        """
        if self._arbiter is None or not seen.neighbours:
            return None
        if seen.neighbours not in attempt.opinions:
            attempt.opinions[seen.neighbours] = _opinion(
                self._arbiter, attempt.note, seen.neighbours
            )
        return attempt.opinions[seen.neighbours]

    def _record(
        self,
        attempt: _Attempt,
        number: int,
        seen: Neighbourhood,
        verdict: Verdict,
        opinion: _Opinion | None,
        compare_ms: float,
    ) -> Decision:
        neighbours = seen.neighbours or ()
        decided_on = verdict.target or next(iter(neighbours), None)
        target_id = verdict.target.fact_id if verdict.target else None
        judgement = opinion.judgement if opinion else None
        return Decision(
            decision_id=attempt.decision_id,
            action=verdict.action,
            decided_by=verdict.decided_by,
            cosine=decided_on.cosine if decided_on else None,
            reason=verdict.reason,
            text=attempt.note.text,
            fact_id=target_id if verdict.action is Action.SKIP and target_id else attempt.fact_id,
            superseded_id=target_id if verdict.action is Action.UPDATE else None,
            episode_id=attempt.episode_id,
            contact_id=attempt.note.scope.contact_id,
            cosine_update_min=self._policy.cosine_update_min,
            cosine_add_max=self._policy.cosine_add_max,
            embedding_model=self._embedder.model_id,
            arbiter=self._arbiter.name if self._arbiter and opinion else None,
            arbiter_reasoning=judgement.reasoning if judgement else None,
            arbiter_error=opinion.error if opinion else None,
            door=attempt.door,
            idempotency_key=attempt.note.idempotency_key,
            attempts=number,
            embed_ms=attempt.embed_ms,
            compare_ms=compare_ms,
            arbitrate_ms=opinion.milliseconds if opinion else 0.0,
            said_at=attempt.note.said_at,
            at=self._clock(),
            compared_with=tuple(
                Comparison(
                    fact_id=neighbour.fact_id,
                    cosine=neighbour.cosine,
                    rank=rank,
                    text=neighbour.text,
                )
                for rank, neighbour in enumerate(neighbours, start=1)
            ),
        )


def decision_id_of(note: Note) -> str:
    """The id under which a note's decision is kept: the same for the same key in a scope.

    The key makes the id, so that the engine's own uniqueness of ids keeps a second write out.
    """
    if note.idempotency_key is None:
        return str(uuid.uuid4())
    return str(uuid.uuid5(_NAMESPACE, f"{note.scope.contact_key}/{note.idempotency_key}"))


def _opinion(arbiter: Arbiter, note: Note, neighbours: Sequence[Neighbour]) -> _Opinion:
    """An arbiter's failure is an opinion too: the midpoint decides, and the record says why."""

    def judged() -> tuple[Judgement | None, str | None]:
        try:
            judgement = arbiter.judge(note.text, note.said_at, neighbours)
            check_judgement(judgement, len(neighbours))
        except Exception as error:  # noqa: BLE001 - whatever an arbiter does, the note is kept
            return None, f"{type(error).__name__}: {error}"
        return judgement, None

    (judgement, error), milliseconds = _timed(judged)
    return _Opinion(judgement=judgement, error=error, milliseconds=milliseconds)


def _timed(call: Callable[[], T]) -> tuple[T, float]:
    """What the call returns, and the milliseconds that it took."""
    started = time.perf_counter()
    result = call()
    return result, (time.perf_counter() - started) * 1000
