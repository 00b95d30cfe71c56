"""What memory may be read and written in which phase of a task, and what is kept in no store."""

from __future__ import annotations

import pickle
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from reconciler.domain.recalling.procedures import (
    by_fit,
    may_be_offered,
    procedure_slot,
    procedure_text,
    procedures_of,
)
from reconciler.domain.records.facts import Fact, FiledFact, RankedFact
from reconciler.domain.records.kinds import FactState, Sensitivity, SourceKind
from reconciler.domain.records.notes import Scope, SlotMatch, compare_slots
from reconciler.domain.tasks.tasks import (
    Operation,
    Step,
    Task,
    TaskState,
    WorkingMemory,
    after,
    check,
)
from reconciler.errors import IllegalMemoryOperationError, InvalidNoteError
from reconciler.reading.kinds import Category
from tests.tables import every

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
TASK = Task(
    task_id="refund",
    scope=Scope("acme", "crm", "alice"),
    session_id="monday",
    goal="Refund order 7",
    state=TaskState.DECIDING,
    started_at=NOON,
    changed_at=NOON,
)

# The table of the seed, a row each; written out again, so that neither can change alone.
ALLOWED = {
    "start": "task_memory.load procedures recall",
    "deciding": "working",
    "after_tool_result": "working recall_about log_episode task_memory.mark_done "
    "task_memory.set_blocker task_memory.checkpoint",
    "success": "episodes propose_durable propose_procedure commit",
    "failure": "episodes propose_reflection commit",
    "interrupted": "task_memory.load task_memory.checkpoint",
}
LEADS = {
    "start": "deciding>deciding observed>after_tool_result interrupt>interrupted",
    "deciding": "tool_returned>after_tool_result observed>after_tool_result succeed>success "
    "fail>failure interrupt>interrupted",
    "after_tool_result": "deciding>deciding tool_returned>after_tool_result "
    "observed>after_tool_result succeed>success fail>failure interrupt>interrupted",
    "success": "",
    "failure": "",
    "interrupted": "resume>start",
}


def is_legal(state: TaskState, operation: Operation) -> bool:
    try:
        check(state, operation)
    except IllegalMemoryOperationError:
        return False
    return True


@every("state", TaskState)
def test_a_state_allows_exactly_what_its_row_says(state: TaskState) -> None:
    allowed = {each.value for each in Operation if is_legal(state, each)}
    assert allowed == set(ALLOWED[state].split())


@every("state", TaskState)
def test_a_state_leads_exactly_where_its_row_says(state: TaskState) -> None:
    leads = set()
    for step in Step:
        try:
            leads.add(f"{step}>{after(state, step)}")
        except IllegalMemoryOperationError:
            continue
    assert leads == set(LEADS[state].split())


def test_an_illegal_operation_is_told_with_its_state_and_what_is_legal() -> None:
    with pytest.raises(IllegalMemoryOperationError) as raised:
        check(TaskState.DECIDING, Operation.PROPOSE_DURABLE)
    assert str(raised.value) == (
        "propose_durable is not legal in state deciding; the legal operations are working, and the "
        "steps fail, interrupt, observed, succeed, tool_returned"
    )


@every(
    ("state", "legal"),
    [
        (TaskState.START, "the legal steps are deciding, interrupt, observed"),
        (TaskState.FAILURE, "the task has ended: begin another task with a new id"),
    ],
)
def test_an_illegal_step_is_told_with_its_state_and_what_is_legal(
    state: TaskState, legal: str
) -> None:
    with pytest.raises(IllegalMemoryOperationError) as raised:
        after(state, Step.RESUME)
    assert str(raised.value) == f"resume is not legal in state {state}; {legal}"


def test_working_memory_cannot_be_put_into_a_store() -> None:
    working = WorkingMemory(task=TASK)
    with pytest.raises(TypeError, match="never stored"):
        pickle.dumps(working)


def test_working_memory_shows_nothing_to_a_log() -> None:
    working = WorkingMemory(task=TASK)
    working.suppose("the cache is stale")
    working.observe("the page is old")
    assert not [each for each in ("cache", "page") if each in f"{working!r} {working}"]


def test_a_fact_that_is_recalled_twice_is_known_once() -> None:
    working = WorkingMemory(task=TASK)
    working.know([ranked(fact("one")), ranked(fact("two"))])
    working.know([ranked(fact("two")), ranked(fact("three"))])
    assert [each.fact.fact_id for each in working.facts] == ["one", "two", "three"]


# Procedures

STEPS = ["Look the order up", "Pay it back"]


def fact(fact_id: str, **given: object) -> Fact:
    plain = Fact(
        fact_id=fact_id,
        text="The way to issue refund: 1. Pay it back.",
        importance=0.5,
        trust=SourceKind.OPERATOR,
        observations=1,
        recorded_at=NOON,
        valid_from=NOON,
        valid_to=None,
        last_confirmed_at=NOON,
        slot=procedure_slot("Issue refund", STEPS),
        category=Category.PROCEDURE,
    )
    return replace(plain, **given)  # type: ignore[arg-type]


