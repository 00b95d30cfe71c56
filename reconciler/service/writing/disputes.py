"""Disputes: the answers that end them. Not for agents.

What later evidence settles by itself is decided where it is reconciled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from reconciler.domain.reconciling.restating import confirmed
from reconciler.domain.records.decisions import Action, Undo
from reconciler.domain.records.scope import Scope, check_identifier
from reconciler.errors import InvalidAnswerError, UnknownFactError
from reconciler.service.stores.commits import Commit
from reconciler.service.stores.memory_store import DecisionFilter, MemoryStore
from reconciler.service.writing.decision_ids import DecisionIds
from reconciler.service.writing.ledger import Ledger, Seen
from reconciler.service.writing.memory_reconciler import MemoryReconciler
from reconciler.service.writing.submissions import Submission
from reconciler.service.writing.write_gate import WriteGate, of_person

if TYPE_CHECKING:
    from reconciler.domain.records.candidates import Candidate
    from reconciler.domain.records.decisions import Decision
    from reconciler.domain.records.facts import Fact

__all__ = ["Disputes"]

_ANSWERS_MAX = 1_000
"""How many of an operator's last decisions are looked through for an earlier answer."""


class Disputes:
    """Takes answers to what is in dispute.

    Args:
        gate: reads the reason of an answer, as it reads any words that are kept.
        store: where facts and their conflicts are kept.
        reconciler: puts answers on record.
        ledger: what writes.
        decision_ids: the ids under which answers are kept.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self,
        *,
        gate: WriteGate,
        store: MemoryStore,
        reconciler: MemoryReconciler,
        ledger: Ledger,
        decision_ids: DecisionIds,
        clock: Callable[[], datetime],
    ) -> None:
        self._gate = gate
        self._store = store
        self._reconciler = reconciler
        self._ledger = ledger
        self._decision_ids = decision_ids
        self._clock = clock

    def resolve(self, candidate: Candidate, keep: Sequence[str], door: str) -> Decision:
        """End what is in dispute with the facts that are kept; once, however often it is called.

        Args:
            candidate: why, in a sentence, as the word of who answers.
            keep: the facts that hold. What is in dispute with one of them ends, unless it is kept
                too: then the two contradict each other no longer. What is in dispute only with
                what holds from a later day on ends on that day.
            door: which door the answer came through.

        Raises:
            InvalidAnswerError: the facts are in no open dispute, or one has ended.
            UnknownFactError: the contact has no such fact.
        """
        if not keep:
            raise InvalidAnswerError("say which facts to keep; `reconciler disputes` lists them")
        scope = candidate.note.scope
        submission = of_person(self._gate.judge(candidate, door), "settled")

        def plan(seen: Seen) -> Commit | Decision:
            kept = self._heads(scope, keep)
            return self._answer(submission, kept, seen) or self._earlier(scope, kept, door)

        return self._ledger.write(submission, plan)

    def _answer(self, submission: Submission, kept: Sequence[Fact], seen: Seen) -> Commit | None:
        """What to write; None where nothing is in dispute with what is kept."""
        scope, kept_ids = submission.note.scope, {fact.fact_id for fact in kept}
        conflicts = self._store.list_conflicts(scope)
        pairs = [{conflict.new_id, conflict.old_id} for conflict in conflicts]
        open_ = [pair for pair in pairs if pair & kept_ids]
        if not open_:
            return None
        lost_ids = sorted(set().union(*open_) - kept_ids)
        _, lost = self._store.find_facts(scope, lost_ids)
        now = self._clock()
        until_then = _until_then(kept, lost.values(), open_, now)
        stay_ids = {fact.fact_id for fact, _ in until_then}
        ended = [fact for fact_id, fact in lost.items() if fact_id not in stay_ids]
        begins = [fact.valid_from for fact in (*kept, *ended) if not fact.is_upcoming(now)]
        about = submission.about(submission.note.no_earlier_than(begins))
        only = kept[0] if len(kept) == 1 else None
        commit = self._reconciler.as_disposed(
            about, Action.RESOLVE, seen, ended, until_then=until_then, heir=only
        )
        closed = [fact.fact_id for fact in kept] if any(p <= kept_ids for p in open_) else []
        undo = Undo(
            before=(*commit.before, *((only.standing,) if only else ())),
            conflicts=(
                *(commit.decision.undo.conflicts if commit.decision.undo else ()),
                *(one for one in conflicts if {one.new_id, one.old_id} <= kept_ids),
            ),
        )
        decision = replace(
            commit.decision, fact_id=kept[0].fact_id, closed_ids=tuple(closed), undo=undo
        )
        told = confirmed(commit.kept, decision) if commit.kept else None
        return replace(commit, decision=decision, kept=told)

    def _earlier(self, scope: Scope, kept: Sequence[Fact], door: str) -> Decision:
        """The answer that was given already.

        Raises:
            InvalidAnswerError: none was.
        """
        ids = {fact.fact_id for fact in kept}
        for made in self._store.list_decisions([scope], _ANSWERS_MAX, DecisionFilter(door=door)):
            if made.action is Action.RESOLVE and ids <= {made.fact_id, *made.closed_ids}:
                return made.as_replay()
        raise InvalidAnswerError(
            f"{' and '.join(sorted(ids))}: in no open dispute; `reconciler disputes` lists those "
            "that are"
        )

    def _heads(self, scope: Scope, fact_ids: Sequence[str]) -> list[Fact]:
        """The live facts that say now what these say, each once."""
        for fact_id in fact_ids:
            check_identifier("keep", fact_id, UnknownFactError)
        after = {
            supersession.old_id: supersession.new_id
            for supersession in self._store.list_supersessions(scope)
            if supersession.is_restatement
        }
        found = {fact.fact_id: fact for fact in (self._head(scope, i, after) for i in fact_ids)}
        return list(found.values())

    def _head(self, scope: Scope, fact_id: str, after: dict[str, str]) -> Fact:
        last = fact_id
        while last in after:
            last = after[last]
        fact = self._store.find_fact(scope, last)
        if fact is None:
            raise UnknownFactError(f"contact {scope.contact_id} has no fact {fact_id}")
        if fact.has_ended:
            raise InvalidAnswerError(
                f"fact {fact_id} has ended and cannot be kept; `reconciler history --fact "
                f"{fact_id}` says what took its place"
            )
        return fact


def _until_then(
    kept: Iterable[Fact], lost: Iterable[Fact], open_: Sequence[set[str]], now: datetime
) -> list[tuple[Fact, Fact]]:
    """What holds until the day of what is kept, each with that; no plan does."""
    found = []
    by_day = sorted(kept, key=lambda fact: fact.valid_from)
    for fact in lost:
        against = [one for one in by_day if {fact.fact_id, one.fact_id} in open_]
        if against[0].is_upcoming(now) and not fact.is_upcoming(now):
            found.append((fact, against[0]))
    return found
