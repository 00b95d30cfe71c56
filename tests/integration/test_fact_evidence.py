"""What a fact rests on: one call answers "I never told you that"."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reconciler import Decision, Memory, SourceKind
from reconciler.domain.records.candidates import FactEvidence, Turn
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction
from reconciler.errors import InvalidRequestError, UnknownFactError
from reconciler.reading.kinds import Category
from reconciler.testing import HashingEmbedder, ScriptedExtractor
from tests.engines import EngineUnderTest

NOON = datetime(2025, 3, 9, 12, tzinfo=UTC)
READ = Extracted(
    text="Lives in Pune.",
    category=Category.FACT,
    importance=0.6,
    confidence=0.95,
    citations=(Citation(episode=1, span="My city is Pune"),),
    attribute="city",
    value="Pune",
)


@pytest.fixture
def memory(kept_engine: EngineUnderTest) -> Iterator[Memory]:
    hours = itertools.count()
    extractor = ScriptedExtractor([Extraction(candidates=(READ,), summary="")] * 3)
    given = {"embedder": HashingEmbedder(), "extractor": extractor}
    clock = {"clock": lambda: NOON + next(hours) * timedelta(minutes=1)}
    with Memory.open(**given, **clock, **kept_engine.settings_arguments) as memory:
        yield memory


def lives_in(memory: Memory, city: str, contact_id: str = "alice", **given: Any) -> Decision:
    text = f"Lives in {city}."
    return memory.add_contact_note("crm", contact_id, text, attribute="city", value=city, **given)


def why(memory: Memory, decision: Decision) -> FactEvidence:
    return memory.contact("crm", "alice").evidence(str(decision.fact_id))


def test_a_note_of_the_contact_says_when_and_where_it_was_said(memory: Memory) -> None:
    made = lives_in(memory, "Pune", session_id="call-1", said_at=NOON, source_reference="call 7")
    found = why(memory, made)
    [turn] = found.turns
    assert (turn.speaker, turn.said_at, turn.session_id, turn.channel, turn.text) == (
        *("contact", NOON, "call-1", "live", "Lives in Pune."),
    )
    assert (turn.source_kind, turn.source_reference) == (SourceKind.USER_EXPLICIT, "call 7")
    assert [each.decision_id for each in turn.taken_by] == [made.decision_id]
    expected = "The contact said so on 2025-03-09 at 12:00 UTC (session call-1, live)."
    assert (found.statement, found.has_contacts_words) == (expected, True)


def test_a_turn_of_a_session_comes_with_its_role_and_the_words_that_are_cited(
    memory: Memory,
) -> None:
    turns = [Turn(role="contact", text="My city is Pune, you know.", reference="m-1")]
    memory.contact("crm", "alice").submit_session("chat-1", turns, channel="whatsapp")
    memory.drain()
    [found] = memory.contact("crm", "alice").evidence_about("city")
    [turn] = found.turns
    assert (turn.speaker, turn.spans, turn.channel) == (
        *("contact", ("My city is Pune",), "whatsapp"),
    )
    assert (turn.text, turn.source_reference) == ("My city is Pune, you know.", "m-1")


@pytest.mark.on_neo4j_too
def test_what_lies_beneath_a_restatement_is_shown_as_such(memory: Memory) -> None:
    first, again = lives_in(memory, "Pune"), lives_in(memory, "Pune")
    assert again.superseded_ids == (first.fact_id,)
    found = why(memory, again)
    assert [(each.fact_id, each.is_beneath) for each in found.turns] == [
        (first.fact_id, True),
        (again.fact_id, False),
    ]
    assert [each.taken_by[0].decision_id for each in found.turns] == [
        first.decision_id,
        again.decision_id,
    ]
    assert found.statement.startswith("The contact said so 2 times, last on 2025-03-09")


def test_a_fact_that_the_contact_never_said_says_so(memory: Memory) -> None:
    by_operator = lives_in(memory, "Pune", source_kind="operator")
    assert why(memory, by_operator).statement == (
        "No words of the contact: from an operator's words."
    )
    assert not why(memory, by_operator).has_contacts_words


@pytest.mark.parametrize(
    ("answered_by", "who"),
    [("anna", "An operator (anna)"), ("contact", "Asked about it, the contact")],
)
def test_what_was_read_from_a_tools_output_and_answered_says_so(
    memory: Memory, answered_by: str, who: str
) -> None:
    turns = [Turn(role="tool", text="CRM row: My city is Pune.")]
    memory.contact("crm", "alice").submit_session("chat-2", turns)
    memory.drain()
    [held] = memory.contact("crm", "alice").pending()
    assert isinstance(held, Decision)
    memory.contact("crm", "alice").confirm(held.decision_id, answered_by)
    [found] = memory.contact("crm", "alice").evidence_about("Pune")
    expected = "No words of the contact: read by the extractor from a tool's output. " + who
    assert found.statement.startswith(f"{expected} said yes on 2025-03-09")
    assert [each.is_answer for each in found.turns] == [False, True]


def test_an_ended_fact_has_its_evidence_too(memory: Memory) -> None:
    old = lives_in(memory, "Pune")
    lives_in(memory, "Goa")
    found = why(memory, old)
    assert (found.fact.has_ended, [each.text for each in found.turns]) == (
        *(True, ["Lives in Pune."]),
    )


def test_a_reverted_observation_is_evidence_no_more(memory: Memory) -> None:
    rich = {"attribute": "allergy", "value": "peanuts"}
    first = memory.add_contact_note("crm", "alice", "Severely allergic to peanuts.", **rich)
    again = memory.add_contact_note("crm", "alice", "Allergic to peanuts.", **rich)
    assert len(why(memory, first).turns) == 2, again.action
    memory.contact("crm", "alice").revert(again.decision_id, by="dana", reason="A mix-up.")
    assert [each.text for each in why(memory, first).turns] == ["Severely allergic to peanuts."]


def test_another_contacts_fact_is_answered_like_none(memory: Memory) -> None:
    other = lives_in(memory, "Pune", "bob")
    for unknown in (str(other.fact_id), "no such fact"):
        with pytest.raises(UnknownFactError):
            memory.contact("crm", "alice").evidence(unknown)
    assert memory.contact("crm", "alice").evidence_about("Pune") == []
    with pytest.raises(InvalidRequestError):
        memory.contact("crm", "alice").evidence_about(" ")


def test_an_explanation_quotes_the_turns_that_a_decision_was_made_on(memory: Memory) -> None:
    made = lives_in(memory, "Pune", session_id="call-1", said_at=NOON)
    [sentence] = memory.contact("crm", "alice").explain(made.decision_id).evidence
    assert sentence == (
        'The evidence is the user\'s own word, in session "call-1" on 2025-03-09 12:00 UTC: '
        '"Lives in Pune."'
    )
