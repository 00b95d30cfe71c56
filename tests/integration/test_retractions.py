"""What the contact takes back: it ends, stays ended, and can be brought back."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from reconciler import Action, Decision, Memory
from reconciler.domain.records.kinds import FactState, GateReason

SISTER, TAKEN_BACK = "I have a sister.", "I misspoke, I do not have a sister."


def say(memory: Memory, text: str, **given: Any) -> Decision:
    return memory.add_contact_note("crm", "ada", text, **given)


def told(memory: Memory) -> list[str]:
    return [each.fact.text for each in memory.contact("crm", "ada").recall()]


def test_what_is_taken_back_ends_without_a_newer_fact_and_the_history_says_why(
    memory: Memory,
) -> None:
    said = say(memory, SISTER)
    made = say(memory, TAKEN_BACK)
    assert (made.action, made.fact_id, made.superseded_ids) == (
        Action.REVOKE,
        None,
        (said.fact_id,),
    )
    [chain] = memory.contact("crm", "ada").history()
    [fact], [event] = chain.facts, chain.events
    assert (fact.state, fact.is_void, told(memory)) == (FactState.REVOKED, True, [])
    assert (event.action, event.by, event.reason) == (Action.REVOKE, "agent:crm", TAKEN_BACK)
    [before] = memory.contact("crm", "ada").history(at=said.at)
    assert (before.facts[0].state, before.events) == (FactState.LIVE, ())


def test_what_was_taken_back_is_held_when_it_is_said_again(memory: Memory) -> None:
    say(memory, SISTER)
    say(memory, TAKEN_BACK)
    again = say(memory, SISTER)
    assert again.gate is not None
    assert (again.action, again.gate.reason) == (Action.HOLD, GateReason.FORGOTTEN_BEFORE)
    memory.contact("crm", "ada").confirm(again.decision_id, "contact")
    assert told(memory) == [SISTER]


def test_what_comes_after_it_in_one_import_is_held_too(memory: Memory) -> None:
    say(memory, SISTER)
    lines = [
        json.dumps({"agent_id": "crm", "contact_id": "ada", "text": text})
        for text in (TAKEN_BACK, SISTER, "I have a dog.")
    ]
    report = memory.import_notes(lines)
    assert (report.merged, report.held, report.added) == (1, 1, 1)
    assert told(memory) == ["I have a dog."]


def test_a_retraction_can_be_undone(memory: Memory) -> None:
    say(memory, SISTER)
    made = say(memory, TAKEN_BACK)
    memory.contact("crm", "ada").revert(
        made.decision_id, by="olga", reason="She has one after all."
    )
    assert told(memory) == [SISTER]
    assert say(memory, SISTER).action is not Action.HOLD


@pytest.mark.on_neo4j_too
def test_a_retraction_goes_with_what_it_took_back_when_that_is_forgotten(memory: Memory) -> None:
    said = say(memory, SISTER)
    say(memory, TAKEN_BACK)
    memory.contact("crm", "ada").forget(fact_id=said.fact_id, by="contact", reason="She asked.")
    assert "sister" not in str(
        [memory.contact("crm", "ada").decisions(), memory.contact("crm", "ada").history()]
    )


def test_an_agent_is_told_what_was_taken_back(memory: Memory) -> None:
    say(memory, SISTER)
    sent = {"text": TAKEN_BACK, "source_kind": "user_explicit"}
    reply = memory.agent_tools("crm", "ada").call("add_contact_note", sent)
    assert re.search(r'It took back: #\w+ "I have a sister."', reply.text)
    assert "It replaced" not in reply.text
