"""The memory of an agent's task, with the real gate behind it, on each engine.

Whatever a test says of what is nowhere kept, it says of the whole store, read behind the package's
back.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reconciler import Decision, Memory
from reconciler.domain.recalling.prompting import as_prompt
from reconciler.domain.records.candidates import Role, Turn
from reconciler.domain.records.kinds import Action, GateReason
from reconciler.domain.records.notes import Scope
from reconciler.domain.records.sessions import Episode
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction
from reconciler.domain.tasks.tasks import TaskState
from reconciler.errors import (
    ExtractionUnavailableError,
    IllegalMemoryOperationError,
    InvalidAnswerError,
    InvalidNoteError,
    InvalidRequestError,
    InvalidSessionError,
    UnknownTaskError,
)
from reconciler.reading.kinds import Category
from reconciler.service.tasks.memory_context import Cited, MemoryContext, Proposed
from reconciler.service.writing.write_gate import candidate_of
from reconciler.testing import HashingEmbedder, ScriptedExtractor
from tests import raw_store
from tests.conftest import ON_ANY_ONE
from tests.engines import EngineUnderTest, embedded_engine

ROOT = Path(__file__).resolve().parents[2]
KEY = "a key that only the tests know, 32 and more"
SAID = "Please always write to me by e-mail."
STEPS = ["Look the order up", "Pay it back", "Tell the contact"]
NEWER_STEPS = ["Look the order up", "Ask the accounting team", "Pay it back"]

Open = Callable[..., Memory]


def scope_of(memory: Memory, contact_id: str = "alice") -> Scope:
    return Scope(memory.settings.tenant, "crm", contact_id)


def context(memory: Memory, task_id: str = "t", **given: Any) -> MemoryContext:
    services = memory._services
    plain: dict[str, Any] = {
        "scope": scope_of(memory),
        "task_id": task_id,
        "session_id": "monday",
        "gate": services.gate,
        "cleaner": services.cleaner,
        "recall": services.recall,
        "records": services.records,
        "session_store": services.session_store,
        "task_store": services.task_store,
        "session_reader": services.session_reader,
        "procedures": services.procedures,
        "use_trace": services.use_trace,
        "clock": services.clock,
        "keeps_outcome": False,  # what came of a task has tests of its own
    }
    return MemoryContext(**plain | given)


def _opened(stack: ExitStack, engine: EngineUnderTest) -> Open:
    def open_(*answers: Extraction | ExtractionUnavailableError) -> Memory:
        given = {"embedder": HashingEmbedder(), "gate": {"hash_key": KEY}}
        memory = Memory.open(
            extractor=ScriptedExtractor(answers), **engine.settings_arguments | given
        )
        stack.callback(memory.close)
        return memory

    return open_


@pytest.fixture
def open_memory(kept_engine: EngineUnderTest) -> Iterator[Open]:
    """Opens a store; what was opened is closed."""
    with ExitStack() as stack:
        yield _opened(stack, kept_engine)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """One store for all tests that do not look into it from behind."""
    with ExitStack() as stack:
        yield _opened(stack, embedded_engine(tmp_path_factory.mktemp("shared")))()


@pytest.fixture
def memory(shared: Memory, request: pytest.FixtureRequest) -> Memory:
    """The shared store as a tenant of the test's own finds it, with nothing in it."""
    tenant = str(uuid.uuid5(uuid.NAMESPACE_URL, request.node.nodeid))
    settings = shared.settings.model_copy(update={"tenant": tenant})
    services = copy(shared._services)
    services.settings = settings
    return Memory(services)


def refusal(decision: Decision) -> tuple[Action, GateReason | None]:
    return decision.action, decision.gate.reason if decision.gate else None


def say(task: MemoryContext, role: str, text: str) -> Episode:
    task.observed()
    return task.log_episode(Turn(role=role, text=text))


def succeeded(memory: Memory, *said: tuple[str, str], task_id: str = "t") -> MemoryContext:
    """A task that is over, with what was said in it."""
    task = context(memory, task_id, goal="Answer the contact")
    for role, text in said:
        say(task, role, text)
    task.deciding()
    task.succeed()
    return task


