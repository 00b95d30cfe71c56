"""Where a fact stands: live, expired, superseded, revoked, and back again."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rich.console import Console

from reconciler import Action, Decision, Fact, Memory, SourceKind
from reconciler.domain.records.facts import FactHistory
from reconciler.domain.records.kinds import Disposal, FactState
from reconciler.entrypoints.rendering import history_tree
from reconciler.errors import InvalidRequestError
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.clocks import Clock
from tests.engines import EngineUnderTest
from tests.replaying import replay_all
from tests.tables import every

NOON = datetime(2025, 3, 9, 12, tzinfo=UTC)
LIVE, EXPIRED = FactState.LIVE, FactState.EXPIRED
SUPERSEDED, REVOKED = FactState.SUPERSEDED, FactState.REVOKED


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


@pytest.fixture
def memory(kept_engine: EngineUnderTest, clock: Clock) -> Iterator[Memory]:
    """A store of its own, which some tests look into from behind."""
    arguments = kept_engine.settings_arguments
    with Memory.open(embedder=HashingEmbedder(), clock=clock, **arguments) as opened:
        yield opened


def say(memory: Memory, text: str, **given: Any) -> Decision:
    return memory.add_contact_note("crm", "alice", text, **given)


def lives_in(memory: Memory, city: str, **given: Any) -> Decision:
    return say(memory, f"Lives in {city}.", attribute="city", value=city, **given)


def works_at(memory: Memory, employer: str, text: str = "Works at {}.", **given: Any) -> Decision:
    said = text.format(employer)
    return say(memory, said, attribute="employer", value=employer, **given)


def facts(memory: Memory) -> dict[str, Fact]:
    chains = memory.contact("crm", "alice").history()
    return {fact.fact_id: fact for chain in chains for fact in chain.facts}


def states(memory: Memory) -> dict[str, FactState]:
    """Of each fact that was ever told, by its text."""
    return {fact.text: fact.state for fact in facts(memory).values()}


def told(memory: Memory) -> list[str]:
    return sorted(each.fact.text for each in memory.contact("crm", "alice").recall(limit=100))


# Expired facts are still compared


def test_what_is_said_after_a_fact_expired_supersedes_it(clock: Clock, memory: Memory) -> None:
    lives_in(memory, "Pune", lifetime_days=180)
    clock.pass_days(200)
    decision = lives_in(memory, "Goa")
    assert (decision.action, states(memory)) == (
        Action.UPDATE,
        {"Lives in Pune.": SUPERSEDED, "Lives in Goa.": LIVE},
    )
    [chain] = memory.contact("crm", "alice").history()
    assert [each.reason for each in chain.supersessions] == [decision.reason]


@pytest.mark.parametrize("text", ["Lives in Pune.", "Lives in Pune"])
def test_a_fact_that_expired_is_renewed_when_it_is_said_again(
    clock: Clock, memory: Memory, text: str
) -> None:
    lives_in(memory, "Pune", lifetime_days=180)
    clock.pass_days(200)
    assert states(memory) == {"Lives in Pune.": EXPIRED}
    say(memory, text, lifetime_days=180)
    clock.pass_days(179)
    assert (told(memory), LIVE in {fact.state for fact in facts(memory).values()}) == ([text], True)


def test_a_vaguer_word_renews_the_richer_fact_that_expired(clock: Clock, memory: Memory) -> None:
    given = {"attribute": "allergy", "value": "peanuts", "lifetime_days": 365}
    rich = say(memory, "Is severely allergic to peanuts.", **given)
    clock.pass_days(400)
    again = say(memory, "Is allergic to peanuts.", attribute="allergy", value="peanuts")
    assert (again.action, again.fact_id) == (Action.SKIP, rich.fact_id)
    assert states(memory) == {"Is severely allergic to peanuts.": LIVE}


def test_a_less_trusted_word_supersedes_what_expired_and_asks_nothing(
    clock: Clock, memory: Memory
) -> None:
    lives_in(memory, "Pune", lifetime_days=180)
    clock.pass_days(200)
    decision = lives_in(memory, "Goa", source_kind=SourceKind.OPERATOR)
    assert (decision.action, decision.conflicting_ids) == (Action.UPDATE, ())
    assert memory.contact("crm", "alice").pending() == []


def test_what_needs_a_yes_needs_it_again_once_the_fact_expired(
    clock: Clock, memory: Memory
) -> None:
    lives_in(memory, "Pune", lifetime_days=180)
    clock.pass_days(200)
    held = say(memory, "Lives in Pune.", source_kind=SourceKind.TOOL_OUTPUT)
    assert (held.disposal, states(memory)) == (Disposal.CONFIRM, {"Lives in Pune.": EXPIRED})


def test_a_replay_knows_what_had_expired_when_the_note_came(clock: Clock, memory: Memory) -> None:
    lives_in(memory, "Pune", lifetime_days=180)
    clock.pass_days(200)
    made = lives_in(memory, "Goa", source_kind=SourceKind.OPERATOR)
    found = memory.contact("crm", "alice").decision(made.decision_id)
    assert [each.is_expired for each in found.compared_with] == [True]
    replayed = replay_all(memory.contact("crm", "alice"), "seed")
    assert [each.is_same for each in replayed] == [True, True]


def test_a_replay_knows_what_was_planned_when_the_note_came(clock: Clock, memory: Memory) -> None:
    lives_in(memory, "Pune")
    lives_in(memory, "Goa", valid_from=clock() + timedelta(days=30))
    lives_in(memory, "Delhi", valid_from=clock() + timedelta(days=60))
    lives_in(memory, "Agra")
    lives_in(memory, "Delhi")
    replayed = replay_all(memory.contact("crm", "alice"), "seed")
    assert [each.is_same for each in replayed] == [True] * 5


# One property, everywhere the same


@pytest.fixture
def one_of_each_state(clock: Clock, memory: Memory) -> Memory:
    """A live, an expired, a superseded and a revoked fact."""
    say(memory, "Prefers tea.", category="preference")
    gone = say(memory, "Has a dog called Bo.", attribute="pet", value="Bo")
    assert gone.fact_id
    memory.contact("crm", "alice").revoke(gone.fact_id, by="dana", reason="It ran away.")
    say(memory, "The server is down right now", category="volatile")
    lives_in(memory, "Pune")
    clock.pass_days(30)
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
    [alice] = one_of_each_state.agent("crm").contacts()
    counted = (alice.live_facts, alice.expired_facts, alice.superseded_facts, alice.revoked_facts)
    assert (counted, alice.facts) == ((2, 1, 1, 1), 5)


def test_the_graph_holds_the_state_as_one_word(
    kept_engine: EngineUnderTest, one_of_each_state: Memory
) -> None:
    one_of_each_state.close()
    rows = raw_store.query(kept_engine, "MATCH (fact:Fact) RETURN fact.text, fact.state")
    assert {text: FactState(state) for text, state in rows} == EACH


def test_the_graph_says_live_again_when_a_fact_is_renewed(
    kept_engine: EngineUnderTest, clock: Clock, memory: Memory
) -> None:
    given = {"attribute": "allergy", "value": "peanuts", "lifetime_days": 365}
    say(memory, "Is severely allergic to peanuts.", **given)
    clock.pass_days(400)
    say(memory, "Prefers tea.")
    say(memory, "Is allergic to peanuts.", attribute="allergy", value="peanuts")
    memory.close()
    rows = raw_store.query(kept_engine, "MATCH (fact:Fact) RETURN fact.state")
    assert rows == [["live"], ["live"]]


# What never was


@pytest.mark.on_neo4j_too
def test_a_denial_that_it_ever_was_empties_the_interval_and_says_who(
    clock: Clock, memory: Memory
) -> None:
    wrong = works_at(memory, "Globex")
    clock.pass_days(30)
    denial = works_at(memory, "Globex", "Never worked at {}.")
    fact = facts(memory)[str(wrong.fact_id)]
    assert (fact.state, fact.is_void, fact.valid_to) == (SUPERSEDED, True, fact.valid_from)
    [chain] = memory.contact("crm", "alice").history()
    tree = rendered(chain)
    assert re.search(r"Works at Globex\.\n[│ ]+[0-9a-f-]{36}  never held", tree)
    assert tree.index("Never worked at Globex.") < tree.index("Works at Globex.")
    assert "never true" in denial.answer


@pytest.mark.parametrize("text", ["No longer works at {}.", "Does not work at {}."])
def test_a_denial_of_what_is_now_closes_the_interval(
    clock: Clock, memory: Memory, text: str
) -> None:
    was = works_at(memory, "Globex")
    clock.pass_days(30)
    works_at(memory, "Globex", text)
    fact = facts(memory)[str(was.fact_id)]
    assert (fact.is_void, fact.valid_to) == (False, clock.now)


def test_an_operator_revokes_what_never_was(clock: Clock, memory: Memory) -> None:
    wrong = str(works_at(memory, "Globex").fact_id)
    clock.pass_days(30)
    said = {"by": "dana", "reason": "That was her sister."}
    ended = memory.contact("crm", "alice").revoke(wrong, never=True, **said)
    fact = facts(memory)[wrong]
    assert (fact.state, fact.is_void, fact.valid_to) == (REVOKED, True, fact.valid_from)
    assert "never true" in ended.answer


def test_a_reverted_correction_gives_the_interval_back(clock: Clock, memory: Memory) -> None:
    works_at(memory, "Globex")
    before = facts(memory)
    clock.pass_days(30)
    denial = works_at(memory, "Globex", "Never worked at {}.")
    said = {"by": "dana", "reason": "She did after all."}
    memory.contact("crm", "alice").revert(denial.decision_id, **said)
    assert before.items() <= facts(memory).items()


# What the history says of persons' decisions


def rendered(*chains: FactHistory) -> str:
    console = Console(width=300, file=io.StringIO(), record=True)
    console.print(history_tree("alice", chains))
    return console.export_text()


def test_a_history_says_who_revoked_and_who_undid_that_and_why(memory: Memory) -> None:
    fact_id = str(lives_in(memory, "Pune").fact_id)
    gone = memory.contact("crm", "alice").revoke(fact_id, by="dana", reason="She moved.")
    said = {"by": "vera", "reason": "She did not."}
    memory.contact("crm", "alice").revert(gone.decision_id, **said)
    [chain] = memory.contact("crm", "alice").history()
    assert [(each.action, each.by, each.reason) for each in chain.events] == [
        (Action.REVOKE, "dana", "She moved."),
        (Action.REVERT, "vera", "She did not."),
    ]
    assert "REVOKE by dana, 2025-03-09: She moved." in rendered(chain)
    assert "REVERT by vera, 2025-03-09: She did not." in rendered(chain)


# What goes silent soon


def test_what_expires_soon_is_listed_with_a_question_the_next_first(
    clock: Clock, memory: Memory
) -> None:
    half_a_year = {"lifetime_days": 180}
    lives_in(memory, "Pune", **half_a_year)
    say(memory, "Prefers tea.", category="preference")
    memory.add_contact_note("crm", "bob", "Has a dog called Bo.", **half_a_year)
    say(memory, "We agreed to use SharePoint by default", category="decision")
    clock.pass_days(160)
    lives_in(memory, "Agra", lifetime_days=179)
    clock.pass_days(1)
    works_at(memory, "Globex", **half_a_year)
    found = memory.agent("crm").expiring(days=30)
    assert [(each.contact_id, each.fact.text) for each in found] == [
        ("bob", "Has a dog called Bo.")
    ]
    assert "“Has a dog called Bo”: is that still true" in found[0].question
    texts = [each.fact.text for each in memory.contact("crm", "alice").expiring(days=250)]
    assert texts == ["Lives in Agra.", "Works at Globex.", "Prefers tea."]


@pytest.mark.parametrize(("days", "is_listed"), [(19.9, False), (20, True)])
def test_a_fact_is_listed_from_the_very_day(
    clock: Clock, memory: Memory, days: float, is_listed: bool
) -> None:
    lives_in(memory, "Pune", lifetime_days=180)
    clock.pass_days(160)
    assert bool(memory.contact("crm", "alice").expiring(days=days)) is is_listed


@every("days", [0, -1, True, "30", 1e9, float("nan")])
def test_days_that_cannot_be_used_are_refused(memory: Memory, days: Any) -> None:
    with pytest.raises(InvalidRequestError, match="days must be"):
        memory.agent("crm").expiring(days=days)
