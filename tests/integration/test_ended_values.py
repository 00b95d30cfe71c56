"""By whichever door an end comes in, no profile and no value shows what it ended."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from reconciler import ContactMemory, Memory
from reconciler.domain.records.facts import handle_of
from reconciler.testing import HashingEmbedder
from tests.ended_values import OVER
from tests.engines import EngineUnderTest
from tests.tables import every


@pytest.fixture
def real_memory(kept_engine: EngineUnderTest) -> Iterator[Memory]:
    """The same with the packaged model, which tells a plain statement from an end."""
    with Memory.open(**kept_engine.settings_arguments) as opened:
        yield opened


AT_A_DOOR = OVER[::8]
"""The rule is asked about all of them elsewhere; here, whether it is asked at each door."""

ROMAN = "Quiere un piso en la planta baja."
ROMAN_END = "La planta baja se acabó para él."
"""Words that nothing here reads as an end; what a model says of them decides."""


@pytest.fixture
def memory(kept_engine: EngineUnderTest) -> Iterator[Memory]:
    """An open memory without anything in it."""
    with Memory.open(embedder=HashingEmbedder(), **kept_engine.settings_arguments) as opened:
        yield opened


def known(memory: Memory, number: str, slot: dict[str, Any], **also: Any) -> ContactMemory:
    contact = memory.contact("crm", number)
    noun = slot["attribute"].replace("_", " ")
    contact.note(f"The {noun} is {slot['value']}.", **slot, **also)
    assert [each.value for each in contact.profile()] == [slot["value"]]
    return contact


@every(("text", "attribute", "value"), AT_A_DOOR)
@every("also", [{}, {"single_valued": True}])
def test_a_note_filed_under_the_value_that_it_ends_leaves_none(
    memory: Memory, text: str, attribute: str, value: str, also: dict[str, Any]
) -> None:
    slot = {"attribute": attribute, "value": value}
    contact = known(memory, f"{text} {also}", slot, **also)
    contact.note(text, **slot, **also)
    assert contact.profile() == []
    assert contact.value(attribute) == []


@every(("text", "attribute", "value"), AT_A_DOOR)
def test_an_imported_note_that_ends_its_value_leaves_none(
    memory: Memory, text: str, attribute: str, value: str
) -> None:
    slot = {"attribute": attribute, "value": value}
    contact = known(memory, f"import {text}", slot)
    line = {"agent_id": "crm", "contact_id": f"import {text}", "text": text, **slot}
    memory.import_notes([json.dumps(line)])
    assert contact.profile() == []


@every(("text", "attribute", "value"), AT_A_DOOR)
def test_an_end_that_an_agent_notes_leaves_no_value(
    memory: Memory, text: str, attribute: str, value: str
) -> None:
    slot = {"attribute": attribute, "value": value}
    contact = known(memory, f"tool {text}", slot)
    [hit] = contact.recall()
    sent = {"text": text, "source_kind": "user_explicit", **slot}
    tools = memory.agent_tools("crm", f"tool {text}")
    assert tools.call("recall_contact", {"query": ""}).text
    reply = tools.call("add_contact_note", {**sent, "ends": [handle_of(hit.fact.fact_id)]})
    assert not reply.is_error, reply.text
    assert contact.profile() == []
    # Nor does a recall show it as what holds.
    assert f"{attribute}={value}]" not in tools.call("recall_contact", {"query": text}).text


SLOT = {"attribute": "floor_preference", "value": "planta baja"}


@pytest.mark.parametrize("also", [{}, {"single_valued": True}])
def test_a_value_that_a_model_ends_in_words_that_nobody_reads_is_none(
    memory: Memory, also: dict[str, Any]
) -> None:
    contact = memory.contact("crm", "luis")
    first = contact.note(ROMAN, **SLOT, **also)
    contact.note(ROMAN_END, ends=[handle_of(str(first.fact_id))], **SLOT, **also)
    assert contact.profile() == []
    assert [hit.fact.text for hit in contact.recall()] == [ROMAN_END]


@pytest.mark.on_neo4j_too
def test_a_value_that_a_model_ends_afterwards_is_none_until_that_is_undone(memory: Memory) -> None:
    contact = memory.contact("crm", "luis")
    first = contact.note(ROMAN, **SLOT)
    other = {"attribute": "flat", "value": "planta baja"}
    second = contact.note(ROMAN_END, **other)
    made = contact.relate(str(second.fact_id), ends=[str(first.fact_id)])
    assert contact.profile() == []
    memory.contact("crm", "luis").revert(made.decision_id, by="anna", reason="Wrong.")
    assert {each.attribute for each in contact.profile()} == {"floor_preference", "flat"}


SAID_TO_END = [
    ("Works as a florist.", "job_title", "florist", "Closed the shop for good.", "florist"),
    ("Is on the Blue tariff.", "tariff", "Blue", "Blue was entered for a namesake.", "blue"),
    ("Lives in Cork.", "city", "Cork, Ireland", "Cork is history for her.", "Cork"),
    ("Newsletter: yes.", "newsletter", True, "Newsletter: no.", True),
    ("Call +44 7700 900123.", "phone", "+44 7700 900123", "That phone is lost.", "+447700900123"),
    ("Mitglied im Ruderclub.", "club", "Ruderclub", "Ruderclub, das war einmal.", "Ruderclub"),
    ("Rides a Vespa.", "vehicle", "Vespa", "The Vespa went to a niece.", None),
    ("Eats no meat.", "food_habit", "vegetarian", "Eats meat again.", "vegetarian"),
]
"""A fact with its attribute and value, and a note that says of that value that it has ended."""


@every(("held", "attribute", "value", "text", "again"), SAID_TO_END)
@every("fields", [{}, {"valid_to": datetime(2026, 2, 1, tzinfo=UTC)}])
def test_a_value_that_is_said_to_have_ended_is_none(
    memory: Memory, held: str, attribute: str, value: Any, text: str, again: Any, fields: Any
) -> None:
    contact = memory.contact("crm", f"{text} {fields}")
    first = contact.note(held, attribute=attribute, value=value)
    made = contact.note(text, attribute=attribute, value=again, ended=True, **fields)
    assert made.superseded_ids == (first.fact_id,)
    assert not made.verdict.is_restatement
    assert contact.value(attribute) == contact.profile() == []
    assert [hit.fact.observations for hit in contact.recall()] == [1]


def test_the_end_of_a_value_that_nothing_holds_is_a_note_without_a_value(memory: Memory) -> None:
    contact = memory.contact("crm", "ines")
    contact.note("Lives in Porto.", attribute="city", value="Porto")
    made = contact.note("Never lived in Faro.", attribute="city", value="Faro", ended=True)
    assert made.superseded_ids == made.conflicting_ids == ()
    assert [each.value for each in contact.value("city")] == ["Porto"]
    past = {
        "valid_from": datetime(2020, 1, 1, tzinfo=UTC),
        "valid_to": datetime(2022, 1, 1, tzinfo=UTC),
    }
    made = contact.note("Lived in Evora.", attribute="city", value="Evora", ended=True, **past)
    assert made.is_over
    assert [each.value for each in contact.value("city")] == ["Porto"]


def test_the_end_of_a_value_on_a_day_to_come_waits_for_it(memory: Memory) -> None:
    contact = memory.contact("crm", "ines")
    contact.note("Lives in Porto.", attribute="city", value="Porto")
    day = datetime(2100, 1, 1, tzinfo=UTC)
    made = contact.note("Leaves Porto.", attribute="city", value="Porto", ended=True, valid_to=day)
    assert [end.day for end in made.planned_ends] == [day]
    assert [each.value for each in contact.value("city")] == ["Porto"]


def test_a_new_value_beside_what_it_ends_is_shown(memory: Memory) -> None:
    contact = memory.contact("crm", "luis")
    first = contact.note(ROMAN, **SLOT)
    contact.note("Quiere un ático.", attribute="flat", value="ático", ends=[str(first.fact_id)])
    assert [each.value for each in contact.profile()] == ["ático"]


@pytest.mark.parametrize(
    ("first", "then", "attribute", "value"),
    [
        (
            "Her number is +44 7700 900123.",
            "Her number is no longer +44 7700 900123 but +44 7700 900456.",
            "phone",
            "+44 7700 900456",
        ),
        ("Lives in Pune.", "Moved from Pune to Goa.", "city", None),
        ("Works at Infosys.", "No longer works at Infosys but at Wipro.", "employer", "Wipro"),
    ],
)
def test_a_note_that_ends_one_value_and_gives_the_next_is_filed_under_no_old_one(
    memory: Memory, first: str, then: str, attribute: str, value: str | None
) -> None:
    contact = memory.contact("crm", "asha")
    contact.note(first)
    made = contact.note(then)
    assert [each.fact.fact_id for each in contact.recall()] == [made.fact_id]
    shown = [each.value for each in contact.profile()]
    assert shown == [each.value for each in contact.value(attribute)] == [value] * bool(value)


OF_A_KNOWN_VALUE = [
    (
        "Is the club's treasurer.",
        "role",
        "treasurer",
        "Handed the role of treasurer to Nora.",
        False,
    ),
    ("Has a Rover.", "car", "Rover", "The Rover was towed to a breaker's yard.", False),
    ("Is insured with Helvo.", "insurer", "Helvo", "The Helvo policy was cancelled.", False),
    ("Has a parrot.", "pet", "parrot", "The parrot is her flatmate's, never was hers.", False),
    ("Speaks Welsh.", "language", "Welsh", "Welsh was ticked by mistake.", False),
    ("Uses Ledgerly.", "accounting", "Ledgerly", "Deleted the Ledgerly account in May.", False),
    ("Is teetotal.", "drinking", "teetotal", "Nora drinks wine again.", False),
    ("Touches no wine.", "drinking", "teetotal", "Nora drinks red wine again.", False),
    ("Rents a lock-up.", "storage", "lock-up", "Moved the bikes into the cellar.", False),
    ("Has a railcard.", "travel", "railcard", "Nora drives to work now.", False),
    ("Is teetotal.", "drinking", "teetotal", "Nora sticks to juice at every party.", True),
    ("Has a railcard.", "travel", "railcard", "Pays half price on trains.", True),
    ("Is the club's treasurer.", "role", "treasurer", "Is its treasurer, as always.", True),
    ("Has a Rover.", "car", "Rover", "Drives a Rover.", True),
    ("Is insured with Helvo.", "insurer", "Helvo", "Her insurer is Helvo.", True),
    ("Speaks Welsh.", "language", "Welsh", "Answers in Welsh.", True),
    ("Uses Ledgerly.", "accounting", "Ledgerly", "Keeps the books in Ledgerly.", True),
]
"""A fact with its attribute and value, a note of the same value, and if it says that it holds."""


@every(("held", "attribute", "value", "text", "holds"), OF_A_KNOWN_VALUE)
@every("also", [{}, {"single_valued": True}])
def test_an_equal_value_is_said_again_only_if_the_note_says_that_it_holds(
    real_memory: Memory,
    held: str,
    attribute: str,
    value: str,
    text: str,
    holds: bool,
    also: dict[str, Any],
) -> None:
    contact = real_memory.contact("crm", f"{text} {also}")
    slot = {"attribute": attribute, "value": value, **also}
    contact.note(held, **slot)
    tools = real_memory.agent_tools("crm", f"{text} {also}")
    reply = tools.call("add_contact_note", {"text": text, "source_kind": "contact", **slot})
    decision = reply.decision
    assert decision is not None
    assert decision.verdict.is_restatement == holds
    current = contact.value(attribute)
    assert all(each.text != text for each in current) or holds
    assert all(each.observations == 1 + holds for each in current)
    is_asked = "Say with relate_contact_note if it repeats" in reply.text
    assert holds or not current or (is_asked and "give ended true" in reply.text)
