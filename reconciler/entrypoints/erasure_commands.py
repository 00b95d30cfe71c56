"""Commands that forget: a contact, a session, a fact, an attribute; and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType

from reconciler.entrypoints.options import (
    Agent as AgentId,
    AsJson,
    ContactId,
    MaybeContactId,
    MaybeLimit,
    Person,
    Reason,
    Tenant,
    call_of,
    reading,
    show,
)
from reconciler.entrypoints.rendering import counted, lines, panel, shown
from reconciler.memory import Memory

if TYPE_CHECKING:
    from reconciler.domain.records.erasures import Erasure

__all__ = ["add_erasure_commands"]


def add_erasure_commands(app: typer.Typer) -> None:
    """Give the command line the commands of this module."""
    for command in (forget, erasures):
        app.command()(command)


def forget(
    agent: AgentId,
    contact: ContactId,
    by: Person,
    reason: Reason,
    fact: Annotated[
        str | None, typer.Option("--fact", help="Only this fact, and whatever says the same.")
    ] = None,
    session: Annotated[
        str | None,
        typer.Option("--session", help="Only this session, and what was learned from it."),
    ] = None,
    attribute: Annotated[
        str | None,
        typer.Option("--attribute", help="Only what was ever stored under this attribute."),
    ] = None,
    subject: Annotated[
        str | None,
        typer.Option("--subject", help="With --attribute: whom it is about; default: the contact."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be erased; change nothing.")
    ] = False,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Erase what is known about a contact, or part of it, for good; print a receipt."""
    with Memory.open() as memory:
        done = memory.contact(agent, contact, tenant=tenant).forget(
            fact_id=fact,
            session_id=session,
            attribute=attribute,
            subject=subject,
            by=by,
            reason=reason,
            dry_run=dry_run,
        )
    show(as_json, done.to_dict(), lambda: _erasure_panel(done))
    if not done.receipt.is_clean:
        raise typer.Exit(1)


def erasures(
    agent: Annotated[
        str | None, typer.Option("--agent", help="Only this agent; default: all agents.")
    ] = None,
    contact: MaybeContactId = None,
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="Only those that were interrupted.")
    ] = False,
    finish: Annotated[
        bool, typer.Option("--finish", help="Finish the interrupted ones, in the whole store.")
    ] = False,
    tenant: Tenant = None,
    limit: MaybeLimit = None,
    as_json: AsJson = False,
) -> None:
    """List the erasures that were asked for, and how far each one got."""
    with reading(None if finish else agent, contact, tenant) as memory:
        if finish:
            found = memory.finish_erasures()
        else:
            found = call_of(memory, "erasures", agent, contact, tenant)(
                unfinished=unfinished, limit=limit
            )
    show(as_json, [erasure.to_dict() for erasure in found], lambda: _erasures_view(found))
    if finish and not all(erasure.is_finished and erasure.receipt.is_clean for erasure in found):
        raise typer.Exit(1)


def _erasures_view(found: Sequence[Erasure]) -> Group:
    return Group(*map(_erasure_panel, found)) if found else Group("Nothing was forgotten.")


def _erasure_panel(erasure: Erasure) -> RenderableType:
    receipt = erasure.receipt
    erased = ", ".join(
        counted(count, label.lower()) for label, count in receipt.removed.items() if count
    )
    nothing = "nothing; if something should have been there, check the name that you gave"
    verb = "texts would be erased from" if receipt.is_dry_run else "texts erased from"
    told = [
        shown(f"{verb}: {erased or nothing}"),
        shown(f"held if they are said again: {receipt.tombstones}"),
    ]
    if not receipt.is_dry_run:
        told.append(shown(f"read again: {counted(receipt.verified, 'text')}, {_found(erasure)}"))
    if receipt.searched_texts:
        searched = counted(receipt.searched_texts, "text")
        told.append(shown(f"files searched for {searched}: {_in_files(erasure)}"))
    told += [
        shown(f"still hold words of it: {text_id}", "yellow") for text_id in receipt.elsewhere_ids
    ]
    told += [shown(trace, "dim") for trace in receipt.traces]
    state = "dry run" if receipt.is_dry_run else str(erasure.state)
    return panel(
        lines(*told),
        title=f"{erasure.kind} · {state}",
        subtitle=f"{erasure.scope.contact_id} · by {erasure.by}",
    )


def _in_files(erasure: Erasure) -> str:
    receipt = erasure.receipt
    left, shared = receipt.texts_in_files, receipt.shared_texts
    found = f"{left} STILL THERE" if left else "none found"
    also = "is" if shared == 1 else "are"
    return (
        f"{found}, except {shared} that {also} also in a record that is kept" if shared else found
    )


def _found(erasure: Erasure) -> str:
    left = erasure.receipt.remaining_ids
    return f"NOT EMPTY: {', '.join(left)}" if left else "nothing of it found"
