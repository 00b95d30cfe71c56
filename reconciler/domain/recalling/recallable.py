"""Recallable: facts with what a question is compared with, and the answer to one. Pure.

The way of a question, whatever the facts come from: *filter* them, *choose* by closeness in meaning
and in words, *order* what was chosen. Standing constraints stand outside all three.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reconciler.domain.recalling.filtering import RecallFilter
from reconciler.domain.recalling.ranking import (
    Numbers,
    Rows,
    Scores,
    best_first,
    cosines_to,
    holding,
    joined_ranks,
    numbers_of,
    recency_among,
    recency_now,
    score,
    strengths,
    telling,
)
from reconciler.domain.recalling.words import WordIndex, WordMatches
from reconciler.domain.records.facts import Fact, RankedFact
from reconciler.domain.records.policies import DecayPolicy, RankingPolicy, RecallFloor

__all__ = ["Question", "Recallable", "Recalling", "Told", "told"]

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is asked.

    Attributes:
        text: in words; empty to ask for everything.
        vector: its embedding, float32, shape (dimension,), unit length; None to compare words
            alone.
    """

    text: str
    vector: Vectors | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalling:
    """How questions are answered.

    Attributes:
        ranking: how facts are chosen and ordered.
        floor: how near the nearest must be; None lets every question be answered. Used only where
            cosines are compared.
        confidence_min: facts that the gate was less sure of are left out, 0 to 1.
        decay: how much is left of a fact, as far as that is weighed.
        hides_expired: whether facts whose lifetime is over are left out; else they come last.
    """

    ranking: RankingPolicy
    floor: RecallFloor | None = None
    confidence_min: float = 0.0
    hides_expired: bool = False
    decay: DecayPolicy = field(default_factory=DecayPolicy)


@dataclass(frozen=True, slots=True)
class Told:
    """What facts can be found by, a text each; of None that is nothing."""

    facts: Sequence[Fact | None]

    def __iter__(self) -> Iterator[str]:
        return (told(fact) if fact else "" for fact in self.facts)


def told(fact: Fact) -> str:
    """What a fact can be found by: its text, what its slot is called, and its tags."""
    named = (fact.slot.subject, fact.slot.attribute or "") if fact.slot else ()
    return " ".join((fact.text, *named, *fact.tags)).replace("_", " ")