def failed(memory: Memory, *said: tuple[str, str]) -> MemoryContext:
    task = context(memory, goal="Answer the contact")
    for role, text in said:
        say(task, role, text)
    task.deciding()
    task.fail()
    return task


def extraction(text: str = "Prefers e-mail", span: str = SAID, **given: Any) -> Extraction:
    plain: dict[str, Any] = {
        "text": text,
        "category": Category.FACT,
        "importance": 0.8,
        "confidence": 0.9,
        "citations": (Citation(episode=1, span=span),),
    }
    return Extraction(candidates=(Extracted(**plain | given),))


def live(memory: Memory, contact_id: str = "alice") -> list[str]:
    return sorted(each.fact.text for each in memory.contact("crm", contact_id).recall(limit=100))


# States


def test_a_task_goes_from_its_start_to_its_end(memory: Memory) -> None:
    task = context(memory, goal="Answer the contact")
    seen = [task.state]
    for step in (task.deciding, task.tool_returned, task.deciding, task.succeed):
        step()
        seen.append(task.state)
    assert seen == ["start", "deciding", "after_tool_result", "deciding", "success"]
    assert context(memory).state is TaskState.SUCCESS


ILLEGAL: dict[str, Callable[[MemoryContext], Any]] = {
    "recall": lambda task: task.recall("email", budget_tokens=10),
    "procedures": lambda task: task.procedures(),
    "working": lambda task: task.working,
    "recall_about": lambda task: task.recall_about("Acme", budget_tokens=10),
    "log_episode": lambda task: task.log_episode(Turn(role="tool", text="x")),
    "task_memory.load": lambda task: task.task_memory.load(),
    "task_memory.mark_done": lambda task: task.task_memory.mark_done("one"),
    "task_memory.set_blocker": lambda task: task.task_memory.set_blocker("x"),
    "task_memory.checkpoint": lambda task: task.task_memory.checkpoint(["x"]),
    "episodes": lambda task: task.episodes(),
    "propose_durable": lambda task: task.propose_durable([]),
    "propose_procedure": lambda task: task.propose_procedure("x", ["y"], []),
    "propose_reflection": lambda task: task.propose_reflection("x", []),
    "commit": lambda task: task.commit(None, None),  # type: ignore[arg-type]
}
WHERE_ILLEGAL = {
    TaskState.DECIDING: set(ILLEGAL) - {"working"},
    TaskState.START: set(ILLEGAL) - {"recall", "procedures", "task_memory.load"},
}


@pytest.mark.parametrize("state", WHERE_ILLEGAL)
def test_an_illegal_call_is_told_and_leaves_the_store_as_it_was(
    open_memory: Open, kept_engine: EngineUnderTest, state: TaskState
) -> None:
    memory = open_memory()
    task = context(memory, goal="Answer the contact")
    if state is TaskState.DECIDING:
        task.deciding()
    for name in WHERE_ILLEGAL[state]:
        with pytest.raises(IllegalMemoryOperationError, match=f"{name} is not legal in .*{state}"):
            ILLEGAL[name](task)
    memory.close()
    counted = raw_store.counts(kept_engine)
    assert (counted["Episode"], counted["Decision"], counted["Fact"]) == (0, 0, 0)


def test_a_task_that_nobody_began_is_unknown(memory: Memory) -> None:
    with pytest.raises(UnknownTaskError, match="no task t"):
        context(memory)


def test_a_task_that_another_process_ended_goes_no_further(memory: Memory) -> None:
    ours, theirs = context(memory, goal="Answer"), context(memory)
    theirs.resume()
    theirs.deciding()
    theirs.fail()
    with pytest.raises(IllegalMemoryOperationError, match="state failure: another process ended"):
        ours.deciding()
    assert ours.state is TaskState.FAILURE


# Task memory


def worked_on(memory: Memory) -> MemoryContext:
    task = context(memory, goal="Refund order 7")
    task.observed()
    task.working.observe("the page was slow")
    task.working.suppose("the cache is stale")
    task.task_memory.mark_done("find the order")
    task.task_memory.checkpoint(decided=["Pay it back in full"])
    task.task_memory.set_blocker("The bank is closed")
    return task


