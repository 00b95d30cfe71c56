"""How far a judge is asked, what it is shown, and what its answer may do there."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reconciler.domain.reconciling.rule import check_judgement, decide, shown_to_judge
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, DecidedBy, Relation, SourceKind
from reconciler.domain.records.notes import Note, Scope, Slot
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.errors import ArbiterAnswerError, ConfigurationError
from reconciler.reading.kinds import Category
from tests.tables import every

SEED = ReconcilePolicy()
JUDGED = ReconcilePolicy(reach=0.47)
BELOW = math.nextafter(0.47, -1)
REPLACES = Judgement(reasoning="", relation=Relation.REPLACES, target=1, action=Action.UPDATE)
COEXISTS = Judgement(reasoning="", relation=Relation.COEXISTS, target=None, action=Action.ADD)
DAY = datetime(2026, 1, 1, tzinfo=UTC)


def note(text: str = "Pays by card.", **changes: Any) -> Note:
    scope = Scope("acme", "crm", "alice")
    return Note(scope=scope, text=text, said_at=DAY + timedelta(days=9), **changes)


def fact(
    cosine: float, text: str = "Pays by invoice.", number: int = 1, **changes: Any
) -> Neighbour:
    return Neighbour(fact_id=f"f{number}", text=text, cosine=cosine, valid_from=DAY, **changes)


def slot(value: str, attribute: str = "payment", **changes: Any) -> Slot:
    usual = {"subject": "contact", "is_single_valued": False, "value_key": value}
    return Slot(**usual | {"attribute": attribute, "value": value} | changes)


def is_asked(told: Note, *facts: Neighbour, policy: ReconcilePolicy = JUDGED) -> bool:
    return decide(told, facts, policy).can_be_arbitrated


@every(("cosine", "asked"), [(0.47, True), (BELOW, False), (0.79, True)])
def test_a_judge_is_asked_from_the_reach_on(cosine: float, asked: bool) -> None:
    assert is_asked(note(), fact(cosine)) is asked
    assert not is_asked(note(), fact(cosine), policy=SEED)


@every(("cosine", "asked"), [(0.235, True), (math.nextafter(0.235, -1), False)])
def test_a_note_that_says_it_is_a_change_reaches_twice_as_far(cosine: float, asked: bool) -> None:
    assert is_asked(note("Pays by card now."), fact(cosine)) is asked


@every(
    ("text", "asked"),
    [("Ist Vegetarierin geworden.", True), ("大阪に引っ越しました。", True), ("Eats fish.", False)],
)
def test_a_note_that_is_not_in_english_reaches_as_far_as_a_change(text: str, asked: bool) -> None:
    assert is_asked(note(text), fact(0.3)) is asked
    assert not is_asked(note(text), fact(0.2))


def test_below_the_reach_a_fact_is_shown_for_its_words_or_its_attribute() -> None:
    words = fact(0.1, number=1, shares_words=True)
    filed = fact(0.1, number=2, slot=slot("invoice"))
    shown = shown_to_judge(note(slot=slot("card")), [words, filed, fact(0.3, number=3)], JUDGED)
    assert shown == [words, filed]


def test_five_facts_are_shown_and_two_places_are_kept_for_words() -> None:
    near = [fact(0.9 - number / 100, number=number) for number in range(6)]
    worded = [fact(0.1, number=number, shares_words=True) for number in (7, 8, 9)]
    assert shown_to_judge(note(), [*near, *worded], JUDGED) == [*near[:3], *worded[:2]]


def test_a_fact_about_somebody_else_than_a_given_slot_names_is_not_shown() -> None:
    hers = fact(0.9, slot=slot("invoice", subject="wife"))
    assert shown_to_judge(note(slot=slot("card")), [hers], JUDGED) == []
    read = note(slot=slot("card"), slot_read_from="pays by")
    assert shown_to_judge(read, [hers], JUDGED) == [hers]


@every("judgement", [REPLACES, COEXISTS])
def test_what_a_judge_says_below_the_band_decides(judgement: Judgement) -> None:
    verdict = decide(note(), [fact(0.5)], JUDGED, judgement)
    assert (verdict.action, verdict.decided_by) == (judgement.action, DecidedBy.ARBITER)


def test_a_given_slot_decides_by_itself_and_one_that_was_read_is_put_to_the_judge() -> None:
    one = {"is_single_valued": True, "is_known": True}
    known = fact(0.2, slot=slot("invoice", **one))
    given = decide(note(slot=slot("card", **one)), [known], JUDGED, COEXISTS)
    assert (given.action, given.decided_by) == (Action.UPDATE, DecidedBy.SLOT)
    read = note(slot=slot("card", **one), slot_read_from="pays by")
    assert decide(read, [known], JUDGED).decided_by is DecidedBy.SLOT
    assert decide(read, [known], JUDGED, COEXISTS).decided_by is DecidedBy.ARBITER


def test_another_value_of_an_open_attribute_is_linked_and_a_judge_is_asked() -> None:
    told, known = note(slot=slot("card", is_open=True)), fact(0.2, slot=slot("invoice"))
    alone = decide(told, [known], SEED)
    assert (alone.action, alone.conflicts, alone.can_be_arbitrated) == (Action.ADD, (known,), True)
    assert decide(told, [known], JUDGED, COEXISTS).conflicts == ()
    assert decide(told, [known], JUDGED, REPLACES).targets == (known,)


def test_another_value_of_an_attribute_that_holds_many_is_not_linked() -> None:
    told, known = note(slot=slot("card")), fact(0.2, slot=slot("invoice"))
    assert decide(told, [known], SEED).conflicts == ()


def test_a_judge_may_name_several_facts_that_the_note_replaces() -> None:
    facts = [fact(0.6, number=1), fact(0.5, "By invoice, she says.", number=2)]
    both = Judgement(
        reasoning="", relation=Relation.REPLACES, target=2, also=(1, 1, 2), action=Action.UPDATE
    )
    assert decide(note(), facts, JUDGED, both).targets == (facts[1], facts[0])


def test_a_fact_that_says_more_is_not_ended_as_one_more_that_says_the_same() -> None:
    facts = [fact(0.9, "Pays by card."), fact(0.8, "Pays 40 EUR by card.", number=2)]
    same = Judgement(
        reasoning="", relation=Relation.SAME, target=1, also=(2,), action=Action.UPDATE
    )
    assert decide(note("Always pays by card."), facts, JUDGED, same).targets == (facts[0],)


@every("also", [(0,), (3,), (True,), (-1,)])
def test_a_further_fact_that_was_not_shown_is_no_answer(also: tuple[int, ...]) -> None:
    answer = Judgement(
        reasoning="", relation=Relation.REPLACES, target=1, also=also, action=Action.UPDATE
    )
    with pytest.raises(ArbiterAnswerError, match="1 to 2 were shown"):
        check_judgement(answer, 2)


@every(
    ("source_kind", "action"),
    [(SourceKind.USER_EXPLICIT, Action.UPDATE), (SourceKind.EXTRACTOR, Action.ADD)],
)
def test_a_decision_ends_by_the_contacts_own_words_that_a_judge_reads_so(
    source_kind: SourceKind, action: Action
) -> None:
    standing = fact(0.6, category=Category.DECISION, trust=source_kind)
    assert decide(note(source_kind=source_kind), [standing], JUDGED, REPLACES).action is action


@every("reach", [-1.1, 0.81])
def test_a_reach_outside_its_bounds_is_refused(reach: float) -> None:
    with pytest.raises(ConfigurationError, match="must be between -1 and cosine_add_max"):
        ReconcilePolicy(reach=reach)


@every("relation", [Relation.REFINES, Relation.SAME])
def test_what_binds_ends_by_no_judge_that_calls_something_else_the_same(relation: Relation) -> None:
    operators = fact(
        0.5, "Always send invoices by post.", trust=SourceKind.OPERATOR, is_standing=True
    )
    answer = Judgement(reasoning="", relation=relation, target=1, action=Action.UPDATE)
    assert decide(note("Enjoys gardening."), [operators], JUDGED, answer).targets == ()
