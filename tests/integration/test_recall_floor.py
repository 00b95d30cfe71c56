"""What an unrelated question gets, with the packaged model and the floor measured for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory, ops
from reconciler.config_files import load_recall_floor
from reconciler.errors import ConfigurationError
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder
from tests.engines import embedded_engine

BAN = "Never call before nine."
ALLERGY = "Is allergic to peanuts."
TOLD = (
    BAN,
    "Lives in Pune.",
    "Has two children.",
    "Works at Globex.",
    ALLERGY,
    "Drives a blue Volvo.",
    "The renewal is due in March.",
    "Her manager is Dana Olsen.",
)
RELATED = {
    "Where does she live?": "Lives in Pune.",
    "Where is she based?": "Lives in Pune.",
    "Does she have kids?": "Has two children.",
    "Which company employs her?": "Works at Globex.",
    "Any food allergies?": ALLERGY,
    "Which car does she drive?": "Drives a blue Volvo.",
    "Who is her boss?": "Her manager is Dana Olsen.",
}
UNRELATED = (
    "How do I fix a flat tyre on my bicycle?",
    "What did the plumber say about the boiler?",
    "How much did I pay for the guitar?",
    "Can you translate this sentence into Greek?",
    "Why is the printer jammed again?",
    "What time does the match start tonight?",
    "How long do I boil an egg?",
)
ELSEWHERE = ("What is the capital of France?", "Which hotel did I stay at in Lisbon?")
"""Unrelated, yet about a place: to the model that is near a home's place."""


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = Path(tmp_path_factory.mktemp("floor"))
    with Memory.open(**embedded_engine(folder).settings_arguments) as memory:
        for text in TOLD:
            memory.add_contact_note("crm", "priya", text)
        yield memory


def texts(memory: Memory, question: str) -> list[str]:
    return [each.fact.text for each in memory.contact("crm", "priya").recall(question)]


def test_a_question_that_words_do_not_give_away_finds_its_fact(memory: Memory) -> None:
    found = {question: texts(memory, question) for question in RELATED}
    assert [q for q, fact in RELATED.items() if fact not in found[q][:2]] == []
    assert all(BAN in each for each in found.values())


def test_a_name_that_was_told_beside_a_note_makes_no_question_strange(tmp_path: Path) -> None:
    with Memory.open(**embedded_engine(tmp_path).settings_arguments) as memory:
        for text in TOLD[1:]:
            memory.add_contact_note("crm", "elke", text, contact_name="Elke Brandt")
        asked = [memory.contact("crm", "elke").recall(f"Which car does {each} drive?") for each in
                 ("Elke", "Elke Brandt", "she")]  # fmt: skip
    by_name, by_both, by_pronoun = ([hit.fact.text for hit in each] for each in asked)
    assert by_name == by_both == by_pronoun
    assert "Drives a blue Volvo." in by_name


def test_a_note_without_an_attribute_is_found_by_what_such_facts_say(tmp_path: Path) -> None:
    jazz = "Jazz is on whenever the door is open."
    with Memory.open(**embedded_engine(tmp_path).settings_arguments) as memory:
        for text in (*TOLD, jazz, "Mimi, say all who know her."):
            memory.add_contact_note("crm", "mimi", text)
        [first, *_] = memory.contact("crm", "mimi").recall("What music does she like?")
    assert first.fact.text == jazz


def test_a_question_about_another_person_brings_what_is_said_of_that_person(tmp_path: Path) -> None:
    of_assistant: dict[str, Any] = {"subject": "assistant", "attribute": "city", "value": "Goa"}
    with Memory.open(**embedded_engine(tmp_path).settings_arguments) as memory:
        memory.add_contact_note("crm", "ana", "Lives in Pune.", attribute="city", value="Pune")
        memory.add_contact_note("crm", "ana", "Has settled down in Goa.", **of_assistant)
        asked = ("Where does her assistant live?", "Where does she live?")
        firsts = [memory.contact("crm", "ana").recall(each)[0].fact.text for each in asked]
    assert firsts == ["Has settled down in Goa.", "Lives in Pune."]


