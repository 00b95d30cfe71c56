"""Decay: the strength of facts that are no longer said, and their archiving."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st

from reconciler.domain.recalling.filtering import EVERYTHING
from reconciler.domain.recalling.ranking import faded, holding, numbers_of, strengths
from reconciler.domain.recalling.recallable import Recallable, Recalling, RecallQuery
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import FactState, SourceKind
from reconciler.domain.records.policies import DecayPolicy, RankingPolicy
from reconciler.reading.kinds import Category, RecallSemantics

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
LONG_AGO = NOON - timedelta(days=900)
POLICY = DecayPolicy()
SHARES = st.floats(0, 1)
DAYS = st.floats(0, 5000)
TIMES = st.integers(0, 10_000)


def fact(fact_id: str = "a", **given: Any) -> Fact:
    usual: dict[str, Any] = {"text": "Likes tea", "observations": 1, "importance": 0.5}
    times = dict.fromkeys(("recorded_at", "valid_from", "last_confirmed_at"), LONG_AGO)
    return Fact(fact_id=fact_id, **usual | times | {"trust": SourceKind.OPERATOR} | given)


def strength(importance: float, age_days: float, recall_count: int, policy: DecayPolicy) -> float:
    said_at = NOON - timedelta(days=age_days)
    one = fact(importance=importance, last_confirmed_at=said_at, recall_count=recall_count)
    return strength_of(one, NOON, policy)


def strength_of(one: Fact, now: datetime, policy: DecayPolicy) -> float:
    return float(strengths(numbers_of([one]), policy, now)[0])


def test_what_was_said_just_now_is_whole_and_half_is_left_after_a_half_life() -> None:
    assert strength(0.5, 0, 0, POLICY) == 1.0
    assert strength(0.5, POLICY.half_life_days, 0, POLICY) == pytest.approx(0.5)
    assert strength(0.5, -3, 0, POLICY) == 1.0


@given(SHARES, DAYS, DAYS, TIMES)
def test_it_only_fades_with_age(importance: float, one: float, other: float, times: int) -> None:
    younger, older = sorted((one, other))
    left = [strength(importance, days, times, POLICY) for days in (younger, older)]
    assert 0 <= left[1] <= left[0] <= 1


@given(SHARES, SHARES, DAYS, TIMES, TIMES)
def test_what_matters_more_or_is_used_more_lasts_longer(
    one: float, other: float, days: float, few: int, many: int
) -> None:
    (less, more), (few, many) = sorted((one, other)), sorted((few, many))
    assert strength(less, days, few, POLICY) <= strength(more, days, few, POLICY)
    assert strength(more, days, few, POLICY) <= strength(more, days, many, POLICY)


def test_six_sessions_ago_and_never_used_is_less_than_last_week_and_used() -> None:
    assert strength(0.7, 180, 0, POLICY) < strength(0.7, 7, 3, POLICY)
    used, unused = fact(recall_count=7), fact()
    assert strength_of(unused, NOON, POLICY) < strength_of(used, NOON, POLICY)


@pytest.mark.parametrize(
    "protected",
    [
        {"category": Category.DECISION},
        {"category": Category.PROCEDURE},
        {"recall_semantics": RecallSemantics.CONSTRAINT},
        {"recall_semantics": RecallSemantics.NEGATIVE},
        {"is_confirmed_by_user": True},
        {"state": FactState.SUPERSEDED},
        {"state": FactState.ARCHIVED},
        {"expires_at": NOON, "category": Category.VOLATILE},
        {"expires_at": NOON, "valid_to": NOON},
        {"valid_from": NOON + timedelta(days=1)},
        {"last_confirmed_at": NOON},
    ],
    ids=lambda given: "-".join(f"{name}={value}" for name, value in given.items()),
)
def test_what_binds_is_confirmed_ended_or_new_is_not_put_by(protected: dict[str, Any]) -> None:
    assert faded([fact(**protected)], [], NOON, POLICY) == []
    assert len(faded([fact()], [], NOON, POLICY)) == 1


def test_what_is_past_its_lifetime_is_told_and_so_fades() -> None:
    outdated = fact(expires_at=NOON)
    assert outdated.as_of(NOON).may_be_outdated
    assert faded([outdated], [], NOON, POLICY) == [outdated]


def test_what_is_in_dispute_waits_for_its_answer() -> None:
    assert [each.fact_id for each in faded([fact("a"), fact("b")], ["a"], NOON, POLICY)] == ["b"]


def test_the_most_faded_comes_first() -> None:
    facts = [fact("a", importance=0.6), fact("b", importance=0.1)]
    assert [each.fact_id for each in faded(facts, [], NOON, POLICY)] == ["b", "a"]


def test_exactly_at_the_floor_a_fact_stays() -> None:
    at_floor = DecayPolicy(floor=strength_of(fact(), NOON, POLICY))
    assert faded([fact()], [], NOON, at_floor) == []


def test_what_is_left_of_a_fact_ranks_it_where_the_settings_say_so() -> None:
    facts = [fact("unused"), fact("used", recall_count=500)]
    for weight, first in ((0.0, "unused"), (1.0, "used")):
        how = Recalling(ranking=RankingPolicy(weight_strength=weight))
        found = Recallable(facts).answer(RecallQuery(""), EVERYTHING, how, NOON, 2)
        assert found[0].fact.fact_id == first
        assert found[0].strength == pytest.approx(strength_of(found[0].fact, NOON, POLICY))


def test_what_is_archived_is_as_silent_as_what_expired() -> None:
    archived = fact(state=FactState.ARCHIVED)
    assert not holding(numbers_of([archived]), NOON).any()
    how = Recalling(ranking=RankingPolicy())
    assert Recallable([archived]).answer(RecallQuery(""), EVERYTHING, how, NOON, 2) == []
