"""The command that says why a fact is believed: whose words it rests on, and who took them up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group
from rich.panel import Panel
from rich.text import Text

from reconciler.entrypoints.options import Agent, AsJson, ContactId, Tenant, reading, show
from reconciler.entrypoints.rendering import lines, panel, shown
from reconciler.errors import InvalidRequestError

if TYPE_CHECKING:
    from reconciler.domain.records.evidence import EvidenceTurn, FactEvidence

__all__ = ["add_evidence_commands"]


def add_evidence_commands(app: typer.Typer) -> None:
    """Give the command line the commands of this module."""
    app.command()(evidence)


def evidence(
    agent: Agent,
    contact: ContactId,
    fact: Annotated[
        str | None, typer.Option("--fact", help="The fact's id, as `reconciler history` prints it.")
    ] = None,
    about: Annotated[
        str | None, typer.Option("--about", help="An attribute, or words that occur in the fact.")
    ] = None,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Show what a fact rests on: who said it, when, in which session, and who recorded it."""
    if (fact is None) is (about is None):
        raise InvalidRequestError("say which fact: either --fact with its id, or --about")
    with reading(agent, contact, tenant) as memory:
        found = (
            memory.contact(agent, contact, tenant=tenant).evidence_about(about)
            if about is not None
            else [memory.contact(agent, contact, tenant=tenant).evidence(fact or "")]
        )
    show(as_json, [item.to_dict() for item in found], lambda: _view(found))


def _view(found: Sequence[FactEvidence]) -> Group:
    return Group(*map(_panel, found)) if found else Group("Nothing is known that says so.")


def _panel(found: FactEvidence) -> Panel:
    told = [line for turn in found.turns for line in _turn(turn)]
    return panel(
        lines(shown(found.fact.text, "bold"), shown(found.statement), *told),
        title=found.fact.fact_id,
        subtitle=str(found.fact.state),
    )


def _turn(turn: EvidenceTurn) -> Iterator[Text]:
    where = f"session {turn.session_id}" + (f", {turn.channel}" if turn.channel else "")
    found_at = f", {turn.source_reference}" if turn.source_reference else ""
    yield shown(f"{turn.said_at:%Y-%m-%d %H:%M} UTC  {turn.speaker}  ({where}{found_at})", "dim")
    yield shown(f"  “{' … '.join(turn.spans) or turn.text}”")
    for taker in turn.taken_by:
        of = (
            f": the earlier fact {turn.fact_id}, which this fact repeats" if turn.is_beneath else ""
        )
        by = taker.answered_by or taker.proposed_by or "unknown"
        yield shown(f"  {taker.action} {taker.decision_id} by {by}{of}", "dim")
