"""The write gate's commands: what waits, its answers, what was refused, and what would be."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from reconciler.agent_memory import note_to_check
from reconciler.domain.records.kinds import Category, SourceKind
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
from reconciler.entrypoints.rendering import (
    assessment_view,
    decision_made,
    pending_view,
    refusals_table,
)
from reconciler.memory import Memory

__all__ = ["add_gate_commands"]

DecisionId = Annotated[
    str, typer.Argument(help="The decision's id, as `reconciler pending` prints it.")
]
By = Annotated[
    str,
    typer.Option("--by", help="Who answers: contact, or an operator's name."),
]

policy_app = typer.Typer(no_args_is_help=True, help="Try the write gate's policy.")


def add_gate_commands(app: typer.Typer) -> None:
    """Give the command line the commands of this module."""
    for command in (pending, confirm, reject, withdraw, revoke, refusals):
        app.command()(command)
    app.add_typer(policy_app, name="policy")


_SHOWN_MAX = 20
"""Questions that are shown at once, unless the operator says how many."""


def pending(
    agent: Agent,
    contact: MaybeContactId = None,
    with_silent: Annotated[
        bool,
        typer.Option("--with-silent", help="Also list what waits unasked until it is said again."),
    ] = False,
    tenant: Tenant = None,
    limit: MaybeLimit = None,
    as_json: AsJson = False,
) -> None:
    """List what waits for an answer, held or disputed, with the question to ask."""
    with reading(agent, contact, tenant) as memory:
        found = of_whom(memory, agent, contact, tenant).pending(
            limit=limit, with_silent=with_silent
        )
    show(
        as_json,
        [item.to_dict() for item in found],
        lambda: pending_view(found, None if limit else _SHOWN_MAX),
    )


def confirm(
    decision_id: DecisionId,
    agent: Agent,
    contact: ContactId,
    by: By,
    text: Annotated[
        str | None,
        typer.Option("--text", help="The fact, in the words of the answer; default: as proposed."),
    ] = None,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Answer yes to a held note; it is stored as the word of whoever answered."""
    with Memory.open() as memory:
        decision = memory.contact(agent, contact, tenant=tenant).confirm(decision_id, by, text=text)
    show(as_json, decision.to_dict(), lambda: decision_made(decision))


def reject(
    decision_id: DecisionId,
    agent: Agent,
    contact: ContactId,
    by: By,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Answer no to a held note; nobody is asked about it again."""
    with Memory.open() as memory:
        decision = memory.contact(agent, contact, tenant=tenant).reject(decision_id, by)
    show(as_json, decision.to_dict(), lambda: decision_made(decision))


def withdraw(
    decision_id: DecisionId,
    agent: Agent,
    contact: ContactId,
    by: By,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Withdraw a held note, so that nobody is asked about it."""
    with Memory.open() as memory:
        decision = memory.contact(agent, contact, tenant=tenant).withdraw(decision_id, by)
    show(as_json, decision.to_dict(), lambda: decision_made(decision))


def revoke(
    fact_id: Annotated[
        str, typer.Argument(help="The fact's id, as `reconciler history` prints it.")
    ],
    agent: Agent,
    contact: ContactId,
    by: Person,
    reason: Reason,
    never: Annotated[bool, typer.Option("--never", help="The fact was never true.")] = False,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """End a fact without replacing it; its history is kept."""
    with Memory.open() as memory:
        decision = memory.contact(agent, contact, tenant=tenant).revoke(
            fact_id, by=by, reason=reason, never=never
        )
    show(as_json, decision.to_dict(), lambda: decision_made(decision))


def refusals(
    agent: Agent,
    contact: MaybeContactId = None,
    tenant: Tenant = None,
    limit: MaybeLimit = None,
    as_json: AsJson = False,
) -> None:
    """Count what the gate refused, by contact and reason."""
    with reading(agent, contact, tenant) as memory:
        counts = of_whom(memory, agent, contact, tenant).refusals(limit=limit)
    show(as_json, [asdict(count) for count in counts], lambda: refusals_table(counts))


@policy_app.command("check")
def policy_check(
    text: Annotated[str, typer.Argument(help="The note, as it would be added.")],
    agent: Annotated[str, typer.Option("--agent", help="The agent whose domain applies.")] = "any",
    source_kind: Annotated[
        SourceKind, typer.Option(help="Whose word it is, and so how far it is trusted.")
    ] = SourceKind.USER_EXPLICIT,
    category: Annotated[
        Category | None, typer.Option(help="The category; default: read from the text.")
    ] = None,
    topic: Annotated[str | None, typer.Option(help="The topic, for example work.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what each check of the gate finds in a note; no store is read or written."""
    from reconciler.bootstrap import build_judge
    from reconciler.settings import load_settings

    candidate = note_to_check(
        text, agent_id=agent, source_kind=source_kind, category=category, topic=topic
    )
    assessment = build_judge(load_settings())(candidate).assessment
    show(as_json, asdict(assessment), lambda: assessment_view(assessment))
