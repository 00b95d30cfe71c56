from __future__ import annotations

from dataclasses import replace
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
MICROSECOND = timedelta(microseconds=1)


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


def plainly(
    found: list[tuple[Fact, float | None]], policy: RankingPolicy, limit: int, sure: float
) -> list[tuple[str, float]]:
    """The same one fact at a time, as the formula is written down."""
    scored = []
    for each, similarity in found:
        days = max((NOW - each.last_confirmed_at).total_seconds(), 0.0) / 86_400
        score = policy.weight_similarity * max(similarity or 0.0, 0.0)
        score += policy.weight_recency * 0.5 ** (days / policy.recency_half_life_days)
        score += policy.weight_importance * each.importance
        if each.confidence >= sure and (each.expires_at is None or each.expires_at > NOW):
            scored.append((each, score))
    scored.sort(key=lambda pair: (pair[1], pair[0].last_confirmed_at), reverse=True)
    return [(each.fact_id, score) for each, score in scored[:limit]]


FACTS = st.lists(
    st.tuples(
        st.builds(
            lambda said, expires, sure, worth: replace(
                fact(),
                last_confirmed_at=said,
                expires_at=expires,
                confidence=sure,
                importance=worth,
            ),
            st.sampled_from([0.0, 1e-11, 0.5, 30.0, 400.0, 700_000.0, -2.0]).map(
                lambda days: NOW - timedelta(days=days)
            ),
            st.sampled_from([None, NOW, NOW + MICROSECOND, NOW - MICROSECOND]),
            st.sampled_from([0.0, 0.5, 0.5000001, 1.0]),
            st.sampled_from([0.0, 0.25, 1.0]),
        ),
        st.one_of(st.none(), st.sampled_from([-1.0, 0.0, 0.5]), st.floats(-1, 1, width=32)),
    ),
    max_size=40,
)


@given(FACTS, st.integers(0, 50), st.sampled_from([0.0, 0.5, 1.0]))
def test_many_facts_rank_as_they_would_one_by_one(
    drawn: list[tuple[Fact, float | None]], limit: int, sure: float
) -> None:
    found = [(replace(each, fact_id=str(n)), near) for n, (each, near) in enumerate(drawn)]
    ranked = rank(found, DEFAULT, NOW, limit, sure)
    expected = plainly(found, DEFAULT, limit, sure)
    assert [each.fact.fact_id for each in ranked] == [fact_id for fact_id, _ in expected]
    assert [each.score for each in ranked] == pytest.approx([score for _, score in expected])


@pytest.mark.parametrize(("late", "is_recalled"), [(-1, False), (0, False), (1, True)])
def test_a_fact_is_left_out_from_the_microsecond_in_which_it_expires(
    late: int, is_recalled: bool
) -> None:
    held = replace(fact(), expires_at=NOW + late * MICROSECOND)
    assert bool(rank([(held, 0.5)], DEFAULT, NOW, 1)) is is_recalled


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
