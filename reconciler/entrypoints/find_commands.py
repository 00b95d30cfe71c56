"""The commands that find facts by a name, and across an agent's contacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from reconciler.entrypoints.options import Agent, AsJson, ContactId, Tenant, show
from reconciler.entrypoints.rendering import shown, table
from reconciler.memory import Memory
from reconciler.named_secrets import without_named_secrets

if TYPE_CHECKING:
    from reconciler.domain.records.facts import FoundFact

__all__ = ["add_find_commands"]

MaybeLimit = Annotated[int | None, typer.Option("--limit", min=1, help="At most so many.")]


def add_find_commands(app: typer.Typer) -> None:
    """Give the command line the commands of this module."""
    for command in (about, find):
        app.command()(command)


def about(
    name: Annotated[str, typer.Argument(help="Somebody or something, as one would write it.")],
    agent: Agent,
    contact: ContactId,
    all_contacts: Annotated[
        bool, typer.Option("--all-contacts", help="Also of the agent's other contacts.")
    ] = False,
    tenant: Tenant = None,
    limit: MaybeLimit = None,
    as_json: AsJson = False,
) -> None:
    """List the live facts that mention a name as whole words."""
    with Memory.open(must_exist=True) as memory:
        found = memory.recall_about(
            agent, contact, name, all_contacts=all_contacts, tenant=tenant, limit=limit
        )
    asked = f"About {without_named_secrets(name)}"
    show(as_json, [asdict(each) for each in found], lambda: _view(asked, found))


def find(
    query: Annotated[str, typer.Argument(help="What is asked.")],
    agent: Agent,
    tenant: Tenant = None,
    limit: MaybeLimit = None,
    as_json: AsJson = False,
) -> None:
    """Find the live facts of all of an agent's contacts that are nearest to a query."""
    with Memory.open(warm_up=True, must_exist=True) as memory:
        found = memory.find(agent, query, tenant=tenant, limit=limit)
    asked = f"Find: {without_named_secrets(query)}"
    show(as_json, [asdict(each) for each in found], lambda: _view(asked, found))


def _view(asked: str, found: Sequence[FoundFact]) -> Table | str:
    if not found:
        return f"{asked}: nothing is known."
    shown_table = table(asked)
    for column in ("contact", "found by", "fact", "said last", "whose word"):
        shown_table.add_column(column)
    for each in found:
        fact = each.fact
        how = str(each.found_in) if each.similarity is None else f"cosine {each.similarity:.3f}"
        said = f"{fact.last_confirmed_at:%Y-%m-%d}"
        shown_table.add_row(shown(each.contact_id), how, shown(fact.text), said, str(fact.word))
    return shown_table
