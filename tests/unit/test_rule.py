from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.domain.decisions import Action, DecidedBy, Judgement, Relation, Verdict
from reconciler.domain.facts import Neighbour
from reconciler.domain.rule import ReconcilePolicy, check_judgement, decide
from reconciler.errors import ArbiterAnswerError, ConfigurationError

ADD, UPDATE, SKIP = Action.ADD, Action.UPDATE, Action.SKIP
THRESHOLD, MIDPOINT = DecidedBy.THRESHOLD, DecidedBy.MIDPOINT
BELOW, ABOVE = -math.inf, math.inf
DEFAULT = ReconcilePolicy()
# The default's midpoint, (0.95 + 0.80) / 2, is 0.875 in floating point too.
NARROW = ReconcilePolicy(cosine_update_min=0.9, cosine_add_max=0.5)
EMPTY_BAND = ReconcilePolicy(cosine_update_min=0.9, cosine_add_max=0.9)
ALWAYS_UPDATE = ReconcilePolicy(cosine_update_min=-1, cosine_add_max=-1)


def neighbours(*cosines: float) -> list[Neighbour]:
    return [
        Neighbour(
            fact_id=f"fact-{number}",
            text=f"text {number}",
            cosine=cosine,
            valid_from=datetime(2026, 1, number, tzinfo=UTC),
        )
        for number, cosine in enumerate(cosines, start=1)
    ]


def judgement(relation: Relation, action: Action, target: int | None = 1) -> Judgement:
    return Judgement(reasoning="because", relation=relation, target=target, action=action)


@pytest.mark.parametrize(
    ("policy", "cosine", "action", "decided_by"),
    [
        (DEFAULT, 1.0, UPDATE, THRESHOLD),
        (DEFAULT, math.nextafter(0.95, ABOVE), UPDATE, THRESHOLD),
        (DEFAULT, 0.95, UPDATE, THRESHOLD),
        (DEFAULT, math.nextafter(0.95, BELOW), UPDATE, MIDPOINT),
        (DEFAULT, math.nextafter(0.875, ABOVE), UPDATE, MIDPOINT),
        (DEFAULT, 0.875, UPDATE, MIDPOINT),
        (DEFAULT, math.nextafter(0.875, BELOW), ADD, MIDPOINT),
        (DEFAULT, math.nextafter(0.80, ABOVE), ADD, MIDPOINT),
        (DEFAULT, 0.80, ADD, MIDPOINT),
        (DEFAULT, math.nextafter(0.80, BELOW), ADD, THRESHOLD),
        (DEFAULT, 0.0, ADD, THRESHOLD),
        (DEFAULT, -1.0, ADD, THRESHOLD),
        (NARROW, 0.9, UPDATE, THRESHOLD),
        (NARROW, 0.7, UPDATE, MIDPOINT),
        (NARROW, math.nextafter(0.7, BELOW), ADD, MIDPOINT),
        (NARROW, 0.5, ADD, MIDPOINT),
        (NARROW, math.nextafter(0.5, BELOW), ADD, THRESHOLD),
        (EMPTY_BAND, 0.9, UPDATE, THRESHOLD),
        (EMPTY_BAND, math.nextafter(0.9, BELOW), ADD, THRESHOLD),
        (ALWAYS_UPDATE, -1.0, UPDATE, THRESHOLD),
    ],
)
def test_without_an_arbiter_the_nearest_cosine_decides(
    policy: ReconcilePolicy, cosine: float, action: Action, decided_by: DecidedBy
) -> None:
    verdict = decide(neighbours(cosine, -1.0), policy)
    assert (verdict.action, verdict.decided_by) == (action, decided_by)


def test_the_defaults_are_those_of_seed_004() -> None:
    assert (DEFAULT.cosine_update_min, DEFAULT.cosine_add_max, DEFAULT.cosine_midpoint) == (
        0.95,
        0.80,
        0.875,
    )


def test_without_an_embedder_everything_is_added_by_noop() -> None:
    assert decide(None, ALWAYS_UPDATE).decided_by is DecidedBy.NOOP
    assert decide(None, ALWAYS_UPDATE).action is ADD


