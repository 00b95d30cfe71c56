"""Two contacts that are one: a merge, a new id, and the way back."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reconciler import Action, Decision, Memory, ops
from reconciler.bound_memory import AgentMemory, ContactMemory
from reconciler.domain.records.notes import Scope
from reconciler.errors import (
    GraphConflictError,
    InvalidAnswerError,
    InvalidRequestError,
    InvalidSessionError,
    RevertRefusedError,
    UnknownContactError,
)
from reconciler.service.persons import deciding
from reconciler.service.stores.erasure_store import ErasureStore
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.clocks import Clock
from tests.engines import EngineUnderTest

NOON = datetime(2024, 3, 9, 12, tzinfo=UTC)
Open = Callable[..., Memory]


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


@pytest.fixture
def memory(opened: Open) -> Memory:
    return opened()


@pytest.fixture
def crm(memory: Memory) -> AgentMemory:
    """Two records of one person, and another contact."""
    crm = memory.agent("crm")
    for contact_id, city in (("priya", "Pune"), ("priya-2", "Mumbai")):
        say(crm, contact_id, f"Lives in {city}.", attribute="city", value=city)
        say(crm, contact_id, "Works as a paediatric nurse.")
    say(crm, "priya", "Plays the cello.")
    say(crm, "priya-2", "Has a dog called Rex.")
    say(crm, "bob", "Plays chess.")
    return crm


def say(crm: AgentMemory, contact_id: str, text: str, **given: Any) -> Decision:
    return crm.contact(contact_id).note(text, **given)


def merged(crm: AgentMemory) -> Decision:
    return crm.merge_contacts("priya", "priya-2", by="anna", reason="The same phone number.")


def told(about: ContactMemory) -> list[str]:
    return sorted(hit.fact.text for hit in about.recall(limit=50))


BOTH = [
    "Has a dog called Rex.",
    "Lives in Mumbai.",
    "Lives in Pune.",
    "Plays the cello.",
    "Works as a paediatric nurse.",
]
OWN = ["Lives in Pune.", "Plays the cello.", "Works as a paediatric nurse."]
SECRETS, SECRETS_OF_OTHER = {"Pune", "Bruno", "Berlin"}, {"Mumbai", "Rexina", "Volvo"}
OTHERS = ["Has a dog called Rex.", "Lives in Mumbai.", "Works as a paediatric nurse."]


def test_what_was_known_of_both_is_known_of_one(crm: AgentMemory) -> None:
    made = merged(crm)
    assert (made.action, made.scope.contact_id) == (Action.MERGE, "priya")
    assert made.proposal.answered_by == "anna"
    assert told(crm.contact("priya")) == BOTH
    assert [contact.contact_id for contact in crm.contacts()] == ["bob", "priya"]


def test_equal_facts_become_one_with_the_evidence_of_both(crm: AgentMemory) -> None:
    merged(crm)
    priya = crm.contact("priya")
    [nurse] = [hit.fact for hit in priya.recall() if "nurse" in hit.fact.text]
    assert nurse.observations == 2
    turns = priya.evidence(nurse.fact_id).turns
    assert [turn.text for turn in turns] == ["Works as a paediatric nurse."] * 2


def test_contradicting_values_become_an_open_dispute(crm: AgentMemory) -> None:
    merged(crm)
    priya = crm.contact("priya")
    [dispute] = priya.disputes()
    assert sorted(fact.text for fact in dispute.facts) == ["Lives in Mumbai.", "Lives in Pune."]
    mumbai = next(fact for fact in dispute.facts if "Mumbai" in fact.text)
    priya.resolve(mumbai.fact_id, by="contact", reason="She said so.")
    assert [each.value for each in priya.value("city")] == ["Mumbai"]


def test_the_old_id_is_a_way_to_the_contact_for_every_call(crm: AgentMemory) -> None:
    absorbed = crm.contact("priya-2")  # bound before the merge
    merged(crm)
    assert absorbed.scope.contact_id == "priya"
    assert say(crm, "priya-2", "Sings in a choir.").scope.contact_id == "priya"
    assert "Sings in a choir." in told(crm.contact("priya"))
    assert told(absorbed) == told(crm.contact("priya"))
    assert absorbed.tools().scope.contact_id == "priya"
    assert [each.contact_id for each in crm.contacts("priya-2")] == ["priya"]


def test_tools_that_were_handed_out_before_write_about_the_contact(crm: AgentMemory) -> None:
    tools = crm.contact("priya-2").tools(session_id="chat")
    merged(crm)
    tools.call("add_contact_note", {"note": "I collect stamps.", "source_kind": "user_explicit"})
    assert tools.scope.contact_id == "priya"


def test_sessions_jobs_tasks_and_questions_come_along(memory: Memory, crm: AgentMemory) -> None:
    absorbed = crm.contact("priya-2")
    job_id = absorbed.submit_session("call-7", [{"role": "user", "content": "I live in Goa."}])
    absorbed.task("trip", goal="Book a trip.")
    held = absorbed.note("Collects old stamps.", source_kind="tool_output")
    assert held.action is Action.HOLD
    merged(crm)
    priya = crm.contact("priya")
    assert [job.job_id for job in priya.jobs()] == [job_id]
    assert priya.job(job_id).scope.contact_id == "priya"
    [done] = memory.drain()
    assert (done.state, done.scope.contact_id) == ("done", "priya")
    assert priya.session("call-7").session_id == "call-7"
    assert [task.task_id for task in priya.tasks()] == ["trip"]
    assert priya.task("trip").state == "interrupted"
    assert held.decision_id in [
        each.decision_id for each in priya.pending() if isinstance(each, Decision)
    ]
    assert priya.confirm(held.decision_id, by="contact").action is Action.ADD
    assert "Collects old stamps." in told(priya)


def test_forgotten_words_come_back_through_neither(crm: AgentMemory) -> None:
    absorbed = crm.contact("priya-2")
    [rex] = [hit.fact for hit in absorbed.recall() if "Rex" in hit.fact.text]
    absorbed.forget(fact_id=rex.fact_id, by="contact", reason="She asked.")
    merged(crm)
    for contact_id in ("priya", "priya-2"):
        assert say(crm, contact_id, "Has a dog called Rex.").action is Action.HOLD
    [cello] = [hit.fact for hit in crm.contact("priya").recall() if "cello" in hit.fact.text]
    crm.contact("priya").forget(fact_id=cello.fact_id, by="contact", reason="She asked.")
    crm.split_contacts("priya", "priya-2", by="anna")
    assert say(crm, "priya-2", "Plays the cello.").action is Action.HOLD
    assert say(crm, "priya-2", "Has a dog called Rex.").action is Action.HOLD


def test_a_split_gives_back_what_was_the_others(crm: AgentMemory) -> None:
    merged(crm)
    say(crm, "priya-2", "Sings in a choir.")  # said of the merged contact, which stays
    undone = crm.split_contacts("priya", "priya-2", by="anna")
    assert undone.action is Action.REVERT
    assert told(crm.contact("priya")) == [*OWN[:2], "Sings in a choir.", OWN[2]]
    assert told(crm.contact("priya-2")) == OTHERS
    assert [contact.contact_id for contact in crm.contacts()] == ["bob", "priya", "priya-2"]
    for contact_id in ("priya", "priya-2"):
        about = crm.contact(contact_id)
        assert about.disputes() == []
        [nurse] = [hit.fact for hit in about.recall() if "nurse" in hit.fact.text]
        assert nurse.observations == 1
        assert {made.scope.contact_id for made in about.all_decisions()} == {contact_id}
    again = crm.contact("priya-2").note("Lives in Delhi.", attribute="city", value="Delhi")
    assert again.action is Action.UPDATE


def test_a_split_says_what_depends_on_the_merge(crm: AgentMemory) -> None:
    made = merged(crm)
    later = say(crm, "priya", "Works as a paediatric nurse.")
    with pytest.raises(RevertRefusedError, match=later.decision_id):
        crm.contact("priya").revert(made.decision_id, by="anna", reason="Two people.")
    crm.split_contacts("priya", "priya-2", by="anna", and_later=True)
    assert told(crm.contact("priya-2")) == OTHERS


@pytest.mark.parametrize(("gone", "words"), [("priya-2", SECRETS_OF_OTHER), ("priya", SECRETS)])
def test_after_a_split_an_erasure_leaves_no_word_of_one_in_the_records_of_the_other(
    any_engine: EngineUnderTest, gone: str, words: set[str]
) -> None:
    settings: Any = {"embedder": HashingEmbedder(), **any_engine.settings_arguments}
    with Memory.open(**settings) as memory:
        crm = memory.agent("crm")
        for contact_id, city, pet in (("priya", "Pune", "Bruno"), ("priya-2", "Mumbai", "Rexina")):
            say(crm, contact_id, f"Lives in {city}.", attribute="city", value=city)
            say(crm, contact_id, "Works as a nurse.", attribute="occupation", value="nurse")
            say(crm, contact_id, f"Has a dog called {pet}.")
        say(crm, "priya", "Plays the oboe.", attribute="instrument", value="oboe")
        say(crm, "priya-2", "Drives a Volvo.", attribute="car", value="Volvo")
        lima = {"attribute": "city", "value": "Lima", "source_kind": "tool_output"}
        held = say(crm, "priya-2", "Lives in Lima.", **lima)
        merged(crm)
        # What is said meanwhile quotes what is known of both, in reasons, questions and answers.
        crm.contact("priya").confirm(held.decision_id, by="contact")
        say(
            crm,
            "priya",
            "Lives in Berlin.",
            attribute="city",
            value="Berlin",
            source_kind="operator",
        )
        for text, slot in (("Drives a Skoda.", "car"), ("Plays the harp.", "instrument")):
            asked = {
                "attribute": slot,
                "value": text.split()[-1].rstrip("."),
                "single_valued": True,
            }
            question = say(crm, "priya", text, source_kind="tool_output", **asked)
            assert question.action is Action.HOLD
            crm.contact("priya").confirm(question.decision_id, by="contact")
        say(
            crm, "priya", "Drives a Lada.", attribute="car", value="Lada", source_kind="tool_output"
        )
        crm.split_contacts("priya", "priya-2", by="anna", and_later=True)
        assert crm.contact(gone).forget(by="contact", reason="She asked.").receipt.is_clean
        assert ops.health(crm, check_records=True).total.damaged == 0
        kept = crm.contact("priya" if gone == "priya-2" else "priya-2")
        assert len(told(kept)) >= 3
        assert kept.all_decisions()
    stored = "\n".join(raw_store.everything(any_engine))
    assert {word for word in words if word in stored} == set()
    if any_engine.name == "embedded":
        files = settings["embedded_path"].parent.rglob("*")
        held_bytes = b"".join(path.read_bytes() for path in files if path.is_file())
        assert {word for word in words if word.encode() in held_bytes} == set()


def test_a_session_after_a_split_is_the_others_again(memory: Memory, crm: AgentMemory) -> None:
    absorbed = crm.contact("priya-2")
    absorbed.submit_session("call-7", [{"role": "user", "content": "I live in Goa."}])
    held = absorbed.note("Collects old stamps.", source_kind="tool_output")
    merged(crm)
    crm.contact("priya").confirm(held.decision_id, by="contact")
    crm.split_contacts("priya", "priya-2", by="anna")
    assert "Collects old stamps." in told(absorbed)
    assert absorbed.pending() == []
    [done] = memory.drain()
    assert (done.state, done.scope.contact_id) == ("done", "priya-2")
    assert crm.contact("priya").jobs() == []


def test_the_same_call_again_returns_the_first_decision(crm: AgentMemory) -> None:
    first = merged(crm)
    again = merged(crm)
    assert (again.decision_id, again.replayed) == (first.decision_id, True)
    undone = crm.split_contacts("priya", "priya-2", by="anna")
    repeated = crm.split_contacts("priya", "priya-2", by="anna")
    assert (repeated.decision_id, repeated.replayed) == (undone.decision_id, True)
    with pytest.raises(InvalidRequestError, match="merge the contacts again"):
        crm.contact("priya").revert(undone.decision_id, by="anna", reason="Once more.")
    assert merged(crm).decision_id != first.decision_id


def test_a_contact_gets_a_new_id(crm: AgentMemory) -> None:
    made = crm.rename_contact("priya-2", "p-77", by="anna")
    assert (made.action, made.scope.contact_id) == (Action.MERGE, "p-77")
    assert told(crm.contact("p-77")) == told(crm.contact("priya-2")) == OTHERS
    with pytest.raises(InvalidRequestError, match="priya exists"):
        crm.rename_contact("p-77", "priya", by="anna")


@pytest.mark.parametrize(
    ("keep", "absorb", "error", "said"),
    [
        ("priya", "priya", InvalidRequestError, "priya is the same contact"),
        ("priya", "nobody", UnknownContactError, "nothing is known about contact nobody"),
        ("nobody", "priya", UnknownContactError, "nothing is known about contact nobody"),
        ("bob", "priya-2", InvalidRequestError, "priya-2 is priya, and cannot be merged into bob"),
        ("priya-2", "priya", InvalidRequestError, "priya is the same contact"),
    ],
)
def test_what_cannot_be_merged_changes_nothing(
    crm: AgentMemory, keep: str, absorb: str, error: type[Exception], said: str
) -> None:
    merged(crm)
    before = [crm.contact(each).version() for each in ("priya", "bob")]
    with pytest.raises(error, match=said):
        crm.merge_contacts(keep, absorb, by="anna")
    assert [crm.contact(each).version() for each in ("priya", "bob")] == before
    assert told(crm.contact("bob")) == ["Plays chess."]


def test_a_chain_of_merges_ends_at_one_contact_and_is_split_from_its_end(
    crm: AgentMemory,
) -> None:
    with pytest.raises(InvalidRequestError, match="never merged"):
        crm.split_contacts("priya", "bob", by="anna")
    crm.merge_contacts("priya", "bob", by="anna")
    crm.merge_contacts("priya-2", "priya", by="anna")
    assert crm.contact("bob").scope.contact_id == "priya-2"
    with pytest.raises(RevertRefusedError):
        crm.split_contacts("priya-2", "bob", by="anna")
    crm.split_contacts("priya-2", "priya", by="anna")
    assert crm.contact("bob").scope.contact_id == "priya"
    crm.split_contacts("priya", "bob", by="anna")
    assert told(crm.contact("bob")) == ["Plays chess."]


def test_the_ids_of_another_agent_are_out_of_reach(memory: Memory, crm: AgentMemory) -> None:
    memory.contact("shop", "carol").note("Likes tea.")
    with pytest.raises(UnknownContactError):
        crm.merge_contacts("priya", "carol", by="anna")
    with pytest.raises(UnknownContactError):
        memory.agent("crm", tenant="other").merge_contacts("priya", "priya-2", by="anna")


@pytest.mark.parametrize("by_id", ["priya", "priya-2"])
def test_an_erasure_of_either_erases_both_and_holds_all_that_was_erased_before(
    crm: AgentMemory, by_id: str
) -> None:
    before = []
    for contact_id, word in (("priya", "cello"), ("priya-2", "Rex")):
        about = crm.contact(contact_id)
        [fact] = [hit.fact for hit in about.recall() if word in hit.fact.text]
        before.append(about.forget(fact_id=fact.fact_id, by="contact", reason="She asked."))
    merged(crm)
    done = crm.contact(by_id).forget(by="contact", reason="She asked.")
    assert done.receipt.is_clean
    for contact_id in ("priya", "priya-2"):
        about = crm.contact(contact_id)
        listed = {each.erasure_id for each in about.erasures()}
        assert listed == {each.erasure_id for each in (*before, done)}
        assert about.scope.contact_id == "priya"
        assert told(about) == []
        for text in ("Plays the cello.", "Has a dog called Rex.", "Lives in Mumbai."):
            assert say(crm, contact_id, text).action is Action.HOLD


def test_an_export_restores_the_contact_and_the_way_to_it(
    memory: Memory, crm: AgentMemory, tmp_path: Path
) -> None:
    merged(crm)
    file = tmp_path / "crm.jsonl"
    with file.open("wb") as out:
        ops.export(crm.contact("priya"), out)
    settings: Any = {"embedder": HashingEmbedder(), "embedded_path": tmp_path / "other.lbug"}
    ops.restore(file, **settings)
    with Memory.open(**settings) as other:
        there = other.agent("crm")
        assert told(there.contact("priya-2")) == BOTH
        assert there.contact("priya-2").scope.contact_id == "priya"
        there.split_contacts("priya", "priya-2", by="anna")
        assert told(there.contact("priya-2")) == OTHERS


def test_a_process_that_runs_sees_a_merge_by_another(
    opened: Open, crm: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "embedded_path" in crm._parts.settings.model_fields_set:
        pytest.skip("one process has the embedded file")
    there = opened().agent("crm").contact("priya-2")
    assert there.scope.contact_id == "priya-2"
    merged(crm)
    assert there.note("Sings in a choir.").scope.contact_id == "priya"
    assert told(there) == sorted([*BOTH, "Sings in a choir."])


def test_a_write_that_meets_a_merge_goes_to_the_contact(crm: AgentMemory) -> None:
    absorbed = crm.contact("priya-2")
    scope = absorbed.scope
    merged(crm)
    home = crm._parts.home
    home.cache[home.cache_key(scope)] = scope  # as another process remembers it
    assert say(crm, "priya-2", "Sings in a choir.").scope.contact_id == "priya"
    home.cache[home.cache_key(scope)] = scope
    assert absorbed.recall("Does she sing in a choir?")[0].fact.text == "Sings in a choir."


def test_a_note_and_a_recall_about_known_facts_are_one_query_each(
    crm: AgentMemory, asked: list[str]
) -> None:
    crm._parts.home.cache_clear()
    asked.clear()
    say(crm, "priya", "Sings in a choir.")
    crm.contact("priya").recall("Does she sing in a choir?")
    assert asked == ["commit_decisions", "list_versions"]


def test_the_facts_of_a_contact_are_read_once_and_then_its_version(
    crm: AgentMemory, asked: list[str]
) -> None:
    crm._parts.home.cache_clear()
    crm._parts.neighbourhoods.drop(crm.contact("priya").scope)
    crm._parts.home.cache_clear()
    asked.clear()
    crm.contact("priya").recall("Does she sing in a choir?")
    assert asked == ["list_neighbourhood", "find_contact_version", "list_conflicts"]
    asked.clear()
    say(crm, "nobody", "Sings in a choir.")
    assert asked == ["list_neighbourhood", "find_contact_version", "commit_decisions"]


def test_lines_about_merged_contacts_go_to_the_contact_after_one_look(
    memory: Memory, crm: AgentMemory, asked: list[str]
) -> None:
    merged(crm)
    crm._parts.home.cache_clear()
    asked.clear()
    lines = [
        json.dumps({"agent_id": "crm", "contact_id": contact_id, "text": text})
        for contact_id in ("priya-2", "bob")
        for text in ("Sings in a choir.", "Owns a red kayak.")
    ]
    assert memory.import_notes(lines).added == 4
    assert asked.count("list_versions") == 1
    assert asked.count("commit_decisions") == 1
    assert {"Sings in a choir.", "Owns a red kayak."} <= {*told(crm.contact("priya"))}


def test_a_held_note_is_judged_by_earlier_decisions_once(
    crm: AgentMemory, asked: list[str]
) -> None:
    asked.clear()
    held = say(crm, "bob", "Perhaps she has diabetes.", idempotency_key="once")
    assert held.action is Action.HOLD
    assert asked.count("list_precedents") == 1
    assert "list_comparisons" not in asked


def test_writers_beside_a_merge_lose_nothing(crm: AgentMemory) -> None:
    words = ["amber", "birch", "coral", "delta", "ember", "fjord", "grape", "hazel"]

    def write(contact_id: str) -> None:
        for word in words:
            say(crm, contact_id, f"Owns a {word} {contact_id.replace('-', ' ')} lamp.")

    with ThreadPoolExecutor(3) as pool:
        writing = [pool.submit(write, each) for each in ("priya", "priya-2")]
        merging = pool.submit(merged, crm)
        for each in (*writing, merging):
            each.result()
    known = [made.text for made in crm.contact("priya").all_decisions()]
    for word in words:
        assert {f"Owns a {word} priya lamp.", f"Owns a {word} priya 2 lamp."} <= {*known}
    assert crm.contact("priya-2").scope.contact_id == "priya"


def test_a_decision_from_before_a_merge_or_a_new_id_is_reverted_as_before(
    crm: AgentMemory,
) -> None:
    known = [each for name in ("priya", "priya-2") for each in crm.contact(name).all_decisions()]
    made = {each.text: each for each in known}
    rex, cello, nurse = made[OTHERS[0]], made[OWN[1]], made[OWN[2]]
    crm.rename_contact("priya-2", "p-2", by="anna")
    crm.merge_contacts("priya", "p-2", by="anna")
    for each in (rex, cello):
        crm.contact("p-2").revert(each.decision_id, by="anna", reason="A typing error.")
    assert told(crm.contact("priya")) == ["Lives in Mumbai.", OWN[0], OWN[2]]
    with pytest.raises(RevertRefusedError, match="split the merged contacts first"):
        crm.contact("priya").revert(nurse.decision_id, by="anna", reason="Wrong.", and_later=True)
    with pytest.raises(RevertRefusedError, match="and_later"):
        crm.split_contacts("priya", "p-2", by="anna")
    crm.split_contacts("priya", "p-2", by="anna", and_later=True)
    assert told(crm.contact("priya-2")) == OTHERS


def test_what_was_noted_on_one_day_of_either_is_told_apart_by_a_split(crm: AgentMemory) -> None:
    merged(crm)
    say(crm, "priya", "Plays chess.")
    crm.contact("priya").amend(
        "Plays go.",
        by="anna",
        reason="Heard wrong.",
        fact_id=next(
            hit.fact.fact_id for hit in crm.contact("priya").recall() if "cello" in hit.fact.text
        ),
    )
    crm.split_contacts("priya", "priya-2", by="anna")
    assert told(crm.contact("priya-2")) == OTHERS


@pytest.mark.on_neo4j_too
def test_of_two_merges_at_once_from_two_processes_one_is_made(
    opened: Open, crm: AgentMemory
) -> None:
    is_embedded = "embedded_path" in crm._parts.settings.model_fields_set
    there = crm if is_embedded else opened().agent("crm")

    def made(by: AgentMemory, keep: str, absorb: str) -> Decision | str:
        try:
            return by.merge_contacts(keep, absorb, by="anna")
        except (InvalidRequestError, GraphConflictError) as error:
            return str(error)

    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(made, crm, "priya", "priya-2")
        other = pool.submit(made, there, "priya-2", "priya")
        results = [one.result(), other.result()]
    [refusal] = [each for each in results if isinstance(each, str)]
    assert "call again" in refusal or "same contact" in refusal or "cannot be merged" in refusal
    time.sleep(1.1)  # for a second a process may remember that a contact is merged into none
    for by in (crm, there):
        assert told(by.contact("priya")) == told(by.contact("priya-2")) == BOTH
    scopes = {by.contact(each).scope for by in (crm, there) for each in ("priya", "priya-2")}
    assert len(scopes) == 1


MOVING = """
import sys
from reconciler import Memory
from reconciler.domain.records.notes import Scope
from reconciler.service.persons import deciding
from reconciler.service.stores.erasure_store import ErasureStore
from reconciler.testing import HashingEmbedder

