from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st

from reconciler.domain.recalling.ranking import rank, word_overlap
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.policies import RankingPolicy
from reconciler.errors import ConfigurationError

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
DEFAULT = RankingPolicy()


def fact(fact_id: str = "fact", *, age_days: float = 0, importance: float = 0.0) -> Fact:
    said_at = NOW - timedelta(days=age_days)
    return Fact(
        fact_id=fact_id,
        text="Prefers email",
        importance=importance,
        trust=SourceKind.USER_EXPLICIT,
        observations=1,
        recorded_at=said_at,
        valid_from=said_at,
        valid_to=None,
        last_confirmed_at=said_at,
        is_live=True,
    )


def score(similarity: float | None = 0.0, policy: RankingPolicy = DEFAULT, **given_: Any) -> float:
    return rank([(fact(**given_), similarity)], policy, NOW, 1)[0].score


@pytest.mark.parametrize(
    ("similarity", "age_days", "importance", "expected"),
    [
        (1.0, 0, 1.0, 1.0),
        (1.0, 1e6, 0.0, 0.7),
        (0.0, 0, 0.0, 0.2),
        (0.0, 1e6, 1.0, 0.1),
        (0.5, 30, 0.5, 0.35 + 0.1 + 0.05),
        (0.5, 60, 0.5, 0.35 + 0.05 + 0.05),
    ],
)
def test_a_score_is_7_parts_similarity_2_recency_1_importance(
    similarity: float, age_days: float, importance: float, expected: float
) -> None:
    given_ = score(similarity, age_days=min(age_days, 700_000), importance=importance)
    assert given_ == pytest.approx(expected)


def test_every_weight_and_the_half_life_can_be_chosen() -> None:
    policy = RankingPolicy(
        weight_similarity=1, weight_recency=2, weight_importance=3, recency_half_life_days=7
    )
    expected = 1 * 0.5 + 2 * 0.5 + 3 * 0.5
    assert score(0.5, policy, age_days=7, importance=0.5) == pytest.approx(expected)


@pytest.mark.parametrize("similarity", [-1.0, -0.001, None])
def test_a_negative_or_missing_similarity_counts_as_none_at_all(similarity: float | None) -> None:
    assert score(similarity) == score(0.0)


def test_a_missing_similarity_stays_missing_in_the_answer() -> None:
    assert rank([(fact(), None)], DEFAULT, NOW, 1)[0].similarity is None


def test_a_fact_from_a_clock_that_runs_ahead_is_as_recent_as_can_be() -> None:
    assert rank([(fact(age_days=-1), 0.0)], DEFAULT, NOW, 1)[0].recency == 1.0


def test_the_best_come_first_and_no_more_than_asked_for() -> None:
    facts = [(fact(str(number)), number / 10) for number in (3, 9, 1, 7)]
    assert [each.fact.fact_id for each in rank(facts, DEFAULT, NOW, 3)] == ["9", "7", "3"]


def test_of_equal_scores_the_fact_said_last_comes_first() -> None:
    flat = RankingPolicy(weight_similarity=1, weight_recency=0, weight_importance=0)
    facts = [(fact("older", age_days=2), 0.5), (fact("newer", age_days=1), 0.5)]
    assert [each.fact.fact_id for each in rank(facts, flat, NOW, 2)] == ["newer", "older"]


def test_nothing_ranks_to_nothing() -> None:
    assert rank([], DEFAULT, NOW, 5) == []


@pytest.mark.parametrize(
    "broken",
    [
        {"weight_similarity": -0.1},
        {"weight_recency": -0.1},
        {"weight_importance": -0.1},
        {"recency_half_life_days": 0.0},
        {"recency_half_life_days": -1.0},
    ],
)
def test_a_negative_weight_or_half_life_is_refused(broken: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match="recall weights"):
        RankingPolicy(**broken)


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("email", "Prefers email", 1.0),
        ("EMAIL", "prefers Email.", 1.0),
        ("mail", "Prefers email", 1.0),
        ("email phone", "Prefers email", 0.5),
        ("phone", "Prefers email", 0.0),
        ("straße", "Lives in the Hauptstrasse", 1.0),
        ("ｅｍａｉｌ", "Prefers email", 1.0),
        ("", "Prefers email", 0.0),
        ("  ", "Prefers email", 0.0),
    ],
)
def test_word_overlap_is_the_share_of_the_querys_words(
    query: str, text: str, expected: float
) -> None:
    assert word_overlap(query, text) == expected


@given(st.text(), st.text())
def test_word_overlap_is_a_share(query: str, text: str) -> None:
    assert 0 <= word_overlap(query, text) <= 1


@given(st.floats(-1, 1), st.floats(0, 40_000), st.floats(0, 1))
def test_a_default_score_lies_between_0_and_1(
    similarity: float, age_days: float, importance: float
) -> None:
    assert 0 <= score(similarity, age_days=age_days, importance=importance) <= 1 + 1e-9
