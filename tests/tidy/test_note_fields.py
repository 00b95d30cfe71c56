"""One list of what may come with a note: every door adds up against it."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

import pytest
import typer
from click import Command

from reconciler import Memory
from reconciler.config_files import load_tools
from reconciler.domain.records.notes import Note
from reconciler.domain.values.attributes import AttributeBook
from reconciler.entrypoints.cli import app
from reconciler.service.writing.doors import (
    LINE_KEYS,
    AgentFields,
    EffectFields,
    LineFields,
    LiveDoor,
    NoteFields,
    SlotFields,
)
from tests.documents import documents
from tests.tables import every

EVERY = set(NoteFields.__annotations__)
FOUND_BY_THE_DOOR = {
    "scope",
    "text",
    "is_dated",
    "is_hedged",
    "is_cleaned",
    "slot",
    "slot_read_from",
}
"""Fields of a note that no caller gives beside its text."""
SPELT = {"session_id": "session"}
"""Fields that have another name on the command line."""


def _add_command() -> Command:
    return typer.main.get_command(app).commands["add"]  # type: ignore[attr-defined,no-any-return]


def test_every_part_of_a_note_is_a_field() -> None:
    parts = {each.name for each in fields(Note)} - FOUND_BY_THE_DOOR
    assert parts == set(LineFields.__annotations__) - set(SlotFields.__annotations__)


def test_every_part_of_a_slot_is_a_field() -> None:
    taken = {name.removeprefix("is_") for name in inspect.signature(AttributeBook.slot).parameters}
    assert taken - {"self"} == set(SlotFields.__annotations__)


@pytest.mark.parametrize("door", [Memory.add_contact_note, LiveDoor.add])
def test_the_doors_of_a_builder_take_the_list_itself(door: object) -> None:
    parameters = inspect.signature(door).parameters  # type: ignore[arg-type]
    assert not EVERY & set(parameters)
    assert parameters["fields"].annotation == "Unpack[NoteFields]"


@every("name", sorted(EVERY))
def test_the_command_has_an_option_for_every_field(name: str) -> None:
    assert SPELT.get(name, name) in {each.name for each in _add_command().params}


def test_a_line_of_an_import_may_have_every_field_but_the_proposer_and_when_it_ended() -> None:
    beside = {"tenant", "agent_id", "contact_id", "text", "valid_to"}
    assert set(LINE_KEYS) - beside == EVERY - {"proposed_by", *EffectFields.__annotations__}


def test_an_agents_tool_takes_the_agents_fields_and_no_other() -> None:
    taken = {each.name for each in load_tools()["add_contact_note"].parameters}
    effects = set(EffectFields.__annotations__)
    assert taken - {"text"} == set(AgentFields.__annotations__) | effects


@every("name", sorted(EVERY))
def test_the_documents_name_every_field(name: str) -> None:
    assert re.search(rf"`{name}`", documents())
