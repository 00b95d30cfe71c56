"""The commands for what is in dispute, and for what an operator puts right by hand."""

from __future__ import annotations

from typing import Annotated

import typer

from reconciler.entrypoints.options import (
    Agent,
    AsJson,
    ContactId,
    MaybeContactId,
    MaybeLimit,
    Reason,
    Tenant,
    of_whom,
    parse_time,
    reading,
    show,
)
from reconciler.entrypoints.rendering import decision_made, disputes_view
from reconciler.memory import Memory

__all__ = ["add_dispute_commands"]


def add_dispute_commands(app: typer.Typer) -> None:
    """Give the command line the commands of this module."""
    for command in (disputes, resolve, relate, amend):
        app.command()(command)


def disputes(
    agent: Agent,
    contact: MaybeContactId = None,
    tenant: Tenant = None,
    limit: MaybeLimit = None,
    as_json: AsJson = False,
) -> None:
    """List facts that contradict each other and are not settled, with the question to ask."""
    with reading(agent, contact, tenant) as memory:
        found = of_whom(memory, agent, contact, tenant).disputes(limit=limit)
    show(as_json, [dispute.to_dict() for dispute in found], lambda: disputes_view(found))


def resolve(
    keep: Annotated[
        list[str],
        typer.Argument(
            help="The id of the fact that holds, as `reconciler disputes` prints it; "
            "several if all hold."
        ),
    ],
    agent: Agent,
    contact: ContactId,
    by: Annotated[str, typer.Option("--by", help="Who answers: contact, or an operator's name.")],
    reason: Reason,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Settle a dispute: the facts that you name hold, and those in dispute with them end."""
    with Memory.open() as memory:
        decision = memory.contact(agent, contact, tenant=tenant).resolve(keep, by=by, reason=reason)
    show(as_json, decision.to_dict(), lambda: decision_made(decision))


def relate(
    fact: Annotated[str, typer.Argument(help="The fact that this is about, by id or handle.")],
    agent: Agent,
    contact: ContactId,
    replaces: Annotated[
        list[str] | None, typer.Option(help="A fact whose place it takes; several times if so.")
    ] = None,
    repeats: Annotated[
        str | None, typer.Option(help="A fact that says the same; they count as one.")
    ] = None,
    ends: Annotated[
        list[str] | None,
        typer.Option(help="A fact that is over, without it taking its place; several times if so."),
    ] = None,
    both_hold: Annotated[
        list[str] | None, typer.Option(help="A fact that holds beside it; several times if so.")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Why, in one sentence.")] = None,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Say how a fact relates to others, within the limits of an agent; revert undoes it."""
    with Memory.open() as memory:
        decision = memory.contact(agent, contact, tenant=tenant).relate(
            fact,
            replaces=replaces or (),
            repeats=repeats,
            ends=ends or (),
            both_hold=both_hold or (),
            reason=reason,
        )
    show(as_json, decision.to_dict(), lambda: decision_made(decision))


def amend(
    text: Annotated[str, typer.Argument(help="What is true, in one sentence.")],
    agent: Agent,
    contact: ContactId,
    by: Annotated[str, typer.Option("--by", help="The operator's name.")],
    reason: Reason,
    fact: Annotated[
        str | None,
        typer.Option("--fact", help="The id of the fact to correct; or give --attribute."),
    ] = None,
    subject: Annotated[
        str | None, typer.Option(help="Whom or what it is about; default: the contact.")
    ] = None,
    attribute: Annotated[
        str | None,
        typer.Option(help="The attribute to correct, for example city; not with --fact."),
    ] = None,
    value: Annotated[
        str | None, typer.Option(help="The attribute's value now, for example Pune.")
    ] = None,
    single_valued: Annotated[
        bool | None,
        typer.Option(
            "--single-valued/--many-valued",
            help="For an attribute that config/attributes.toml lacks: whether it holds one value.",
        ),
    ] = None,
    said_at: Annotated[
        str | None, typer.Option(help="Since when it is true, ISO 8601 with a zone; default: now.")
    ] = None,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Correct a fact, as an operator: the new fact replaces it, whoever said it."""
    with Memory.open(warm_up=True) as memory:
        decision = memory.contact(agent, contact, tenant=tenant).amend(
            text,
            fact_id=fact,
            subject=subject,
            attribute=attribute,
            value=value,
            single_valued=single_valued,
            by=by,
            reason=reason,
            said_at=parse_time("--said-at", said_at),
        )
    show(as_json, decision.to_dict(), lambda: decision_made(decision))