def test_without_a_neighbour_the_note_is_added_by_threshold() -> None:
    assert decide([], ALWAYS_UPDATE).decided_by is THRESHOLD
    assert decide([], ALWAYS_UPDATE).action is ADD


@pytest.mark.parametrize(("cosine", "is_restatement"), [(0.96, True), (0.90, False)])
def test_without_an_arbiter_the_nearest_fact_is_updated_and_only_above_the_band_restated(
    cosine: float, is_restatement: bool
) -> None:
    near = neighbours(cosine, 0.85)
    verdict = decide(near, DEFAULT)
    assert (verdict.target, verdict.is_restatement) == (near[0], is_restatement)


@pytest.mark.parametrize(
    ("cosine", "expected"),
    [
        (0.96, "0.960, at or above 0.95"),
        (0.9, "0.900, at or above the midpoint 0.875"),
        (0.85, "0.850, below the midpoint 0.875"),
        (0.1, "0.100, below 0.8"),
    ],
)
def test_the_reason_names_the_cosine_and_the_bound(cosine: float, expected: str) -> None:
    assert decide(neighbours(cosine), DEFAULT).reason.endswith(expected)


JUDGEMENTS = [
    (judgement(Relation.SAME, SKIP, 1), True),
    (judgement(Relation.SAME, UPDATE, 1), True),
    (judgement(Relation.REFINES, UPDATE, 2), True),
    (judgement(Relation.REPLACES, UPDATE, 2), False),
]


@pytest.mark.parametrize(("judged", "is_restatement"), JUDGEMENTS)
def test_in_the_band_the_judgement_decides_on_the_neighbour_it_names(
    judged: Judgement, is_restatement: bool
) -> None:
    near = neighbours(0.9, 0.85)
    assert decide(near, DEFAULT, judged) == Verdict(
        action=judged.action,
        decided_by=DecidedBy.ARBITER,
        reason=f"the arbiter calls it {judged.relation}",
        target=near[judged.target - 1] if judged.target else None,
        is_restatement=is_restatement,
    )


@pytest.mark.parametrize("relation", [Relation.COEXISTS, Relation.UNRELATED])
@pytest.mark.parametrize("target", [None, 1, 9])
def test_an_arbiters_add_has_no_target_whatever_it_names(
    relation: Relation, target: int | None
) -> None:
    verdict = decide(neighbours(0.9), DEFAULT, judgement(relation, ADD, target))
    assert (verdict.action, verdict.decided_by, verdict.target) == (ADD, DecidedBy.ARBITER, None)


@pytest.mark.parametrize("cosine", [0.95, math.nextafter(0.8, BELOW)])
def test_outside_the_band_a_judgement_changes_nothing(cosine: float) -> None:
    near = neighbours(cosine)
    for judged, _ in JUDGEMENTS:
        assert decide(near, DEFAULT, judged) == decide(near, DEFAULT)


@pytest.mark.parametrize("near", [None, []])
def test_nor_where_nothing_was_compared(near: Sequence[Neighbour] | None) -> None:
    judged = judgement(Relation.REPLACES, UPDATE)
    assert decide(near, DEFAULT, judged) == decide(near, DEFAULT)


@pytest.mark.parametrize(
    ("cosine", "is_asked"),
    [
        (0.95, False),
        (math.nextafter(0.95, BELOW), True),
        (0.875, True),
        (0.80, True),
        (math.nextafter(0.80, BELOW), False),
    ],
)
def test_an_arbiter_is_asked_in_the_band_only(cosine: float, is_asked: bool) -> None:
    assert decide(neighbours(cosine), DEFAULT).can_be_arbitrated is is_asked


@pytest.mark.parametrize("near", [None, []])
def test_an_arbiter_is_not_asked_where_nothing_was_compared(
    near: Sequence[Neighbour] | None,
) -> None:
    assert not decide(near, DEFAULT).can_be_arbitrated


AGREEING = {
    (Relation.SAME, SKIP),
    (Relation.SAME, UPDATE),
    (Relation.REFINES, UPDATE),
    (Relation.REPLACES, UPDATE),
    (Relation.COEXISTS, ADD),
    (Relation.UNRELATED, ADD),
}


