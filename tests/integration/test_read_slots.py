"""Slots read from plain notes, at every door, and from older facts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from reconciler import Decision, Memory
from reconciler.domain.explanation import explain
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest, embedded_engine

CHANNEL = [
    "Prefers email.",
    "Prefers to be contacted by email.",
    "She prefers e-mail.",
    "Is best reached by email.",
    "Now prefers phone calls rather than email.",
]
CITY = ["Lives in Pune.", "FYI, she lives in Mumbai now."]


def tell(memory: Memory, texts: Sequence[str], contact_id: str = "priya") -> list[Decision]:
    return [memory.add_contact_note("crm", contact_id, text) for text in texts]


def live(memory: Memory, contact_id: str = "priya") -> list[str]:
    return [each.fact.text for each in memory.contact("crm", contact_id).recall()]


def chains(memory: Memory, contact_id: str = "priya") -> list[int]:
    return [len(each.facts) for each in memory.contact("crm", contact_id).history()]


@pytest.mark.parametrize("texts", [CHANNEL, CITY], ids=["channel", "city"])
def test_plain_notes_about_one_thing_are_one_fact_and_a_chain(
    kept_engine: EngineUnderTest, texts: list[str]
) -> None:
    with Memory.open(embedder=HashingEmbedder(), **kept_engine.settings_arguments) as memory:
        tell(memory, texts)
        assert (live(memory), chains(memory)) == ([texts[-1]], [len(texts)])


@pytest.mark.parametrize("profile", ["seed", "minilm"])
def test_so_they_are_with_the_packaged_model_under_either_profile(
    tmp_path: Path, profile: str
) -> None:
    arguments = embedded_engine(tmp_path).settings_arguments
    with Memory.open(reconcile={"profile": profile}, **arguments) as memory:
        for contact_id, texts in (("ann", CHANNEL), ("bob", CITY)):
            tell(memory, texts, contact_id)
            assert live(memory, contact_id) == [texts[-1]]


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    arguments = embedded_engine(tmp_path).settings_arguments
    return Memory.open(embedder=HashingEmbedder(), **arguments)


def test_an_end_takes_the_place_of_its_value_and_of_no_other(memory: Memory) -> None:
    with memory:
        tell(memory, ["Works at Globex.", "No longer works at Globex."])
        assert live(memory) == ["No longer works at Globex."]
        tell(memory, ["Works at Brightwave.", "No longer works at Globex."])
        assert "Works at Brightwave." in live(memory)


def test_a_decision_says_that_its_slot_was_read_and_from_which_words(memory: Memory) -> None:
    with memory:
        _, made = tell(memory, CITY)
        kept = memory.contact("crm", "priya").decision(made.decision_id)
    assert kept.to_dict()["note"]["slot_read_from"] == CITY[1]
    assert f'"city" of the contact as "Mumbai" was read from "{CITY[1]}"' in " ".join(
        explain(kept).sentences()
    )


def test_no_number_is_left_in_the_words_that_a_slot_was_read_from(memory: Memory) -> None:
    with memory:
        made, mailed = tell(
            memory, ["My number has changed to 781 5991 02.", "Her e-mail is ann.b@example.com."]
        )
        assert made.note.slot is not None
        assert made.note.slot.attribute == "phone"
        for decision, said in ((made, "5991 02"), (mailed, "ann.b")):
            assert decision.note.slot_read_from is not None
            assert said not in decision.note.slot_read_from
            assert said not in decision.text


@pytest.mark.parametrize(
    "texts",
    [
        ["Her email is a@example.com.", "Her email changed to b@example.com."],
        ["Her phone is +44 7700 900123.", "Her phone number is now +44 7700 900199."],
        ["Her new address is 9 Oak Road, Bath.", "She lives at 5 Elm Street, Leeds."],
    ],
    ids=["email", "phone", "address"],
)
def test_personal_data_is_replaced_by_what_is_told_later(memory: Memory, texts: list[str]) -> None:
    with memory:
        tell(memory, texts)
        said = texts[-1].rstrip(".")
        (current,) = memory.contact("crm", "priya").profile()
        assert current.value
        assert said.endswith(current.value)
        assert chains(memory) == [2]


@pytest.fixture
def packaged(tmp_path: Path) -> Memory:
    """With the default settings: the packaged model, and no judge."""
    return Memory.open(**embedded_engine(tmp_path).settings_arguments)


@pytest.mark.parametrize(
    "texts",
    [
        ("Contract ends 2026-12-31.", "Contract ends 2027-12-31."),
        ("Lives in Pune.", "Moved her office from Pune to Goa."),
    ],
)
def test_what_no_words_decide_is_one_open_question(
    packaged: Memory, texts: tuple[str, str]
) -> None:
    with packaged as memory:
        tell(memory, texts)
        [dispute] = memory.contact("crm", "priya").disputes()
        assert {fact.text for fact in dispute.facts} == {*texts}


@pytest.mark.parametrize(
    "texts",
    [
        ["Budget 2025 is 40,000 EUR.", "Budget 2026 is 50,000 EUR."],
        ["Appointment on 3 May at 10:00.", "Appointment on 10 May at 14:00."],
        [f"Order {1042 + at}: {2 + at % 5} chairs, {300 + 17 * at} EUR." for at in range(12)],
        [f"Order of {3 + at} May: {2 + at % 5} chairs." for at in range(12)],
    ],
    ids=["budgets", "appointments", "orders", "orders by date"],
)
def test_things_of_one_kind_are_no_question(packaged: Memory, texts: list[str]) -> None:
    with packaged as memory:
        tell(memory, texts)
        assert memory.contact("crm", "priya").disputes() == []
        assert chains(memory) == [1] * len(texts)


def test_the_start_of_a_value_ends_with_it(packaged: Memory) -> None:
    with packaged as memory:
        tell(memory, ["Works at Wipro since 2019.", "Now works at TCS."])
        assert live(memory) == ["Now works at TCS."]


def test_a_profile_shows_an_allergy_in_any_of_its_wordings_and_each_fact_stays(
    packaged: Memory,
) -> None:
    texts = ["Nut allergy.", "She cannot eat eggs.", "Allergies: soy, kiwi.", "Lactose intolerant."]
    with packaged as memory:
        tell(memory, texts)
        shown = {each.value.casefold() for each in memory.contact("crm", "priya").profile()}
        assert shown == {"nut", "eggs", "soy, kiwi", "lactose"}
        assert {*live(memory)} == {*texts}


def test_lines_of_an_import_are_read_too(memory: Memory) -> None:
    with memory:
        lines = [json.dumps({"text": text}) for text in CITY]
        assert memory.import_notes(lines, agent_id="crm", contact_id="priya").errors == []
        assert live(memory) == [CITY[1]]