class Recallable:
    """Facts about one contact, as they were at one moment; nothing in it changes.

    Args:
        facts: those that have not ended, expired ones too.
        vectors: theirs, float32, shape (len(facts), dimension), unit length; None to compare words
            alone.
        disputes: by the id of a fact the ids of those that contradict it.
        numbers: what ranks the facts, where that is known.
        words: their words, where there is an index of them.
        rows: the row of each fact among vectors and words, in ascending order, where those have
            rows of other facts too; None where they have not.
    """

    def __init__(
        self,
        facts: Sequence[Fact],
        vectors: Vectors | None = None,
        disputes: Mapping[str, Sequence[str]] | None = None,
        numbers: Numbers | None = None,
        words: WordIndex | None = None,
        rows: Rows | None = None,
    ) -> None:
        self._facts = facts
        self._vectors = vectors
        self._disputes = disputes or {}
        self._numbers = numbers_of(facts) if numbers is None else numbers
        self._words = WordIndex(Told(facts)) if words is None else words
        self._rows = rows

    def answer(
        self, question: Question, wanted: RecallFilter, how: Recalling, now: datetime, limit: int
    ) -> list[RankedFact]:
        """The facts that answer a question, the best first, and then all standing constraints.

        Standing constraints come in the order in which they came to hold. Without a question
        everything is an answer, what was said last and matters most first.

        Args:
            question: what is asked.
            wanted: which facts may answer it.
            how: how they are chosen and ordered.
            now: the time of the answer, which may be past (UTC).
            limit: at most so many facts, beside the standing constraints.
        """
        if not len(self._facts):
            return []
        held = self._held(how, now)
        is_standing = self._numbers["is_standing"][held]
        standing, others = held[is_standing], held[~is_standing]
        asked = self._fitting(others, wanted)
        near = self._closeness(question) if question.text else None
        pages = [asked] if near is None else near.chosen(asked, self._numbers, how)
        answered = (hit for page in pages for hit in self._ordered(page, near, how, now))
        least = -math.inf if wanted.min_score is None else wanted.min_score
        best = islice((hit for hit in answered if hit.score >= least), limit)
        constraints = sorted(self._ordered(standing, near, how, now), key=_since)
        return self._with_disputes([*best, *constraints], held, now)

    def _held(self, how: Recalling, now: datetime) -> Rows:
        """The rows of the facts that are told, and that are sure enough."""
        is_sure = self._numbers["confidence"] >= how.confidence_min
        is_told = holding if how.hides_expired else telling
        return np.flatnonzero(is_told(self._numbers, now) & is_sure)

    def _fitting(self, rows: Rows, wanted: RecallFilter) -> Rows:
        if wanted.is_empty:
            return rows
        fits = [wanted.fits(self._facts[row]) for row in rows]
        return rows[np.array(fits, dtype=np.bool_)]

    def _closeness(self, question: Question) -> _Closeness:
        words = self._words.matches(question.text, self._rows)
        if self._vectors is None or question.vector is None:
            return _Closeness(words, None)
        cosines = cosines_to(self._vectors, question.vector)
        if self._rows is not None:
            cosines = cosines[self._rows]
        return _Closeness(words, np.clip(cosines, -1, 1).astype(np.float64))

    def _ordered(
        self, page: Rows, near: _Closeness | None, how: Recalling, now: datetime
    ) -> Iterator[RankedFact]:
        """Facts that were chosen together, the one with the best score first."""
        numbers, policy = self._numbers[page], how.ranking
        if near is None:
            similarity, recency = np.zeros(len(page)), recency_now(numbers, policy, now)
        else:
            similarity = near.similarity(policy)[page]
            recency = recency_among(numbers, self._likeness(page), similarity, policy)
        recency = np.where(holding(numbers, now), recency, 0.0)  # what may have changed yields
        left = strengths(numbers, how.decay, now)
        scores = score(numbers, similarity, recency, policy, left)
        for place in np.lexsort((-numbers["last_confirmed_at"], -scores)).tolist():
            row = int(page[place])
            yield RankedFact(
                fact=self._facts[row],
                score=float(scores[place]),
                similarity=None if near is None else float(similarity[place]),
                recency=float(recency[place]),
                strength=float(left[place]),
                cosine=None if near is None or near.cosines is None else float(near.cosines[row]),
                words=None if near is None else float(near.words.shares[row]),
                is_standing=bool(numbers["is_standing"][place]),
            )

    def _likeness(self, page: Rows) -> NDArray[np.floating[Any]]:
        """The cosine of each to each; without vectors all are about what was asked."""
        if self._vectors is None:
            return np.ones((len(page), len(page)))
        vectors = self._vectors[page if self._rows is None else self._rows[page]]
        found: NDArray[np.float32] = vectors @ vectors.T
        return found

    def _with_disputes(
        self, ranked: Iterable[RankedFact], held: Rows, now: datetime
    ) -> list[RankedFact]:
        """The same as of now, each with the other sides of its disputes, as far as those hold."""
        found = list(ranked)
        if not any(hit.fact.fact_id in self._disputes for hit in found):
            return [replace(hit, fact=hit.fact.as_of(now)) for hit in found]
        is_held = np.zeros(len(self._facts), dtype=np.bool_)
        is_held[held] = holding(self._numbers, now)[held]
        holds = {
            fact_id: self._facts[row] for fact_id, row in self._disputed.items() if is_held[row]
        }
        return [
            replace(
                hit,
                fact=hit.fact.as_of(now),
                disputed_with=tuple(
                    holds[other].as_of(now)
                    for other in self._disputes.get(hit.fact.fact_id, ())
                    if other in holds
                ),
            )
            for hit in found
        ]

    @cached_property
    def _disputed(self) -> dict[str, int]:
        """The rows of the facts in dispute: few of many."""
        others = {each for against in self._disputes.values() for each in against}
        return {fact.fact_id: row for row, fact in enumerate(self._facts) if fact.fact_id in others}


@dataclass(frozen=True, slots=True)
class _Closeness:
    """How near each fact is to a question, in words and, where vectors are compared, in meaning."""

    words: WordMatches
    cosines: Scores | None

    def similarity(self, policy: RankingPolicy) -> Scores:
        """Both in one number, 0 to 1."""
        if self.cosines is None:
            return self.words.shares
        meaning = np.maximum(self.cosines, 0.0)
        return (1 - policy.weight_words) * meaning + policy.weight_words * self.words.shares

    def chosen(self, rows: Rows, numbers: Numbers, how: Recalling) -> Iterator[Rows]:
        """The nearest of these facts, so many at once, then the next; none if nothing is near."""
        if self.cosines is None:
            rows = rows[self.words.scores[rows] > 0]
        if not self._reaches_floor(rows, how.floor):
            return
        measures = (
            [self.words.scores] if self.cosines is None else [self.cosines, self.words.scores]
        )
        joined = joined_ranks([measure[rows] for measure in measures], how.ranking)
        said_at = numbers["last_confirmed_at"][rows]
        yield from best_first(rows, joined, said_at, how.ranking.chosen_at_once)

    def _reaches_floor(self, rows: Rows, floor: RecallFloor | None) -> bool:
        if self.cosines is None or floor is None or not len(rows):
            return bool(len(rows))
        evidence = self.cosines[rows] + floor.words * self.words.shares[rows]
        return bool(evidence.max() >= floor.of(len(rows)))


def _since(ranked: RankedFact) -> tuple[datetime, str]:
    return ranked.fact.valid_from, ranked.fact.fact_id