with Memory.open(embedder=HashingEmbedder(), embedded_path=sys.argv[1]) as memory:
    crm = memory.agent("crm")
    print("open", flush=True)
    while True:
        crm.merge_contacts("priya", "priya-2", by="anna")
        crm.split_contacts("priya", "priya-2", by="anna")
"""


@pytest.mark.parametrize("seconds", [0.02, 0.11, 0.23])
def test_a_killed_merge_leaves_two_contacts_or_one(tmp_path: Path, seconds: float) -> None:
    settings: Any = {"embedder": HashingEmbedder(), "embedded_path": tmp_path / "memory.lbug"}
    with Memory.open(**settings) as memory:
        for word in ("amber", "birch", "coral"):
            for contact_id in ("priya", "priya-2"):
                memory.contact("crm", contact_id).note(f"Owns a {word} lamp of {contact_id}.")
    command = [sys.executable, "-c", MOVING, str(settings["embedded_path"])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "open\n"
        time.sleep(seconds)
        process.kill()
    with Memory.open(**settings) as memory:
        crm = memory.agent("crm")
        is_one = crm.contact("priya-2").scope.contact_id == "priya"
        counts = [len(told(crm.contact(each))) for each in ("priya", "priya-2")]
        assert counts == ([6, 6] if is_one else [3, 3])
        assert ops.health(crm, check_records=True).total.damaged == 0
        if not is_one:
            merged(crm)
        assert len(told(crm.contact("priya"))) == 6


def test_a_split_is_refused_while_a_fact_of_the_kept_contact_rests_on_the_merge(
    memory: Memory,
) -> None:
    crm = memory.agent("crm")
    ana, bea = crm.contact("ana"), crm.contact("bea")
    ana.note("Never call before ten.")
    bea.note("Likes green tea.")
    held = bea.note("Never call before ten.", source_kind="tool_output")
    assert held.action == "HOLD"
    crm.merge_contacts("ana", "bea", by="lena")
    answer = ana.confirm(held.decision_id, by="contact")
    with pytest.raises(RevertRefusedError) as refused:
        crm.split_contacts("ana", "bea", by="lena")
    assert refused.value.decision_ids == (answer.decision_id,)
    crm.split_contacts("ana", "bea", by="lena", and_later=True)
    assert [hit.fact.text for hit in crm.contact("ana").recall()] == ["Never call before ten."]


def test_a_split_gives_back_a_name_and_what_has_no_fact(memory: Memory) -> None:
    crm = memory.agent("crm")
    crm.contact("ana").note("Plays the cello.")
    crm.contact("bea").note("Lives in Delhi.", source_kind="model_guess", contact_name="Bea Roy")
    crm.merge_contacts("ana", "bea", by="lena")
    crm.split_contacts("ana", "bea", by="lena")
    assert {each.contact_id for each in crm.contacts()} == {"ana", "bea"}
    assert [each.name for each in crm.contacts("ana")] == ["ana"]


def test_a_contact_of_too_many_facts_is_not_merged_into_another(
    crm: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deciding, "_MERGED_MAX", 2)
    with pytest.raises(InvalidRequestError, match=r"has 3 facts.* merge the smaller one into it"):
        merged(crm)
    assert crm.contact("priya-2").scope.contact_id == "priya-2"
    assert told(crm.contact("priya-2")) == OTHERS
    merged_again = crm.merge_contacts("priya-2", "bob", by="anna")
    assert merged_again.action is Action.MERGE


def test_a_job_that_is_leased_beside_a_split_refuses_it(
    memory: Memory, crm: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = [{"role": "user", "content": "I live in Goa."}]
    job_id = crm.contact("priya-2").submit_session("call-7", turns)
    merged(crm)
    sessions, looks = memory._services.session_store, list[bool]()
    is_reading = ErasureStore.is_reading

    def leased_since(store: ErasureStore, scope: Scope) -> bool:
        looks.append(is_reading(store, scope))
        sessions.lease_job(job_id, "lease-1", NOON, NOON + timedelta(days=1))
        return looks[-1]

    monkeypatch.setattr(ErasureStore, "is_reading", leased_since)
    with pytest.raises(InvalidRequestError, match="being read"):
        crm.split_contacts("priya", "priya-2", by="anna")
    assert looks == [False, True]
    assert crm.contact("priya-2").scope.contact_id == "priya"


def test_only_an_operator_says_who_is_one_contact(memory: Memory) -> None:
    crm = memory.agent("crm")
    for name in ("ana", "bea"):
        crm.contact(name).note("Plays the cello.")
    for act in (crm.merge_contacts, crm.rename_contact, crm.split_contacts):
        with pytest.raises(InvalidAnswerError, match="only an operator"):
            act("ana", "bea", by="contact")


def test_a_talk_names_each_contact_once(memory: Memory) -> None:
    crm = memory.agent("crm")
    for name in ("ana", "bea"):
        crm.contact(name).note("Plays the cello.")
    crm.merge_contacts("ana", "bea", by="lena")
    turns = [{"role": "user", "name": who, "content": "I live in Pune."} for who in ("Ana", "Bea")]
    with pytest.raises(InvalidSessionError, match="were merged"):
        crm.submit_session("s1", turns, speakers={"Ana": "contact:ana", "Bea": "contact:bea"})
    assert memory.jobs() == []


def test_leaving_an_account_ends_the_memberships_of_both(memory: Memory) -> None:
    crm = memory.agent("crm")
    memory.account("crm", "acme").note("Never call in August.", source_kind="operator")
    for name in ("ana", "bea"):
        crm.contact(name).note(f"Plays with {name}.")
        crm.contact(name).join_account("acme", by="lena")
    crm.merge_contacts("ana", "bea", by="lena")
    ana = crm.contact("ana")
    ana.leave_account("acme", by="lena")
    assert ana.accounts() == []
    assert "Never call in August." not in [hit.fact.text for hit in ana.recall()]
