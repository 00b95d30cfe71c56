"""What a fact takes over when it is said again, row by row."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st

from reconciler import Decision, Fact, Scope
from reconciler.domain.reconciling.restating import (
    confirmed,
    expiry_of,
    observed,
    restating,
    with_slot_of,
    written_fact,
)
from reconciler.domain.records.candidates import Assessment
from reconciler.domain.records.kinds import (
    Action,
    DecidedBy,
    Disposal,
    FactState,
    GateReason,
    Sensitivity,
    SourceKind,
)
from reconciler.domain.records.notes import Remembered, Slot
from reconciler.reading.kinds import Category, RecallSemantics
from tests.records import decision_of
from tests.tables import every

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
TICK = timedelta(microseconds=1)
DAYS = timedelta(days=180)
ALICE = Scope("acme", "crm", "alice")
PUNE = Slot(
    subject="contact", attribute="city", value="Pune", value_key="pune", is_single_valued=True
)
GOA = replace(PUNE, value="Goa", value_key="goa", is_known=True, is_personal=True)
ABOUT_HER = Slot(subject="wife", attribute=None, value=None, value_key=None, is_single_valued=False)
OTHERS = [each for each in Category if each is not Category.DECISION]
TRUSTED = [SourceKind.USER_EXPLICIT, SourceKind.OPERATOR, SourceKind.APPROVED_DOC]
WEAK = [SourceKind.TOOL_OUTPUT, SourceKind.MODEL_GUESS]


def fact(**changes: Any) -> Fact:
    usual: dict[str, Any] = {
        "fact_id": "a fact",
        "text": "Lives in Pune",
        "importance": 0.5,
        "trust": SourceKind.USER_EXPLICIT,
        "observations": 1,
        "recorded_at": NOON,
        "valid_from": NOON,
        "valid_to": None,
        "last_confirmed_at": NOON,
        "confidence": 0.5,
    }
    return Fact(**usual | changes)


def assessed(**changes: Any) -> Assessment:
    usual: dict[str, Any] = {
        "disposal": Disposal.ADMIT,
        "reason": GateReason.ADMITTED,
        "detail": "the word of user_explicit",
        "findings": (),
        "confidence": 0.6,
        "parts": (),
        "category": Category.FACT,
        "sensitivity": Sensitivity.NONE,
        "is_redacted": False,
        "recall_semantics": RecallSemantics.DEFAULT,
        "yields_to_live_intent": False,
        "policy_version": "1",
        "domain": "general",
        "inference_key": "inference-1",
    }
    return Assessment(**usual | changes)


def decided(gate: Assessment | None = None, **changes: Any) -> Decision:
    """A decision of noon, about a note of noon; the gate's assessment is a plain one."""
    usual: dict[str, Any] = {
        "decision_id": "a decision",
        "scope": ALICE,
        "text": "Lives in Pune",
        "said_at": NOON,
        "action": Action.ADD,
        "decided_by": DecidedBy.THRESHOLD,
        "reason": "because",
        "fact_id": "a new fact",
        "door": "live",
        "at": NOON,
        "episode_id": "an episode",
        "profile": "seed",
        "cosine_update_min": 0.95,
        "cosine_add_max": 0.8,
        "cosine_cut": 0.875,
        "guard": True,
        "embedding_model": "model@1",
        "gate": gate,
    }
    return decision_of(**usual | changes)


def restated(new: Fact, old: Fact) -> Fact:
    return restating(new, old, is_read_again=False)


# A restatement: confidence and observations


@pytest.mark.parametrize(
    ("is_read_again", "old", "new", "observations", "confidence"),
    [
        pytest.param(False, 0.6, 0.5, 4, 0.8, id="another episode"),
        pytest.param(False, 0.0, 0.5, 4, 0.5, id="the old one believed by nobody"),
        pytest.param(False, 1.0, 0.5, 4, 1.0, id="the old one certain"),
        pytest.param(True, 0.6, 0.5, 3, 0.6, id="read again, less sure"),
        pytest.param(True, 0.6, 0.6, 3, 0.6, id="read again, as sure"),
        pytest.param(True, 0.5, 0.6, 3, 0.6, id="read again, surer"),
    ],
)
def test_another_episode_counts_and_makes_surer_and_the_same_one_does_neither(
    is_read_again: bool, old: float, new: float, observations: int, confidence: float
) -> None:
    known = fact(confidence=old, observations=3)
    found = restating(fact(confidence=new), known, is_read_again=is_read_again)
    assert (found.observations, found.confidence) == (observations, pytest.approx(confidence))


unit = st.floats(0, 1)


