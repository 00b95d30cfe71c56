"""The command that lists an agent's tasks: what is to be resumed, and what came of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.table import Table
from rich.text import Text

from reconciler.entrypoints.options import (
    Agent,
    AsJson,
    Limit,
    MaybeContactId,
    Tenant,
    of_whom,
    reading,
    show,
)
from reconciler.entrypoints.rendering import id_column, lines, shown, table

if TYPE_CHECKING:
    from reconciler.domain.tasks.task_states import AnyTaskState
    from reconciler.domain.tasks.tasks import Task

__all__ = ["add_task_commands"]


def add_task_commands(app: typer.Typer) -> None:
    """Give the command line the commands of this module."""
    app.command()(tasks)


def tasks(
    agent: Agent,
    contact: MaybeContactId = None,
    state: Annotated[
        str | None,
        typer.Option(
            "--state", help="Only tasks in this state; open means all that have not ended."
        ),
    ] = None,
    tenant: Tenant = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List an agent's tasks, last changed first; --state open shows what to resume."""
    with reading(agent, contact, tenant) as memory:
        found = of_whom(memory, agent, contact, tenant).tasks(
            state=cast("AnyTaskState | None", state), limit=limit
        )
    show(as_json, [asdict(task) for task in found], lambda: _table(found))


def _table(found: Sequence[Task]) -> Table:
    view = table("Tasks, those that changed last first")
    id_column(view, "task")
    for name in ("state", "goal", "done"):
        view.add_column(name, overflow="fold")
    for task in found:
        view.add_row(
            lines(
                shown(task.task_id),
                shown(task.scope.contact_id, "dim"),
                Text(f"{task.changed_at:%Y-%m-%d %H:%M}", "dim"),
            ),
            task.state,
            lines(
                shown(task.goal),
                *([shown(f"waits for: {task.blocker}", "dim")] * bool(task.blocker)),
            ),
            lines(*map(shown, task.done)),
        )
    return view
