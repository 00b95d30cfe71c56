from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given, strategies as st

from benchmarks.rates import DecisionScores, Rate, outcome_of
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.kinds import Action, Outcome, Relation
from reconciler.domain.records.notes import Slot
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.errors import InvalidRequestError
from reconciler.ops.calibration import (
    LabelledPair,
    MeasuredPair,
    PairLabel,
    choose_thresholds,
    label_of_relation,
)
from tests.tables import every

SAME, UPDATE, DISTINCT = PairLabel.SAME, PairLabel.UPDATE, PairLabel.DISTINCT
SUPERSEDED, REPEATED = Outcome.SUPERSEDED, Outcome.REPEATED
CONFLICT, APART = Outcome.CONFLICT, Outcome.APART
NUMBERED = ("Invoice 1042 is unpaid.", "Invoice 1043 is unpaid.")
ALIKE = ("Prefers email to the phone.", "Prefers email over the phone.")


def measured(
    cosine: float,
    label: PairLabel = SAME,
    texts: tuple[str, str] = ALIKE,
    *,
    slots: tuple[Slot | None, Slot | None] = (None, None),
) -> MeasuredPair:
    fact_text, note_text = texts
    pair = LabelledPair(
        pair_id="pair",
        fact_text=fact_text,
        note_text=note_text,
        label=label,
        fact_slot=slots[0],
        note_slot=slots[1],
    )
    return MeasuredPair(pair=pair, cosine=cosine)


def probed(cosine: float, label: PairLabel, outcome: Outcome = SUPERSEDED) -> MeasuredPair:
    """A pair that the rule would supersede at or above the cut, or keep apart at any cosine."""
    texts = ALIKE if outcome is SUPERSEDED else NUMBERED
    return measured(cosine, label, texts)


def city(value: str) -> Slot:
    return Slot(
        subject="contact",
        attribute="city",
        value=value,
        value_key=value.casefold(),
        is_single_valued=True,
    )


