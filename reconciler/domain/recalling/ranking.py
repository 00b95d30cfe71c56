"""Ranking: which facts are recalled, and in which order. Pure; the time now is an argument.

Facts are ranked by a few numbers each, as arrays, so that thousands are ranked without being read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from reconciler.domain.records.facts import Fact, RankedFact
from reconciler.domain.records.notes import canonical_text
from reconciler.domain.records.policies import RankingPolicy

__all__ = [
    "NEVER",
    "Numbers",
    "Rank",
    "holding",
    "numbers_of",
    "rank",
    "rank_rows",
    "ranking_numbers",
    "word_overlap",
]

Numbers = NDArray[Any]
"""What ranks each of many facts, one row a fact: importance, confidence, and when it was last said
and when it expires, in microseconds since 1970 (UTC)."""

_ROW = np.dtype(
    [
        ("importance", np.float64),
        ("confidence", np.float64),
        ("last_confirmed_at", np.int64),
        ("expires_at", np.int64),
    ]
)
NEVER: Final = np.iinfo(np.int64).max
"""When a fact expires that does not."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MICROSECONDS_PER_DAY = 86_400 * 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """How the fact in one row ranks, with the parts of its score, as in ``RankedFact``."""

    row: int
    score: float
    similarity: float | None
    recency: float

    def of(self, fact: Fact) -> RankedFact:
        """The fact in that row, as it is recalled."""
        return RankedFact(
            fact=fact, score=self.score, similarity=self.similarity, recency=self.recency
        )


def ranking_numbers(
    told: Iterable[tuple[float, float, datetime, datetime | None]],
) -> Numbers:
    """The numbers that rank facts, of each its importance, confidence and two times."""
    rows = [
        (importance, confidence, _microseconds(said_at), _microseconds(expires_at))
        for importance, confidence, said_at, expires_at in told
    ]
    return np.array(rows, dtype=_ROW)


def numbers_of(facts: Iterable[Fact]) -> Numbers:
    """The numbers that rank these facts, a row each, in their order."""
    return ranking_numbers(
        (fact.importance, fact.confidence, fact.last_confirmed_at, fact.expires_at)
        for fact in facts
    )


def holding(numbers: Numbers, now: datetime) -> NDArray[np.bool_]:
    """Which facts have not expired by now (UTC)."""
    found: NDArray[np.bool_] = numbers["expires_at"] > _microseconds(now)
    return found


def rank_rows(
    numbers: Numbers,
    similarities: NDArray[np.floating[Any]],
    policy: RankingPolicy,
    now: datetime,
    limit: int,
    confidence_min: float = 0.0,
) -> list[Rank]:
    """The facts that are sure enough and have not expired, the best first.

    Of equals the one said last comes first; of those that which comes first here.

    Args:
        numbers: what ranks them, a row each.
        similarities: to the query, shape (len(numbers),), each a raw cosine or a share of words;
            not a number where nothing was asked for.
        policy: the weights.
        now: the time from which recency counts, and at which they must hold (UTC).
        limit: at most so many.
        confidence_min: facts that the gate was less sure of are left out, 0 to 1.
    """
    kept = np.flatnonzero(holding(numbers, now) & (numbers["confidence"] >= confidence_min))
    numbers, similarities = numbers[kept], similarities[kept].astype(np.float64)
    last_confirmed_at = numbers["last_confirmed_at"]
    age_days = np.maximum(_microseconds(now) - last_confirmed_at, 0) / _MICROSECONDS_PER_DAY
    recency = 0.5 ** (age_days / policy.recency_half_life_days)
    score = (
        policy.weight_similarity * np.fmax(similarities, 0.0)
        + policy.weight_recency * recency
        + policy.weight_importance * numbers["importance"]
    )
    best = np.lexsort((-last_confirmed_at, -score))[:limit]
    return [
        Rank(
            row=int(kept[place]),
            score=float(score[place]),
            similarity=None if np.isnan(similarities[place]) else float(similarities[place]),
            recency=float(recency[place]),
        )
        for place in best.tolist()
    ]


def rank(
    facts: Iterable[tuple[Fact, float | None]],
    policy: RankingPolicy,
    now: datetime,
    limit: int,
    confidence_min: float = 0.0,
) -> list[RankedFact]:
    """As ``rank_rows``, for facts each with its similarity; None where nothing was asked for."""
    listed = list(facts)
    similarities = np.array([similarity for _, similarity in listed], dtype=np.float64)
    numbers = numbers_of(fact for fact, _ in listed)
    found = rank_rows(numbers, similarities, policy, now, limit, confidence_min)
    return [each.of(listed[each.row][0]) for each in found]


def word_overlap(query: str, text: str) -> float:
    """The share of the query's words that stand in the text, as parts of words too; 0 to 1."""
    words = re.findall(r"\w+", canonical_text(query).casefold())
    within = canonical_text(text).casefold()
    return sum(word in within for word in words) / len(words) if words else 0.0


def _microseconds(at: datetime | None) -> int:
    """Since 1970; a whole number, which unlike a float is exact."""
    return NEVER if at is None else (at - _EPOCH) // _MICROSECOND
