"""Undoing decisions: what holds afterwards is what held before."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from reconciler import Action, Decision, Fact, Memory, SourceKind
from reconciler.domain.records.kinds import FactState
from reconciler.errors import (
    InvalidAnswerError,
    InvalidRequestError,
    RevertRefusedError,
    UnknownDecisionError,
)
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.engines import EngineUnderTest

NOON = datetime(2025, 3, 9, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
RICH, VAGUE = "Is severely allergic to peanuts.", "Is allergic to peanuts."


@pytest.fixture
def memory(kept_engine: EngineUnderTest) -> Iterator[Memory]:
    """A memory with a clock that goes on by an hour at every look."""
    hours = itertools.count()
    given = {"embedder": HashingEmbedder(), **kept_engine.settings_arguments}
    with Memory.open(clock=lambda: NOON + next(hours) * HOUR, **given) as memory:
        yield memory


def say(memory: Memory, text: str, contact_id: str = "alice", **given: Any) -> Decision:
    return memory.add_contact_note("crm", contact_id, text, **given)


def lives_in(memory: Memory, city: str, contact_id: str = "alice", **given: Any) -> Decision:
    return say(memory, f"Lives in {city}.", contact_id, attribute="city", value=city, **given)


def allergic(memory: Memory, text: str, **given: Any) -> Decision:
    return say(memory, text, attribute="allergy", value="peanuts", **given)


def revert(memory: Memory, decision: Decision, contact_id: str = "alice", **given: Any) -> Decision:
    said = {"by": "dana", "reason": "It was a mix-up."}
    return memory.contact("crm", contact_id).revert(decision.decision_id, **said | given)


def revoke(memory: Memory, fact_id: str, contact_id: str = "alice") -> Decision:
    said = {"by": "dana", "reason": "She left."}
    return memory.contact("crm", contact_id).revoke(fact_id, **said)


def facts(memory: Memory, contact_id: str = "alice") -> dict[str, Fact]:
    chains = memory.contact("crm", contact_id).history()
    return {fact.fact_id: fact for chain in chains for fact in chain.facts}


def told(memory: Memory) -> list[str]:
    return sorted(each.fact.text for each in memory.contact("crm", "alice").recall(limit=100))


def kept(memory: Memory, contact_id: str = "alice") -> tuple[object, ...]:
    """All that a history knows of what holds and held; not what was undone."""
    known = {
        fact_id: fact for fact_id, fact in facts(memory, contact_id).items() if not fact.is_void
    }
    chains = memory.contact("crm", contact_id).history()
    links = {link for chain in chains for link in chain.supersessions}
    conflicts = {conflict for chain in chains for conflict in chain.conflicts}
    return known, links, conflicts


# What is undone


def test_what_a_reverted_note_ended_lives_again_and_the_note_was_never_true(
    memory: Memory,
) -> None:
    lives_in(memory, "Pune")
    before = kept(memory)
    wrong = lives_in(memory, "Goa")
    undone = revert(memory, wrong)
    assert (undone.action, told(memory), kept(memory)) == (
        Action.REVERT,
        ["Lives in Pune."],
        before,
    )
    fact = facts(memory)[str(wrong.fact_id)]
    assert (fact.state, fact.is_void, fact.valid_to) == (FactState.REVOKED, True, fact.valid_from)


def test_a_reverted_observation_leaves_the_fact_as_it_was(memory: Memory) -> None:
    allergic(memory, RICH)
    before = kept(memory)
    again = allergic(memory, VAGUE)
    assert (again.action, kept(memory) != before) == (Action.SKIP, True)
    revert(memory, again)
    assert kept(memory) == before


def test_a_reverted_revocation_gives_the_fact_back(memory: Memory) -> None:
    fact_id = str(lives_in(memory, "Pune").fact_id)
    before = kept(memory)
    revert(memory, revoke(memory, fact_id))
    assert (kept(memory), told(memory)) == (before, ["Lives in Pune."])


def test_a_reverted_older_note_is_no_history_any_more(memory: Memory) -> None:
    lives_in(memory, "Pune")
    before = kept(memory)
    revert(memory, lives_in(memory, "Goa", valid_from=NOON - timedelta(days=900)))
    assert kept(memory) == before


@pytest.mark.on_neo4j_too
def test_open_conflicts_come_back_with_the_fact(memory: Memory) -> None:
    lives_in(memory, "Pune")
    lives_in(memory, "Goa", source_kind=SourceKind.OPERATOR)
    before = kept(memory)
    ended = lives_in(memory, "Agra")
    assert told(memory) == ["Lives in Agra."]
    revert(memory, ended)
    assert (kept(memory), told(memory)) == (before, ["Lives in Goa.", "Lives in Pune."])


def test_what_was_raised_against_an_undone_fact_is_raised_against_what_lives_again(
    memory: Memory,
) -> None:
    lives_in(memory, "Pune")
    lives_in(memory, "Goa")
    wrong = lives_in(memory, "Agra")
    lives_in(memory, "Delhi", source_kind=SourceKind.OPERATOR)
    undone = revert(memory, wrong)
    [dispute] = memory.contact("crm", "alice").disputes()
    assert {fact.text for fact in dispute.facts} == {"Lives in Goa.", "Lives in Delhi."}
    revert(memory, undone)
    assert {fact.text for fact in memory.contact("crm", "alice").disputes()[0].facts} == {
        "Lives in Agra.",
        "Lives in Delhi.",
    }


def test_what_says_the_same_as_what_lives_again_is_in_no_dispute_with_it(memory: Memory) -> None:
    lives_in(memory, "Pune")
    wrong = lives_in(memory, "Agra")
    lives_in(memory, "Pune", source_kind=SourceKind.OPERATOR)
    revert(memory, wrong)
    assert memory.contact("crm", "alice").disputes() == []


@pytest.fixture
def disputed(memory: Memory) -> tuple[str, str]:
    """Two cities in dispute, by the ids of their facts."""
    one = lives_in(memory, "Pune")
    other = lives_in(memory, "Goa", source_kind=SourceKind.OPERATOR)
    return str(one.fact_id), str(other.fact_id)


@pytest.mark.parametrize("both", [False, True], ids=["one side", "both sides"])
def test_a_reverted_answer_opens_the_dispute_again(
    memory: Memory, disputed: tuple[str, str], both: bool
) -> None:
    before = kept(memory)
    said = {"by": "contact", "reason": "I have a flat there."}
    answer = memory.contact("crm", "alice").resolve(disputed if both else disputed[1], **said)
    after = kept(memory)
    assert memory.contact("crm", "alice").disputes() == []
    undone = revert(memory, answer)
    assert (kept(memory), len(memory.contact("crm", "alice").disputes())) == (before, 1)
    revert(memory, undone)
    assert (kept(memory), memory.contact("crm", "alice").disputes()) == (after, [])


def test_a_reverted_amendment_gives_the_contacts_word_back(memory: Memory) -> None:
    lives_in(memory, "Pune")
    before = kept(memory)
    said = {"attribute": "city", "value": "Goa", "by": "anna", "reason": "Typed wrongly."}
    revert(memory, memory.contact("crm", "alice").amend("Lives in Goa.", **said))
    assert kept(memory) == before


def test_a_revert_can_be_reverted_and_that_too(memory: Memory) -> None:
    lives_in(memory, "Pune")
    before = kept(memory)
    wrong = lives_in(memory, "Goa")
    after = kept(memory)
    undone = revert(memory, wrong)
    redone = revert(memory, undone)
    assert (kept(memory), told(memory)) == (after, ["Lives in Goa."])
    revert(memory, redone)
    assert (kept(memory), told(memory)) == (before, ["Lives in Pune."])


def test_what_lives_again_is_compared_with_what_comes_next(memory: Memory) -> None:
    first = lives_in(memory, "Pune")
    revert(memory, lives_in(memory, "Goa"))
    assert lives_in(memory, "Agra").superseded_ids == (first.fact_id,)


def test_the_graph_says_which_decision_undid_which(
    kept_engine: EngineUnderTest, memory: Memory
) -> None:
    wrong = lives_in(memory, "Goa")
    undone = revert(memory, wrong)
    memory.close()
    found = raw_store.query(
        kept_engine,
        "MATCH (a:Decision)-[:REVERTED]->(b:Decision) RETURN a.decision_id, b.decision_id",
    )
    assert found == [[undone.decision_id, wrong.decision_id]]


def test_the_evidence_of_an_observation_goes_and_comes_with_it(
    kept_engine: EngineUnderTest, memory: Memory
) -> None:
    allergic(memory, RICH)
    undone = revert(memory, allergic(memory, VAGUE))
    revert(memory, undone)
    revert(memory, allergic(memory, VAGUE))
    memory.close()
    counted = raw_store.query(
        kept_engine, "MATCH (:Fact)-[:EVIDENCED_BY]->(e:Episode) RETURN e.text"
    )
    assert sorted(counted) == [[VAGUE], [RICH]]


# What is refused


def test_what_later_decisions_rest_on_is_not_reverted_and_they_are_listed(memory: Memory) -> None:
    first, second = lives_in(memory, "Pune"), lives_in(memory, "Goa")
    third = lives_in(memory, "Agra")
    with pytest.raises(RevertRefusedError, match=third.decision_id) as refused:
        revert(memory, first)
    assert refused.value.decision_ids == (third.decision_id, second.decision_id)
    assert told(memory) == ["Lives in Agra."]


def test_later_decisions_are_reverted_with_it_where_that_is_asked_for(memory: Memory) -> None:
    say(memory, "Prefers tea.")
    before = kept(memory)
    first = lives_in(memory, "Pune")
    lives_in(memory, "Pune")
    lives_in(memory, "Agra")
    say(memory, "Prefers tea.")
    undone = revert(memory, first, and_later=True)
    assert undone.undo
    assert (len(undone.undo.decision_ids), told(memory)) == (3, ["Prefers tea."])
    assert kept(memory) != before, "what does not rest on it stays"


def test_what_is_undone_already_is_not_undone_twice(memory: Memory) -> None:
    wrong = lives_in(memory, "Goa")
    first = revert(memory, wrong)
    again = revert(memory, wrong, reason="Once more.")
    assert (again.decision_id, again.replayed) == (first.decision_id, True)
    assert len(memory.contact("crm", "alice").decisions()) == 2


def test_a_decision_that_changed_nothing_is_not_reverted(memory: Memory) -> None:
    refused = say(memory, "My password is hunter2-hunter2")
    assert refused.action is Action.REJECT
    with pytest.raises(InvalidRequestError, match="changed no fact"):
        revert(memory, refused)


@pytest.mark.parametrize("name", ["crm", "agent:crm", "Contact"])
def test_no_agent_revokes_or_reverts(memory: Memory, name: str) -> None:
    said = lives_in(memory, "Pune")
    with pytest.raises(InvalidAnswerError):
        memory.contact("crm", "alice").revoke(str(said.fact_id), by=name, reason="I think so.")
    with pytest.raises(InvalidAnswerError):
        revert(memory, said, by=name)
    assert told(memory) == ["Lives in Pune."]


def test_another_contacts_decision_is_answered_like_none(memory: Memory) -> None:
    wrong = lives_in(memory, "Goa")
    with pytest.raises(UnknownDecisionError):
        revert(memory, wrong, contact_id="bob")


# Whatever was written, reverts in reverse order give it back


STEPS: list[Callable[[Memory, str], Decision]] = [
    *(lambda m, c, city=city: lives_in(m, city, c) for city in ("Pune", "Goa", "Agra")),
    lambda m, c: lives_in(m, "Goa", c, source_kind=SourceKind.OPERATOR),
    lambda m, c: lives_in(m, "Pune", c, valid_from=NOON - timedelta(days=400)),
    lambda m, c: say(m, RICH, c, attribute="allergy", value="peanuts"),
    lambda m, c: say(m, VAGUE, c, attribute="allergy", value="peanuts"),
    lambda m, c: say(m, "Likes green tea", c),
    lambda m, c: say(m, "Likes green tea", c, valid_from=NOON - timedelta(days=300)),
    lambda m, c: revoke(m, max(_living(m, c)), c) if _living(m, c) else say(m, "Has a dog", c),
]


def _living(memory: Memory, contact_id: str) -> list[str]:
    found = facts(memory, contact_id).values()
    return [fact.fact_id for fact in found if fact.is_live]


@pytest.mark.slow
def test_reverts_in_reverse_order_give_every_earlier_state_back(tmp_path: Path) -> None:
    hours, numbers = itertools.count(), itertools.count()
    given_: dict[str, Any] = {"graph": "embedded", "embedded_path": tmp_path / "memory.lbug"}
    given_ |= {"embedder": HashingEmbedder(), "clock": lambda: NOON + next(hours) * HOUR}

    with Memory.open(**given_) as memory:

        @settings(max_examples=6, suppress_health_check=list(HealthCheck))
        @given(st.lists(st.integers(0, len(STEPS) - 1), min_size=2, max_size=7))
        def undo_all(steps: list[int]) -> None:
            contact_id = f"contact-{next(numbers)}"
            states, made = [], []
            for step in steps:
                states.append(kept(memory, contact_id))
                made.append(STEPS[step](memory, contact_id))
            final = kept(memory, contact_id)
            undone = []
            for decision, state in zip(reversed(made), reversed(states), strict=True):
                if decision.action is Action.HOLD:  # it was revoked before, and changed nothing
                    continue
                undone.append(revert(memory, decision, contact_id))
                assert kept(memory, contact_id) == state
            for decision in reversed(undone):
                revert(memory, decision, contact_id)
            assert kept(memory, contact_id) == final

        undo_all()
