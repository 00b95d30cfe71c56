"""Commands about what is known: what goes silent soon, and undoing what was decided."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from reconciler.entrypoints.options import (
    Agent,
    AsJson,
    ContactId,
    MaybeContactId,
    MaybeLimit,
    Person,
    Reason,
    Tenant,
    of_whom,
    reading,
    show,
)
from reconciler.entrypoints.rendering import decision_made, expiring_view
from reconciler.memory import Memory

__all__ = ["add_fact_commands"]


def add_fact_commands(app: typer.Typer) -> None:
    """Give the command line the commands of this module."""
    for command in (expiring, revert):
        app.command()(command)


def expiring(
    agent: Agent,
    contact: MaybeContactId = None,
    days: Annotated[float, typer.Option("--days", help="How many days from now.")] = 30,
    tenant: Tenant = None,
    limit: MaybeLimit = None,
    as_json: AsJson = False,
) -> None:
    """List the live facts that expire soon, each with the question that would renew it."""
    with reading(agent, contact, tenant) as memory:
        found = of_whom(memory, agent, contact, tenant).expiring(days=days, limit=limit)
    show(as_json, [asdict(fact) for fact in found], lambda: expiring_view(found))


def revert(
    decision_id: Annotated[
        str, typer.Argument(help="The decision's id, as `reconciler decisions` prints it.")
    ],
    agent: Agent,
    contact: ContactId,
    by: Person,
    reason: Reason,
    and_later: Annotated[
        bool, typer.Option("--and-later", help="Also undo the later decisions that rest on it.")
    ] = False,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Undo a decision: what it wrote no longer holds, and what it ended holds again."""
    with Memory.open() as memory:
        decision = memory.contact(agent, contact, tenant=tenant).revert(
            decision_id, by=by, reason=reason, and_later=and_later
        )
    show(as_json, decision.to_dict(), lambda: decision_made(decision))