@pytest.mark.parametrize("action", list(Action))
@pytest.mark.parametrize("relation", list(Relation))
def test_a_judgement_is_let_through_only_where_relation_and_action_agree(
    relation: Relation, action: Action
) -> None:
    judged = judgement(relation, action)
    if (relation, action) in AGREEING:
        check_judgement(judged, 1)
    else:
        with pytest.raises(ArbiterAnswerError, match=f"says {relation} and yet {action}"):
            check_judgement(judged, 1)


@pytest.mark.parametrize(
    ("relation", "action"), [(Relation.REPLACES, UPDATE), (Relation.SAME, SKIP)]
)
@pytest.mark.parametrize("target", [None, -1, 0, 4, 1_000_000])
def test_a_target_that_was_not_shown_is_refused(
    relation: Relation, action: Action, target: int | None
) -> None:
    with pytest.raises(ArbiterAnswerError, match="but 3 were shown"):
        check_judgement(judgement(relation, action, target), 3)


@pytest.mark.parametrize("target", [1, 2, 3])
def test_each_target_that_was_shown_is_let_through(target: int) -> None:
    check_judgement(judgement(Relation.REPLACES, UPDATE, target), 3)


@pytest.mark.parametrize(
    ("update_min", "add_max"),
    [
        (0.80, math.nextafter(0.80, ABOVE)),
        (0.5, 0.9),
        (1.01, 0.8),
        (0.95, -1.01),
        (math.nan, 0.8),
        (0.95, math.nan),
    ],
)
def test_thresholds_in_the_wrong_order_or_range_are_refused(
    update_min: float, add_max: float
) -> None:
    with pytest.raises(ConfigurationError, match="thresholds in the wrong order"):
        ReconcilePolicy(cosine_update_min=update_min, cosine_add_max=add_max)


@pytest.mark.parametrize(("update_min", "add_max"), [(1, -1), (1, 1), (-1, -1), (0.9, 0.9)])
def test_thresholds_may_be_equal_and_reach_the_ends(update_min: float, add_max: float) -> None:
    policy = ReconcilePolicy(cosine_update_min=update_min, cosine_add_max=add_max)
    assert policy.cosine_midpoint == (update_min + add_max) / 2


cosines = st.floats(-1, 1)
policies = st.tuples(cosines, cosines).map(
    lambda pair: ReconcilePolicy(cosine_update_min=max(pair), cosine_add_max=min(pair))
)
neighbourhoods = st.none() | st.lists(cosines, max_size=5).map(
    lambda found: neighbours(*sorted(found, reverse=True))
)
judgements = st.none() | st.builds(
    Judgement,
    reasoning=st.text(),
    relation=st.sampled_from(Relation),
    target=st.none() | st.integers(-1, 7),
    action=st.sampled_from(Action),
)
RANK = {ADD: 0, UPDATE: 1}


@given(neighbourhoods, policies, judgements)
def test_a_verdict_has_a_target_exactly_where_it_changes_a_fact(
    near: list[Neighbour] | None, policy: ReconcilePolicy, judged: Judgement | None
) -> None:
    try:
        if judged is not None:
            check_judgement(judged, len(near or []))
    except ArbiterAnswerError:
        judged = None
    verdict = decide(near, policy, judged)
    assert (verdict.target is None) == (verdict.action is ADD)
    assert verdict.target is None or verdict.target in (near or [])


@given(cosines, cosines, policies)
def test_a_nearer_fact_never_turns_an_update_into_an_add(
    one: float, other: float, policy: ReconcilePolicy
) -> None:
    further, nearer = sorted([one, other])
    at_further = decide(neighbours(further), policy).action
    at_nearer = decide(neighbours(nearer), policy).action
    assert RANK[at_further] <= RANK[at_nearer]


@given(neighbourhoods, policies)
def test_only_the_nearest_neighbour_counts_without_a_judgement(
    near: list[Neighbour] | None, policy: ReconcilePolicy
) -> None:
    assert decide(near, policy) == decide(near and near[:1], policy)