def test_a_task_reads_its_own_writes(memory: Memory) -> None:
    kept = worked_on(memory).working.task
    assert (kept.done, kept.decided, kept.blocker, kept.state) == (
        ("find the order",),
        ("Pay it back in full",),
        "The bank is closed",
        TaskState.AFTER_TOOL_RESULT,
    )


def test_a_task_that_is_opened_again_has_all_but_what_was_supposed(open_memory: Open) -> None:
    memory = open_memory()
    kept = worked_on(memory).working.task
    memory.close()
    task = context(open_memory(), session_id="tuesday")
    assert task.state is TaskState.INTERRUPTED
    found = task.resume()
    assert (found.done, found.decided, found.blocker) == (kept.done, kept.decided, kept.blocker)
    task.deciding()
    assert (task.working.hypotheses, task.working.observations) == ([], [])


KILLED = """
import json, os, signal, sys
from tests.integration.test_memory_context import KEY, context
from reconciler import Memory
from reconciler.testing import HashingEmbedder

memory = Memory.open(
    embedder=HashingEmbedder(), gate={"hash_key": KEY}, **json.loads(sys.argv[1])
)
task = context(memory, goal="Refund order 7")
task.observed()
task.working.suppose("the cache is stale")
for subtask in ("find the order", "pay it back"):
    task.task_memory.mark_done(subtask)
os.kill(os.getpid(), signal.SIGKILL)
"""