@given(unit, unit, st.booleans())
def test_being_said_again_makes_nobody_less_sure_and_nobody_surer_than_certain(
    old: float, new: float, is_read_again: bool
) -> None:
    found = restating(fact(confidence=new), fact(confidence=old), is_read_again=is_read_again)
    assert max(old, new) - 1e-12 <= found.confidence <= 1


# A restatement: lifetimes


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(NOON + TICK, NOON, NOON + TICK, id="the old one just above"),
        pytest.param(NOON, NOON, NOON, id="equal"),
        pytest.param(NOON - TICK, NOON, NOON, id="the old one just below"),
        pytest.param(None, NOON, None, id="the old one for ever"),
        pytest.param(NOON, None, None, id="the new one for ever"),
        pytest.param(None, None, None, id="both for ever"),
    ],
)
@pytest.mark.parametrize("category", OTHERS)
def test_of_two_lifetimes_the_longer_one_holds(
    category: Category, old: datetime | None, new: datetime | None, expected: datetime | None
) -> None:
    known = fact(expires_at=old, category=category)
    assert restated(fact(expires_at=new), known).expires_at == expected


@every("old", [NOON - TICK, NOON, NOON + TICK, None])
@every("new", [NOON, None])
def test_a_standing_decision_keeps_its_own_lifetime(
    old: datetime | None, new: datetime | None
) -> None:
    standing = fact(category=Category.DECISION, expires_at=old)
    assert restated(fact(expires_at=new), standing).expires_at == old


# A restatement: what it is


@every("category", Category)
def test_a_decision_stays_a_decision_whatever_says_it_again(category: Category) -> None:
    standing = fact(
        category=Category.DECISION,
        recall_semantics=RecallSemantics.CONSTRAINT,
        yields_to_live_intent=True,
    )
    found = restated(fact(category=category), standing)
    assert found.category is Category.DECISION
    assert found.recall_semantics is RecallSemantics.CONSTRAINT
    assert found.yields_to_live_intent


@every("category", OTHERS)
@every("new", Category)
def test_anything_else_becomes_what_it_is_said_to_be_but_volatile(
    category: Category, new: Category
) -> None:
    known = fact(
        category=category, recall_semantics=RecallSemantics.CONSTRAINT, yields_to_live_intent=True
    )
    found = restated(fact(category=new, recall_semantics=RecallSemantics.NEGATIVE), known)
    expected = category if new is Category.VOLATILE else new
    assert (found.category, found.recall_semantics) == (expected, RecallSemantics.NEGATIVE)
    assert not found.yields_to_live_intent


@every("old", Sensitivity)
@every("new", Sensitivity)
def test_a_sensitivity_is_inherited_by_what_has_none(old: Sensitivity, new: Sensitivity) -> None:
    found = restated(fact(sensitivity=new), fact(sensitivity=old))
    assert found.sensitivity is (old if new is Sensitivity.NONE else new)


@every(
    ("old", "new", "expected"),
    [
        (PUNE, None, PUNE),
        (PUNE, GOA, GOA),
        (PUNE, ABOUT_HER, ABOUT_HER),
        (GOA, None, GOA),
        (None, GOA, GOA),
        (None, None, None),
    ],
)
def test_a_slot_is_inherited_whole_by_what_has_none(
    old: Slot | None, new: Slot | None, expected: Slot | None
) -> None:
    assert restated(fact(slot=new), fact(slot=old)).slot == expected


@every("old", [False, True])
@every("new", [False, True])
def test_a_yes_of_the_contacts_is_never_lost(old: bool, new: bool) -> None:
    found = restated(fact(is_confirmed_by_user=new), fact(is_confirmed_by_user=old))
    assert found.is_confirmed_by_user is (old or new)


@every("apart", [-TICK, timedelta(), TICK])
def test_it_was_said_last_when_either_was(apart: timedelta) -> None:
    found = restated(fact(last_confirmed_at=NOON + apart), fact(last_confirmed_at=NOON))
    assert found.last_confirmed_at == max(NOON, NOON + apart)


MAY_BE_BROUGHT = {each.name for each in fields(Remembered) if each.default is None}
"""What comes with some notes, and with others not."""


@every("name", sorted(MAY_BE_BROUGHT))
def test_what_a_note_may_bring_is_taken_over_where_the_next_one_brings_none(name: str) -> None:
    mark: Any = object()
    assert getattr(restated(fact(), fact(**{name: mark})), name) is mark
    assert getattr(restated(fact(**{name: mark}), fact(**{name: object()})), name) is mark


