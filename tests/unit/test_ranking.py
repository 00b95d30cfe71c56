"""How facts are chosen for a question and ordered: the rules by themselves, on made-up facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from reconciler.domain.recalling.filtering import EVERYTHING, RecallFilter
from reconciler.domain.recalling.ranking import numbers_of, recency_among, reciprocal_ranks
from reconciler.domain.recalling.recallable import Recallable, Recalling, RecallQuery
from reconciler.domain.records.facts import Fact, RankedFact
from reconciler.domain.records.kinds import FactState, SourceKind
from reconciler.domain.records.policies import RankingPolicy, RecallFloor
from reconciler.reading.kinds import Category, RecallSemantics
from tests.tables import every

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
DEFAULT = RankingPolicy()
BY_MEANING = RankingPolicy(
    weight_similarity=1, weight_recency=0, weight_importance=0, weight_words=0
)
NORTH = np.asarray([1.0, 0.0, 0.0], dtype=np.float32)
ASKED = RecallQuery("Which one is it?", NORTH)
"""Words that no fact has, so that meaning alone counts."""


def fact(fact_id: str = "fact", *, age_days: float = 0, **given_: Any) -> Fact:
    said_at = NOW - timedelta(days=age_days)
    usual: dict[str, Any] = {
        "fact_id": fact_id,
        "text": "Prefers email",
        "importance": 0.0,
        "trust": SourceKind.USER_EXPLICIT,
        "observations": 1,
        "recorded_at": said_at,
        "valid_from": said_at,
        "last_confirmed_at": said_at,
    }
    return Fact(**usual | given_)


def standing(fact_id: str, **given_: Any) -> Fact:
    return fact(fact_id, recall_semantics=RecallSemantics.NEGATIVE, **given_)


def at_cosine(value: float) -> list[float]:
    """A unit vector at that cosine to what is asked; those at other cosines are no rivals of it."""
    return [value, float(np.sqrt(max(1 - value**2, 0.0))), 0.0]


def answer(
    facts: Sequence[Fact],
    cosines: Sequence[float] | None = None,
    question: RecallQuery = ASKED,
    *,
    policy: RankingPolicy = DEFAULT,
    floor: RecallFloor | None = None,
    sure: float = 0.0,
    limit: int = 100,
    wanted: RecallFilter = EVERYTHING,
) -> list[RankedFact]:
    vectors = None if cosines is None else np.asarray(list(map(at_cosine, cosines)), np.float32)
    how = Recalling(ranking=policy, floor=floor, confidence_min=sure)
    return Recallable(facts, vectors).answer(question, wanted, how, NOW, limit)


def ids(found: Sequence[RankedFact]) -> list[str]:
    return [each.fact.fact_id for each in found]


# The score


@every(
    ("age_days", "importance", "expected"),
    [(0, 1.0, 0.3), (0, 0.0, 0.2), (30, 0.5, 0.15), (60, 0.5, 0.1), (700_000, 1.0, 0.1)],
)
def test_without_a_question_a_score_is_2_parts_recency_and_1_importance(
    age_days: float, importance: float, expected: float
) -> None:
    [found] = answer([fact(age_days=age_days, importance=importance)], question=RecallQuery(""))
    assert found.score == pytest.approx(expected)
    assert (found.similarity, found.cosine, found.words) == (None, None, None)


@every(
    ("cosine", "importance", "expected"),
    [(1.0, 1.0, 0.7 * 0.8 + 0.3), (0.5, 0.5, 0.7 * 0.4 + 0.25), (0.0, 0.0, 0.2), (-1.0, 0.0, 0.2)],
)
def test_a_score_is_7_parts_similarity_2_recency_1_importance(
    cosine: float, importance: float, expected: float
) -> None:
    [found] = answer([fact(importance=importance)], [cosine])
    assert found.score == pytest.approx(expected, abs=1e-6)


def test_the_score_is_made_of_the_parts_that_are_shown() -> None:
    [found] = answer([fact(importance=0.5)], [0.5], RecallQuery("Does she prefer email?", NORTH))
    assert (found.cosine, found.words) == (pytest.approx(0.5), 1.0)
    assert found.similarity == pytest.approx(0.8 * 0.5 + 0.2 * 1.0)
    parts = 0.7 * found.similarity + 0.2 * found.recency + 0.1 * found.fact.importance
    assert found.score == pytest.approx(parts)


def test_every_weight_and_the_half_life_can_be_chosen() -> None:
    policy = RankingPolicy(
        weight_similarity=1, weight_recency=2, weight_importance=3, recency_half_life_days=7
    )
    [found] = answer([fact(age_days=7, importance=0.5)], question=RecallQuery(""), policy=policy)
    assert found.score == pytest.approx(2 * 0.5 + 3 * 0.5)


def test_a_fact_from_a_clock_that_runs_ahead_is_as_recent_as_can_be() -> None:
    assert answer([fact(age_days=-1)], question=RecallQuery(""))[0].recency == 1.0


# Choosing


@every("age_days", [0, 365, 3650])
def test_an_old_fact_that_is_near_comes_before_a_new_one_that_is_not(age_days: float) -> None:
    facts = [fact("new"), fact("old", age_days=age_days)]
    assert ids(answer(facts, [0.1, 0.6], limit=1)) == ["old"]


def test_of_two_facts_about_the_same_thing_the_newer_comes_first() -> None:
    facts = [fact("stale", age_days=90), fact("newest", age_days=30)]
    found = answer(facts, [0.7, 0.6])
    assert [(each.fact.fact_id, each.recency) for each in found] == [
        ("newest", 1.0),
        ("stale", 0.5),
    ]


def test_between_rivals_the_order_counts_and_not_the_age() -> None:
    minute, years = [
        answer([fact("stale", age_days=age), fact("newest")], [0.7, 0.6]) for age in (1 / 1440, 900)
    ]
    assert [hit.score for hit in minute] == [hit.score for hit in years]


UNNAMED = np.zeros(2, dtype=np.intp)


@every(
    ("named", "recency"),
    [
        ((1, 0), [1.0, 0.5]),
        ((2, 1), [1.0, 0.5]),
        ((0, 1), [0.5, 1.0]),
        ((0, 0), [0.5, 1.0]),
        ((1, 1), [0.5, 1.0]),
    ],
)
def test_of_rivals_the_one_that_the_question_names_counts_as_newest(
    named: tuple[int, int], recency: list[float]
) -> None:
    numbers = numbers_of([fact("older", age_days=1), fact("newer")])
    fits, words = np.array([0.5, 0.5]), np.zeros(2)
    held = recency_among(numbers, np.ones((2, 2)), fits, words, np.array(named), RankingPolicy())
    assert held.tolist() == recency


@every(
    ("likeness", "similarity", "is_halved"),
    [(0.7, 0.4, True), (0.69, 0.4, False), (1.0, 0.41, True), (1.0, 0.39, False)],
)
def test_near_rivals_that_fit_as_well_are_ordered_by_when_they_were_said(
    likeness: float, similarity: float, is_halved: bool
) -> None:
    numbers = numbers_of([fact("stale", age_days=1 / 1440), fact("newest")])
    among = np.array([[1.0, likeness], [likeness, 1.0]])
    fits, words = np.array([0.5, similarity]), np.zeros(2)
    recency = recency_among(numbers, among, fits, words, UNNAMED, RankingPolicy())
    assert recency[0] == pytest.approx(0.5 if is_halved else 1.0, abs=1e-3)


@every(
    ("likeness", "stale", "newest", "is_halved"),
    [
        *((0.6, 0.75, 0.75, True), (0.59, 0.75, 0.75, False), (0.6, 0.74, 0.74, False)),
        *((0.6, 1.0, 0.9, False), (0.6, 0.9, 1.0, False)),
    ],
)
def test_facts_with_the_same_words_of_the_question_are_rivals_though_one_fits_less(
    likeness: float, stale: float, newest: float, is_halved: bool
) -> None:
    numbers = numbers_of([fact("stale", age_days=1 / 1440), fact("newest")])
    among = np.array([[1.0, likeness], [likeness, 1.0]])
    fits, words = np.array([0.9, 0.5]), np.array([stale, newest])
    recency = recency_among(numbers, among, fits, words, UNNAMED, RankingPolicy())
    assert recency[0] == pytest.approx(0.5 if is_halved else 1.0, abs=1e-3)


def test_a_smaller_limit_cuts_an_answer_and_does_not_change_it() -> None:
    facts = [fact(str(n), age_days=20.0 * n, importance=n % 3 * 0.45) for n in range(20)]
    cosines = [0.9 - n / 25 for n in range(20)]
    whole = ids(answer(facts, cosines, limit=20))
    assert [ids(answer(facts, cosines, limit=n)) for n in range(1, 21)] == [
        whole[:n] for n in range(1, 21)
    ]


def test_what_shares_rare_words_is_chosen_beside_what_is_near_in_meaning() -> None:
    facts = [fact(str(n), text=f"Likes thing {n}") for n in range(20)]
    facts.append(fact("words", text="Bought a Bianchi"))
    policy = replace(BY_MEANING, chosen_at_once=2)
    cosines = [0.5 - n / 100 for n in range(20)] + [0.2]
    found = answer(facts, cosines, RecallQuery("The Bianchi?", NORTH), policy=policy, limit=2)
    assert set(ids(found)) == {"0", "words"}


def test_ranks_are_joined_by_their_reciprocals_and_nothing_counts_for_nothing() -> None:
    near, words = np.array([0.9, 0.5, 0.1]), np.array([0.0, 7.0, 3.0])
    found = reciprocal_ranks(near, DEFAULT) + reciprocal_ranks(words, DEFAULT)
    assert found == pytest.approx([1 / 21, 1 / 22 + 1 / 21, 1 / 23 + 1 / 22])


def test_without_vectors_words_alone_choose_and_what_has_none_is_left_out() -> None:
    facts = [fact("email"), fact("car", text="Drives a Volvo")]
    [found] = answer(facts, question=RecallQuery("Does she prefer email?"))
    assert (found.fact.fact_id, found.similarity, found.cosine) == ("email", 1.0, None)


def test_a_fact_is_found_by_its_tags() -> None:
    facts = [fact("tagged", tags=("vip",)), fact("other")]
    assert ids(answer(facts, question=RecallQuery("Who is VIP?"))) == ["tagged"]


def test_of_equal_facts_the_one_said_last_comes_first() -> None:
    facts = [fact("older", age_days=2), fact("newer", age_days=1)]
    assert ids(answer(facts, [0.5, 0.5], policy=BY_MEANING)) == ["newer", "older"]


def test_nothing_is_an_answer_where_there_is_nothing() -> None:
    assert answer([], []) == answer([]) == answer([], question=RecallQuery("")) == []


# The floor


@every(("cosine", "is_answered"), [(0.29, False), (0.31, True), (0.9, True)])
def test_nothing_near_is_answered_by_nothing(cosine: float, is_answered: bool) -> None:
    floor = RecallFloor(base=0.3)
    assert bool(answer([fact(), fact("far")], [cosine, 0.0], floor=floor)) is is_answered


def test_what_is_far_is_left_out_where_something_is_near() -> None:
    facts, cosines = [fact("near"), fact("less"), fact("far")], [0.9, 0.3, 0.1]
    assert ids(answer(facts, cosines, floor=RecallFloor(base=0.5, share=0.3))) == ["near", "less"]
    assert ids(answer(facts, cosines, floor=RecallFloor(base=0.5))) == ["near"]


def test_shared_words_reach_the_floor_where_the_cosine_alone_does_not() -> None:
    floor, question = RecallFloor(base=0.5, words=0.6), RecallQuery("Prefers email?", NORTH)
    assert (
        len(answer([fact()], [0.2], question, floor=floor)),
        answer([fact()], [0.2], floor=floor),
    ) == (1, [])


@every(
    ("count", "expected"),
    [(1, 0.2), (10, 0.2 + 0.05 * np.log(10)), (10**6, 0.2 + 0.05 * np.log(1000))],
)
def test_the_floor_grows_with_the_number_of_facts_up_to_a_thousand(
    count: int, expected: float
) -> None:
    assert RecallFloor(base=0.2, growth=0.05).of(count) == pytest.approx(expected)


def test_the_floor_never_falls_below_the_least() -> None:
    floor = RecallFloor(base=0.3, usual=0.5, least=0.2)
    assert (floor.of(1, clearness=0.1), floor.of(1, clearness=1.0)) == (0.25, 0.2)


@every(("held", "part"), [(1, np.log10(2)), (4, np.log10(5)), (9, 1.0), (100, 1.0)])
def test_a_part_of_the_floor_holds_for_few_facts(held: int, part: float) -> None:
    assert RecallFloor(base=0.4, few=9).part(held) == pytest.approx(part)


@every(("others", "is_answered"), [(1, True), (9, False)])
def test_a_filter_does_not_make_a_memory_one_of_few_facts(others: int, is_answered: bool) -> None:
    facts = [fact(topic="work"), *(fact(f"far {number}") for number in range(others))]
    asked, floor = RecallQuery("What is her job?", NORTH), RecallFloor(base=0.4, share=0.5, few=9)
    wanted = RecallFilter(topic="work")
    assert bool(answer(facts, [0.2] + [0.0] * others, asked, floor=floor, wanted=wanted)) is (
        is_answered
    )


@every(("strange", "is_answered"), [(0.0, True), (0.01, False)])
def test_of_few_facts_a_far_one_answers_only_a_question_about_contacts(
    strange: float, is_answered: bool
) -> None:
    asked = RecallQuery("What is her job?", NORTH, strange=strange)
    floor = RecallFloor(base=0.4, share=0.5, few=9)
    assert bool(answer([fact(), fact("far")], [0.2, 0.0], asked, floor=floor)) is is_answered


@every(("asked", "counted"), [(0, 0), (4, 4), (5, 5), (6, 5), (12, 5)])
def test_the_floor_grows_with_the_words_of_the_question_up_to_five(
    asked: int, counted: int
) -> None:
    floor = RecallFloor(base=0.2, question=0.3)
    assert floor.of(1, asked) == pytest.approx(0.2 + 0.3 * np.log1p(counted))


@every(("text", "is_answered"), [("Order SL-204 is open", True), ("Order SL-205 is open", False)])
def test_what_holds_the_number_asked_for_is_found_below_any_floor(
    text: str, is_answered: bool
) -> None:
    asked = RecallQuery("When will she get the tent that was shipped as SL-204?", NORTH)
    found = answer([fact(text=text), fact("far")], [0.0, 0.0], asked, floor=RecallFloor(base=0.9))
    assert ids(found) == ["fact"] * is_answered


# What stands


def test_standing_constraints_are_there_beside_the_limit_and_the_floor() -> None:
    facts = [standing("ban", age_days=400), fact("near"), standing("rule", age_days=900)]
    low, high = RecallFloor(base=0.3), RecallFloor(base=0.95)
    assert ids(answer(facts, [0.0, 0.9, -0.5], floor=low, limit=1)) == ["near", "rule", "ban"]
    assert ids(answer(facts, [0.0, 0.9, -0.5], floor=high)) == ["rule", "ban"]


def test_of_standing_constraints_a_filter_leaves_those_that_pass() -> None:
    facts = [standing("ban", topic="work"), standing("rule"), fact("near")]
    assert ids(answer(facts, [0.0, 0.0, 0.9], wanted=RecallFilter(topic="work"))) == ["ban"]


def test_standing_constraints_that_touch_the_question_come_before_the_others() -> None:
    facts = [standing("older", age_days=900), standing("touched", age_days=1)]
    found = answer(facts, [0.1, 0.6], floor=RecallFloor(base=0.3))
    assert [(each.fact.fact_id, each.fits) for each in found] == [
        ("touched", True),
        ("older", False),
    ]


def test_what_stands_is_marked() -> None:
    found = answer([standing("ban"), fact("near")], [0.0, 0.9])
    assert [each.is_standing for each in found] == [False, True]


def test_a_standing_constraint_that_expired_stands_no_more() -> None:
    assert answer([standing("ban", expires_at=NOW, category=Category.VOLATILE)], [1.0]) == []


# What is left out


@every(("late", "is_recalled"), [(-1, False), (0, False), (1, True)])
def test_a_volatile_fact_is_left_out_from_the_microsecond_in_which_it_expires(
    late: int, is_recalled: bool
) -> None:
    held = fact(expires_at=NOW + late * MICROSECOND, category=Category.VOLATILE)
    assert bool(answer([held], [0.5])) is is_recalled


@every(("late", "is_marked"), [(-1, True), (0, True), (1, False)])
def test_a_fact_is_marked_from_the_microsecond_in_which_it_expires(
    late: int, is_marked: bool
) -> None:
    [hit] = answer([fact(expires_at=NOW + late * MICROSECOND)], [0.5])
    assert (hit.fact.may_be_outdated, hit.recency) == (is_marked, 0.0 if is_marked else 1.0)


def test_an_archived_fact_is_left_out_and_not_marked() -> None:
    assert answer([fact(state=FactState.ARCHIVED)], [0.5]) == []


@every(("sure", "count"), [(0.5, 1), (0.50001, 0)])
def test_a_fact_that_the_gate_was_less_sure_of_is_left_out(sure: float, count: int) -> None:
    assert len(answer([fact(confidence=0.5)], [0.5], sure=sure)) == count


def test_what_scores_too_little_is_left_out_where_that_is_asked_for() -> None:
    wanted = RecallFilter(min_score=0.5)
    assert ids(answer([fact("near"), fact("far")], [0.9, 0.1], wanted=wanted)) == ["near"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 1e-11, 0.5, 30.0, 400.0, 700_000.0, -2.0]),
            st.sampled_from([0.0, 0.5, 1.0]),
            st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0]),
            st.booleans(),
        ),
        max_size=30,
    ),
    st.integers(1, 40),
)
def test_an_answer_has_each_fact_once_at_most_the_limit_and_scores_from_0_to_1(
    drawn: list[tuple[float, float, float, bool]], limit: int
) -> None:
    facts = [
        replace(
            fact(str(n), age_days=age, importance=0.9 * worth),  # what matters most has no limit
            recall_semantics=RecallSemantics.CONSTRAINT if stands else RecallSemantics.DEFAULT,
        )
        for n, (age, worth, _, stands) in enumerate(drawn)
    ]
    found = answer(facts, [cosine for _, _, cosine, _ in drawn] if drawn else None, limit=limit)
    free = sum(not stands for *_, stands in drawn)
    assert len(ids(found)) == len(set(ids(found))) == min(free, limit) + len(drawn) - free
    assert all(0 <= each.score <= 1 + 1e-6 for each in found)


def test_what_is_as_near_has_the_same_rank_in_whatever_order_facts_were_read() -> None:
    closeness = np.array([0.5, 0.9, 0.5, 0.0])
    joined = reciprocal_ranks(closeness, RankingPolicy())
    assert joined[0] == joined[2]
    assert reciprocal_ranks(closeness[::-1], RankingPolicy())[::-1].tolist() == joined.tolist()
