"""The commands that archive what has faded, and take a fact back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group
from rich.panel import Panel

from reconciler.entrypoints.options import (
    Agent,
    AsJson,
    ContactId,
    MaybeContactId,
    Tenant,
    of_whom,
    show,
)
from reconciler.entrypoints.rendering import decision_made, lines, panel, shown
from reconciler.memory import Memory

if TYPE_CHECKING:
    from reconciler.domain.records.decisions import Archived

__all__ = ["add_fading_commands"]

By = Annotated[str, typer.Option("--by", help="The operator's name.")]
Why = Annotated[str, typer.Option("--reason", help="Why, in one sentence.")]


def add_fading_commands(app: typer.Typer) -> None:
    """Give the command line the commands of this module."""
    for command in (archive, unarchive):
        app.command()(command)


def archive(
    agent: Agent,
    contact: MaybeContactId = None,
    by: By = "operator",
    reason: Why = "Nobody said or needed it for long.",
    floor: Annotated[
        float | None,
        typer.Option(
            help="Archive facts whose weight is below this, 0 to 1; default: the configured floor."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be archived.")
    ] = False,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Archive faded facts: recall leaves them out, and they are live again once repeated."""
    with Memory.open(must_exist=dry_run) as memory:
        found = of_whom(memory, agent, contact, tenant).archive(
            by=by, reason=reason, floor=floor, dry_run=dry_run
        )
    show(as_json, [archived.to_dict() for archived in found], lambda: _view(found))


def unarchive(
    fact_id: Annotated[
        str, typer.Argument(help="The fact's id, as `reconciler history` prints it.")
    ],
    agent: Agent,
    contact: ContactId,
    by: By = "operator",
    reason: Why = "It is needed again.",
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Make an archived fact live again, as it was."""
    with Memory.open() as memory:
        decision = memory.contact(agent, contact, tenant=tenant).unarchive(
            fact_id, by=by, reason=reason
        )
    show(as_json, decision.to_dict(), lambda: decision_made(decision))


def _view(found: Sequence[Archived]) -> Group:
    return Group(*map(_panel, found)) if found else Group("Nothing has faded so far.")


def _panel(archived: Archived) -> Panel:
    done = (
        "would be archived" if archived.decision is None else f"by {archived.decision.decision_id}"
    )
    facts = [shown(f"{fact.fact_id}  {fact.text}") for fact in archived.facts]
    return panel(lines(*facts), title=archived.contact_id, subtitle=done)
