"""The commands that find facts by a name, and across an agent's contacts."""

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
    ContactId,
    MaybeLimit,
    MinConfidence,
    OfAttribute,
    OfCategory,
    OfSubject,
    OfTags,
    OfTopic,
    SaidSince,
    SaidUntil,
    Tenant,
    TrustedAs,
    of_whom,
    parse_time,
    reading,
    show,
)
from reconciler.entrypoints.rendering import fact_lines, id_column, lines, shown, table
from reconciler.named_secrets import without_secrets

if TYPE_CHECKING:
    from reconciler.domain.records.facts import FoundFact

__all__ = ["add_find_commands"]


def add_find_commands(app: typer.Typer) -> None:
    """Give the command line the commands of this module."""
    for command in (about, find):
        app.command()(command)


def about(
    name: Annotated[str, typer.Argument(help="A person or a thing, as you would write it.")],
    agent: Agent,
    contact: ContactId,
    all_contacts: Annotated[
        bool, typer.Option("--all-contacts", help="Also search the agent's other contacts.")
    ] = False,
    tenant: Tenant = None,
    limit: MaybeLimit = None,
    as_json: AsJson = False,
) -> None:
    """List the live facts that mention a name as whole words."""
    asked_of = None if all_contacts else contact
    with reading(agent, asked_of, tenant) as memory:
        found = of_whom(memory, agent, asked_of, tenant).recall_about(name, limit=limit)
    asked = f"About {without_secrets(name)}"
    show(as_json, [asdict(hit) for hit in found], lambda: _view(asked, found))


def find(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    agent: Agent,
    tenant: Tenant = None,
    limit: MaybeLimit = None,
    attribute: OfAttribute = None,
    category: OfCategory = None,
    topic: OfTopic = None,
    tags: OfTags = None,
    subject: OfSubject = None,
    min_score: Annotated[
        float | None, typer.Option(help="Only facts with at least this cosine similarity.")
    ] = None,
    min_confidence: MinConfidence = None,
    since: SaidSince = None,
    until: SaidUntil = None,
    trust: TrustedAs = None,
    as_json: AsJson = False,
) -> None:
    """Search all of an agent's contacts for the live facts nearest to a query."""
    with reading(agent, None, tenant, warm_up=True) as memory:
        found = memory.agent(agent, tenant=tenant).find(
            query,
            limit=limit,
            attribute=attribute,
            category=category,
            topic=topic,
            tags=tags or None,
            subject=subject,
            min_score=min_score,
            min_confidence=min_confidence,
            since=parse_time("--since", since),
            until=parse_time("--until", until),
            trust=trust,
        )
    asked = f"Find: {without_secrets(query)}"
    show(as_json, [asdict(hit) for hit in found], lambda: _view(asked, found))


def _view(asked: str, found: Sequence[FoundFact]) -> Table | str:
    if not found:
        return f"{asked}: nothing is known."
    shown_table = table(asked)
    shown_table.add_column("contact, found by", overflow="fold")
    id_column(shown_table, "fact")
    shown_table.add_column("said last, whose word", overflow="fold")
    for hit in found:
        fact = hit.fact
        how = str(hit.found_in) if hit.similarity is None else f"cosine {hit.similarity:.3f}"
        said = f"{fact.last_confirmed_at:%Y-%m-%d}"
        shown_table.add_row(
            lines(shown(hit.contact_id), Text(how, "dim")),
            fact_lines(fact),
            lines(Text(said), Text(fact.word, "dim")),
        )
    return shown_table