@ON_ANY_ONE
def test_a_killed_task_goes_on_with_the_same_done_subtasks(one_of_each: EngineUnderTest) -> None:
    settings = json.dumps(one_of_each.settings_arguments, default=str)
    killed = subprocess.run([sys.executable, "-c", KILLED, settings], cwd=ROOT, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    with ExitStack() as stack:
        task = context(_opened(stack, one_of_each)())
        assert task.resume().done == ("find the order", "pay it back")


def test_what_was_supposed_is_nowhere_in_the_store(
    open_memory: Open, kept_engine: EngineUnderTest
) -> None:
    memory = open_memory()
    task = worked_on(memory)
    task.deciding()
    task.fail()
    memory.close()
    everything = "\n".join(raw_store.everything(kept_engine))
    assert "Pay it back in full" in everything
    assert "stale" not in everything
    assert "slow" not in everything


def test_an_interrupted_task_can_be_checkpointed_and_goes_on_from_its_start(
    memory: Memory,
) -> None:
    task = worked_on(memory)
    task.interrupt()
    task.task_memory.checkpoint(decided=["Call back on Monday"])
    assert task.task_memory.resume().decided == ("Pay it back in full", "Call back on Monday")
    assert (task.state, task.task_memory.load().state) == (TaskState.START, TaskState.START)


@pytest.mark.parametrize("where", ["goal", "blocker", "decided"])
def test_a_secret_in_what_is_kept_of_a_task_is_taken_out(
    open_memory: Open, kept_engine: EngineUnderTest, where: str
) -> None:
    memory, text = open_memory(), "The portal's password is Blue42-Horse9!"
    task = context(memory, goal=text if where == "goal" else "Answer")
    task.observed()
    task.task_memory.set_blocker(text if where == "blocker" else None)
    task.task_memory.checkpoint([text] if where == "decided" else [])
    memory.close()
    assert "Blue42" not in "\n".join(raw_store.everything(kept_engine))


@pytest.mark.parametrize(
    "given", [{"task_id": " "}, {"session_id": ""}, {"goal": " "}, {"goal": "g" * 2001}]
)
def test_a_task_that_cannot_be_kept_is_not_begun(memory: Memory, given: dict[str, str]) -> None:
    with pytest.raises(InvalidRequestError):
        context(memory, **{"goal": "Answer"} | given)


def test_a_checkpoint_without_sentences_is_refused_in_our_words(memory: Memory) -> None:
    nothing: Any = None
    task = context(memory, goal="Answer")
    task.observed()
    with pytest.raises(InvalidRequestError, match="decided must be a list"):
        task.task_memory.checkpoint(nothing)


# Recall


def known(memory: Memory) -> None:
    for text in ("Acme is the employer", "The dog is called Rex", "Acme pays the invoices"):
        memory.add_contact_note("crm", "alice", text)


def test_what_is_recalled_at_the_start_is_at_hand_while_deciding(memory: Memory) -> None:
    known(memory)
    task = context(memory, goal="Answer")
    found = task.recall("Acme", budget_tokens=1000)
    task.deciding()
    assert len(found) == 3
    assert task.working.facts == found


def test_a_result_makes_what_it_mentions_known(memory: Memory) -> None:
    known(memory)
    task = context(memory, goal="Answer")
    say(task, "tool", "The invoice was sent to Acme")
    [found] = task.recall_about("Rex", budget_tokens=20)
    assert found.fact.text == "The dog is called Rex"
    assert task.working.facts == [found]


def test_what_a_result_mentions_is_found_by_name_alone(memory: Memory) -> None:
    texts = (
        "Works with Eva Vandermeer",
        "Likes tea",
        "Eva Vandermeer pays",
        "Never call on Mondays",
    )
    for text in texts:
        memory.add_contact_note("crm", "alice", text)
    task = context(memory, goal="Answer")
    say(task, "tool", "Vandermeer has signed")
    found = [hit.fact.text for hit in task.recall_about("Vandermeer", budget_tokens=1000)]
    named = memory.contact("crm", "alice").recall_about("Vandermeer")
    assert found == [hit.fact.text for hit in named]
    assert set(found) == {texts[0], texts[2]}


def test_what_a_result_mentions_may_be_limited(memory: Memory) -> None:
    for text in ("The dog is called Rex", "Rex is afraid of the vet", "Rex has a red lead"):
        memory.add_contact_note("crm", "alice", text)
    memory.add_contact_note("crm", "bob", "Rex bites")
    task = context(memory, goal="Answer")
    say(task, "tool", "A lead for Rex was sent")
    texts = {each.fact.text for each in task.recall_about("Rex", budget_tokens=1000)}
    assert (len(texts), "Rex bites" in texts) == (3, False)
    assert len(task.recall_about("Rex", budget_tokens=1000, limit=2)) == 2


def test_what_is_no_limit_is_refused(memory: Memory) -> None:
    task = context(memory, goal="Answer")
    say(task, "tool", "A lead for Rex was sent")
    for limit in (0, -1, True, 1.5, "2"):
        with pytest.raises(InvalidRequestError, match="limit"):
            task.recall_about("Rex", budget_tokens=10, limit=limit)  # type: ignore[arg-type]


@pytest.mark.parametrize(("more", "count"), [(-1, 1), (0, 2)])
def test_a_budget_is_kept_to_the_character(memory: Memory, more: int, count: int) -> None:
    for text in ("Likes hot red soups", "Likes old dry wines"):
        memory.add_contact_note("crm", "alice", text)
    lines = as_prompt(memory.contact("crm", "alice").recall("Likes")).splitlines()[2:-1]
    characters = sum(len(line) + 1 for line in lines)
    assert characters % 4 == 0
    found = context(memory, goal="Answer").recall("Likes", budget_tokens=characters // 4 + more)
    assert len(found) == count


def test_recall_is_never_unbounded(memory: Memory) -> None:
    task = context(memory, goal="Answer")
    for budget in (0, -1, True, 1.5, None):
        with pytest.raises(InvalidRequestError, match="budget_tokens"):
            task.recall("number", budget_tokens=budget)  # type: ignore[arg-type]


# Episodes


def test_the_record_of_a_task_is_all_that_was_logged_over_its_sessions(memory: Memory) -> None:
    first = context(memory, goal="Answer")
    logged = [say(first, "contact", SAID), say(first, "tool", "Order 7 was found")]
    task = context(memory, session_id="tuesday")
    task.resume()
    logged.append(say(task, "contact", "Thank you, Tuesday is fine"))
    task.deciding()
    task.succeed()
    assert [each.episode_id for each in task.episodes()] == [each.episode_id for each in logged]


def test_an_episode_is_cleaned_before_it_is_kept(
    open_memory: Open, kept_engine: EngineUnderTest
) -> None:
    memory = open_memory()
    kept = say(context(memory, goal="Answer"), "contact", "My card is 4111 1111 1111 1111")
    memory.close()
    assert "4111 1111" not in kept.text
    assert "4111 1111" not in "\n".join(raw_store.everything(kept_engine))


def test_what_only_a_slot_gives_away_is_out_of_the_tasks_record(open_memory: Open) -> None:
    code = Extracted(
        text="The door code is tango-77412.",
        category=Category.FACT,
        importance=0.5,
        confidence=0.9,
        citations=(Citation(episode=1, span="tango-77412"),),
        attribute="door_code",
        value="tango-77412",
    )
    memory = open_memory(Extraction(candidates=(code,)))
    task = context(memory, goal="Open the door")
    say(task, "contact", "It opens with tango-77412.")
    task.succeed()
    [proposed] = task.propose_durable(task.episodes())
    assert proposed.decision.gate is not None
    assert proposed.decision.gate.reason == "secret"
    assert "tango-77412" not in str(task.episodes())


def test_what_was_recalled_into_a_turn_is_no_episode(memory: Memory) -> None:
    known(memory)
    recalled = as_prompt(memory.contact("crm", "alice").recall())
    task = context(memory, goal="Answer")
    kept = say(task, "tool", f"Found nothing new. {recalled}").text
    assert (kept.startswith("Found nothing new."), "Rex" in kept) == (True, False)
    with pytest.raises(InvalidSessionError, match="holds only recalled facts"):
        task.log_episode(Turn(role="tool", text=recalled))


def test_the_same_words_said_twice_are_two_episodes(memory: Memory) -> None:
    task = context(memory, goal="Answer")
    said = [say(task, "tool", "Not ready yet") for _ in range(2)]
    assert len({each.episode_id for each in said}) == 2
    assert [each.position for each in said] == [0, 1]


# What is proposed of a success


def proposed(memory: Memory) -> tuple[MemoryContext, Proposed]:
    task = succeeded(memory, ("contact", SAID), ("contact", "Thank you, that is all"))
    [found] = task.propose_durable(task.episodes())
    return task, found


def test_what_a_task_proposes_is_no_fact_until_it_is_committed(open_memory: Open) -> None:
    memory = open_memory(extraction(confidence=1.0))
    task, found = proposed(memory)
    assert (found.decision.action, found.decision.door, live(memory)) == (Action.ADMIT, "task", [])
    assert task.commit(*found).action is Action.ADD
    assert live(memory) == ["Prefers e-mail"]


def test_a_commit_has_its_effect_once(open_memory: Open) -> None:
    memory = open_memory(extraction(confidence=1.0))
    task, found = proposed(memory)
    first, again = task.commit(*found), task.commit(*found)
    assert (again.fact_id, again.replayed) == (first.fact_id, True)
    assert live(memory) == ["Prefers e-mail"]


def test_the_same_record_in_another_order_is_read_once(open_memory: Open) -> None:
    memory = open_memory(extraction())
    task, first = proposed(memory)
    assert task.propose_durable(task.episodes()[::-1]) == [first]


def test_a_record_that_could_not_be_read_can_be_read_again(open_memory: Open) -> None:
    memory = open_memory(ExtractionUnavailableError("too slow"), extraction())
    task = succeeded(memory, ("contact", SAID))
    with pytest.raises(ExtractionUnavailableError):
        task.propose_durable(task.episodes())
    assert len(task.propose_durable(task.episodes())) == 1


def test_a_process_that_comes_back_after_success_proposes_nothing_twice(
    open_memory: Open,
) -> None:
    memory = open_memory(extraction(), extraction())
    _, first = proposed(memory)
    later = context(memory)
    [again] = later.propose_durable(later.episodes())
    assert (again.decision.decision_id, again.decision.replayed) == (
        first.decision.decision_id,
        True,
    )


def test_what_only_the_agent_said_is_never_remembered(open_memory: Open) -> None:
    guess = "The contact is fond of letters"
    memory = open_memory(extraction(guess, guess, confidence=1.0))
    task = succeeded(memory, ("agent", guess))
    [found] = task.propose_durable(task.episodes())
    assert refusal(found.decision) == (
        Action.REJECT,
        GateReason.MODEL_GUESS,
    )


def test_what_a_tool_said_waits_for_a_yes(open_memory: Open) -> None:
    page = "The customer wants all invoices sent to the Berlin office"
    memory = open_memory(extraction(page, page, confidence=1.0))
    task = succeeded(memory, ("tool", page))
    [found] = task.propose_durable(task.episodes())
    assert found.decision.action is Action.HOLD
    with pytest.raises(IllegalMemoryOperationError, match=r"it is HOLD .*a person's yes"):
        task.commit(*found)


@pytest.mark.parametrize(
    "changed",
    [
        lambda note: replace(note, text="Prefers letters"),
        lambda note: replace(note, scope=Scope("default", "crm", "bob")),
    ],
    ids=["another text", "another contact"],
)
def test_a_decision_commits_no_other_candidate(open_memory: Open, changed: Any) -> None:
    memory = open_memory(extraction(confidence=1.0))
    task, found = proposed(memory)
    other = replace(found.candidate, note=changed(found.candidate.note))
    with pytest.raises(IllegalMemoryOperationError, match="belongs to another candidate"):
        task.commit(other, found.decision)
    assert live(memory) == []


def test_a_decision_that_somebody_made_up_commits_nothing(open_memory: Open) -> None:
    memory = open_memory(extraction("Prefers 3 e-mails", confidence=0.6))
    task, found = proposed(memory)
    assert found.decision.action is Action.HOLD
    admitted = replace(found.decision.verdict, action=Action.ADMIT)
    with pytest.raises(IllegalMemoryOperationError, match="it is HOLD"):
        task.commit(found.candidate, replace(found.decision, verdict=admitted))
    assert live(memory) == []


# Procedures


def procedure(
    memory: Memory, steps: list[str], *, role: str = "tool", task_id: str = "t", **given: Any
) -> Decision:
    task = succeeded(memory, (role, "The refund went through"), task_id=task_id)
    return task.propose_procedure(
        given.get("name", "issue refund"), steps, given.get("episodes", task.episodes())
    )


def applied(memory: Memory) -> list[tuple[str, int, tuple[str, ...]]]:
    goal = "Issue refunds: reset the password, rotate the API key, escalate"
    found = context(memory, "reader", goal=goal)
    if found.state is TaskState.INTERRUPTED:
        found.resume()
    return [(each.name, each.version, each.steps) for each in found.procedures()]


@pytest.mark.parametrize("role", ["contact", "operator", "tool"])
def test_a_procedure_is_applied_by_an_operators_yes_alone(memory: Memory, role: str) -> None:
    held = procedure(memory, STEPS, role=role)
    assert (held.action, applied(memory)) == (Action.HOLD, [])
    memory.contact("crm", "alice").confirm(held.decision_id, "anna")
    assert applied(memory) == [("issue_refund", 1, tuple(STEPS))]


@pytest.mark.parametrize("role", ["contact", "tool"])
def test_the_contacts_yes_applies_no_procedure(memory: Memory, role: str) -> None:
    held = procedure(memory, STEPS, role=role)
    try:
        assert (
            memory.contact("crm", "alice").confirm(held.decision_id, "contact").action
            is Action.HOLD
        )
    except InvalidAnswerError as error:
        assert "only an operator may answer" in str(error)  # noqa: PT017
    assert applied(memory) == []


def test_the_agent_that_proposed_a_procedure_cannot_approve_it(memory: Memory) -> None:
    held = procedure(memory, STEPS)
    for name in ("crm", "agent:crm"):
        with pytest.raises(InvalidAnswerError):
            memory.contact("crm", "alice").confirm(held.decision_id, name)


def test_a_procedure_cannot_be_committed(memory: Memory) -> None:
    held = procedure(memory, STEPS)
    candidate = candidate_of(held, memory._services.decision_store)
    with pytest.raises(IllegalMemoryOperationError, match="it is HOLD"):
        context(memory).commit(candidate, held)


def approve(memory: Memory, steps: list[str], task_id: str, **given: Any) -> Decision:
    held = procedure(memory, steps, task_id=task_id, **given)
    return memory.contact("crm", "alice").confirm(held.decision_id, "anna")


@pytest.mark.on_neo4j_too
def test_a_newer_version_takes_the_older_ones_place(open_memory: Open) -> None:
    memory = open_memory()
    first = approve(memory, STEPS, "one")
    second = approve(memory, NEWER_STEPS, "two")
    assert (second.action, second.superseded_ids) == (Action.UPDATE, (first.fact_id,))
    assert applied(memory) == [("issue_refund", 2, tuple(NEWER_STEPS))]


def test_an_older_version_stays_applied_until_the_newer_one_is_approved(memory: Memory) -> None:
    approve(memory, STEPS, "one")
    procedure(memory, NEWER_STEPS, task_id="two")
    assert applied(memory) == [("issue_refund", 1, tuple(STEPS))]


def test_the_same_steps_again_are_no_new_version(memory: Memory) -> None:
    approve(memory, STEPS, "one")
    again = procedure(memory, STEPS, task_id="two")
    assert again.action is Action.SKIP
    assert applied(memory) == [("issue_refund", 1, tuple(STEPS))]


def test_the_same_steps_asked_about_twice_are_one_version(memory: Memory) -> None:
    held = [procedure(memory, STEPS, task_id=each) for each in ("one", "two")]
    assert held[1].proposal.held_id == held[0].decision_id
    for each in held:
        memory.contact("crm", "alice").confirm(each.decision_id, "anna")
    assert applied(memory) == [("issue_refund", 1, tuple(STEPS))]


def test_two_procedures_that_sound_alike_are_two(memory: Memory) -> None:
    for name in ("issue refund", "issue refunds"):
        approve(memory, STEPS, name.replace(" ", "-"), name=name)
    found = sorted(each[:2] for each in applied(memory))
    assert found == [("issue_refund", 1), ("issue_refunds", 1)]


@pytest.mark.parametrize("subject", ["procedure", "(procedure)", None])
def test_no_note_takes_an_approved_procedures_place(memory: Memory, subject: str | None) -> None:
    approve(memory, STEPS, "one")
    text = "The way to issue refund: 1. Look the order up. 2. Pay it back. 3. Tell the contact."
    noted = memory.add_contact_note(
        "crm",
        "alice",
        text,
        subject=subject,
        attribute="issue_refund_steps",
        value="Pay it back twice",
        single_valued=True,
        category="fact",
    )
    assert noted.action is Action.ADD
    assert applied(memory) == [("issue_refund", 1, tuple(STEPS))]


def test_the_agents_own_word_is_no_evidence_for_a_procedure(memory: Memory) -> None:
    refused = procedure(memory, STEPS, role="agent")
    assert refusal(refused) == (Action.REJECT, GateReason.NO_PROVENANCE)


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("reset password", ["Open the admin page", "Send the reset link"]),
        ("rotate api key", ["Make a new key", "Delete the old key"]),
        ("issue refund", ["Always check the invoice first", "Never pay more than was paid"]),
        ("escalate", ["If the contact is angry, call a person", "Write down what was promised"]),
    ],
)
def test_an_ordinary_procedure_reaches_an_operator(
    memory: Memory, name: str, steps: list[str]
) -> None:
    approve(memory, steps, "one", name=name)
    assert applied(memory) == [(name.replace(" ", "_"), 1, tuple(steps))]


