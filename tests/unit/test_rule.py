from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st

from reconciler.domain.reconciling.disputes import contest
from reconciler.domain.reconciling.rule import check_judgement, dated, decide, replaceable
from reconciler.domain.reconciling.verdicts import update
from reconciler.domain.records.decisions import Judgement, Verdict
from reconciler.domain.records.facts import Fact, Neighbour, Predecessor
from reconciler.domain.records.kinds import Action, DecidedBy, Relation, SourceKind
from reconciler.domain.records.notes import Note, Scope, Slot
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.errors import ArbiterAnswerError, ConfigurationError
from reconciler.reading.kinds import Category
from tests.tables import every

ADD, UPDATE, SKIP = Action.ADD, Action.UPDATE, Action.SKIP
THRESHOLD, MIDPOINT, GUARD = DecidedBy.THRESHOLD, DecidedBy.MIDPOINT, DecidedBy.GUARD
SLOT, ORDER, TRUST = DecidedBy.SLOT, DecidedBy.ORDER, DecidedBy.TRUST
USER, TOOL = SourceKind.USER_EXPLICIT, SourceKind.TOOL_OUTPUT
BELOW, ABOVE = -math.inf, math.inf
DEFAULT = ReconcilePolicy()
# The default's midpoint, (0.95 + 0.80) / 2, is 0.875 in floating point too.
NARROW = ReconcilePolicy(cosine_update_min=0.9, cosine_add_max=0.5)
EMPTY_BAND = ReconcilePolicy(cosine_update_min=0.9, cosine_add_max=0.9)
ALWAYS_UPDATE = ReconcilePolicy(cosine_update_min=-1, cosine_add_max=-1)


def day(number: float) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)


def note(text: str = "the text", at: datetime | None = None, **changes: Any) -> Note:
    scope = Scope("acme", "crm", "alice")
    return Note(**{"scope": scope, "text": text, "said_at": at or day(100)} | changes)


def neighbour(cosine: float, text: str = "the text", number: int = 1, **changes: Any) -> Neighbour:
    usual = {"fact_id": f"fact-{number}", "text": text, "valid_from": day(number)}
    return Neighbour(**usual | {"cosine": cosine} | changes)


def neighbours(*cosines: float) -> list[Neighbour]:
    return [neighbour(cosine, number=number) for number, cosine in enumerate(cosines, start=1)]


def slot(value: str | None, single: bool = True, **changes: Any) -> Slot:
    usual = {"attribute": "city", "value": value, "value_key": value and value.casefold()}
    what = {"subject": "contact", "is_single_valued": single, "is_known": True}
    return Slot(**usual | what | changes)


def judgement(relation: Relation, action: Action, target: int | None = 1) -> Judgement:
    return Judgement(reasoning="because", relation=relation, target=target, action=action)


