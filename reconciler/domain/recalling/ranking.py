"""Ranking: how recalled facts are ordered. Pure; the time now is an argument."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from reconciler.domain.records.facts import Fact, RankedFact
from reconciler.domain.records.notes import canonical_text
from reconciler.domain.records.policies import RankingPolicy

__all__ = ["rank", "word_overlap"]

_SECONDS_PER_DAY = 86_400


def rank(
    facts: Iterable[tuple[Fact, float | None]],
    policy: RankingPolicy,
    now: datetime,
    limit: int,
) -> list[RankedFact]:
    """The facts by score, the best first; of equals the one said last.

    Args:
        facts: each with its similarity to the query, a raw cosine or a share of words; None
            where nothing was asked for.
        policy: the weights.
        now: the time from which recency counts (UTC).
        limit: at most so many.
    """
    ranked = [_ranked(fact, similarity, policy, now) for fact, similarity in facts]
    ranked.sort(key=lambda each: (each.score, each.fact.last_confirmed_at), reverse=True)
    return ranked[:limit]


def word_overlap(query: str, text: str) -> float:
    """The share of the query's words that stand in the text, as parts of words too; 0 to 1."""
    words = re.findall(r"\w+", canonical_text(query).casefold())
    within = canonical_text(text).casefold()
    return sum(word in within for word in words) / len(words) if words else 0.0


def _ranked(
    fact: Fact, similarity: float | None, policy: RankingPolicy, now: datetime
) -> RankedFact:
    age_days = max((now - fact.last_confirmed_at).total_seconds(), 0.0) / _SECONDS_PER_DAY
    recency = 0.5 ** (age_days / policy.recency_half_life_days)
    score = (
        policy.weight_similarity * max(similarity or 0.0, 0.0)
        + policy.weight_recency * recency
        + policy.weight_importance * fact.importance
    )
    return RankedFact(fact=fact, score=score, similarity=similarity, recency=recency)