@every(
    ("count", "of", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_an_interval_is_the_published_one(count: int, of: int, low: float, high: float) -> None:
    assert Rate(count=count, of=of).interval == pytest.approx((low, high), abs=5e-5)


def test_a_rate_of_nothing_has_no_share_and_may_be_anything() -> None:
    assert Rate(count=0, of=0).share is None
    assert Rate(count=0, of=0).interval == (0.0, 1.0)


@given(st.integers(1, 300), st.data())
def test_an_interval_lies_around_its_share(of: int, data: st.DataObject) -> None:
    rate = Rate(count=data.draw(st.integers(0, of)), of=of)
    low, high = rate.interval
    assert rate.share is not None
    assert -1e-9 <= low <= rate.share + 1e-9
    assert rate.share - 1e-9 <= high <= 1 + 1e-9


@every(
    ("relation", "label"),
    [
        (Relation.SAME, SAME),
        (Relation.REFINES, SAME),
        (Relation.REPLACES, UPDATE),
        (Relation.COEXISTS, DISTINCT),
        (Relation.UNRELATED, DISTINCT),
    ],
)
def test_every_relation_comes_down_to_a_label(relation: Relation, label: PairLabel) -> None:
    assert label_of_relation(relation) is label


ANSWERS = {
    label: Judgement(reasoning="the label", relation=relation, target=target, action=action)
    for label, relation, target, action in (
        (SAME, Relation.SAME, 1, Action.SKIP),
        (UPDATE, Relation.REPLACES, 1, Action.UPDATE),
        (DISTINCT, Relation.COEXISTS, None, Action.ADD),
    )
}


@every(
    ("pair", "guard", "alone", "arbitrated"),
    [
        (measured(0.96), True, SUPERSEDED, SUPERSEDED),
        (measured(0.90), True, SUPERSEDED, REPEATED),
        (measured(0.85), True, APART, REPEATED),
        (measured(0.79), True, APART, APART),
        (measured(0.85, UPDATE), True, APART, SUPERSEDED),
        (measured(0.90, DISTINCT), True, SUPERSEDED, APART),
        (measured(0.96, DISTINCT, NUMBERED), True, APART, APART),
        (measured(0.96, DISTINCT, NUMBERED), False, SUPERSEDED, SUPERSEDED),
        (measured(0.96, SAME, NUMBERED), True, APART, APART),
        (measured(0.1, UPDATE, slots=(city("Pune"), city("Goa"))), True, SUPERSEDED, SUPERSEDED),
    ],
)
def test_an_outcome_is_what_the_rule_decides(
    pair: MeasuredPair, guard: bool, alone: Outcome, arbitrated: Outcome
) -> None:
    policy = ReconcilePolicy(guard=guard)
    assert outcome_of(pair, policy) is alone
    assert outcome_of(pair, policy, ANSWERS[pair.pair.label]) is arbitrated


# label: superseded, repeated, conflict, apart
TABLE = {SAME: (6, 2, 1, 1), UPDATE: (5, 0, 7, 8), DISTINCT: (3, 1, 4, 32)}
SCORES = DecisionScores(
    source="crm",
    counts=Counter(
        {
            (label, outcome): count
            for label, row in TABLE.items()
            for outcome, count in zip((SUPERSEDED, REPEATED, CONFLICT, APART), row, strict=True)
        }
    ),
)


@every(
    ("name", "count", "of"),
    [
        ("false_supersessions", 3 + 1, 40),
        ("silent_updates", 8, 20),
        ("same_stored_twice", 1 + 1, 10),
        ("distinct_marked", 4, 40),
    ],
)
def test_each_score_counts_its_cells_of_the_table(name: str, count: int, of: int) -> None:
    assert SCORES.rate(name) == Rate(count=count, of=of)


def spread(label: PairLabel, low: float, high: float, count: int) -> list[MeasuredPair]:
    steps = [low + (high - low) * step / (count - 1) for step in range(count)]
    return [probed(cosine, label) for cosine in steps]


EASY = [
    *spread(SAME, 0.8, 0.99, 50),
    *spread(UPDATE, 0.6, 0.85, 50),
    *spread(DISTINCT, 0.1, 0.7, 500),
]


def test_thresholds_are_chosen_by_their_bounds_on_a_sample_that_is_easy() -> None:
    thresholds = choose_thresholds(EASY)
    assert thresholds.cut == 0.71  # one is at 0.7, and one of 500 is 1.1 % at the upper end
    assert thresholds.cosine_update_min == 0.86  # 50 updates are too few for 5 %: not one above
    assert thresholds.cosine_add_max == 0.61


@every("bound", [0.01, 0.02, 0.05, 0.1, 0.3])
@every("count", [20, 100, 1000])
def test_the_bound_holds_at_the_cut_and_not_a_hundredth_below(bound: float, count: int) -> None:
    distinct = spread(DISTINCT, 0, 0.99, count)
    sample = [*spread(SAME, 0.3, 1, 20), *spread(UPDATE, 0.3, 0.31, 20), *distinct]
    cut = choose_thresholds(sample, bound).cut
    are_too_few = Rate(count=0, of=count).interval[1] > bound

    def is_kept(cut: float) -> bool:
        policy = ReconcilePolicy(cosine_update_min=cut, cosine_add_max=cut, cosine_cut=cut)
        wrong = sum(outcome_of(each, policy) is SUPERSEDED for each in distinct)
        return not wrong if are_too_few else Rate(count=wrong, of=count).interval[1] <= bound

    assert is_kept(cut)
    assert cut == 1 or not is_kept(cut - 0.01)


def test_fewer_pairs_never_make_the_cut_bolder() -> None:
    cuts = []
    for count in (20, 40, 80, 300, 1000):
        sample = [*EASY[:100], *spread(DISTINCT, 0, 0.9, count)]
        cuts.append(choose_thresholds(sample).cut)
    assert cuts == sorted(cuts, reverse=True)
    assert cuts[0] > cuts[-1]


def test_what_the_guard_keeps_apart_allows_for_a_lower_cut() -> None:
    kept_apart = [probed(0.98, DISTINCT, CONFLICT) for _ in range(50)]
    lost = [probed(0.98, DISTINCT, SUPERSEDED) for _ in range(50)]
    assert choose_thresholds([*EASY, *kept_apart]).cut <= 0.71
    assert choose_thresholds([*EASY, *lost]).cut == 0.99


def test_updates_that_pass_for_restatements_raise_the_bound_where_nobody_is_asked() -> None:
    alike = [probed(0.97, UPDATE) for _ in range(10)]
    thresholds = choose_thresholds([*EASY, *alike])
    assert thresholds.cosine_update_min == 0.98
    assert thresholds.cut <= 0.71


@given(
    st.lists(
        st.builds(
            probed, st.floats(-1, 0.999), st.sampled_from(PairLabel), st.sampled_from(Outcome)
        ),
        max_size=60,
    )
)
def test_thresholds_that_are_chosen_make_a_policy_of_whole_hundredths(
    found: list[MeasuredPair],
) -> None:
    sample = [*EASY[:100], *spread(DISTINCT, 0, 0.99, 20), *found]
    policy = choose_thresholds(sample)
    for bound in (policy.cosine_update_min, policy.cosine_add_max, policy.cut):
        assert bound == round(bound, 2)


def test_too_few_pairs_of_a_label_are_refused_with_how_many_are_needed() -> None:
    sample = [*spread(SAME, 0, 1, 20), *spread(UPDATE, 0, 1, 19), *spread(DISTINCT, 0, 1, 3)]
    with pytest.raises(InvalidRequestError, match=r"19 update, 3 distinct are too few.* 20 of"):
        choose_thresholds(sample)


def test_a_bound_that_no_threshold_keeps_is_refused() -> None:
    contradictory = [probed(1.0, DISTINCT) for _ in range(500)]
    with pytest.raises(InvalidRequestError, match="the same text twice"):
        choose_thresholds([*EASY, *contradictory])


@every("bound", [0, 1, -0.1, 1.5, math.nan])
def test_a_bound_that_is_no_share_is_refused(bound: float) -> None:
    with pytest.raises(InvalidRequestError, match="above 0 and below 1"):
        choose_thresholds(EASY, bound)
