"""Recall of the past: what a memory knew at an instant, and what was true at one. Only reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from reconciler.domain.recalling.filtering import RecallFilter
from reconciler.domain.recalling.instants import HeldFacts, true_at
from reconciler.domain.recalling.prompting import within_budget
from reconciler.domain.recalling.recallable import Recallable, Recalling, RecallQuery
from reconciler.domain.recalling.recalled import Recalled
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import FactState
from reconciler.domain.records.scope import Scope
from reconciler.ports.embedder import Embedder
from reconciler.service.attribute_questions import AskedAttributes
from reconciler.service.embedding import question_of
from reconciler.service.recall import open_disputes, with_asked
from reconciler.service.records import Records
from reconciler.service.stores.fact_store import FactStore


@dataclass(frozen=True, kw_only=True)
class PastRecall:
    """Answers queries about the past, as a recall at that time would have answered them.

    Nothing is cached, and these recalls are not counted.

    Args:
        store: has the vectors, also of facts that have ended.
        records: gives the facts believed at an instant.
        embedder: with ``dimension`` 0 recall compares words alone.
        asked: finds the attributes that a question asks for; None to skip that.
        how: the settings by which facts are chosen, ordered and left out.
        clock: the time now, UTC-aware.
    """

    store: FactStore
    records: Records
    embedder: Embedder
    how: Recalling
    clock: Callable[[], datetime]
    asked: AskedAttributes | None = None

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
        """The facts that fit a query about the past; ``Recall.recall`` finds those of now.

        Args:
            scope: the contact.
            query: what is asked; empty for everything.
            limit: at most this many facts, not counting the standing constraints.
            wanted: the filters that facts must pass.
            budget_tokens: as many facts as fit a prompt of this many tokens; None for all.
            as_of: what the memory knew then (UTC); None for what it knows now.
            valid_at: what was true in the world then (UTC), as far as the memory knows; None for
                what it believed at ``as_of``.
        """
        knew_at = as_of or self.clock()
        known, _ = self.records.held_at(scope, knew_at)
        facts = _true(known.facts, valid_at) if valid_at else _held(known.facts)
        question = question_of(self.embedder, query)
        recallable = self._recallable(scope, facts, known, question)
        question = with_asked(question, recallable, self.asked)
        recalled = recallable.answer(question, wanted, self.how, valid_at or knew_at, limit)
        return recalled if budget_tokens is None else within_budget(recalled, budget_tokens)

    def _recallable(
        self, scope: Scope, facts: Sequence[Fact], known: HeldFacts, question: RecallQuery
    ) -> Recallable:
        """The facts to choose from; if vectors are compared, only facts that have one."""
        disputes = open_disputes(known.conflicts)
        if question.vector is None:
            return Recallable(facts, disputes=disputes)
        vectors = self.store.load_vectors([scope], self.embedder.model_id)
        compared = [fact for fact in facts if fact.fact_id in vectors]
        rows = [vectors[fact.fact_id] for fact in compared]
        return Recallable(compared, np.array(rows, dtype=np.float32), disputes)


def _true(facts: Iterable[Fact], at: datetime) -> list[Fact]:
    """The facts that were true then, also those that were archived since."""
    return [
        replace(fact, state=FactState.LIVE) if fact.state is FactState.ARCHIVED else fact
        for fact in true_at(at, facts)
    ]


def _held(facts: Iterable[Fact]) -> list[Fact]:
    """The facts that had not ended then, also expired and archived ones."""
    return [fact for fact in facts if not fact.has_ended]
