"""Slots, guard, order, trust and corrections, from the door to what is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import count
from math import sqrt
from typing import Any

import pytest

from reconciler import Decision, Fact, Memory, SourceKind
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.kinds import Action, Relation
from reconciler.errors import (
    InvalidNoteError,
    InvalidRequestError,
    UnknownDecisionError,
)
from reconciler.testing import ScriptedArbiter, TableEmbedder
from tests.engines import EngineUnderTest
from tests.submissions import call_about
from tests.tables import every

NOON = datetime(2025, 3, 9, 12, tzinfo=UTC)
USER, DOCUMENT = SourceKind.USER_EXPLICIT, SourceKind.APPROVED_DOC

Open = Callable[..., Memory]


def days(number: float) -> datetime:
    return NOON + timedelta(days=number)


def apart(size: int, *texts: str) -> Mapping[str, list[float]]:
    """Vectors at right angles: no text is near another one."""
    return {
        text: [float(place == number) for place in range(size)] for number, text in enumerate(texts)
    }


def near(cosine: float, one: str, other: str) -> Mapping[str, list[float]]:
    return {one: [1.0, 0.0], other: [cosine, sqrt(1 - cosine**2)]}


@pytest.fixture
def open_memory(kept_engine: EngineUnderTest) -> Iterator[Open]:
    times = count(120, step=1e-4)
    with ExitStack() as stack:

        def open_(vectors: Mapping[str, list[float]], **given: Any) -> Memory:
            embedder = TableEmbedder(vectors, len(next(iter(vectors.values()))))
            parts: dict[str, Any] = {"embedder": embedder, "clock": lambda: days(next(times))}
            memory = Memory.open(**parts, **kept_engine.settings_arguments | given)
            stack.callback(memory.close)
            return memory

        yield open_


def say(memory: Memory, text: str, day: float = 0, **given: Any) -> Decision:
    return memory.add_contact_note("crm", "alice", text, **{"said_at": days(day)} | given)


def live(memory: Memory) -> list[str]:
    return sorted(each.fact.text for each in memory.contact("crm", "alice").recall(limit=100))


def fact_of(memory: Memory, decision: Decision) -> Fact:
    [history] = memory.contact("crm", "alice").history(fact_id=decision.fact_id)
    return next(each for each in history.facts if each.fact_id == decision.fact_id)


PUNE = {"attribute": "city", "value": "Pune"}
DELHI = {"attribute": "home city", "value": "Delhi"}
FAR = apart(6, "Lives in Pune", "Moved away to Delhi", "Back in Pune", "d", "b", "c")


# Slots


def test_another_value_of_a_single_valued_attribute_supersedes_at_any_cosine(
    open_memory: Open,
) -> None:
    memory = open_memory(FAR)
    first = say(memory, "Lives in Pune", **PUNE)
    second = say(memory, "Moved away to Delhi", 9, **DELHI)
    assert (second.action, second.decided_by) == ("UPDATE", "slot")
    assert second.superseded_ids == (first.fact_id,)
    assert live(memory) == ["Moved away to Delhi"]
    assert fact_of(memory, second).observations == 1
    assert memory.contact("crm", "alice").decisions()[0] == second


def test_an_equal_value_is_a_restatement_however_it_is_worded(open_memory: Open) -> None:
    memory = open_memory(FAR)
    say(memory, "Lives in Pune", **PUNE)
    again = say(memory, "Back in Pune", 1, attribute="City", value=" PUNE ")
    assert (again.action, again.decided_by) == ("UPDATE", "slot")
    assert fact_of(memory, again).observations == 2


def test_a_restatement_without_a_slot_keeps_the_slot(open_memory: Open) -> None:
    memory = open_memory(
        {"Lives in Pune": [1.0, 0.0], "She lives in Pune": [1.0, 0.0], "Delhi now": [0.0, 1.0]}
    )
    say(memory, "Lives in Pune", **PUNE)
    say(memory, "She lives in Pune", 1)
    say(memory, "Delhi now", 2, **DELHI)
    assert live(memory) == ["Delhi now"]


def test_a_lesser_word_fills_an_empty_slot_of_what_it_repeats(open_memory: Open) -> None:
    memory = open_memory({"Lives in Pune": [1.0, 0.0], "Delhi now": [0.0, 1.0]})
    say(memory, "Lives in Pune")
    repeated = say(memory, "Lives in Pune", 1, source_kind=DOCUMENT, **PUNE)
    assert repeated.action == "SKIP"
    memory.close()
    again = open_memory({"Lives in Pune": [1.0, 0.0], "Delhi now": [0.0, 1.0]})
    say(again, "Delhi now", 2, **DELHI)
    assert live(again) == ["Delhi now"]


@pytest.mark.parametrize("is_closed_between", [True, False])
def test_a_vaguer_note_leaves_the_richer_fact(open_memory: Open, is_closed_between: bool) -> None:
    rich, vague = "Is severely allergic to nuts", "Is allergic to nuts"
    memory = open_memory({rich: [1.0, 0.0], vague: [1.0, 0.0]})
    first = say(memory, rich)
    if is_closed_between:
        memory.close()
        memory = open_memory({rich: [1.0, 0.0], vague: [1.0, 0.0]})
    said = say(memory, vague, 1)
    assert (said.action, said.decided_by, said.fact_id) == ("SKIP", "guard", first.fact_id)
    assert live(memory) == [rich]
    assert fact_of(memory, said).observations == 2


def test_a_less_trusted_detail_is_not_swallowed(open_memory: Open) -> None:
    one, other = "Has a budget for this project", "Has a budget of 40,000 EUR for this project"
    memory = open_memory(near(0.97, one, other))
    first = say(memory, one)
    detail = say(memory, other, 1, source_kind=DOCUMENT)
    assert (detail.action, detail.conflicting_ids) == ("ADD", (first.fact_id,))


def test_a_confirmation_by_a_trusted_word_lends_its_trust(open_memory: Open) -> None:
    same = Judgement(reasoning="alike", relation=Relation.SAME, target=1, action=Action.SKIP)
    memory = open_memory(near(0.9, "Likes tea", "Enjoys tea"), arbiter=ScriptedArbiter([same]))
    say(memory, "Likes tea", source_kind=DOCUMENT)
    confirmed = say(memory, "Enjoys tea", 1)
    assert (confirmed.action, confirmed.decided_by) == ("UPDATE", "arbiter")
    assert fact_of(memory, confirmed).trust is USER


NO_SLOTS: list[tuple[dict[str, Any], str]] = [
    ({"value": "Pune"}, "attribute"),
    ({"attribute": " ", "value": "Pune"}, "attribute"),
    ({"attribute": "x" * 201, "value": "Pune"}, "attribute"),
    ({"attribute": "city", "value": ["Pune"]}, "value"),
    ({"attribute": "city", "value": "x" * 501}, "value"),
    ({"attribute": "city", "value": "a\0b"}, "value"),
    ({"subject": 5, "attribute": "city"}, "subject"),
    ({"attribute": "city", "value": "Pune", "single_valued": "yes"}, "single_valued"),
]


def test_a_slot_that_cannot_be_used_is_refused_and_nothing_written(open_memory: Open) -> None:
    memory = open_memory(FAR)
    for wrong, message in NO_SLOTS:
        with pytest.raises(InvalidNoteError, match=message):
            say(memory, "d", **wrong)
    assert memory.agent("crm").contacts() == []


def test_an_import_line_may_carry_a_slot(open_memory: Open) -> None:
    memory = open_memory(FAR)
    lines = [
        '{"text": "Lives in Pune", "attribute": "city", "value": "Pune"}',
        '{"text": "Moved away to Delhi", "attribute": "city", "value": "Delhi"}',
        '{"text": "d", "value": "Delhi"}',
        '{"text": "b", "attribute": "city", "value": {"name": "Delhi"}}',
        '{"text": "c", "attribute": "x", "value": "y", "single_valued": "yes"}',
    ]
    report = memory.import_notes(lines, agent_id="crm", contact_id="alice")
    assert live(memory) == ["Moved away to Delhi"]
    assert [each.line_number for each in report.errors] == [3, 4, 5]


# Guard


def test_what_the_guard_keeps_apart_is_linked_and_shown(open_memory: Open) -> None:
    one, other = "Pays 1042 euros a month", "Pays 1043 euros a month"
    memory = open_memory(near(0.99, one, other))
    first, second = say(memory, one), say(memory, other, 1)
    assert (second.action, second.decided_by) == ("ADD", "guard")
    assert second.conflicting_ids == (first.fact_id,)
    assert any("1043" in str(each) and "1042" in str(each) for each in second.verdict.findings)
    assert live(memory) == [one, other]
    for history in memory.contact("crm", "alice").history():
        [conflict] = history.conflicts
        assert {conflict.new_id, conflict.old_id} == {first.fact_id, second.fact_id}
        assert "1043" in conflict.reason
    assert memory.contact("crm", "alice").decisions()[0] == second


def test_an_arbiters_whole_answer_is_on_the_decision(open_memory: Open) -> None:
    answer = Judgement(
        reasoning="one place at a time",
        relation=Relation.REPLACES,
        target=1,
        action=Action.UPDATE,
        confidence=0.8,
    )
    one, other = "one wording", "another wording"
    memory = open_memory(near(0.9, one, other), arbiter=ScriptedArbiter([answer]))
    say(memory, one)
    decision = say(memory, other, 1)
    assert (decision.action, decision.decided_by) == ("UPDATE", "arbiter")
    assert (decision.opinion.reasoning, decision.opinion.relation) == (
        "one place at a time",
        "replaces",
    )
    assert (decision.opinion.action, decision.opinion.target) == ("UPDATE", 1)
    assert decision.opinion.confidence == 0.8
    assert memory.contact("crm", "alice").decision(decision.decision_id) == decision


# Order, trust, to and fro


def test_a_less_trusted_word_is_held_until_it_is_confirmed(open_memory: Open) -> None:
    memory = open_memory(FAR)
    trusted = say(memory, "Lives in Pune", **PUNE)
    guess = say(memory, "d", 1, source_kind=DOCUMENT, **DELHI)
    assert (guess.action, guess.decided_by) == ("ADD", "trust")
    assert guess.conflicting_ids == (trusted.fact_id,)
    assert live(memory) == ["Lives in Pune", "d"]
    assert all(history.conflicts for history in memory.contact("crm", "alice").history())

    confirmed = say(memory, "Moved away to Delhi", 2, **DELHI)
    assert set(confirmed.superseded_ids) == {trusted.fact_id, guess.fact_id}
    assert live(memory) == ["Moved away to Delhi"]
    [history] = memory.contact("crm", "alice").history()
    assert len(history.facts) == 3
    assert history.conflicts == ()
    assert fact_of(memory, confirmed).observations == 2


def test_a_value_that_comes_back_is_written_and_contested(open_memory: Open) -> None:
    memory = open_memory(FAR)
    say(memory, "Lives in Pune", **PUNE)
    say(memory, "Moved away to Delhi", 50, **DELHI)
    back = say(memory, "Back in Pune", 100, **PUNE)
    assert (back.action, back.verdict.is_contested) == ("UPDATE", True)
    assert "contested" in back.reason
    assert fact_of(memory, back).is_contested
    assert memory.contact("crm", "alice").decisions()[0] == back


@every(("window", "is_contested"), [(7.0, False), (8.0, True), (0.0, False)])
def test_two_flips_within_the_window_are_contested(
    open_memory: Open, window: float, is_contested: bool
) -> None:
    given = {"tenant": f"{window}", "reconcile": {"contested_window_days": window}}
    memory = open_memory(FAR, **given)
    say(memory, "Lives in Pune", **PUNE)
    say(memory, "Moved away to Delhi", 50, **DELHI)
    third = say(memory, "d", 58, attribute="city", value="Goa")
    assert third.verdict.is_contested is is_contested


# Corrections and explanations


@pytest.mark.on_neo4j_too
def test_a_correction_is_kept_and_moves_no_fact(open_memory: Open) -> None:
    memory = open_memory(near(0.9, "one wording", "another wording"))
    say(memory, "one wording")
    decision = say(memory, "another wording", 1)
    before = memory.contact("crm", "alice").history()
    corrected = memory.contact("crm", "alice").correct(decision.decision_id, "coexists")
    assert corrected.correction == "coexists"
    assert memory.contact("crm", "alice").decision(decision.decision_id) == corrected
    assert memory.contact("crm", "alice").history() == before


def test_a_correction_to_no_relation_is_refused(open_memory: Open) -> None:
    memory = open_memory(FAR)
    decision = say(memory, "d")
    for wrong in ("SAME", "", "no relation", None, 5):
        with pytest.raises(InvalidRequestError, match="same, refines, replaces"):
            memory.contact("crm", "alice").correct(decision.decision_id, wrong)  # type: ignore[arg-type]
    assert memory.contact("crm", "alice").decision(decision.decision_id).correction is None


def test_a_decision_that_was_never_made_is_refused(open_memory: Open) -> None:
    memory = open_memory(FAR)
    for call, *more in (
        (call_about(memory, "decision"),),
        (call_about(memory, "explain"),),
        (call_about(memory, "correct"), "same"),
    ):
        for unknown in ("no-such-id", "", "' OR 1=1"):
            with pytest.raises(UnknownDecisionError, match="decision"):
                call("crm", "alice", unknown, *more)