@every(
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
    verdict = decide(note(), neighbours(cosine, -1.0), policy)
    assert (verdict.action, verdict.decided_by) == (action, decided_by)


def test_the_defaults_are_those_of_seed_004() -> None:
    assert (DEFAULT.cosine_update_min, DEFAULT.cosine_add_max, DEFAULT.cut) == (0.95, 0.80, 0.875)


def test_without_an_embedder_everything_is_added_by_noop() -> None:
    assert decide(note(), None, ALWAYS_UPDATE).decided_by is DecidedBy.NOOP
    assert decide(note(), None, ALWAYS_UPDATE).action is ADD


def test_without_a_neighbour_the_note_is_added_by_threshold() -> None:
    assert decide(note(), [], ALWAYS_UPDATE).decided_by is THRESHOLD
    assert decide(note(), [], ALWAYS_UPDATE).action is ADD


@every(("cosine", "is_restatement"), [(0.96, True), (0.90, False)])
def test_without_an_arbiter_the_nearest_fact_is_updated_and_only_above_the_band_restated(
    cosine: float, is_restatement: bool
) -> None:
    near = neighbours(cosine, 0.85)
    verdict = decide(note(), near, DEFAULT)
    assert (verdict.target, verdict.is_restatement) == (near[0], is_restatement)


@every(
    ("cosine", "expected"),
    [
        (0.96, "0.960, at or above 0.95"),
        (0.9, "0.900, at or above the cut 0.875"),
        (0.85, "0.850, below the cut 0.875"),
        (0.1, "0.100, below 0.8"),
    ],
)
def test_the_reason_names_the_cosine_and_the_bound(cosine: float, expected: str) -> None:
    assert decide(note(), neighbours(cosine), DEFAULT).reason.endswith(expected)


@every(
    ("text", "fact", "reason"),
    [
        (
            "Her elder daughter has asthma",
            "Her younger daughter has asthma",
            "0.900, yet the note has another word for the thing or the direction",
        ),
        (
            "Has a boat",
            "Has a boat and a very large red car in the garage",
            "0.900, yet it has words that the note leaves out",
        ),
    ],
)
def test_the_reason_tells_a_word_left_out_from_another_word(
    text: str, fact: str, reason: str
) -> None:
    verdict = decide(note(text), [neighbour(0.90, fact)], DEFAULT)
    assert (verdict.action, verdict.decided_by) == (ADD, GUARD)
    assert reason in verdict.reason


JUDGEMENTS = [
    (judgement(Relation.SAME, SKIP, 1), True),
    (judgement(Relation.SAME, UPDATE, 1), True),
    (judgement(Relation.REFINES, UPDATE, 2), True),
    (judgement(Relation.REPLACES, UPDATE, 2), False),
]


@every(("judged", "is_restatement"), JUDGEMENTS)
def test_in_the_band_the_judgement_decides_on_the_neighbour_it_names(
    judged: Judgement, is_restatement: bool
) -> None:
    near = neighbours(0.9, 0.85)
    assert decide(note(), near, DEFAULT, judged) == Verdict(
        action=judged.action,
        decided_by=DecidedBy.ARBITER,
        reason=f"the arbiter calls it {judged.relation}",
        targets=(near[judged.target - 1],) if judged.target else (),
        is_restatement=is_restatement,
    )


@every("relation", [Relation.COEXISTS, Relation.UNRELATED])
@every("target", [None, 1, 9])
def test_an_arbiters_add_has_no_target_whatever_it_names(
    relation: Relation, target: int | None
) -> None:
    verdict = decide(note(), neighbours(0.9), DEFAULT, judgement(relation, ADD, target))
    assert (verdict.action, verdict.decided_by, verdict.target) == (ADD, DecidedBy.ARBITER, None)


@every("cosine", [0.95, math.nextafter(0.8, BELOW)])
def test_outside_the_band_a_judgement_changes_nothing(cosine: float) -> None:
    near = neighbours(cosine)
    for judged, _ in JUDGEMENTS:
        assert decide(note(), near, DEFAULT, judged) == decide(note(), near, DEFAULT)


@every("near", [None, []])
def test_nor_where_nothing_was_compared(near: Sequence[Neighbour] | None) -> None:
    judged = judgement(Relation.REPLACES, UPDATE)
    assert decide(note(), near, DEFAULT, judged) == decide(note(), near, DEFAULT)


@every(
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
    assert decide(note(), neighbours(cosine), DEFAULT).can_be_arbitrated is is_asked


@every("near", [None, []])
def test_an_arbiter_is_not_asked_where_nothing_was_compared(
    near: Sequence[Neighbour] | None,
) -> None:
    assert not decide(note(), near, DEFAULT).can_be_arbitrated


AGREEING = {
    (Relation.SAME, SKIP),
    (Relation.SAME, UPDATE),
    (Relation.REFINES, UPDATE),
    (Relation.REPLACES, UPDATE),
    (Relation.COEXISTS, ADD),
    (Relation.UNRELATED, ADD),
    (Relation.UNSURE, ADD),
}


@every("action", list(Action))
@every("relation", list(Relation))
def test_a_judgement_is_let_through_only_where_relation_and_action_agree(
    relation: Relation, action: Action
) -> None:
    judged = judgement(relation, action)
    if (relation, action) in AGREEING:
        check_judgement(judged, 1)
    else:
        with pytest.raises(
            ArbiterAnswerError, match=f"{relation} does not allow the action {action}"
        ):
            check_judgement(judged, 1)


@every(
    ("relation", "action"),
    [(Relation.REPLACES, UPDATE), (Relation.SAME, SKIP), (Relation.UNSURE, ADD)],
)
@every("target", [None, -1, 0, 4, 1_000_000])
def test_a_target_that_was_not_shown_is_refused(
    relation: Relation, action: Action, target: int | None
) -> None:
    if relation is Relation.UNSURE and target is None:
        check_judgement(judgement(relation, action, target), 3)
        return
    with pytest.raises(ArbiterAnswerError, match="but only facts 1 to 3 were shown"):
        check_judgement(judgement(relation, action, target), 3)


@every("target", [1, 2, 3])
def test_each_target_that_was_shown_is_let_through(target: int) -> None:
    check_judgement(judgement(Relation.REPLACES, UPDATE, target), 3)


@every(
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


@every(("update_min", "add_max"), [(1, -1), (1, 1), (-1, -1), (0.9, 0.9)])
def test_thresholds_may_be_equal_and_reach_the_ends(update_min: float, add_max: float) -> None:
    policy = ReconcilePolicy(cosine_update_min=update_min, cosine_add_max=add_max)
    assert policy.cut == (update_min + add_max) / 2


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
    verdict = decide(note(), near, policy, judged)
    assert (verdict.target is None) == (verdict.action is ADD)
    assert not verdict.conflicts
    assert verdict.target is None or verdict.target in (near or [])


@given(cosines, cosines, policies)
def test_a_nearer_fact_never_turns_an_update_into_an_add(
    one: float, other: float, policy: ReconcilePolicy
) -> None:
    further, nearer = sorted([one, other])
    at_further = decide(note(), neighbours(further), policy).action
    at_nearer = decide(note(), neighbours(nearer), policy).action
    assert RANK[at_further] <= RANK[at_nearer]


@given(neighbourhoods, policies)
def test_only_the_nearest_neighbour_counts_without_a_judgement(
    near: list[Neighbour] | None, policy: ReconcilePolicy
) -> None:
    assert decide(note(), near, policy) == decide(note(), near and near[:1], policy)


# Slots

PUNE, DELHI = slot("Pune"), slot("Delhi")


@every("cosine", [1.0, 0.9, 0.1, -1.0])
@every(("said", "is_restatement"), [(slot("pune"), True), (DELHI, False)])
def test_a_single_valued_slot_supersedes_at_any_cosine(
    said: Slot, is_restatement: bool, cosine: float
) -> None:
    old = neighbour(cosine, "elsewhere", slot=PUNE)
    verdict = decide(note(slot=said), [neighbour(1.0, number=2), old], DEFAULT)
    assert (verdict.action, verdict.decided_by, verdict.target) == (UPDATE, SLOT, old)
    assert verdict.is_restatement is is_restatement


@pytest.mark.parametrize("cosine", [1.0, 0.9, 0.1])
@pytest.mark.parametrize(
    ("said", "known"),
    [
        (slot("nuts", single=False, attribute="allergy"), slot("eggs", attribute="allergy")),
        (slot("Pune", subject="wife"), slot("Pune")),
        (slot("Delhi", subject="wife"), slot("Pune")),
        (slot(None), slot("Pune")),
        (slot("Acme", attribute="employer"), slot("Pune")),
    ],
    ids=["sibling", "other subject", "other subject and value", "no value", "other attribute"],
)
def test_a_fact_in_another_slot_is_never_superseded(said: Slot, known: Slot, cosine: float) -> None:
    verdict = decide(note(slot=said), [neighbour(cosine, slot=known)], ALWAYS_UPDATE)
    assert (verdict.action, verdict.targets, verdict.conflicts) == (ADD, (), ())


def test_a_many_valued_slot_restates_its_equal_value_only() -> None:
    nuts = neighbour(0.1, number=1, slot=slot("nuts", single=False))
    eggs = neighbour(0.9, number=2, slot=slot("eggs", single=False))
    verdict = decide(note(slot=slot("Nuts", single=False)), [eggs, nuts], DEFAULT)
    assert (verdict.action, verdict.targets, verdict.is_restatement) == (UPDATE, (nuts,), True)


def test_a_value_that_is_confirmed_ends_the_one_that_stood_beside_it() -> None:
    pune, delhi = neighbour(0.9, slot=PUNE), neighbour(0.1, number=2, slot=DELHI)
    verdict = decide(note(slot=DELHI), [pune, delhi], DEFAULT)
    assert (verdict.targets, verdict.is_restatement) == ((delhi, pune), True)


@every(("cosine", "action"), [(0.96, UPDATE), (0.9, UPDATE), (0.5, ADD)])
def test_where_only_one_side_has_a_slot_the_text_decides(cosine: float, action: Action) -> None:
    assert decide(note(slot=PUNE), neighbours(cosine), DEFAULT).action is action
    assert decide(note(), [neighbour(cosine, slot=PUNE)], DEFAULT).action is action


def employer(value: str) -> Slot:
    return slot(value, attribute="employer")


def budget(value: str) -> Slot:
    return slot(value, attribute="budget")


@every(
    "text",
    ["Never worked there.", "Has never worked there before", "Does not work there any more."],
)
def test_a_word_may_stand_for_the_value_that_a_note_denies(text: str) -> None:
    globex = neighbour(0.4, "Works at Globex.", slot=employer("Globex"))
    verdict = decide(note(text, slot=employer("Globex")), [globex], DEFAULT)
    assert (verdict.action, verdict.targets, verdict.is_restatement) == (UPDATE, (globex,), False)


def test_what_never_was_was_never_true_also_where_a_word_stands_for_the_value() -> None:
    globex = neighbour(0.4, "Worked at Globex.", slot=employer("Globex"))
    verdict = decide(note("Never worked there.", slot=employer("Globex")), [globex], DEFAULT)
    assert verdict.voided == (globex,)


def test_what_never_was_is_not_ended_by_what_is() -> None:
    never = neighbour(0.6, "Never worked at Globex.", slot=employer("Globex"))
    verdict = decide(note("Works at Nordlys.", slot=employer("Nordlys")), [never], DEFAULT)
    assert (verdict.action, verdict.targets) == (ADD, ())


@every("cosine", [0.96, 0.5])
@every("text", ["Never worked at Globex", "Has left Globex"])
def test_a_denial_of_one_value_ends_no_other(text: str, cosine: float) -> None:
    nordlys = neighbour(cosine, "Works at Nordlys", 1, slot=employer("Nordlys"))
    globex = neighbour(0.4, "Works at Globex", 2, slot=employer("Globex"))
    said = note(text, slot=employer("Globex"))
    alone = decide(said, [nordlys], DEFAULT)
    assert (alone.action, alone.conflicts) == (ADD, ())
    assert decide(said, [nordlys, globex], DEFAULT).targets == (globex,)


@every("text", ["Works at Globex, not at Nordlys", "Her employer changed from Nordlys to Globex"])
def test_a_denial_of_the_old_value_ends_it(text: str) -> None:
    nordlys = neighbour(0.5, "Works at Nordlys", slot=employer("Nordlys"))
    verdict = decide(note(text, slot=employer("Globex")), [nordlys], DEFAULT)
    assert (verdict.action, verdict.targets) == (UPDATE, (nordlys,))


@every("value", ["20k", "40k"])
@every("cosine", [0.97, 0.9, 0.5])
def test_the_budgets_of_two_projects_stand_side_by_side(value: str, cosine: float) -> None:
    erp = neighbour(cosine, "Her budget for the ERP project is 40k", slot=budget("40k"))
    said = note(f"Her budget for the CRM project is {value}", slot=budget(value))
    verdict = decide(said, [erp], DEFAULT)
    assert (verdict.action, verdict.conflicts) == (ADD, ())


def test_a_value_of_no_named_matter_ends_none_of_several() -> None:
    erp = neighbour(0.9, "Her budget for the ERP project is 40k", 1, slot=budget("40k"))
    crm = neighbour(0.9, "Her budget for the CRM rollout is 20k", 2, slot=budget("20k"))
    said = note("Her budget is 60k now", slot=budget("60k"))
    verdict = decide(said, [erp, crm], DEFAULT)
    assert (verdict.action, verdict.conflicts) == (ADD, (erp, crm))
    assert verdict.reason.endswith("yet it does not say which of several is meant")
    assert decide(said, [erp], DEFAULT).targets == (erp,)
    again = neighbour(0.9, "Her budget is 60k", 3, slot=budget("60k"))
    assert decide(said, [erp, crm, again], DEFAULT).targets == (again,)


def test_an_attribute_that_the_caller_made_up_says_itself_what_it_is_about() -> None:
    known = slot("40k", attribute="spending_limit", is_known=False)
    near = [neighbour(0.5, "Her spending limit for the ERP is 40k", slot=known)]
    now = slot("20k", attribute="spending_limit", is_known=False)
    verdict = decide(note("Her spending limit for the CRM is 20k", slot=now), near, DEFAULT)
    assert verdict.targets == tuple(near)


def test_a_new_value_of_one_matter_ends_that_one() -> None:
    erp = neighbour(0.9, "Her budget for the ERP project is 40k", 1, slot=budget("40k"))
    crm = neighbour(0.9, "Her budget for the CRM rollout is 20k", 2, slot=budget("20k"))
    said = note("Her budget for CRM is 25k now", slot=budget("25k"))
    assert decide(said, [erp, crm], DEFAULT).targets == (crm,)


@every(
    ("fact", "said", "is_linked"),
    [
        (
            "On 3 May she met Acme, and on 5 June she joined it",
            "On 5 June she met Acme, and on 3 May she joined it",
            True,
        ),
        ("Works at Acme since 2019", "Works at Acme since 2021", True),
        ("Works at Acme in Hamburg", "Works at Acme in Berlin", True),
        ("Works at Acme with Ana, as a clerk", "Met Raj at Acme, where she works", False),
    ],
)
def test_a_value_said_again_with_another_date_or_name_ends_nothing(
    fact: str, said: str, is_linked: bool
) -> None:
    known = neighbour(0.5, fact, slot=employer("Acme"))
    verdict = decide(note(said, slot=employer("Acme")), [known], DEFAULT)
    assert (verdict.action, verdict.decided_by) == (ADD, GUARD)
    assert verdict.conflicts == ((known,) if is_linked else ())
    assert " instead of " in verdict.reason


def test_a_value_said_again_among_other_things_ends_none_of_them() -> None:
    baking = slot("baking", single=False, attribute="hobby")
    fact = "Wants to surprise her nephew with a cake without eggs. She is into baking lately."
    said = "Plans a dinner for twelve guests. She is into baking lately."
    verdict = decide(note(said, slot=baking), [neighbour(0.5, fact, slot=baking)], DEFAULT)
    assert (verdict.action, verdict.conflicts) == (ADD, ())
    assert "detail: no surprise nephew cake eggs" in verdict.reason


def test_a_denial_of_something_else_leaves_the_value_said_again() -> None:
    known = neighbour(0.5, "Works at Acme", slot=employer("Acme"))
    said = note("Works at Acme, but not on Fridays", slot=employer("Acme"))
    assert decide(said, [known], DEFAULT).is_restatement


def test_a_value_that_also_holds_asks_instead_of_ending_the_other() -> None:
    vet = neighbour(0.5, "I am a vet", slot=slot("vet", attribute="title"))
    said = note("I am also a musician", slot=slot("musician", attribute="title"))
    verdict = decide(said, [vet], DEFAULT)
    assert (verdict.action, verdict.decided_by, verdict.conflicts) == (ADD, SLOT, (vet,))


def test_a_value_that_only_stands_elsewhere_in_the_sentence_is_said_again() -> None:
    known = neighbour(0.5, "Pune has the office of Tata", slot=slot("Pune"))
    verdict = decide(note("The office of Tata is in Pune", slot=slot("Pune")), [known], DEFAULT)
    assert (verdict.action, verdict.is_restatement) == (UPDATE, True)


def test_a_value_in_another_spelling_is_said_again() -> None:
    known = neighbour(0.5, "Lives in Germany", slot=slot("Germany", value_key="de"))
    verdict = decide(
        note("Is in Deutschland", slot=slot("Deutschland", value_key="de")), [known], DEFAULT
    )
    assert (verdict.action, verdict.targets, verdict.is_restatement) == (UPDATE, (known,), True)


@every(
    ("known", "said"),
    [
        ("3 May 1980", "1980-05-03"),
        ("1980-05-03", "3 May 1980"),
        ("3 May 1980", "3.5.1980"),
        ("15:00", "3 pm"),
    ],
)
def test_another_spelling_of_the_value_leaves_out_no_detail(known: str, said: str) -> None:
    fact = neighbour(0.5, f"Born {known}", slot=slot(known, value_key="one"))
    verdict = decide(note(f"Born {said}", slot=slot(said, value_key="one")), [fact], DEFAULT)
    assert (verdict.action, verdict.targets, verdict.is_restatement) == (UPDATE, (fact,), True)


def test_beside_another_spelling_of_the_value_a_detail_still_counts() -> None:
    fact = neighbour(0.5, "Born 3 May 1980 at 4 am", slot=slot("3 May 1980", value_key="one"))
    said = note("Born 1980-05-03", slot=slot("1980-05-03", value_key="one"))
    verdict = decide(said, [fact], DEFAULT)
    assert (verdict.action, verdict.decided_by, verdict.target) == (SKIP, GUARD, fact)
    assert [finding.in_fact for finding in verdict.findings] == ["4 am"]


def test_what_has_other_details_stays_while_another_value_ends() -> None:
    known = neighbour(0.5, "Works at Acme since 2019", 1, slot=employer("Acme"))
    other = neighbour(0.5, "Works at Nordlys", 2, slot=employer("Nordlys"))
    verdict = decide(
        note("Works at Acme since 2021", slot=employer("Acme")), [known, other], DEFAULT
    )
    assert (verdict.targets, verdict.conflicts) == ((other,), (known,))
    assert "one with other details stays: date: 2021 instead of 2019" in verdict.reason


def test_a_sibling_hides_no_fact_behind_it() -> None:
    sibling = neighbour(0.99, slot=slot("eggs", single=False))
    behind = neighbour(0.96, number=2)
    verdict = decide(note(slot=slot("nuts", single=False)), [sibling, behind], DEFAULT)
    assert verdict.target == behind


def test_an_arbiter_is_shown_five_replaceable_facts_at_most() -> None:
    many = [neighbour(0.9, number=number) for number in range(1, 9)]
    many[1] = neighbour(0.9, number=2, slot=slot("eggs", single=False))
    shown = replaceable(note(slot=slot("nuts", single=False)), many)
    assert shown == [many[0], *many[2:6]]


# Guard

UNPAID, OTHER_UNPAID = "Invoice 1042 is unpaid", "Invoice 1043 is unpaid"
BARE = ReconcilePolicy(guard=False)


@every(
    ("cosine", "action", "decided_by", "is_found"),
    [
        (1.0, ADD, GUARD, True),
        (0.95, ADD, GUARD, True),
        (math.nextafter(0.95, BELOW), ADD, GUARD, True),
        (0.875, ADD, GUARD, True),
        (math.nextafter(0.80, BELOW), ADD, THRESHOLD, False),
    ],
)
def test_a_difference_keeps_a_note_beside_what_it_sounds_like(
    cosine: float, action: Action, decided_by: DecidedBy, is_found: bool
) -> None:
    verdict = decide(note(OTHER_UNPAID), [neighbour(cosine, UNPAID)], DEFAULT)
    assert (verdict.action, verdict.decided_by) == (action, decided_by)
    assert not verdict.conflicts  # two invoices are two things
    assert verdict.can_be_arbitrated is is_found
    assert ("1043" in verdict.reason) is is_found


@every(("cosine", "is_found"), [(0.96, True), (0.6, True), (0.59, False)])
def test_a_restatement_is_found_behind_a_nearer_fact_that_differs(
    cosine: float, is_found: bool
) -> None:
    near = [neighbour(0.97, UNPAID, 1), neighbour(cosine, OTHER_UNPAID, 2)]
    verdict = decide(note(OTHER_UNPAID), near, DEFAULT)
    assert verdict.targets == ((near[1],) if is_found else ())
    assert not verdict.conflicts


@every("cosine", [1.0, 0.95, 0.9, 0.85, 0.5])
def test_without_the_guard_the_cosine_alone_decides(cosine: float) -> None:
    bare = decide(note(OTHER_UNPAID), [neighbour(cosine, UNPAID)], BARE)
    plain = decide(note(), [neighbour(cosine)], DEFAULT)
    assert (bare.action, bare.decided_by) == (plain.action, plain.decided_by)
    assert not bare.findings


def test_below_the_cut_a_change_is_linked_to_each_fact_that_it_may_contradict() -> None:
    near = [
        neighbour(0.86, "Has 3 children", 1),
        neighbour(0.84, "the text", 2),
        neighbour(0.82, "Has 5 children", 3),
        neighbour(0.44, "Has 6 children", 4),
    ]
    verdict = decide(note("Has 4 children"), near, DEFAULT)
    assert (verdict.action, verdict.decided_by) == (ADD, MIDPOINT)
    assert verdict.conflicts == (near[0], near[2])


def test_below_the_band_a_change_is_linked_too() -> None:
    near = neighbour(0.6, "Has 3 children")
    verdict = decide(note("Has 4 children"), [near], DEFAULT)
    assert (verdict.action, verdict.decided_by) == (ADD, THRESHOLD)
    assert verdict.conflicts == (near,)
    assert not decide(note("Has 4 children"), [near], BARE).conflicts


def test_the_name_of_whom_a_note_is_about_is_no_matter_that_it_shares() -> None:
    near = neighbour(0.5, "Sorrel Court has a lift and six floors.")
    text = "Wants invoices for Sorrel Court monthly now, instead of quarterly."
    about = slot("monthly", subject="sorrel court", attribute="invoice_frequency")
    assert decide(note(text), [near], DEFAULT).conflicts == (near,)
    assert not decide(note(text, slot=about), [near], DEFAULT).conflicts


@every(
    ("cosine", "said", "rule"),
    [
        (0.9, "Drinks coffee at work", GUARD),
        (0.9, "Drinks tea at work daily", MIDPOINT),
        (0.9, "I will get some tea", GUARD),
        (0.96, "Drinks coffee at work", THRESHOLD),
        (0.96, "Drinks coffee on the sofa", GUARD),
    ],
)
def test_a_note_that_says_other_things_than_the_fact_stands_beside_it(
    cosine: float, said: str, rule: DecidedBy
) -> None:
    verdict = decide(note(said), [neighbour(cosine, "Drinks tea at work")], DEFAULT)
    assert (verdict.action, verdict.decided_by) == (ADD if rule is GUARD else UPDATE, rule)
    assert not verdict.conflicts


def test_without_the_guard_other_words_do_not_count() -> None:
    verdict = decide(note("Drinks coffee"), [neighbour(0.9, "Drinks tea")], BARE)
    assert verdict.action is UPDATE


@every(
    ("said", "is_linked"),
    [("Works for Globex", True), ("Works for Globex, after a year at sea", False)],
)
def test_two_facts_are_linked_only_where_nothing_else_differs(said: str, is_linked: bool) -> None:
    verdict = decide(note(said), [neighbour(0.96, "Works for Acme")], DEFAULT)
    assert (verdict.action, verdict.decided_by) == (ADD, GUARD)
    assert bool(verdict.conflicts) is is_linked


@every("action", [SKIP, UPDATE])
def test_the_same_never_swallows_another_number(action: Action) -> None:
    near = [neighbour(0.9, UNPAID)]
    verdict = decide(note(OTHER_UNPAID), near, DEFAULT, judgement(Relation.SAME, action))
    assert (verdict.action, verdict.decided_by, verdict.conflicts) == (ADD, GUARD, ())


@every("cosine", [1.0, 0.95, 0.9])
def test_an_arbiter_may_say_that_a_difference_replaces(cosine: float) -> None:
    near = [neighbour(cosine, "Has 3 children")]
    verdict = decide(note("Has 4 children"), near, DEFAULT, judgement(Relation.REPLACES, UPDATE))
    assert (verdict.action, verdict.decided_by, verdict.target) == (
        UPDATE,
        DecidedBy.ARBITER,
        near[0],
    )
    assert not verdict.is_restatement


@every("cosine", [1.0, 0.9])
def test_or_that_both_hold_which_is_no_conflict(cosine: float) -> None:
    near = [neighbour(cosine, UNPAID)]
    verdict = decide(note(OTHER_UNPAID), near, DEFAULT, judgement(Relation.COEXISTS, ADD, None))
    assert (verdict.action, verdict.decided_by, verdict.conflicts) == (ADD, DecidedBy.ARBITER, ())


@every(("cosine", "text"), [(0.9, "the text"), (0.82, "the text"), (1.0, OTHER_UNPAID)])
def test_an_unsure_judge_leaves_the_verdict_and_its_dispute(cosine: float, text: str) -> None:
    near = [neighbour(cosine, UNPAID if text == OTHER_UNPAID else "the text")]
    unsure = judgement(Relation.UNSURE, ADD, None)
    assert decide(note(text), near, DEFAULT, unsure) == decide(note(text), near, DEFAULT)


def test_what_an_unsure_judge_suspects_is_linked_and_does_not_end() -> None:
    near = neighbours(0.82, 0.81)
    verdict = decide(note(), near, DEFAULT, judgement(Relation.UNSURE, ADD, 2))
    plain = decide(note(), near, DEFAULT)
    assert (verdict.action, verdict.targets) == (ADD, ())
    assert verdict.conflicts == (*plain.conflicts, near[1])
    assert verdict.decided_by is plain.decided_by
    assert verdict.reason.endswith("the arbiter is unsure whether it replaces a known fact")


@every(
    ("text", "confidence", "is_linked"),
    [
        ("Reads the trade weekly.", 0.84, False),
        ("Reads the trade weekly.", 0.85, True),
        ("Wants no printed catalogue.", 0.61, True),
        ("Moved to Leeds.", 0.61, True),
    ],
)
def test_a_suspicion_about_another_matter_must_be_surer(
    text: str, confidence: float, is_linked: bool
) -> None:
    known = neighbour(0.3, "Gets our printed catalogue.")
    unsure = replace(judgement(Relation.UNSURE, ADD), confidence=confidence)
    policy = replace(DEFAULT, reach=0.2)
    verdict = decide(note(text), [known], policy, unsure)
    assert verdict.conflicts == ((known,) if is_linked else ())


def test_what_an_unsure_judge_suspects_saves_no_fact_from_the_rule() -> None:
    near = neighbours(0.9, 0.81)
    verdict = decide(note(), near, DEFAULT, judgement(Relation.UNSURE, ADD, 2))
    assert verdict == decide(note(), near, DEFAULT)


def test_what_a_judge_calls_a_change_is_linked_where_the_note_holds_for_the_moment() -> None:
    near, passing = neighbours(0.82), note(category=Category.VOLATILE)
    verdict = decide(passing, near, DEFAULT, judgement(Relation.REPLACES, UPDATE))
    assert (verdict.action, verdict.decided_by, verdict.conflicts) == (ADD, GUARD, (near[0],))


# Order and trust

SUPERSEDING = {
    "threshold": (note(), neighbour(0.96), None),
    "midpoint": (note(), neighbour(0.9), None),
    "arbiter": (note(), neighbour(0.9), judgement(Relation.REPLACES, UPDATE)),
    "equal slot": (note(slot=PUNE), neighbour(0.1, slot=PUNE), None),
    "changed slot": (note(slot=DELHI), neighbour(0.1, slot=PUNE), None),
}
RESTATING = {"threshold", "equal slot"}


def told(name: str, **changes: Any) -> tuple[Verdict, Neighbour]:
    said, near, judged = SUPERSEDING[name]
    changed = note(slot=said.slot, **changes)
    return decide(changed, [near], DEFAULT, judged), near


@every("name", SUPERSEDING)
@every(("days_later", "is_history"), [(-50, True), (-0.00001, True), (0, False), (50, False)])
def test_an_older_note_becomes_history_beneath_the_newer_fact(
    name: str, days_later: float, is_history: bool
) -> None:
    verdict, near = told(name, at=day(1 + days_later))
    assert (verdict.is_history, verdict.target) == (is_history, near)
    assert verdict.action is (ADD if is_history else UPDATE)
    assert (verdict.decided_by is ORDER) is is_history
    assert verdict.is_restatement is (name in RESTATING)


def test_what_counts_is_from_when_it_is_true_not_when_it_was_said() -> None:
    early, _ = told("threshold", at=day(90), valid_from=day(0))
    late, _ = told("threshold", at=day(0), valid_from=day(90))
    assert (early.decided_by, late.decided_by) == (ORDER, THRESHOLD)


@every("name", SUPERSEDING)
@every(("mine", "theirs"), [(TOOL, USER), (USER, TOOL), (TOOL, TOOL)])
def test_a_less_trusted_word_never_supersedes(
    name: str, mine: SourceKind, theirs: SourceKind
) -> None:
    said, near, judged = SUPERSEDING[name]
    near = neighbour(near.cosine, slot=near.slot, trust=theirs)
    verdict = decide(note(slot=said.slot, source_kind=mine), [near], DEFAULT, judged)
    if mine is TOOL and theirs is USER:
        assert verdict.decided_by is TRUST
        # The same again is one more observation; anything else is held beside what it denies.
        kept = (SKIP, (near,), ()) if name in RESTATING else (ADD, (), (near,))
        assert (verdict.action, verdict.targets, verdict.conflicts) == kept
    else:
        assert (verdict.action, verdict.targets, verdict.conflicts) == (UPDATE, (near,), ())


def test_of_two_values_the_less_trusted_one_yields_and_the_other_stays() -> None:
    mine = neighbour(0.9, number=1, slot=PUNE, trust=TOOL)
    theirs = neighbour(0.1, number=2, slot=DELHI, trust=USER)
    verdict = decide(note(slot=slot("Goa"), source_kind=TOOL), [mine, theirs], DEFAULT)
    assert (verdict.action, verdict.targets, verdict.conflicts) == (UPDATE, (mine,), (theirs,))


def test_an_older_note_is_history_whoever_said_it() -> None:
    for kind in (USER, TOOL):
        verdict, _ = told("changed slot", at=day(0), source_kind=kind)
        assert verdict.decided_by is ORDER


def test_an_arbiter_can_move_neither_order_nor_trust() -> None:
    near = [neighbour(0.9)]
    replaces = judgement(Relation.REPLACES, UPDATE)
    assert decide(note(at=day(0)), near, DEFAULT, replaces).decided_by is ORDER
    lesser = note(source_kind=TOOL)
    assert decide(lesser, near, DEFAULT, replaces).decided_by is TRUST


# Notes without a date


@every("name", SUPERSEDING)
@every("days_later", [-50, -0.00001, 0, 50])
def test_a_note_that_nobody_dated_supersedes_whatever_the_clocks_say(
    name: str, days_later: float
) -> None:
    verdict, near = told(name, at=day(1 + days_later), is_dated=False)
    assert (verdict.action, verdict.targets, verdict.is_history) == (UPDATE, (near,), False)


@every("name", SUPERSEDING)
@every(("said", "expected"), [(-49.0, 1.0), (0.99999, 1.0), (1.0, 1.0), (1.00001, 1.00001)])
def test_it_is_dated_no_earlier_than_what_it_supersedes(
    name: str, said: float, expected: float
) -> None:
    verdict, _ = told(name, at=day(said), is_dated=False)
    found = dated(note(at=day(said), is_dated=False), verdict)
    assert (found.said_at, found.holds_from) == (day(expected), day(expected))


def test_of_several_facts_the_latest_one_dates_it() -> None:
    said = note(slot=slot("Goa"), at=day(0), is_dated=False)
    near = [
        neighbour(0.9, number=4, slot=PUNE),
        neighbour(0.1, number=9, slot=DELHI),
        neighbour(0.1, number=6, slot=DELHI),
    ]
    verdict = decide(said, near, DEFAULT)
    assert (len(verdict.targets), dated(said, verdict).holds_from) == (3, day(9))


@every("theirs", [USER, TOOL])
def test_it_is_no_older_than_what_it_stands_beside_or_repeats(theirs: SourceKind) -> None:
    said = note(at=day(0), is_dated=False, source_kind=TOOL, slot=DELHI)
    for known in (PUNE, DELHI):
        verdict = decide(said, [neighbour(0.1, slot=known, trust=theirs)], DEFAULT)
        assert dated(said, verdict).said_at == day(1)


def test_a_fact_that_it_has_nothing_to_do_with_does_not_date_it() -> None:
    said = note(slot=DELHI, at=day(0), is_dated=False)
    for near in ([neighbour(0.1)], [neighbour(0.99, slot=slot("Goa", subject="wife"))], None):
        assert dated(said, decide(said, near, DEFAULT)) == said


@every("dates", [{"is_dated": True}, {"is_dated": False, "valid_from": day(0)}])
def test_what_somebody_dated_keeps_its_date_and_its_place_in_history(dates: dict[str, Any]) -> None:
    said = note(at=day(0), **dates)
    verdict = decide(said, [neighbour(0.96)], DEFAULT)
    assert (verdict.decided_by, dated(said, verdict)) == (ORDER, said)


def test_what_is_said_to_and_fro_is_contested_also_where_the_clock_steps_back() -> None:
    said = note(slot=PUNE, at=day(-30), is_dated=False)
    verdict = decide(said, [neighbour(0.1, slot=DELHI)], DEFAULT)
    before = predecessor("goa", followed_from=day(1))
    assert contest(verdict, dated(said, verdict), [before], DEFAULT).is_contested


@given(
    said=st.integers(-100, 100),
    known=st.lists(st.tuples(st.sampled_from([0.97, 0.9, 0.85, 0.1]), st.integers(-100, 100))),
    source=st.sampled_from([USER, TOOL]),
    is_dated=st.booleans(),
)
def test_nothing_ever_ends_before_it_began(
    said: int, known: list[tuple[float, int]], source: SourceKind, is_dated: bool
) -> None:
    near = [neighbour(cosine, valid_from=day(began)) for cosine, began in known]
    told_now = note(at=day(said), is_dated=is_dated, source_kind=source)
    verdict = decide(told_now, sorted(near, key=lambda each: -each.cosine), DEFAULT)
    holds_from = dated(told_now, verdict).holds_from
    for each in verdict.targets:
        assert holds_from < each.valid_from if verdict.is_history else holds_from >= each.valid_from
    assert is_dated or not verdict.is_history


@every(
    ("minutes", "said_again", "is_given"),
    [(0, 0, False), (-5, 0, False), (-5.01, 0, True), (5, 1, False), (-60, 0, True)],
)
def test_a_start_is_given_if_it_is_not_when_the_fact_was_said(
    minutes: float, said_again: int, is_given: bool
) -> None:
    at = datetime(2026, 3, 9, 12, tzinfo=UTC)
    told = Fact(
        fact_id="one",
        text="Lives in Pune.",
        trust=SourceKind.USER_EXPLICIT,
        observations=1,
        recorded_at=at,
        valid_from=at + timedelta(minutes=minutes),
        last_confirmed_at=at + timedelta(days=said_again),
    )
    assert told.is_start_given is is_given
    # What was read in later, and not said again, holds since it was said.
    imported = replace(told, last_confirmed_at=told.valid_from)
    assert not imported.is_start_given


# To and fro


def predecessor(value: str | None = None, **changes: Any) -> Predecessor:
    usual: dict[str, Any] = {
        "fact_id": "before",
        "text": "some text",
        "cosine": 0.2,
        "slot": value and slot(value),
        "was_contradicted": True,
        "followed_from": day(1),
    }
    return Predecessor(**usual | changes)


def contested(said: Note, *before: Predecessor, near: Neighbour | None = None) -> bool:
    known = near or neighbour(0.1, slot=DELHI)
    return contest(decide(said, [known], DEFAULT), said, before, DEFAULT).is_contested


def test_a_value_that_returns_to_one_superseded_before_is_contested() -> None:
    assert contested(note(slot=PUNE), predecessor("pune"))
    assert not contested(note(slot=PUNE), predecessor("goa"))
    assert not contested(note(slot=DELHI), predecessor("pune"))  # said once more, no change
    wifes = predecessor(slot=slot("Pune", subject="wife"), was_contradicted=False)
    assert not contested(note(slot=PUNE), wifes)
    assert not contested(note(slot=PUNE))


@every("text", ["No longer lives in Pune", "Has left Pune", "Never lived there"])
def test_an_end_of_what_went_to_and_fro_is_not_contested(text: str) -> None:
    """Pune, Goa, Pune, and then no longer Pune."""
    pune = neighbour(0.9, "Lives in Pune", slot=PUNE)
    said = note(text, at=day(2), slot=slot("Pune", single=False))
    assert not contested(said, predecessor("pune"), predecessor("goa"), near=pune)


@every(
    ("before", "returns"),
    [
        (predecessor(text="The  TEXT."), True),
        (predecessor(cosine=0.95), True),
        (predecessor(cosine=math.nextafter(0.95, BELOW)), False),
    ],
)
def test_without_slots_the_texts_tell_whether_it_returns(
    before: Predecessor, returns: bool
) -> None:
    assert contested(note(), before, near=neighbour(0.9)) is returns


def test_what_only_sounds_like_an_earlier_fact_does_not_return_to_it() -> None:
    said, near = note("Has 3 young children"), neighbour(0.9, "Has 3 children")
    assert contested(said, predecessor(text="Has three young children", cosine=0.99), near=near)
    assert not contested(said, predecessor(text="Has 2 young children", cosine=0.99), near=near)


@every(
    ("text", "target", "before"),
    [
        ("Lives in Pune", slot("Pune"), "pune"),  # Pune, Pune again, and Goa
        ("Lives in Goa", slot("Goa"), "goa"),
        ("No longer lives in Delhi", slot("Delhi"), "goa"),  # Goa, no longer Delhi, and Goa
    ],
)
def test_a_value_that_was_never_given_up_does_not_return(
    text: str, target: Slot, before: str
) -> None:
    said = note(slot=slot("Goa"))
    verdict = update(DecidedBy.AGENT, neighbour(0.5, text, slot=target), "", is_restatement=False)
    assert not contest(verdict, said, [predecessor(before)], DEFAULT).is_contested


@every(("days", "is_second_flip"), [(0, True), (6.9, True), (7, True), (7.1, False)])
def test_two_contradictions_within_the_window_are_contested(
    days: float, is_second_flip: bool
) -> None:
    said = note(slot=PUNE, at=day(1 + days))
    assert contested(said, predecessor("goa")) is is_second_flip
    assert not contested(said, predecessor("goa", was_contradicted=False))


@every(
    ("said", "by", "is_flip"),
    [
        ({}, DecidedBy.AGENT, False),
        ({"source_kind": TOOL}, DecidedBy.AGENT, True),
        ({}, DecidedBy.EXTRACTOR, True),
        ({}, DecidedBy.SLOT, True),
        ({"slot": slot("Goa")}, DecidedBy.AGENT, True),  # a value that comes back
    ],
)
def test_a_new_value_that_the_contact_names_is_a_correction_however_soon(
    said: dict[str, Any], by: DecidedBy, is_flip: bool
) -> None:
    told = note(**{"slot": PUNE, "at": day(1)} | said)
    verdict = update(by, neighbour(0.5, slot=DELHI), "", is_restatement=False)
    assert contest(verdict, told, [predecessor("goa")], DEFAULT).is_contested is is_flip


def test_what_was_history_from_the_start_does_not_return() -> None:
    assert contested(note(slot=PUNE, at=day(30)), predecessor("pune"))
    assert not contested(note(slot=PUNE, at=day(30)), predecessor("pune", was_live=False))


def test_a_midpoint_knows_of_no_contradiction() -> None:
    said = note(at=day(2))
    assert not contested(said, predecessor(), near=neighbour(0.9))


def test_what_is_contested_is_written_all_the_same() -> None:
    said = note(slot=PUNE)
    verdict = decide(said, [neighbour(0.1, slot=DELHI)], DEFAULT)
    marked = contest(verdict, said, [predecessor("pune")], DEFAULT)
    assert (marked.action, marked.targets) == (verdict.action, verdict.targets)
    assert marked.reason.startswith(f"{verdict.reason}; contested: ")


@every(("cut", "is_right"), [(0.8, True), (0.95, True), (0.79, False), (0.96, False)])
def test_the_cut_lies_between_the_thresholds(cut: float, is_right: bool) -> None:
    if is_right:
        assert ReconcilePolicy(cosine_cut=cut).cut == cut
    else:
        with pytest.raises(ConfigurationError, match=r"cosine_cut .* must be between"):
            ReconcilePolicy(cosine_cut=cut)


RICH = "Her budget for the ERP project in Hamburg is 40,000 euros"


@every(
    ("fact", "said"),
    [
        (RICH, "She has a budget for the ERP project in Hamburg"),
        (RICH, "Her budget for the ERP project is 40,000 euros"),
        ("Is severely allergic to peanuts", "She is allergic to peanuts"),
        ("Eats meat on Sundays only", "She eats meat on Sundays"),
        ("Lives in Pune with her mother", "Lives in Pune"),
    ],
)
@every("cosine", [0.95, 1.0])
def test_a_note_that_says_less_than_the_fact_is_said_once_more(
    fact: str, said: str, cosine: float
) -> None:
    verdict = decide(note(said), [neighbour(cosine, fact)], DEFAULT)
    assert (verdict.action, verdict.decided_by) == (SKIP, GUARD)
    assert verdict.findings
    assert not any(each.in_note for each in verdict.findings)


@every("cosine", [0.875, 0.95, 1.0])
def test_a_note_that_says_more_than_the_fact_takes_its_place(cosine: float) -> None:
    near = [neighbour(cosine, "She has a budget for the ERP project in Hamburg")]
    assert decide(note(RICH), near, DEFAULT).action is UPDATE


@every("cosine", [0.875, 0.95, 1.0])
@every(
    "said",
    [
        "The board signs off her budget for the ERP project",
        "Her budget for the ERP project runs out in May",
    ],
)
def test_where_each_says_what_the_other_does_not_both_stay(said: str, cosine: float) -> None:
    verdict = decide(note(said), [neighbour(cosine, RICH)], DEFAULT)
    assert (verdict.action, verdict.decided_by, verdict.targets) == (ADD, GUARD, ())
    assert not verdict.conflicts


@every(
    ("fact", "said"),
    [
        (RICH, "She has a budget for the ERP project in Hamburg"),
        ("Considers switching to the annual plan", "Switched to the annual plan"),
        ("Is temporarily working from Delhi", "Is working from Delhi"),
    ],
)
def test_below_the_bound_nobody_knows_that_less_is_the_same_so_both_stay(
    fact: str, said: str
) -> None:
    verdict = decide(note(said), [neighbour(0.93, fact)], DEFAULT)
    assert (verdict.action, verdict.decided_by, verdict.conflicts) == (ADD, GUARD, ())
    assert verdict.can_be_arbitrated


def test_the_guard_off_retires_the_richer_fact() -> None:
    unguarded = ReconcilePolicy(guard=False)
    assert decide(note("Lives"), [neighbour(1, "Lives in Pune")], unguarded).action is UPDATE


def test_a_value_said_again_with_less_around_it_is_said_once_more() -> None:
    fact = neighbour(0.5, "Works at Globex in Berlin since 2019", slot=slot("Globex"))
    verdict = decide(note("Works at Globex", slot=slot("Globex")), [fact], DEFAULT)
    assert (verdict.action, verdict.decided_by, verdict.targets) == (SKIP, GUARD, (fact,))


@every(
    ("fact", "said"),
    [
        ("Works at Globex in Berlin since 2019", "Reports to somebody at Globex"),
        ("Is strictly vegetarian since 2019", "Is vegetarian, but eats fish when travelling"),
    ],
)
def test_a_value_said_again_in_other_words_stands_beside_the_richer_fact(
    fact: str, said: str
) -> None:
    near = [neighbour(0.5, fact, slot=slot("Globex"))]
    assert decide(note(said, slot=slot("Globex")), near, DEFAULT).action is ADD


def test_a_value_said_again_with_another_number_is_the_newer_word() -> None:
    near = [neighbour(0.5, "Calls Globex at 3 pm", slot=slot("Globex"))]
    said = note("Calls Globex at 4 pm", slot=slot("Globex"))
    verdict = decide(said, near, DEFAULT)
    assert (verdict.action, verdict.is_restatement) == (UPDATE, False)
    assert "4 pm instead of 3 pm" in verdict.reason


def test_a_value_said_again_still_ends_the_other_value_beside_the_richer_fact() -> None:
    richer = neighbour(0.5, "Works at Globex in Berlin since 2019", 1, slot=slot("Globex"))
    other = neighbour(0.4, "Works at Acme", 2, slot=slot("Acme"))
    verdict = decide(note("Works at Globex", slot=slot("Globex")), [richer, other], DEFAULT)
    assert (verdict.action, verdict.targets) == (UPDATE, (other,))
    assert not verdict.is_restatement


def test_the_same_to_the_arbiter_does_not_end_a_richer_fact() -> None:
    said, near = note("She has a budget for the project"), [neighbour(0.9, RICH)]
    verdict = decide(said, near, DEFAULT, judgement(Relation.SAME, UPDATE))
    assert (verdict.action, verdict.targets) == (SKIP, tuple(near))


def test_what_an_arbiter_calls_a_change_ends_the_richer_fact() -> None:
    said, near = note("She has no budget"), [neighbour(0.9, RICH)]
    verdict = decide(said, near, DEFAULT, judgement(Relation.REPLACES, UPDATE))
    assert (verdict.action, verdict.targets) == (UPDATE, tuple(near))


@every(
    ("fact", "said", "stays"),
    [
        ("Uses SAP and Salesforce.", "Switched from Salesforce to HubSpot.", True),
        ("Has an office in Rome and one in Milan.", "Closed the Milan office.", True),
        ("Pays for accounts 12 and 15.", "Closed account 12.", True),
        ("Plays chess on Mondays.", "Stopped playing chess on Fridays.", True),
        ("Uses Zendesk.", "It is untrue that she no longer uses Zendesk.", True),
        ("Uses SAP and Salesforce.", "Dropped SAP and Salesforce for HubSpot.", False),
        ("Uses SAP and Salesforce.", "Everything runs on HubSpot now.", False),
        ("Uses SAP for sales and stock.", "Switched from SAP to HubSpot.", False),
        ("Lives in Leeds, England.", "Moved from Leeds to York.", False),
    ],
)
def test_a_judge_ends_no_fact_of_which_the_note_names_a_part(
    fact: str, said: str, stays: bool
) -> None:
    known = neighbour(0.6, fact)
    judged = judgement(Relation.REPLACES, UPDATE)
    verdict = decide(note(said), [known], replace(DEFAULT, reach=0.2), judged, shown=[known])
    assert verdict.action is (ADD if stays else UPDATE)
    assert verdict.conflicts == ((known,) if stays else ())


@every(
    ("fact", "said", "stays"),
    [
        (f"{thing} {sign}1000 over 13.50 euros.", f"{thing} {sign}1020 over 153 euros.", True)
        for thing in ("Has an open invoice", "Order")
        for sign in ("", "number ", "no. ", "#")
    ]
    + [
        ("Her desk is in room 12.", "Her desk is in room 14.", False),
        ("Her desk is in room 12 on floor 2.", "Her desk is in room 14 on floor 3.", False),
        ("Invoice 1000 is over 13 euros.", "Invoice 1000 is over 153 euros.", False),
        ("Sits in room 12 this week.", "Sits in room 14 this week.", False),
        ("Order 1001 is open.", "Order 1010 replaces order 1001.", False),
    ]
    + [
        (f"{thing} {first} {said}.", f"{thing} {second} {said}.", True)
        for thing, said in (
            ("Order", "has shipped"),
            ("The ticket", "is open"),
            ("Sales order", "is not paid"),
            ("Her parcel", "needs a stamp"),
            ("Contract no.", "expired in May"),
            ("Invoice", "has 13 pages"),
        )
        for first, second in (("1001", "1010"), ("AB-1", "AB-2"))
    ],
)
def test_a_judge_ends_no_numbered_thing_for_another(fact: str, said: str, stays: bool) -> None:
    known = neighbour(0.6, fact)
    for relation in (Relation.REPLACES, Relation.UNSURE):
        judged = judgement(relation, UPDATE if relation is Relation.REPLACES else ADD)
        verdict = decide(note(said), [known], replace(DEFAULT, reach=0.2), judged, shown=[known])
        assert ((*verdict.targets, *verdict.conflicts) == ()) is stays


@every(
    ("fact", "said"),
    [
        ("Budget was cut to 35k.", "Budget is 60k now."),
        ("The budget was raised to 35k.", "Their budget is 60k now."),
    ],
)
def test_how_a_value_came_about_keeps_no_fact(fact: str, said: str) -> None:
    was, now = (slot(value, attribute="budget") for value in ("35k", "60k"))
    known = neighbour(0.6, fact, slot=was)
    verdict = decide(note(said, slot=now, slot_read_from=said), [known], DEFAULT)
    assert (verdict.action, verdict.decided_by, verdict.targets) == (UPDATE, SLOT, (known,))


def test_a_more_trusted_word_that_says_less_stands_beside() -> None:
    fact = neighbour(1.0, RICH, trust=SourceKind.EXTRACTOR)
    verdict = decide(note("She has a budget for the ERP project"), [fact], DEFAULT)
    assert (verdict.action, verdict.decided_by, verdict.targets) == (ADD, GUARD, ())


def test_a_less_trusted_word_that_says_less_is_said_once_more() -> None:
    said = note("She has a budget for the ERP project", source_kind=TOOL)
    assert decide(said, [neighbour(1.0, RICH)], DEFAULT).action is SKIP


@every(
    ("fact", "said"),
    [
        ("Moved from Pune to Bangalore.", "Lives in Bangalore."),
        ("Prefers being contacted by email.", "Likes to be contacted by e-mail."),
    ],
)
def test_a_name_alone_keeps_no_fact_of_the_same_value(fact: str, said: str) -> None:
    near = [neighbour(0.6, fact, slot=slot("bangalore"))]
    assert decide(note(said, slot=slot("bangalore")), near, DEFAULT).action is UPDATE


@every("cosine", [1.0, 0.96, 0.9])
@every(
    ("text", "new", "old"),
    [
        ("Yes, that is fine.", ("data_sharing_consent", "yes"), ("marketing_consent", "yes")),
        ("Works at Acme.", ("employer", "Acme"), ("previous_employer", "Acme")),
        ("It is the 31st.", ("renewal_date", None), ("contract_end_date", None)),
    ],
)
def test_a_fact_that_was_given_another_attribute_is_ended_by_no_cosine(
    text: str, new: tuple[str, str | None], old: tuple[str, str | None], cosine: float
) -> None:
    said, known = (slot(value, attribute=name, is_known=False) for name, value in (new, old))
    verdict = decide(note(text, slot=said), [neighbour(cosine, text, slot=known)], DEFAULT)
    assert (verdict.action, verdict.conflicts) == (ADD, ())


@every("cosine", [0.99, 0.9])
def test_one_other_word_before_a_noun_or_of_direction_restates_nothing(cosine: float) -> None:
    elder = neighbour(cosine, "Her elder daughter is allergic to nuts")
    assert decide(note("Her younger daughter is allergic to nuts"), [elder], DEFAULT).action is ADD
    owed = neighbour(cosine, "Owes money to Anna")
    assert decide(note("Owes money from Anna"), [owed], DEFAULT).action is ADD
