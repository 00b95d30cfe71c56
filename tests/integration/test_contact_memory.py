"""The memories of a contact and of an agent: the scope is said once."""

from __future__ import annotations

import inspect
from datetime import UTC, datetime
from typing import Any

import pytest

from reconciler import AgentMemory, ContactMemory, Memory, Note, Scope, Turn
from reconciler.errors import InvalidNoteError, InvalidScopeError
from reconciler.service.writing.doors import as_candidate

TURNS = [Turn(role="contact", text="Remember that I only take calls after 5 pm.")]


def test_the_memorys_own_two_calls_about_a_contact_only_add_whose_it_is() -> None:
    for own, bound in ((Memory.add_contact_note, "note"), (Memory.agent_tools, "tools")):
        whose = {"agent_id", "contact_id", "tenant"}
        taken = inspect.signature(own).parameters.values()
        theirs = inspect.signature(getattr(ContactMemory, bound)).parameters.values()
        assert [each for each in taken if each.name not in whose] == list(theirs)


def test_what_is_bound_takes_neither_agent_nor_contact_nor_tenant() -> None:
    for kind in (AgentMemory, ContactMemory):
        for name, call in inspect.getmembers(kind, inspect.isfunction):
            taken = set(inspect.signature(call).parameters) - {"self"}
            may = {"contact", "contacts"} if kind is AgentMemory else set()
            told = {"agent_id", "contact_id", "tenant"} & taken
            assert not told or (name in may and told == {"contact_id"}) or name == "__init__", name


def test_the_facade_stays_small() -> None:
    assert len([name for name in dir(Memory) if not name.startswith("_")]) <= 25


def test_an_agents_memory_reads_across_its_contacts_and_hands_out_each(memory: Memory) -> None:
    crm = memory.agent("crm")
    crm.contact("alice").note("Works at Acme.")
    crm.contact("bob").note("Works at Acme.")
    assert [each.contact_id for each in crm.contacts()] == ["alice", "bob"]
    assert {each.contact_id for each in crm.recall_about("Acme")} == {"alice", "bob"}
    assert len(crm.decisions()) == 2
    assert [each.contact_id for each in crm.contact("bob").recall_about("Acme")] == ["bob"]
    assert (crm.agent_id, crm.tenant) == ("crm", memory.settings.tenant)


def test_a_candidate_about_another_contact_is_refused(memory: Memory) -> None:
    note = Note(
        scope=Scope("default", "crm", "bob"),
        text="Likes tea.",
        said_at=datetime.now(UTC),
        source_kind="extractor",
    )
    heard = as_candidate(note, "a test")
    with pytest.raises(InvalidNoteError, match="another contact"):
        memory.contact("crm", "alice").propose(heard)
    assert memory.agent("crm").decisions() == []


def test_what_is_noted_is_what_the_memory_recalls(memory: Memory) -> None:
    alice = memory.contact("crm", "alice")
    noted = alice.note("Lives in Pune.", attribute="city", value="Pune", importance=0.9)
    [recalled] = memory.contact("crm", "alice").recall("Pune")
    assert [each.fact for each in alice.recall("Pune", limit=1)] == [recalled.fact]
    assert (recalled.fact.fact_id, recalled.fact.importance) == (noted.fact_id, 0.9)


def test_history_and_decisions_are_the_contacts_own(memory: Memory) -> None:
    alice, bob = memory.contact("crm", "alice"), memory.contact("crm", "bob")
    noted = alice.note("Lives in Pune.")
    assert alice.history(fact_id=noted.fact_id) == memory.contact("crm", "alice").history()
    assert [each.decision_id for each in alice.decisions(door="live")] == [noted.decision_id]
    assert (bob.history(), bob.decisions(), alice.decisions(door="import")) == ([], [], [])


@pytest.mark.parametrize(
    "narrowed",
    [
        {"disposal": "reject"},
        {"reason": "secret"},
        {"door": "import"},
        {"since": datetime(2999, 1, 1, tzinfo=UTC)},
        {"until": datetime(2000, 1, 1, tzinfo=UTC)},
    ],
)
def test_decisions_are_narrowed_as_the_memorys_are(
    memory: Memory, narrowed: dict[str, Any]
) -> None:
    alice = memory.contact("crm", "alice")
    alice.note("Lives in Pune.")
    assert alice.decisions(**narrowed) == []


def test_a_session_is_handed_over_for_the_contact(memory: Memory) -> None:
    job_id = memory.contact("crm", "alice").submit_session("chat-17", TURNS, channel="phone")
    assert memory.contact("crm", "alice").job(job_id).session_id == "chat-17"
    assert memory.contact("crm", "alice").session("chat-17").channel == "phone"


def test_a_task_begins_for_the_contact_and_goes_on_in_the_memory(memory: Memory) -> None:
    begun = memory.contact("crm", "alice").task("move", goal="Move it", session_id="chat-17")
    begun.observed()
    begun.log_episode(TURNS[0])
    begun.interrupt()
    assert memory.contact("crm", "alice").session("chat-17").session_id == "chat-17"
    assert memory.contact("crm", "alice").task("move").state == "interrupted"


def test_a_contact_of_another_tenant_is_another(memory: Memory) -> None:
    acme = memory.contact("crm", "alice", tenant="acme")
    acme.note("Lives in Pune.")
    assert acme.scope == Scope("acme", "crm", "alice")
    assert memory.contact("crm", "alice").recall() == []


def test_a_contact_that_cannot_be_is_refused_before_anything_is_asked(memory: Memory) -> None:
    with pytest.raises(InvalidScopeError, match="contact_id is empty"):
        memory.contact("crm", "")
