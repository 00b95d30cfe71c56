"""A row's command takes its options from the signature and the docstring of its call."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from reconciler.bound_memory import AgentMemory, BoundMemory, ContactMemory
from reconciler.entrypoints.command_rows import CommandRow
from reconciler.entrypoints.options import add_commands, print_json
from reconciler.reading.kinds import Category
from tests.tables import every


def _call(
    memory: ContactMemory,
    name: str,
    by: str,
    *,
    fact_id: str | None = None,
    tags: Sequence[str] = (),
    category: Category | str | None = None,
    since: datetime | None = None,
    never: bool = False,
    limit: int = 50,
) -> str:
    """Find by a name. This does not stand in the help.

    Args:
        memory: the contact's.
        name: ``exactly`` this name.
        by: who asks.
        fact_id: only this fact. It may have ended.
        tags: only with this tag.
        category: only of this category; None for all.
        since: not before this time, time-zone aware.
        never: whether it was never true.
        limit: at most this many.
    """
    return name


def _options(row: CommandRow) -> dict[str, Any]:
    app = typer.Typer()
    add_commands(app, {row.name: row})
    return {each.name: each for each in get_command(app).params}


@pytest.fixture
def options() -> dict[str, Any]:
    return _options(CommandRow("find", _call, str))


def test_a_parameter_by_position_is_an_argument_but_who_asks_is_an_option(
    options: dict[str, Any],
) -> None:
    assert (options["name"].opts, options["by"].opts) == (["name"], ["--by"])
    assert options["by"].required


def test_an_id_is_asked_for_without_the_word_id(options: dict[str, Any]) -> None:
    assert options["fact"].opts == ["--fact"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("name", "exactly this name."),
        ("fact", "Only this fact."),
        ("tags", "Only with this tag; repeat for several."),
        ("category", "Only of this category; default: all."),
        ("since", "Not before this time, ISO 8601 with a zone."),
        ("never", "It was never true."),
    ],
)
def test_the_help_of_an_option_is_the_first_sentence_of_its_description(
    options: dict[str, Any], name: str, text: str
) -> None:
    assert options[name].help == text


def test_a_sequence_is_an_option_that_may_be_repeated(options: dict[str, Any]) -> None:
    assert (options["tags"].opts, options["tags"].multiple) == (["--tag"], True)


@every(
    ("given", "told"),
    [
        (("--limit", "0"), "greater than"),
        (("--category", "x"), "preference"),
        (("--limit", "x"), "int"),
    ],
)
def test_a_value_of_another_type_is_a_wrong_usage(given: tuple[str, str], told: str) -> None:
    app = typer.Typer()
    add_commands(app, {"find": CommandRow("find", _call, str)})
    who = ("--agent", "crm", "--contact", "priya", "--by", "anna")
    done = CliRunner().invoke(app, ["Pune", *who, *given])
    assert (done.exit_code, told in done.output) == (2, True)


def test_the_row_may_replace_help_option_and_default() -> None:
    urgent = Annotated[bool, typer.Option("--urgent", help="Ask first.")]
    row = CommandRow(
        "find",
        _call,
        str,
        words={"by": "The operator."},
        options={"urgent": urgent},
        defaults={"limit": 5, "urgent": False},
    )
    made = _options(row)
    assert (made["by"].help, made["limit"].default) == ("The operator.", 5)
    assert made["urgent"].opts == ["--urgent"]


@every(
    ("call", "required"),
    [(ContactMemory.profile, True), (BoundMemory.disputes, False), (AgentMemory.contacts, None)],
)
def test_the_class_of_the_call_says_whether_a_contact_is_named(
    call: Any, required: bool | None
) -> None:
    contact = _options(CommandRow("read", call, str)).get("contact")
    assert (None if contact is None else contact.required) is required


def test_the_fields_of_a_call_are_options_with_the_help_of_their_own_docstring() -> None:
    made = _options(CommandRow("find", AgentMemory.find, str))
    assert made["min_confidence"].help == "Only facts with at least this confidence, 0 to 1."


def test_plain_values_are_made_of_each_part_of_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    class Told:
        def to_dict(self) -> dict[str, str]:
            return {"text": "Lives in Pune."}

    print_json([Told(), Told()])
    assert json.loads(capsys.readouterr().out) == [{"text": "Lives in Pune."}] * 2