TAKEN_OVER = MAY_BE_BROUGHT | {
    *{"observations", "confidence", "is_confirmed_by_user", "category", "recall_semantics"},
    *{"yields_to_live_intent", "expires_at", "sensitivity", "last_confirmed_at"},
    *{"recall_count", "last_recalled_at", "first_held_from"},
}
UNLIKE = {
    "fact_id": "another",
    "text": "Pune is home",
    "importance": 0.9,
    "trust": SourceKind.OPERATOR,
    "recorded_at": NOON - DAYS,
    "valid_from": NOON - DAYS,
    "valid_to": NOON,
    "state": FactState.SUPERSEDED,
    "is_void": True,
    "is_contested": True,
    "topic": "home",
    "tags": ("a", "b"),
    "is_redacted": True,
}


def test_every_other_attribute_is_the_new_facts_own() -> None:
    assert set(UNLIKE) | TAKEN_OVER == {each.name for each in fields(Fact)}
    new = fact()
    found = restated(new, fact(**UNLIKE))
    assert {name: getattr(found, name) for name in UNLIKE} == {
        name: getattr(new, name) for name in UNLIKE
    }


def test_a_restatement_takes_its_use_over() -> None:
    found = restated(fact(), fact(recall_count=3, last_recalled_at=NOON))
    assert (found.recall_count, found.last_recalled_at) == (3, NOON)


# Said once more: a SKIP


@every(
    ("old", "said", "expected"),
    [(0.5, 0.6, 0.8), (0.5, 0.0, 0.5), (1.0, 0.6, 1.0), (0.0, 0.6, 0.6)],
)
@every("source_kind", [*TRUSTED, SourceKind.EXTRACTOR])
def test_a_word_that_counts_makes_surer(
    source_kind: SourceKind, old: float, said: float, expected: float
) -> None:
    by = decided(assessed(confidence=said), action=Action.SKIP, source_kind=source_kind)
    found = confirmed(fact(confidence=old, observations=3), by)
    assert (found.observations, found.confidence) == (4, pytest.approx(expected))


@every("source_kind", WEAK)
def test_a_tool_or_a_model_that_repeats_is_counted_and_makes_nobody_surer(
    source_kind: SourceKind,
) -> None:
    by = decided(assessed(confidence=0.9), action=Action.SKIP, source_kind=source_kind)
    found = confirmed(fact(confidence=0.5, observations=3), by)
    assert (found.observations, found.confidence) == (4, 0.5)


def test_what_no_gate_has_seen_makes_nobody_surer() -> None:
    assert confirmed(fact(confidence=0.5), decided(None, action=Action.SKIP)).confidence == 0.5


@pytest.mark.parametrize(
    ("known", "days", "expected"),
    [
        pytest.param(NOON + DAYS - TICK, 180, NOON + DAYS, id="the fact just below"),
        pytest.param(NOON + DAYS, 180, NOON + DAYS, id="equal"),
        pytest.param(NOON + DAYS + TICK, 180, NOON + DAYS + TICK, id="the fact just above"),
        pytest.param(None, 180, None, id="the fact for ever"),
        pytest.param(NOON, None, None, id="the word for ever"),
        pytest.param(None, None, None, id="both for ever"),
    ],
)
def test_a_lifetime_grows_and_never_shrinks(
    known: datetime | None, days: int | None, expected: datetime | None
) -> None:
    by = decided(assessed(lifetime_days=days), action=Action.SKIP)
    assert confirmed(fact(expires_at=known), by).expires_at == expected


@every("apart", [-TICK, timedelta(), TICK])
def test_what_is_said_once_more_was_said_last_when_either_was(apart: timedelta) -> None:
    by = decided(assessed(), action=Action.SKIP, said_at=NOON + apart)
    assert confirmed(fact(), by).last_confirmed_at == max(NOON, NOON + apart)


@every("was_confirmed", [False, True])
@every("answered_by", [None, "operator", "contact"])
def test_only_the_contacts_own_yes_confirms(was_confirmed: bool, answered_by: str | None) -> None:
    by = decided(assessed(), action=Action.SKIP, answered_by=answered_by)
    found = confirmed(fact(is_confirmed_by_user=was_confirmed), by)
    assert found.is_confirmed_by_user is (was_confirmed or answered_by == "contact")


SAID_MORE = {
    *{"observations", "confidence", "is_confirmed_by_user", "expires_at", "last_confirmed_at"}
}


