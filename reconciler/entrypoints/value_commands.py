"""The commands that show what slots hold now: one of them, or all of a contact's."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from reconciler.domain.records.slots import CONTACT_SUBJECT
from reconciler.entrypoints.options import (
    Agent,
    AsJson,
    ContactId,
    MaybeLimit,
    Tenant,
    print_json,
    reading,
    show,
)
from reconciler.entrypoints.rendering import id_column, lines, shown, table

if TYPE_CHECKING:
    from rich.table import Table

    from reconciler.domain.recalling.current_values import SlotValue

__all__ = ["add_value_commands"]

_SINCE = "since, whose word"
"""What a line break would make something else; beneath each other, so that values have room."""


def add_value_commands(app: typer.Typer) -> None:
    """Add them to the command line."""
    for command in (value, profile, briefing):
        app.command()(command)


def value(
    attribute: Annotated[str, typer.Argument(help="The attribute, for example city.")],
    agent: Agent,
    contact: ContactId,
    subject: Annotated[
        str | None, typer.Option(help="Whom or what it is about; default: the contact.")
    ] = None,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Show an attribute's current value or values, since when, and whose word it is."""
    with reading(agent, contact, tenant) as memory:
        found = memory.contact(agent, contact, tenant=tenant).value(attribute, subject=subject)
    _show(as_json, found, f"{attribute} of {subject or contact}")


def profile(
    agent: Agent, contact: ContactId, tenant: Tenant = None, as_json: AsJson = False
) -> None:
    """Show all current values of a contact: what to know when they call."""
    with reading(agent, contact, tenant) as memory:
        found = memory.contact(agent, contact, tenant=tenant).profile()
    _show(as_json, found, contact)


def briefing(
    agent: Agent,
    contact: ContactId,
    query: Annotated[
        str, typer.Argument(help="What the conversation is about; default: everything.")
    ] = "",
    limit: MaybeLimit = None,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Show what to know and what to ask when a conversation opens, as a model gets it."""
    with reading(agent, contact, tenant, warm_up=bool(query)) as memory:
        found = memory.contact(agent, contact, tenant=tenant).briefing(query, limit=limit)
    if as_json:
        print_json(found.to_dict())
    else:
        sys.stdout.write(found.as_prompt() + "\n")  # to the letter: a model may be given it


def _show(as_json: bool, found: Sequence[SlotValue], title: str) -> None:
    nothing = f"No value is known of {title}."
    show(
        as_json,
        [asdict(current) for current in found],
        lambda: _values_table(title, found) if found else nothing,
    )


def _values_table(title: str, values: Sequence[SlotValue]) -> Table:
    made = table("")
    made.title = shown(title)
    made.add_column("attribute", overflow="fold")
    id_column(made, "value, its fact")
    made.add_column(_SINCE, no_wrap=True)
    for current in values:
        holds = ", holds until settled" if current.holds_until_settled else ""
        disputed = [shown(f"in dispute{holds}", "red")] if current.is_disputed else []
        made.add_row(
            lines(shown(current.attribute), *_about(current.subject)),
            lines(shown(current.value), *disputed, shown(current.fact_id, "dim")),
            lines(
                Text(f"{current.since:%Y-%m-%d}, {current.observations}×"),
                Text(current.word, "dim"),
            ),
        )
    return made


def _about(subject: str) -> list[Text]:
    """Who it is about, where that is not the contact."""
    return [] if subject == CONTACT_SUBJECT else [Text("of ", "dim").append(shown(subject))]
