"""How well a memory is kept, and questions that later words answered."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Any

import pytest

from reconciler import Decision, Memory, SourceKind, ops
from reconciler.domain.recalling.prompting import without_recalled
from reconciler.domain.records.kinds import Action, GateReason
from reconciler.errors import InvalidAnswerError, InvalidScopeError
from reconciler.ops.review.health import ContactHealth
from reconciler.queries import load_queries
from reconciler.service.checking.lines import load_export_schema
from reconciler.service.stores.contact_store import IN_COLUMNS
from reconciler.service.stores.patient_graph import PatientGraph
from reconciler.testing import HashingEmbedder, TableEmbedder
from tests import raw_store
from tests.engines import EngineUnderTest

NOON = datetime(2025, 3, 9, 12, tzinfo=UTC)
NEAR = {"Likes tea": [1.0, 0.0], "Likes a cup of tea": [0.97, 0.243], "Has two cats": [0.0, 1.0]}
CAREFUL = {"cosine_update_min": 1.0, "cosine_cut": 1.0, "cosine_add_max": 1.0}
Open = Callable[..., Memory]


@pytest.fixture
def opened(kept_engine: EngineUnderTest) -> Open:
    clock = count()  # a month after the notes, and always a little later
    return partial(
        Memory.open,
        clock=lambda: NOON + timedelta(days=30, seconds=next(clock)),
        **kept_engine.settings_arguments,
    )


@pytest.fixture
def memory(opened: Open) -> Iterator[Memory]:
    with opened(embedder=HashingEmbedder()) as memory:
        yield memory


def say(memory: Memory, text: str, day: float = 0, **given: Any) -> Decision:
    said_at = NOON + timedelta(days=day)
    return memory.add_contact_note("crm", "alice", text, said_at=said_at, **given)


def guess(memory: Memory, city: str, day: float) -> Decision:
    return say(
        memory,
        f"Lives in {city}",
        day,
        attribute="city",
        value=city,
        source_kind=SourceKind.TOOL_OUTPUT,
    )


def alice(memory: Memory) -> ContactHealth:
    [found] = ops.health(memory.contact("crm", "alice")).contacts
    return found


def test_health_counts_what_is_there_twice(opened: Open) -> None:
    embedder = TableEmbedder(NEAR, 2)
    with opened(embedder=embedder, reconcile=CAREFUL) as memory:
        for text in NEAR:
            say(memory, text)
    with opened(embedder=embedder) as memory:
        found = alice(memory)
    assert (found.live, found.near_pairs, found.duplicate_rate) == (3, 1, 2 / 3)


@pytest.mark.parametrize("length", [3, 4, 7])
def test_a_vector_that_was_cut_short_is_compared_with_none(
    one_neo4j: EngineUnderTest, length: int
) -> None:
    embedder = TableEmbedder(NEAR, 2)
    settings = {"clock": lambda: NOON, **one_neo4j.settings_arguments}
    with Memory.open(embedder=embedder, reconcile=CAREFUL, **settings) as memory:
        for text in NEAR:
            say(memory, text)
    cut = "MATCH (f:Fact {text: $said}) SET f.embedding_bytes = $cut"
    raw_store.query(one_neo4j, cut, said="Has two cats", cut=b"x" * length)
    with Memory.open(embedder=embedder, **settings) as memory:
        [found] = ops.health(memory.agent("crm")).contacts
        assert (found.live, found.near_pairs) == (3, 1)


def test_health_asks_about_contacts_together_and_finds_those_with_damaged_records(
    opened: Open, kept_engine: EngineUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"contact-{number:02}" for number in range(40)]
    with opened(embedder=HashingEmbedder()) as memory:
        lines = (json.dumps({"contact_id": name, "text": f"Likes {name}."}) for name in names)
        memory.import_notes(lines, agent_id="crm")
    for damage in (
        "MATCH (n:Fact) WHERE n.text = 'Likes contact-07.' SET n.trust = '?'",
        "MATCH (n:Episode) WHERE n.text = 'Likes contact-09.' SET n.text = NULL",
        "MATCH (n:Decision) WHERE n.text = 'Likes contact-11.' SET n.record = '{}'",
        "MATCH (n:Decision) WHERE n.text = 'Likes contact-12.' SET n.disposal = '?'",
    ):
        raw_store.query(kept_engine, damage)
    asked: list[str] = []
    run = PatientGraph.run
    monkeypatch.setattr(
        PatientGraph, "run", lambda self, name, given: asked.append(name) or run(self, name, given)
    )
    with opened(embedder=HashingEmbedder()) as memory:
        asked.clear()
        quick = ops.health(memory.agent("crm"))
        assert len(asked) <= 12
        asked.clear()
        found = ops.health(memory.agent("crm"), check_records=True).contacts
    assert (quick.total.damaged, len(quick.contacts)) == (None, len(names))
    damaged = {contact.contact_id: contact.damaged for contact in found if contact.damaged}
    assert damaged == dict.fromkeys(("contact-07", "contact-09", "contact-11", "contact-12"), 1)
    assert len(found) == len(names)
    assert len(asked) <= 25


def test_of_many_contacts_health_tells_what_it_tells_of_each(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"attribute": "city", "source_kind": SourceKind.USER_EXPLICIT}
    with opened(embedder=HashingEmbedder()) as memory:
        for name in ("bob", "carol", "dan", "eve"):
            note = partial(memory.add_contact_note, "crm", name)
            held = note("Has diabetes", said_at=NOON)
            assert held.action is Action.HOLD
            guessed = {"attribute": "city", "source_kind": SourceKind.TOOL_OUTPUT}
            note("Lives in Pune", value="Pune", said_at=NOON, **guessed)
            if name == "carol":  # her own words answer what was guessed, but not what takes a yes
                note("Lives in Pune", value="Pune", said_at=NOON + timedelta(days=1), **told)
            if name == "dan":
                memory.contact("crm", name).confirm(held.decision_id, "contact")
        each = [
            found
            for name in ("bob", "carol", "dan", "eve")
            for found in ops.health(memory.contact("crm", name)).contacts
        ]
        monkeypatch.setattr("reconciler.ops.review.health.FEW", 3)
        assert list(ops.health(memory.agent("crm")).contacts) == each
    assert [found.questions.count for found in each] == [2, 1, 1, 2]


@pytest.mark.parametrize("label", IN_COLUMNS)
def test_health_looks_at_all_that_an_export_holds_of_a_record(label: str) -> None:
    [statement] = load_queries("embedded")[IN_COLUMNS[label]].statements
    described = load_export_schema()["$defs"][label]["properties"]["properties"]["properties"]
    variable = label.lower()
    assert {name for name in described if f"{variable}.{name} AS {name}" in statement.text} == {
        *described
    }


def test_health_counts_decisions_and_evidence(memory: Memory) -> None:
    say(memory, "Likes tea")
    say(memory, "ok")
    found = alice(memory)
    assert (found.decisions, found.attempts, found.refusals, found.episodes) == (2, 2, 1, 2)


def test_recalls_are_counted_for_whoever_asks_and_those_in_vain_apart(opened: Open) -> None:
    with opened(embedder=HashingEmbedder()) as memory:
        say(memory, "Likes tea")
        memory.contact("crm", "alice").recall()
        memory.contact("crm", "alice").recall(tags=["none"])
    with opened(embedder=HashingEmbedder(), must_exist=True) as reader:
        reader.contact("crm", "alice").recall()  # who may not write leaves no trace
        found = alice(reader)
    assert (found.recalls, found.empty_recalls, found.empty_recall_rate) == (2, 1, 0.5)


def test_what_stands_whatever_is_asked_makes_no_recall_a_success(opened: Open) -> None:
    with opened() as memory:  # the packaged model, which has a floor
        say(memory, "Never call before noon", session_id="s", source_kind="operator")
        [standing] = memory.contact("crm", "alice").recall("How long do I boil an egg?")
        assert standing.is_standing
        memory._services.use_trace.flush()
        assert (alice(memory).recalls, alice(memory).empty_recalls) == (1, 1)


def test_a_recall_of_somebody_unknown_makes_nobody_known(opened: Open) -> None:
    with opened(embedder=HashingEmbedder()) as memory:
        say(memory, "Likes tea")
        memory.contact("crm", "nobody").recall()
    with opened(embedder=HashingEmbedder()) as memory:
        assert [each.contact_id for each in memory.agent("crm").contacts()] == ["alice"]
        assert (alice(memory).recalls, ops.health(memory.agent("crm")).total.recalls) == (0, 0)


def test_an_erased_contact_keeps_its_counts_which_hold_no_word(opened: Open) -> None:
    with opened(embedder=HashingEmbedder()) as memory:
        say(memory, "Likes tea")
        memory.contact("crm", "alice").recall()
        memory._services.use_trace.flush()
        memory.contact("crm", "alice").forget(by="contact", reason="She asked.")
        assert (alice(memory).recalls, alice(memory).live) == (1, 0)


def test_health_of_nobody_is_empty(memory: Memory) -> None:
    report = ops.health(memory.contact("crm", "nobody"))
    assert (report.contacts, report.total.live, report.total.empty_recall_rate) == ((), 0, None)
    with pytest.raises(InvalidScopeError):
        ops.health(memory.agent(""))


def test_an_answer_is_counted_and_a_question_is_not_an_answer(memory: Memory) -> None:
    held = guess(memory, "Pune", 0)
    assert (held.action, alice(memory).questions.count) == (Action.HOLD, 1)
    memory.contact("crm", "alice").confirm(held.decision_id, "contact")
    found = alice(memory)
    assert (found.questions.count, found.confirm_rate) == (0, 1.0)


def test_later_words_of_the_contact_answer_a_question(memory: Memory) -> None:
    held = guess(memory, "Pune", 0)
    say(memory, "Lives in Goa", 1, attribute="city", value="Goa")
    assert memory.contact("crm", "alice").pending() == []
    with pytest.raises(InvalidAnswerError, match="answered by a later statement: 'Lives in Goa'"):
        memory.contact("crm", "alice").confirm(held.decision_id, "contact")


def test_what_is_claimed_again_after_later_words_answered_it_is_a_new_question(
    memory: Memory,
) -> None:
    guess(memory, "Pune", 0)
    say(memory, "Lives in Goa", 1, attribute="city", value="Goa")
    again, once_more = guess(memory, "Pune", 2), guess(memory, "Pune", 3)
    assert (again.proposal.held_id, once_more.proposal.held_id) == (None, again.decision_id)
    assert [each.decision_id for each in memory.contact("crm", "alice").pending()] == [
        again.decision_id
    ]
    confirmed = memory.contact("crm", "alice").confirm(once_more.decision_id, "contact")
    assert (confirmed.action, confirmed.text) == (Action.UPDATE, "Lives in Pune")


def test_a_claim_that_is_older_than_its_answer_is_refused_and_not_asked(memory: Memory) -> None:
    say(memory, "Lives in Goa", 1, attribute="city", value="Goa")
    late = guess(memory, "Pune", 0)
    assert late.gate is not None
    assert (late.action, late.gate.reason) == (Action.REJECT, GateReason.ANSWERED_SINCE)
    assert late.question is None
    assert "answered it after" in late.answer


def test_later_words_leave_the_question_whether_to_keep_what_was_forgotten_open(
    memory: Memory,
) -> None:
    known = say(memory, "Lives in Pune", 0, attribute="city", value="Pune")
    assert known.fact_id is not None
    memory.contact("crm", "alice").revoke(known.fact_id, by="anna", reason="Not hers.")
    held = guess(memory, "Pune", 1)
    say(memory, "Lives in Goa", 2, attribute="city", value="Goa")
    again = guess(memory, "Pune", 3)
    assert (again.action, again.proposal.held_id) == (Action.HOLD, held.decision_id)
    assert [each.decision_id for each in memory.contact("crm", "alice").pending()] == [
        held.decision_id
    ]


def test_earlier_words_leave_a_question_open(memory: Memory) -> None:
    say(memory, "Lives in Goa", 0, attribute="city", value="Goa")
    held = guess(memory, "Pune", 1)
    assert [each.decision_id for each in memory.contact("crm", "alice").pending()] == [
        held.decision_id
    ]


def test_a_briefing_says_what_to_ask_beside_what_is_known(memory: Memory) -> None:
    say(memory, "Has two cats")
    say(memory, "Has diabetes.")
    briefing = memory.contact("crm", "alice").briefing()
    assert [each.fact.text for each in briefing.facts] == ["Has two cats"]
    [question] = briefing.questions
    assert "diabetes" in question
    assert question in briefing.as_prompt()
    assert without_recalled(f"So: {briefing.as_prompt()}") == "So: [recalled facts]"
