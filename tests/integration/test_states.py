"""Where a fact stands, on each engine: live, expired, superseded, revoked, and back again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reconciler import Action, Decision, Fact, FactState, Memory, SourceKind
from reconciler.domain.records.kinds import Disposal
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.engines import EngineUnderTest

NOON = datetime(2025, 3, 9, 12, tzinfo=UTC)
LIVE, EXPIRED = FactState.LIVE, FactState.EXPIRED
SUPERSEDED, REVOKED = FactState.SUPERSEDED, FactState.REVOKED


class Clock:
    """The memory's time, which only a test moves."""

    def __init__(self) -> None:
        self.at = NOON

    def __call__(self) -> datetime:
        return self.at

    def pass_days(self, number: float) -> None:
        self.at += timedelta(days=number)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(one_of_each: EngineUnderTest, clock: Clock) -> Iterator[Memory]:
    given = {"embedder": HashingEmbedder(), **one_of_each.settings_arguments}
    with Memory.open(clock=clock, **given) as memory:
        yield memory


def say(memory: Memory, text: str, **given: Any) -> Decision:
    return memory.add_contact_note("crm", "alice", text, **given)


def lives_in(memory: Memory, city: str, **given: Any) -> Decision:
    return say(memory, f"Lives in {city}.", attribute="city", value=city, **given)


def works_at(memory: Memory, employer: str, text: str = "Works at {}.", **given: Any) -> Decision:
    said = text.format(employer)
    return say(memory, said, attribute="employer", value=employer, **given)


def facts(memory: Memory) -> dict[str, Fact]:
    chains = memory.history("crm", "alice")
    return {fact.fact_id: fact for chain in chains for fact in chain.facts}


def states(memory: Memory) -> dict[str, FactState]:
    """Of each fact that was ever told, by its text."""
    return {fact.text: fact.state for fact in facts(memory).values()}


def told(memory: Memory) -> list[str]:
    return sorted(each.fact.text for each in memory.recall("crm", "alice", limit=100))


# Expired facts are still compared


def test_what_is_said_after_a_fact_expired_supersedes_it(clock: Clock, memory: Memory) -> None:
    lives_in(memory, "Pune")
    clock.pass_days(200)
    decision = lives_in(memory, "Goa")
    assert (decision.action, states(memory)) == (
        Action.UPDATE,
        {"Lives in Pune.": SUPERSEDED, "Lives in Goa.": LIVE},
    )
    [chain] = memory.history("crm", "alice")
    assert [each.reason for each in chain.supersessions] == [decision.reason]


@pytest.mark.parametrize("text", ["Lives in Pune.", "Lives in Pune"])
def test_a_fact_that_expired_is_renewed_when_it_is_said_again(
    clock: Clock, memory: Memory, text: str
) -> None:
    lives_in(memory, "Pune")
    clock.pass_days(200)
    assert (told(memory), states(memory)) == ([], {"Lives in Pune.": EXPIRED})
    say(memory, text)
    assert told(memory) == [text]
    clock.pass_days(179)
    assert told(memory) == [text]


def test_a_vaguer_word_renews_the_richer_fact_that_expired(clock: Clock, memory: Memory) -> None:
    rich = say(memory, "Is severely allergic to peanuts.", attribute="allergy", value="peanuts")
    clock.pass_days(400)
    again = say(memory, "Is allergic to peanuts.", attribute="allergy", value="peanuts")
    assert (again.action, again.fact_id) == (Action.SKIP, rich.fact_id)
    assert states(memory) == {"Is severely allergic to peanuts.": LIVE}


def test_a_less_trusted_word_supersedes_what_expired_and_asks_nothing(
    clock: Clock, memory: Memory
) -> None:
    lives_in(memory, "Pune")
    clock.pass_days(200)
    decision = lives_in(memory, "Goa", source_kind=SourceKind.OPERATOR)
    assert (decision.action, decision.conflicting_ids) == (Action.UPDATE, ())
    assert memory.pending("crm", "alice") == []


def test_what_needs_a_yes_needs_it_again_once_the_fact_expired(
    clock: Clock, memory: Memory
) -> None:
    lives_in(memory, "Pune")
    clock.pass_days(200)
    held = say(memory, "Lives in Pune.", source_kind=SourceKind.TOOL_OUTPUT)
    assert (held.disposal, told(memory)) == (Disposal.CONFIRM, [])


def test_a_replay_knows_what_had_expired_when_the_note_came(clock: Clock, memory: Memory) -> None:
    lives_in(memory, "Pune")
    clock.pass_days(200)
    made = lives_in(memory, "Goa", source_kind=SourceKind.OPERATOR)
    found = memory.decision("crm", "alice", made.decision_id)
    assert [each.is_expired for each in found.compared_with] == [True]
    assert [each.is_same for each in memory.replay("seed", "crm", "alice")] == [True, True]


# One property, everywhere the same


@pytest.fixture
def one_of_each_state(clock: Clock, memory: Memory) -> Memory:
    """A live, an expired, a superseded and a revoked fact."""
    say(memory, "Prefers tea.", category="preference")
    gone = say(memory, "Has a dog called Bo.", attribute="pet", value="Bo")
    assert gone.fact_id
    memory.revoke("crm", "alice", gone.fact_id, revoked_by="dana", reason="It ran away.")
    say(memory, "The server is down right now", category="volatile")
    lives_in(memory, "Pune")
    clock.pass_days(2)
    lives_in(memory, "Goa")
    return memory


EACH = {
    "Prefers tea.": LIVE,
    "Has a dog called Bo.": REVOKED,
    "The server is down right now": EXPIRED,
    "Lives in Pune.": SUPERSEDED,
    "Lives in Goa.": LIVE,
}


def test_the_history_tells_the_four_states_apart(one_of_each_state: Memory) -> None:
    assert states(one_of_each_state) == EACH


def test_the_contacts_are_counted_by_state(one_of_each_state: Memory) -> None:
    [alice] = one_of_each_state.contacts("crm")
    counted = (alice.live_facts, alice.expired_facts, alice.superseded_facts, alice.revoked_facts)
    assert (counted, alice.facts) == ((2, 1, 1, 1), 5)


def test_the_graph_holds_the_state_as_one_word(
    one_of_each: EngineUnderTest, one_of_each_state: Memory
) -> None:
    one_of_each_state.close()
    rows = raw_store.query(one_of_each, "MATCH (fact:Fact) RETURN fact.text, fact.state")
    assert {text: FactState(state) for text, state in rows} == EACH


def test_the_graph_says_live_again_when_a_fact_is_renewed(
    one_of_each: EngineUnderTest, clock: Clock, memory: Memory
) -> None:
    say(memory, "Is severely allergic to peanuts.", attribute="allergy", value="peanuts")
    clock.pass_days(400)
    say(memory, "Prefers tea.")
    say(memory, "Is allergic to peanuts.", attribute="allergy", value="peanuts")
    memory.close()
    rows = raw_store.query(one_of_each, "MATCH (fact:Fact) RETURN fact.state")
    assert rows == [["live"], ["live"]]
