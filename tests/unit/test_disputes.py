"""Disputes as the rule sees them: guesses, amendments, what settles, and what is asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reconciler.domain.reconciling.disputes import disputes_of, settle
from reconciler.domain.reconciling.rule import decide
from reconciler.domain.reconciling.verdicts import amended, neighbour_of
from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.facts import Conflict, Fact
from reconciler.domain.records.kinds import Action, DecidedBy, FactState, SourceKind
from reconciler.domain.records.notes import Note, Scope, Slot
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.errors import InvalidRequestError
from reconciler.reading.kinds import Category
from tests.tables import every

SCOPE = Scope("acme", "crm", "alice")
USER, OPERATOR = SourceKind.USER_EXPLICIT, SourceKind.OPERATOR
SKIP, UPDATE, ADD = Action.SKIP, Action.UPDATE, Action.ADD
POLICY = ReconcilePolicy()
THREE, TWO = "Has three children", "Has two children"


def day(number: float) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)


def fact(text: str, number: int = 1, **given: Any) -> Fact:
    at = given.pop("at", day(number))
    usual = {"trust": USER, "observations": 1, "recorded_at": at, "valid_from": at}
    return Fact(
        **{"fact_id": f"fact-{number}", "text": text, "last_confirmed_at": at} | usual | given
    )


def note(text: str, at: float = 100, **given: Any) -> Note:
    return Note(**{"scope": SCOPE, "text": text, "said_at": day(at)} | given)


def slot(value: str, attribute: str = "city", single: bool = True) -> Slot:
    return Slot(
        subject="contact",
        attribute=attribute,
        value=value,
        value_key=value.casefold(),
        is_single_valued=single,
        is_known=True,
    )


# One guess


@every(
    ("given", "hedged", "action", "decided_by"),
    [
        ({"is_confirmed_by_user": True}, True, ADD, DecidedBy.HEDGE),
        ({"observations": 3}, True, ADD, DecidedBy.HEDGE),
        ({"observations": 2}, True, UPDATE, DecidedBy.SLOT),
        ({"is_confirmed_by_user": True, "observations": 9}, False, UPDATE, DecidedBy.SLOT),
    ],
)
def test_a_guess_ends_nothing_confirmed_or_often_said(
    given: dict[str, Any], hedged: bool, action: Action, decided_by: DecidedBy
) -> None:
    known = neighbour_of(fact("Lives in Pune", slot=slot("Pune"), **given), 0.5)
    said = note("Perhaps in Goa", is_hedged=hedged, slot=slot("Goa"))
    verdict = decide(said, [known], POLICY)
    assert (verdict.action, verdict.decided_by) == (action, decided_by)
    assert verdict.conflicts == ((known,) if action is ADD else ())


def test_a_guess_that_says_the_same_is_counted() -> None:
    known = neighbour_of(fact("Lives in Pune", is_confirmed_by_user=True), 0.96)
    verdict = decide(note("Perhaps lives in Pune", is_hedged=True), [known], POLICY)
    assert (verdict.action, verdict.target, verdict.conflicts) == (SKIP, known, ())


@every(("confirmed", "word"), [(True, USER), (False, OPERATOR)])
def test_what_the_contact_confirmed_is_their_word(confirmed: bool, word: SourceKind) -> None:
    told = fact("Lives in Pune", trust=OPERATOR, is_confirmed_by_user=confirmed)
    assert neighbour_of(told, 1.0).word is word


# What later evidence settles


def said_again(text: str = THREE, **given: Any) -> Verdict:
    known = neighbour_of(fact(text), 0.97)
    usual = {"action": UPDATE, "decided_by": DecidedBy.THRESHOLD, "reason": "nearest"}
    return Verdict(**usual | {"targets": (known,), "is_restatement": True} | given)


def settled_by(said: Note, verdict: Verdict, *others: Fact) -> list[str]:
    return [each.text for each in settle(verdict, said, {"fact-1": others}).settled]


@every(
    ("said", "verdict", "other", "expected"),
    [
        (note(THREE), said_again(), fact(TWO, 2), [TWO]),
        (note(THREE), said_again(action=SKIP, is_restatement=False), fact(TWO, 2), [TWO]),
        (note(THREE, is_dated=False), said_again(), fact(TWO, 2, at=day(101)), [TWO]),
        (note(THREE, source_kind=OPERATOR), said_again(), fact(TWO, 2, trust=OPERATOR), [TWO]),
        (note(THREE, source_kind=OPERATOR), said_again(), fact(TWO, 2), []),
        (
            note(THREE, source_kind=OPERATOR),
            said_again(),
            fact(TWO, 2, trust=OPERATOR, is_confirmed_by_user=True),
            [],
        ),
        (note(THREE, 3), said_again(), fact(TWO, 2, last_confirmed_at=day(5)), []),
        (note(THREE, valid_from=day(1)), said_again(), fact(TWO, 2), []),
        (note(THREE, is_hedged=True), said_again(), fact(TWO, 2), []),
        (note(THREE), said_again(is_restatement=False), fact(TWO, 2), []),
        (note(THREE), said_again(is_history=True), fact(TWO, 2), []),
        (note(THREE), said_again(), fact(TWO, 2, category=Category.DECISION), []),
        (note(THREE), said_again(), fact("Has a large house", 2), []),
        (note(THREE), said_again(), fact("Has two children in her choir", 2), []),
        (note("She has three children now"), said_again(), fact(TWO, 2), [TWO]),
    ],
)
def test_only_a_later_plain_word_that_ranks_as_high_settles(
    said: Note, verdict: Verdict, other: Fact, expected: list[str]
) -> None:
    assert settled_by(said, verdict, other) == expected


def test_another_value_of_one_slot_needs_no_guard() -> None:
    said = note("Back in Pune", slot=slot("Pune"))
    other = fact("Moved to Goa", 2, slot=slot("Goa"))
    assert settled_by(said, said_again("Lives in Pune", action=SKIP), other) == ["Moved to Goa"]


def test_a_link_between_texts_that_differ_otherwise_waits_for_an_answer() -> None:
    tops = "I bought three tops from H&M for the summer"
    others = fact("I already have five tops from H&M in my wardrobe", 2)
    assert settled_by(note(tops), said_again(tops), others) == []


def test_the_value_of_another_matter_is_no_side() -> None:
    erp, crm = "The ERP budget is 40k", "The CRM budget is 20k"
    said = note(erp, slot=slot("40k", "budget"))
    assert settled_by(said, said_again(erp), fact(crm, 2, slot=slot("20k", "budget"))) == []


def test_a_value_of_no_named_matter_settles_nothing_of_several() -> None:
    erp = fact("The ERP budget is 40k", 2, slot=slot("40k", "budget"))
    crm = fact("The CRM budget is 20k", 3, slot=slot("20k", "budget"))
    said = note("The budget is 60k", slot=slot("60k", "budget"))
    assert settled_by(said, said_again("The budget is 60k"), erp, crm) == []
    assert settled_by(said, said_again("The budget is 60k"), erp) == [erp.text]


def test_an_amendment_ends_no_value_of_another_matter() -> None:
    erp = fact("The ERP budget is 40k", slot=slot("40k", "budget"))
    crm = fact("The CRM budget is 20k", 2, slot=slot("20k", "budget"))
    known = [neighbour_of(each, 0.3) for each in (erp, crm)]
    said = note("The CRM budget is 30k", slot=slot("30k", "budget"), source_kind=OPERATOR)
    assert amended(said, known, None, "anna: grew").targets == (known[1],)


def test_the_reason_names_what_ends() -> None:
    verdict = settle(said_again(), note(THREE), {"fact-1": (fact(TWO, 2),)})
    assert verdict.reason == 'nearest; that settles the dispute with "Has two children"'


# Amendments


@every("fact_id", ["fact-1", None])
def test_an_amendment_ends_what_it_names_and_what_shares_its_slot(fact_id: str | None) -> None:
    pune, goa = fact("Lives in Pune", slot=slot("Pune")), fact("In Goa", 2, slot=slot("Goa"))
    known = [neighbour_of(each, 0.3) for each in (pune, goa, fact("Has a dog", 3))]
    said = note("Lives in Delhi", slot=slot("Delhi"), source_kind=OPERATOR)
    verdict = amended(said, known, fact_id, "anna: moved")
    assert (verdict.action, verdict.decided_by) == (UPDATE, DecidedBy.AMENDMENT)
    assert (verdict.targets, verdict.reason) == (tuple(known[:2]), "amended by anna: moved")


@every(
    ("said", "known", "fact_id", "told"),
    [
        (note("x"), None, "fact-1", "reembed --model minilm"),
        (note("x"), [], "fact-1", "no live fact"),
        (note("x"), [fact("y", 2)], "fact-1", "no live fact"),
        (note("x", slot=slot("Goa")), [fact("y", 2)], None, "no live fact"),
        (note("x", 0), [fact("y")], "fact-1", "starts on 2026-01-02 00:00"),
    ],
)
def test_an_amendment_of_nothing_or_of_later_facts_is_refused(
    said: Note, known: list[Fact] | None, fact_id: str | None, told: str
) -> None:
    near = None if known is None else [neighbour_of(each, 0.5) for each in known]
    with pytest.raises(InvalidRequestError, match=told):
        amended(said, near, fact_id, "anna: wrong")


# What is asked


def conflict(new: int, old: int, at: float = 9) -> Conflict:
    return Conflict(new_id=f"fact-{new}", old_id=f"fact-{old}", reason="number", at=day(at))


def test_facts_that_hang_together_are_one_question() -> None:
    facts = [fact(text, number) for number, text in enumerate(("a", "b", "c", "d", "e"), start=1)]
    found = disputes_of(SCOPE, facts, [conflict(2, 1), conflict(3, 2, 11), conflict(5, 4)], day(20))
    assert [[each.text for each in dispute.facts] for dispute in found] == [
        ["a", "b", "c"],
        ["d", "e"],
    ]
    assert found[0].question.startswith('Which one holds: "a" (the user\'s own word, since 2026-')


@every("ended", [{"state": FactState.SUPERSEDED}, {"expires_at": day(19)}])
def test_what_has_ended_or_expired_is_in_no_dispute(ended: dict[str, Any]) -> None:
    facts = [fact("a"), fact("b", 2, **ended)]
    assert disputes_of(SCOPE, facts, [conflict(2, 1)], day(20)) == []
