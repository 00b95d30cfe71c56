"""The command that lists an agent's tasks: what is to be resumed, and what came of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from reconciler.entrypoints.options import (
    Agent,
    AsJson,
    Limit,
    MaybeContactId,
    Tenant,
    reading,
    show,
)
from reconciler.entrypoints.rendering import id_column, lines, shown, table

if TYPE_CHECKING:
    from reconciler.domain.tasks.tasks import Task

__all__ = ["add_task_commands"]


def add_task_commands(app: typer.Typer) -> None:
    """Give the command line the commands of this module."""
    app.command()(tasks)


def tasks(
    agent: Agent,
    contact: MaybeContactId = None,
    state: Annotated[
        str | None, typer.Option("--state", help="Only these; open for all that have not ended.")
    ] = None,
    tenant: Tenant = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List an agent's tasks, those that changed last first; --state open is what to resume."""
    with reading(agent, contact, tenant) as memory:
        found = memory.tasks(agent, contact, state=state, tenant=tenant, limit=limit)
    show(as_json, [asdict(each) for each in found], lambda: _table(found))


def _table(found: Sequence[Task]) -> Table:
    view = table("Tasks, those that changed last first")
    id_column(view, "task")
    for name in ("state", "goal", "done"):
        view.add_column(name, overflow="fold")
    for each in found:
        view.add_row(
            lines(
                shown(each.task_id),
                shown(each.scope.contact_id, "dim"),
                Text(f"{each.changed_at:%Y-%m-%d %H:%M}", "dim"),
            ),
            each.state,
            lines(
                shown(each.goal),
                *([shown(f"waits for: {each.blocker}", "dim")] * bool(each.blocker)),
            ),
            lines(*map(shown, each.done)),
        )
    return view
