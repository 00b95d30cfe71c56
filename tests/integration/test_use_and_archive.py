"""Use leaves a trace, and what fades is put by; nothing is deleted by either."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reconciler import Action, Decision, Fact, Memory, ops
from reconciler.domain.records.decisions import Archived
from reconciler.domain.records.kinds import FactState
from reconciler.errors import InvalidAnswerError, InvalidRequestError, UnknownFactError
from tests.clocks import Clock

NOON = datetime(2024, 3, 9, 12, tzinfo=UTC)
DAY = timedelta(days=1)
Open = Callable[..., Memory]


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


@pytest.fixture
def memory(opened: Open) -> Memory:
    return opened()


def say(memory: Memory, text: str, **given: Any) -> Decision:
    return memory.add_contact_note("crm", "alice", text, **{"importance": 0.3} | given)


def facts(memory: Memory) -> dict[str, Fact]:
    chains = memory.contact("crm", "alice").history()
    return {fact.text: fact for chain in chains for fact in chain.facts}


def told(memory: Memory, query: str = "") -> list[str]:
    return [each.fact.text for each in memory.contact("crm", "alice").recall(query)]


def swept(memory: Memory, **given: Any) -> list[Archived]:
    return memory.contact("crm", "alice").archive(by="anna", **given)


# Use


def test_recalls_are_counted_on_the_fact_once_they_are_written(opened: Open) -> None:
    memory = opened()
    say(memory, "Likes green tea")
    for _ in range(3):
        memory.contact("crm", "alice").recall("tea")
    memory.close()
    fact = facts(opened())["Likes green tea"]
    assert (fact.recall_count, fact.last_recalled_at) == (3, NOON)


def test_what_a_task_is_given_within_its_budget_is_counted_and_no_more(opened: Open) -> None:
    memory = opened()
    for text in ("Likes green tea", "Owns a boat", "Plays the oboe", "Keeps two hens"):
        say(memory, text)
    task = memory.contact("crm", "alice").task("t", goal="Serve tea")
    given = {each.fact.text for each in task.recall("", budget_tokens=40)}
    assert 0 < len(given) < 4
    memory.close()
    used = {text for text, fact in facts(opened()).items() if fact.recall_count == 1}
    assert used == given


def test_a_trace_moves_no_version_and_ends_no_cache(memory: Memory) -> None:
    say(memory, "Likes green tea")
    scope = memory.contact("crm", "alice").scope
    services = memory._services
    known, version = services.neighbourhoods.of(scope), services.fact_store.contact_version(scope)
    memory.contact("crm", "alice").recall("tea")
    services.use_trace.flush()
    assert services.neighbourhoods.of(scope) is known
    assert services.fact_store.contact_version(scope) == version


def test_who_only_reads_leaves_no_trace(opened: Open) -> None:
    memory = opened()
    say(memory, "Likes green tea")
    memory.close()
    reader = opened(must_exist=True)
    assert told(reader, "tea") == ["Likes green tea"]
    reader.close()
    assert facts(opened())["Likes green tea"].recall_count == 0


def test_switched_off_no_trace_is_left(opened: Open) -> None:
    memory = opened(life={"use_flush_seconds": 0})
    say(memory, "Likes green tea")
    memory.contact("crm", "alice").recall("tea")
    memory._services.use_trace.flush()
    assert facts(memory)["Likes green tea"].recall_count == 0


def test_a_restatement_goes_on_counting(opened: Open) -> None:
    memory = opened()
    say(memory, "Likes green tea")
    memory.contact("crm", "alice").recall("tea")
    memory.close()
    memory = opened()
    say(memory, "Likes green tea")
    assert max(fact.recall_count for fact in facts(memory).values()) == 1
    [live] = memory.contact("crm", "alice").recall("tea")
    assert (live.fact.recall_count, live.fact.observations) == (1, 2)


# Archiving


def test_what_faded_is_out_of_recall_and_kept(memory: Memory, clock: Clock) -> None:
    say(memory, "Likes green tea", category="preference")
    clock.on(300 * DAY)
    [done] = swept(memory)
    assert done.decision is not None
    assert (done.decision.action, [each.text for each in done.facts]) == (
        Action.ARCHIVE,
        ["Likes green tea"],
    )
    assert (told(memory), told(memory, "tea")) == ([], [])
    assert facts(memory)["Likes green tea"].state is FactState.ARCHIVED
    [contact] = memory.agent("crm").contacts()
    assert (contact.live_facts, contact.archived_facts) == (0, 1)


def test_a_dry_run_says_what_would_be_put_by_and_writes_nothing(
    memory: Memory, clock: Clock
) -> None:
    say(memory, "Likes green tea", category="preference")
    clock.on(300 * DAY)
    made = memory.agent("crm").decisions()
    [would_be] = swept(memory, dry_run=True)
    assert (would_be.decision, len(would_be.facts)) == (None, 1)
    assert (memory.agent("crm").decisions(), told(memory)) == (made, ["Likes green tea"])


@pytest.mark.on_neo4j_too
def test_what_was_archived_lives_again_when_it_is_said_again(memory: Memory, clock: Clock) -> None:
    first = say(memory, "Likes green tea", category="preference")
    clock.on(300 * DAY)
    swept(memory)
    again = say(memory, "Likes green tea", category="preference")
    assert again.superseded_ids == (first.fact_id,) or again.fact_id == first.fact_id
    assert told(memory, "tea") == ["Likes green tea"]


def test_a_new_value_ends_an_archived_one(memory: Memory, clock: Clock) -> None:
    old = say(memory, "Lives in Pune.", attribute="city", value="Pune", valid_from=NOON - DAY)
    clock.on(170 * DAY)
    [done] = swept(memory, floor=0.99)
    assert len(done.facts) == 1
    new = say(memory, "Lives in Goa.", attribute="city", value="Goa")
    assert (new.action, new.superseded_ids) == (Action.UPDATE, (old.fact_id,))
    memory.contact("crm", "alice").revert(new.decision_id, by="anna", reason="A mix-up.")
    assert facts(memory)["Lives in Pune."].state is FactState.ARCHIVED


def test_an_archived_fact_has_not_ended_and_can_be_revoked_and_put_back(
    memory: Memory, clock: Clock
) -> None:
    said = say(memory, "Likes green tea", category="preference")
    clock.on(300 * DAY)
    swept(memory)
    assert not facts(memory)["Likes green tea"].has_ended
    done = memory.contact("crm", "alice").revoke(str(said.fact_id), by="anna", reason="A mix-up.")
    assert facts(memory)["Likes green tea"].state is FactState.REVOKED
    memory.contact("crm", "alice").revert(done.decision_id, by="anna", reason="It was right.")
    assert facts(memory)["Likes green tea"].state is FactState.ARCHIVED


def test_an_archived_fact_can_be_amended(memory: Memory, clock: Clock) -> None:
    said = say(memory, "Likes green tea", category="preference")
    clock.on(300 * DAY)
    swept(memory)
    done = memory.contact("crm", "alice").amend(
        "Likes black tea", fact_id=said.fact_id, by="anna", reason="A mix-up."
    )
    assert (done.superseded_ids, told(memory)) == ((said.fact_id,), ["Likes black tea"])


def test_what_is_archived_is_on_the_contacts_page_as_known(memory: Memory, clock: Clock) -> None:
    say(memory, "Likes green tea", category="preference")
    clock.on(300 * DAY)
    swept(memory)
    known = (
        ops.contact_page(memory.contact("crm", "alice"))
        .partition("<h2>Present facts")[2]
        .partition("<h2")[0]
    )
    assert "Likes green tea" in known


@pytest.mark.parametrize("how", ["unarchive", "revert"])
def test_what_was_archived_is_taken_up_again_as_it_stood(
    memory: Memory, clock: Clock, how: str
) -> None:
    said = say(memory, "Likes green tea", category="preference")
    clock.on(300 * DAY)
    before = facts(memory)
    [done] = swept(memory)
    assert done.decision is not None
    if how == "unarchive":
        made = memory.contact("crm", "alice").unarchive(str(said.fact_id), by="anna")
        assert made.action is Action.UNARCHIVE
    else:
        memory.contact("crm", "alice").revert(
            done.decision.decision_id, by="anna", reason="Too soon."
        )
    assert (facts(memory), told(memory, "tea")) == (before, ["Likes green tea"])
    evidence = memory.contact("crm", "alice").evidence(str(said.fact_id))
    assert [each.text for each in evidence.turns] == ["Likes green tea"]


def test_a_sweep_that_was_reverted_and_that_reverted_again_changes_no_evidence(
    memory: Memory, clock: Clock
) -> None:
    said = say(memory, "Likes green tea", category="preference")
    clock.on(300 * DAY)
    [done] = swept(memory)
    assert done.decision is not None
    by: dict[str, Any] = {"by": "anna", "reason": "To and fro."}
    undone = memory.contact("crm", "alice").revert(done.decision.decision_id, **by)
    memory.contact("crm", "alice").revert(undone.decision_id, **by)
    assert facts(memory)["Likes green tea"].state is FactState.ARCHIVED
    assert len(memory.contact("crm", "alice").evidence(str(said.fact_id)).turns) == 1


def test_constraints_and_what_was_confirmed_are_never_put_by(memory: Memory, clock: Clock) -> None:
    say(memory, "Never call before nine in the morning.")
    say(memory, "Likes green tea", category="preference")
    for days in (300, 2700):
        clock.on(days * DAY)
        swept(memory, floor=1.0)
    assert told(memory) == ["Never call before nine in the morning."]


def test_a_sweep_of_all_contacts_is_a_decision_for_each(memory: Memory, clock: Clock) -> None:
    for contact_id in ("alice", "bob", "carol"):
        memory.add_contact_note("crm", contact_id, "Likes tea", importance=0.1)
    memory.add_contact_note("crm", "carol", "Never call before nine.")
    clock.on(100 * DAY)
    memory.add_contact_note("crm", "bob", "Likes tea", importance=0.1)
    found = memory.agent("crm").archive(by="anna", floor=0.5)
    assert [each.contact_id for each in found] == ["alice", "carol"]
    assert len({each.decision.decision_id for each in found if each.decision}) == 2


def test_one_contacts_facts_are_put_by_and_taken_up_again(memory: Memory, clock: Clock) -> None:
    say(memory, "Likes green tea", category="preference")
    clock.on(300 * DAY)
    alice = memory.contact("crm", "alice")
    [would_be] = alice.archive(dry_run=True)
    [done] = alice.archive(by="anna")
    assert done.facts == would_be.facts
    assert alice.unarchive(done.facts[0].fact_id, by="anna").action is Action.UNARCHIVE
    assert told(memory) == ["Likes green tea"]


def test_nothing_to_put_by_is_no_decision(memory: Memory) -> None:
    say(memory, "Likes green tea")
    made = memory.agent("crm").decisions()
    assert (swept(memory), memory.agent("crm").decisions()) == ([], made)


def test_what_cannot_be_archived_or_taken_up_says_so(memory: Memory) -> None:
    said = say(memory, "Likes green tea")
    with pytest.raises(InvalidRequestError, match="floor"):
        swept(memory, floor=2)
    with pytest.raises(InvalidAnswerError):
        memory.contact("crm", "alice").archive(by="agent:crm")
    with pytest.raises(InvalidRequestError, match="is live, not archived"):
        memory.contact("crm", "alice").unarchive(str(said.fact_id))
    with pytest.raises(UnknownFactError):
        memory.contact("crm", "bob").unarchive(str(said.fact_id))


def test_writers_and_recalls_at_once_lose_no_count_and_no_note(opened: Open) -> None:
    memory = opened(life={"use_flush_seconds": 0.01})
    say(memory, "Likes green tea")

    def recall() -> None:
        for _ in range(20):
            memory.contact("crm", "alice").recall("green tea", limit=1)

    threads = [threading.Thread(target=recall) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(5):
        say(memory, f"Owns boat number {number}00", importance=0.9)
    for thread in threads:
        thread.join()
    memory.close()
    found = facts(opened())
    assert (found["Likes green tea"].recall_count, len(found)) == (60, 6)