@pytest.mark.parametrize("steps", [[], ["x" * 2000]])
def test_a_procedure_that_cannot_be_kept_is_not_proposed(memory: Memory, steps: list[str]) -> None:
    task = succeeded(memory, ("tool", "The refund went through"))
    with pytest.raises(InvalidNoteError):
        task.propose_procedure("issue refund", steps, task.episodes())


# Reflections

BLAME = "The billing service lost the refund of order 7"
SHOWN = "POST /refunds gave 500: the refund of order 7 was lost"


def test_a_reflection_waits_for_a_yes_however_often_it_is_seen(memory: Memory) -> None:
    said = [("contact", f"{SHOWN}, {number}") for number in range(4)]
    task = failed(memory, *said)
    cited = [Cited(each, SHOWN) for each in task.episodes()]
    held = task.propose_reflection(BLAME, cited)
    assert (held.action, live(memory)) == (Action.HOLD, [])
    memory.contact("crm", "alice").confirm(held.decision_id, "anna")
    assert live(memory) == [BLAME]


@pytest.mark.parametrize(
    ("role", "words", "reason"),
    [
        ("tool", None, GateReason.NO_PROVENANCE),
        ("agent", SHOWN, GateReason.NO_PROVENANCE),
        ("tool", "the bank lost it", GateReason.SPAN_NOT_IN_EVIDENCE),
    ],
    ids=["nothing", "the agent's own words", "words that nobody said"],
)
def test_blame_without_provenance_is_refused(
    memory: Memory, role: str, words: str | None, reason: GateReason
) -> None:
    task = failed(memory, (role, SHOWN))
    cited = [Cited(each, words) for each in task.episodes() if words]
    refused = task.propose_reflection(BLAME, cited)
    assert refusal(refused) == (Action.REJECT, reason)