def ranked(found: Fact) -> RankedFact:
    return RankedFact(fact=found, score=1.0, similarity=None, recency=1.0)


def test_a_procedure_comes_back_with_its_name_and_its_steps() -> None:
    [found] = procedures_of([fact("one")], NOON)
    assert (found.name, found.version, found.steps) == ("issue_refund", 1, tuple(STEPS))


def test_a_version_counts_other_steps_before_it_but_no_restatement() -> None:
    newer = procedure_slot("Issue refund", [*STEPS, "Tell the contact"])
    ended = {"state": FactState.SUPERSEDED}
    facts = [fact("one", **ended), fact("two", slot=newer, **ended), fact("three", slot=newer)]
    [found] = procedures_of(facts, NOON)
    assert (found.version, found.fact_id) == (2, "three")


def test_where_the_last_version_does_not_hold_none_is_applied() -> None:
    assert procedures_of([fact("one"), fact("two", state=FactState.REVOKED)], NOON) == []
    never = fact("two", state=FactState.REVOKED, is_void=True)
    assert [each.fact_id for each in procedures_of([fact("one"), never], NOON)] == ["one"]


def test_what_fits_the_goal_comes_first_by_words_or_by_meaning() -> None:
    found = procedures_of(
        [fact("one"), fact("two", slot=procedure_slot("Move delivery", ["Ask the carrier"]))], NOON
    )
    for goal, cosines, fitting in (
        ("Refund order 7", [0.0, 0.0], ["issue_refund"]),
        ("Move it to Friday", [0.3, 0.2], ["move_delivery"]),
        ("Have it brought later", [0.1, 0.6], ["move_delivery"]),
        ("Refund order 7", [0.0, 0.6], ["issue_refund", "move_delivery"]),
        ("Anything", [0.2, 0.3], []),
    ):
        assert [each.name for each in by_fit(found, goal, cosines)] == fitting, goal


@pytest.mark.parametrize(
    "given",
    [
        {"state": FactState.SUPERSEDED},
        {"expires_at": NOON},
        {"category": Category.FACT},
        {"slot": None},
        {"slot": replace(procedure_slot("Issue refund", STEPS), subject="contact")},
    ],
    ids=["ended", "expired", "another category", "no slot", "about somebody"],
)
def test_what_is_no_live_procedure_is_not_applied(given: dict[str, object]) -> None:
    assert procedures_of([fact("one", **given)], NOON) == []


@every(
    ("given", "is_offered"),
    [
        ({}, True),
        ({"is_redacted": True}, False),
        ({"sensitivity": Sensitivity.PHI}, False),
        ({"text": "The way to call: 1. Dial [phone:0123456789ab]."}, False),
        ({"slot": procedure_slot("Ask Priya", STEPS)}, False),
        ({"slot": procedure_slot("Issue refund", ["Tell Sharma"])}, False),
        ({"slot": procedure_slot("Issue refund", ["Take the 17th"])}, True),
        ({"slot": None}, False),
    ],
)
def test_what_says_nothing_of_a_contact_is_offered_for_others(
    given: dict[str, object], is_offered: bool
) -> None:
    filed = FiledFact("c-17", "Priya Sharma", fact("one", **given))
    assert may_be_offered(filed, "c-17")
    assert may_be_offered(filed, "c-18") is is_offered


def test_the_number_of_a_step_is_nobodys_id() -> None:
    assert may_be_offered(FiledFact("1", None, fact("one")), "2")


def test_a_procedure_is_asked_about_in_numbered_sentences() -> None:
    text = procedure_text(procedure_slot("Issue refund", ["Look it  up.", "Pay\nback"]))
    assert text == "The way to issue refund: 1. Look it up. 2. Pay back."


def test_other_spacing_and_case_are_the_same_steps() -> None:
    one = procedure_slot("Issue refund", ["Look the order up", "Pay it back."])
    other = procedure_slot("issue-refund", ["look the  order up", "Pay it back"])
    assert compare_slots(one, other) is SlotMatch.EQUAL


def test_the_same_steps_under_another_name_are_another_procedure() -> None:
    one, other = procedure_slot("Issue refund", STEPS), procedure_slot("Take back", STEPS)
    assert compare_slots(one, other) is SlotMatch.APART


@every(
    ("name", "steps"),
    [("", STEPS), ("+", STEPS), ("n" * 201, STEPS), ("Refund", []), ("Refund", [" "])],
)
def test_a_procedure_without_a_name_or_a_step_is_none(name: str, steps: list[str]) -> None:
    with pytest.raises(InvalidNoteError):
        procedure_slot(name, steps)


def test_steps_are_a_list_and_not_one_string() -> None:
    with pytest.raises(InvalidNoteError, match="steps must be a list"):
        procedure_slot("Refund", "Pay it back")
