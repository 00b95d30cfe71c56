"""Recall of the past: what a memory knew at an instant, and what was true at one. Only reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from reconciler.domain.recalling.filtering import RecallFilter
from reconciler.domain.recalling.instants import HeldFacts, true_at
from reconciler.domain.recalling.prompting import within_budget
from reconciler.domain.recalling.recallable import Recallable, Recalling, RecallQuery
from reconciler.domain.recalling.recalled import Recalled
from reconciler.domain.records.facts import Conflict, Fact
from reconciler.domain.records.kinds import FactState
from reconciler.domain.records.scope import Scope
from reconciler.ports.embedder import Embedder
from reconciler.service.attribute_questions import AskedAttributes
from reconciler.service.embedding import question_of
from reconciler.service.recall import with_asked
from reconciler.service.records import Records
from reconciler.service.stores.memory_store import MemoryStore

__all__ = ["PastRecall"]


class PastRecall:
    """Answers questions as they would have been answered.

    Nothing of it is cached, and it leaves no trace on the facts.

    Args:
        store: where vectors are kept, of facts too that have ended.
        records: what was held at an instant.
        embedder: its ``dimension`` 0 compares words alone.
        asked: tells which attributes a question asks for; None where that is not looked at.
        how: how facts are chosen and ordered, and which are left out.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self,
        *,
        store: MemoryStore,
        records: Records,
        embedder: Embedder,
        how: Recalling,
        clock: Callable[[], datetime],
        asked: AskedAttributes | None = None,
    ) -> None:
        self._store = store
        self._records = records
        self._embedder = embedder
        self._asked = asked
        self._how = how
        self._clock = clock

    def recall(
        self,
        scope: Scope,
        query: str,
        limit: int,
        wanted: RecallFilter,
        budget_tokens: int | None,
        *,
        as_of: datetime | None,
        valid_at: datetime | None,
    ) -> Recalled:
        """The facts that answer a question about the past, as ``Recall.recall`` those of now.

        Args:
            scope: the contact.
            query: what is asked; empty for everything.
            limit: at most so many facts, beside the standing constraints.
            wanted: which facts may answer.
            budget_tokens: as many as fit into a prompt of so many tokens; None for all.
            as_of: what the memory knew then (UTC); None for what it knows now.
            valid_at: what was true then, as far as the memory knows (UTC); None for what it held
                to be true at ``as_of``.
        """
        knew_at = as_of or self._clock()
        known, _ = self._records.held_at(scope, knew_at)
        facts = _true(known.facts, valid_at) if valid_at else _held(known.facts)
        question = question_of(self._embedder, query)
        recallable = self._recallable(scope, facts, known, question)
        question = with_asked(question, recallable, self._asked)
        recalled = recallable.answer(question, wanted, self._how, valid_at or knew_at, limit)
        return recalled if budget_tokens is None else within_budget(recalled, budget_tokens)

    def _recallable(
        self, scope: Scope, facts: Sequence[Fact], known: HeldFacts, question: RecallQuery
    ) -> Recallable:
        """What has no vector answers only where none is compared."""
        disputes = _disputes(known.conflicts)
        if question.vector is None:
            return Recallable(facts, disputes=disputes)
        vectors = self._store.load_vectors([scope], self._embedder.model_id)
        compared = [fact for fact in facts if fact.fact_id in vectors]
        rows = [vectors[fact.fact_id] for fact in compared]
        return Recallable(compared, np.array(rows, dtype=np.float32), disputes)


def _true(facts: Iterable[Fact], at: datetime) -> list[Fact]:
    """The facts that were true then, also if they were archived since."""
    is_put_by = FactState.ARCHIVED
    return [
        replace(fact, state=FactState.LIVE) if fact.state is is_put_by else fact
        for fact in true_at(at, facts)
    ]


def _held(facts: Iterable[Fact]) -> list[Fact]:
    """The facts that were believed then, also expired and archived ones."""
    return [fact for fact in facts if not fact.has_ended]


def _disputes(conflicts: Iterable[Conflict]) -> dict[str, list[str]]:
    """By the id of a fact those of what it was in open dispute with."""
    disputes: dict[str, list[str]] = {}
    for conflict in conflicts:
        if conflict.is_open:
            disputes.setdefault(conflict.new_id, []).append(conflict.old_id)
            disputes.setdefault(conflict.old_id, []).append(conflict.new_id)
    return {fact_id: sorted(others) for fact_id, others in disputes.items()}