def test_a_reflection_that_is_only_supposed_is_refused(memory: Memory) -> None:
    task = failed(memory, ("tool", SHOWN))
    cited = [Cited(each, SHOWN) for each in task.episodes()]
    refused = task.propose_reflection("The loss was probably caused by the cache", cited)
    assert refusal(refused) == (Action.REJECT, GateReason.SPECULATION)


def test_another_contacts_episode_is_no_evidence(memory: Memory) -> None:
    theirs = context(memory, scope=scope_of(memory, "bob"), goal="Answer")
    episode = say(theirs, "contact", SHOWN)
    task = failed(memory, ("tool", "It failed"))
    with pytest.raises(InvalidRequestError, match=f"no episode {episode.episode_id} is kept"):
        task.propose_reflection(BLAME, [Cited(episode, SHOWN)])


# What is handed over proves nothing

PROPOSALS: dict[str, Callable[[MemoryContext, Episode], Any]] = {
    "propose_durable": lambda task, episode: task.propose_durable([episode]),
    "propose_procedure": lambda task, episode: task.propose_procedure("refund", STEPS, [episode]),
    "propose_reflection": lambda task, episode: task.propose_reflection(
        BLAME, [Cited(episode, SHOWN)]
    ),
}


def over(memory: Memory, proposal: str) -> tuple[MemoryContext, Episode]:
    """A task that may propose so, and the one episode that it logged."""
    end = failed if proposal == "propose_reflection" else succeeded
    task = end(memory, ("contact", SHOWN))
    return task, task.episodes()[0]