def test_an_unrelated_question_gets_what_stands_or_keeps_safe_and_nothing_else(
    memory: Memory,
) -> None:
    assert [texts(memory, question) for question in UNRELATED] == [[BAN, ALLERGY]] * len(UNRELATED)
    for question in ELSEWHERE:
        assert {*texts(memory, question)} <= {BAN, ALLERGY, "Lives in Pune."}


@pytest.mark.parametrize(
    "asked", ["Tell me about {}.", "What do we know about {}?", "Summarise everything about {}."]
)
@pytest.mark.parametrize("thing", ["chess engines", "coral reefs", "glaciers"])
def test_a_fact_with_the_words_of_a_question_is_found_though_that_may_be_about_the_world(
    tmp_path: Path, asked: str, thing: str
) -> None:
    with Memory.open(**embedded_engine(tmp_path).settings_arguments) as memory:
        for text in (*TOLD, f"Once wrote about {thing}."):
            memory.add_contact_note("crm", "ana", text)
        found = memory.contact("crm", "ana").recall(asked.format(thing))
    assert [hit.fact.text for hit in found if hit.fits] == [f"Once wrote about {thing}."]


def test_an_order_to_list_things_finds_each_of_them(tmp_path: Path) -> None:
    projects = {"Runs the Orion project with two colleagues.", "Project Falcon ships in May."}
    with Memory.open(**embedded_engine(tmp_path).settings_arguments) as memory:
        for text in (*TOLD, *projects):
            memory.add_contact_note("crm", "ana", text)
        found = memory.contact("crm", "ana").recall("List every project.")
    assert {hit.fact.text for hit in found if hit.fits} == projects


def test_the_packaged_model_has_a_floor_and_a_model_that_nobody_measured_has_none(
    memory: Memory,
) -> None:
    assert load_recall_floor(ops.model_move(memory).model) is not None
    assert load_recall_floor("model@1") is None


@pytest.mark.parametrize(
    ("floor", "count"), [("calibrated", 1), ("off", 1), (-1.0, 1), (0.5, 0), ("0.5", 0)]
)
def test_the_floor_can_be_set(tmp_path: Path, floor: object, count: int) -> None:
    settings = embedded_engine(tmp_path).settings_arguments | {"recall": {"floor": floor}}
    with Memory.open(embedder=HashingEmbedder(64), **settings) as memory:
        memory.add_contact_note("crm", "priya", "Lives in Pune.")
        assert len(memory.contact("crm", "priya").recall("Reykjavik")) == count


@pytest.mark.parametrize("floor", ["low", None, float("nan")])
def test_a_floor_that_is_none_is_refused(floor: object) -> None:
    with pytest.raises(ConfigurationError, match=r"recall\.floor"):
        load_settings(recall={"floor": floor})


def test_what_matters_most_is_told_whatever_is_asked(tmp_path: Path) -> None:
    limit, lesser = "Bars are at most three metres long.", "Bars come by lorry."
    with Memory.open(**embedded_engine(tmp_path).settings_arguments) as memory:
        memory.add_contact_note("crm", "ana", limit, importance=0.95)
        memory.add_contact_note("crm", "ana", lesser, importance=0.9)
        found = memory.contact("crm", "ana").recall("How long do I boil an egg?")
    assert [(hit.fact.text, hit.is_standing, hit.fits) for hit in found] == [(limit, True, False)]


@pytest.mark.parametrize(
    ("named", "other", "question"),
    [
        ("Invoice 1042 is unpaid.", "Invoice 1043 is paid.", "Is invoice 1042 paid?"),
        (
            "Invoice 1042 is over 40 EUR.",
            "Invoice 1043 is over 90 EUR.",
            "How much is Invoice 1042?",
        ),
        ("In 2024 she paid 300 EUR.", "In 2025 she paid 400 EUR.", "What did she pay in 2024?"),
    ],
)
def test_the_fact_that_the_question_names_comes_before_a_later_one_like_it(
    memory: Memory, named: str, other: str, question: str
) -> None:
    contact = memory.contact("crm", question)
    for text in (named, other):
        contact.note(text)
    assert [hit.fact.text for hit in contact.recall(question, limit=1)] == [named]
