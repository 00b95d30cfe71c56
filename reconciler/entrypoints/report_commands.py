"""The command that draws how an agent's facts followed each other, for an analyst."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reconciler.entrypoints.options import (
    Agent,
    AsJson,
    MaybeContactId,
    Overwrite,
    Tenant,
    of_whom,
    reading,
    show,
)

__all__ = ["add_report_commands"]


def add_report_commands(app: typer.Typer) -> None:
    """Give the command line the commands of this module."""
    app.command()(report)


def report(
    agent: Agent,
    out: Annotated[Path, typer.Option("--out", help="The HTML file to write.")],
    contact: MaybeContactId = None,
    tenant: Tenant = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write timelines, disputes, questions, refusals and daily counts into one HTML file."""
    from reconciler.bootstrap import write_new

    with reading(agent, contact, tenant) as memory:
        page = of_whom(memory, agent, contact, tenant).report().encode()
    write_new(out, page, overwrite=overwrite)
    show(as_json, {"file": str(out), "bytes": len(page)}, lambda: f"Wrote {out}.")