@every(
    ("known", "said", "source_kind", "kept"),
    [
        (None, PUNE, SourceKind.EXTRACTOR, PUNE),
        (PUNE, GOA, SourceKind.USER_EXPLICIT, PUNE),
        (PUNE, None, SourceKind.USER_EXPLICIT, PUNE),
        (None, PUNE, SourceKind.TOOL_OUTPUT, None),
        (None, GOA, SourceKind.EXTRACTOR, None),
    ],
)
def test_a_slot_is_filled_by_a_word_that_counts_whose_value_the_fact_says(
    known: Slot | None, said: Slot | None, source_kind: SourceKind, kept: Slot | None
) -> None:
    by = decided(assessed(), action=Action.SKIP, slot=said, source_kind=source_kind)
    assert confirmed(fact(slot=known, text="Lives in Pune."), by).slot == kept


def test_nothing_else_of_a_fact_changes_when_it_is_said_once_more() -> None:
    before = fact(**UNLIKE | {"state": FactState.LIVE, "valid_to": None, "slot": PUNE})
    by = decided(
        assessed(sensitivity=Sensitivity.PII, category=Category.DECISION, lifetime_days=180),
        action=Action.SKIP,
        importance=0.1,
        slot=GOA,
        answered_by="contact",
    )
    after = confirmed(before, by)
    changed = {e.name for e in fields(Fact) if getattr(before, e.name) != getattr(after, e.name)}
    assert changed <= SAID_MORE


def test_an_older_note_that_says_the_same_is_counted_and_no_more() -> None:
    before = fact(**UNLIKE, observations=3)
    assert observed(before) == replace(before, observations=4)


# What is written


@every(
    ("days", "expected"),
    [(None, None), (0, NOON - DAYS), (1, NOON - DAYS + timedelta(days=1)), (180, NOON)],
)
def test_a_lifetime_counts_from_when_it_was_said(
    days: int | None, expected: datetime | None
) -> None:
    by = decided(assessed(lifetime_days=days), said_at=NOON - DAYS)
    assert expiry_of(by) == written_fact(by).expires_at == expected


def test_what_no_gate_has_seen_never_expires_and_is_believed() -> None:
    found = written_fact(decided(None))
    assert (found.expires_at, found.confidence, found.category) == (None, 1.0, Category.FACT)


def test_a_fact_is_made_of_its_note_and_of_what_the_gate_found() -> None:
    gate = assessed(
        category=Category.PREFERENCE,
        topic="home",
        sensitivity=Sensitivity.PII,
        is_redacted=True,
        recall_semantics=RecallSemantics.NEGATIVE,
        yields_to_live_intent=True,
        confidence=0.7,
    )
    early = NOON - DAYS
    note = {"importance": 0.2, "source_kind": SourceKind.OPERATOR, "tags": ("a",), "slot": PUNE}
    by = decided(gate, **note, text="Pune is home", valid_from=early, is_contested=True)
    assert written_fact(by) == fact(
        fact_id="a new fact",
        text="Pune is home",
        importance=0.2,
        trust=SourceKind.OPERATOR,
        valid_from=early,
        tags=("a",),
        slot=PUNE,
        category=Category.PREFERENCE,
        topic="home",
        sensitivity=Sensitivity.PII,
        is_redacted=True,
        recall_semantics=RecallSemantics.NEGATIVE,
        yields_to_live_intent=True,
        confidence=0.7,
        is_contested=True,
    )


def test_what_lies_beneath_a_newer_fact_is_not_live_and_ends_where_that_begins() -> None:
    found = written_fact(
        decided(assessed(), targets=("a newer one",), is_history=True), NOON + DAYS
    )
    assert (found.is_live, found.valid_to) == (False, NOON + DAYS)


@every(
    ("action", "is_confirmed"),
    [(Action.ADD, True), (Action.UPDATE, True), (Action.DECLINE, False), (Action.REVOKE, False)],
)
def test_only_a_yes_is_the_contacts_confirmation(action: Action, is_confirmed: bool) -> None:
    by = decided(assessed(), action=action, answered_by="contact")
    assert written_fact(by).is_confirmed_by_user is is_confirmed


@every(
    ("text", "slot", "expected"),
    [
        ("lives in pune!", None, PUNE),
        ("Lives in Goa", None, None),
        ("She left Pune.", None, PUNE),
        ("She left Pune and rents in Goa.", None, None),
        ("Moved from Pune to Goa.", None, None),
        ("Lives in Puneville", None, None),
        ("lives in pune!", GOA, GOA),
        ("lives in pune!", ABOUT_HER, ABOUT_HER),
    ],
)
def test_what_took_a_facts_place_stays_in_its_slot_where_it_holds_the_value(
    text: str, slot: Slot | None, expected: Slot | None
) -> None:
    assert with_slot_of(fact(text=text, slot=slot), fact(slot=PUNE)).slot == expected


def test_a_slot_without_a_value_is_not_taken_over() -> None:
    assert with_slot_of(fact(text="..."), fact(slot=ABOUT_HER)).slot is None