@pytest.mark.parametrize("proposal", PROPOSALS)
def test_an_episode_that_was_never_logged_is_no_evidence(memory: Memory, proposal: str) -> None:
    task, logged = over(memory, proposal)
    made_up = replace(logged, episode_id="made-up")
    with pytest.raises(InvalidRequestError, match="no episode made-up is kept in task t"):
        PROPOSALS[proposal](task, made_up)
    assert memory.contact("crm", "alice").decisions() == []


@pytest.mark.parametrize("proposal", PROPOSALS)
@pytest.mark.parametrize(
    "changed",
    [{"text": "The contact owns the bank"}, {"role": Role.OPERATOR}],
    ids=["text", "role"],
)
def test_what_an_episode_says_and_who_says_it_is_as_it_is_kept(
    open_memory: Open, proposal: str, changed: dict[str, Any]
) -> None:
    memory = open_memory(extraction(SHOWN, SHOWN))
    task, logged = over(memory, proposal)
    PROPOSALS[proposal](task, replace(logged, **changed))
    [decision] = memory.contact("crm", "alice").decisions()
    [evidence] = memory._services.decision_store.list_evidence(decision.decision_id, decision.scope)
    assert (evidence.text, evidence.source_kind) == (SHOWN, logged.role.source_kind)


def test_when_an_episode_was_said_is_as_it_is_kept(open_memory: Open) -> None:
    memory = open_memory(extraction(SHOWN, SHOWN))
    task, logged = over(memory, "propose_durable")
    backdated = replace(logged, said_at=datetime(2001, 1, 1, tzinfo=UTC))
    [found] = task.propose_durable([backdated])
    assert found.candidate.note.said_at == logged.said_at
    assert [each.said_at for each in found.candidate.evidence] == [logged.said_at]
