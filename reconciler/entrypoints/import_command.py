"""The command that imports notes: from lines of JSON, or from another memory system."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer
from rich.console import Group

from reconciler import ops
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import first_of
from reconciler.entrypoints.options import AsJson, Tenant, bar, of_whom, opened, show
from reconciler.entrypoints.rendering import lines, record_panel, terminal
from reconciler.errors import InvalidRequestError
from reconciler.frozen import Json, Values, grouped, picked
from reconciler.memory import Memory
from reconciler.ports.peer_memory import PeerSystem
from reconciler.service.writing.doors import LINE_KEYS

if TYPE_CHECKING:
    from reconciler.service.writing.note_import import ImportReport

_OUTCOMES = ("added", "merged", "held", "refused")
_FOREIGN = (
    'No note is in {file}. A line must be one JSON object, such as {{"text": "Likes tea."}}; '
    "docs/importing.md shows how a CSV file becomes such lines. If it is the export of another "
    "memory system, say which: --from and one of {systems}"
)
_ERRORS_MAX = 10


def import_file(
    file: str,
    agent: str | None = None,
    contact: str | None = None,
    tenant: Tenant = None,
    system: Annotated[PeerSystem | None, typer.Option("--from")] = None,
    contact_from: str | None = None,
    source_kind: SourceKind | None = None,
    username: str = "neo4j",
    # Not a setting: it belongs to another store, and no file should keep it.
    password: Annotated[str, typer.Option(envvar="PEER_NEO4J_PASSWORD")] = "",
    database: str | None = None,
    ray: Annotated[str | None, typer.Option(metavar="ADDRESS")] = None,
    as_json: AsJson = False,
) -> None:
    """Import notes from JSON lines, or from mem0, Graphiti, neo4j-agent-memory or LangMem.

    Run the import again to continue where it stopped. A line without a time is recognised only if
    its file still has the same path. A line needs "text". A malformed line is reported by its
    number and skipped, and the exit code is 1. With --from, the whole source is read first; if it
    cannot be read to its end, nothing is written.

    Options:
        file: a file of JSON lines; with --from, an export file or a Neo4j URI.
        agent: the agent of lines that name none.
        contact: the contact of lines that name none; with --from, of all records.
        system: the memory system that the data comes from.
        contact_from: with --from: the key that holds the contact, for example metadata.customer.
        source_kind: with --from: the kind of source that the records count as; default: operator.
        username: of the Neo4j to read from.
        password: of the Neo4j to read from.
        database: of the Neo4j to read from.
        ray: write by all cores of this Ray cluster; local starts one on this machine.
    """
    started = time.perf_counter()
    try:
        if system is None:
            if contact_from is not None or source_kind is not None:
                raise InvalidRequestError(
                    "--contact-from and --source-kind need --from with the name of a system"
                )
            report = _from_lines(
                Path(file), ray, as_json, tenant=tenant, agent_id=agent, contact_id=contact
            )
        else:
            if ray is not None:
                raise InvalidRequestError("--ray imports lines of notes; leave out --from")
            if agent is None:
                raise InvalidRequestError(
                    "--from needs --agent: the records become notes of that agent"
                )
            with Memory.open(warm_up=True) as memory, bar(system, as_json) as advance:
                report = ops.import_from(
                    of_whom(memory, agent, contact, tenant),
                    system,
                    file,
                    contact_from=contact_from,
                    source_kind=source_kind or SourceKind.OPERATOR,
                    username=username,
                    password=password,
                    database=database,
                    on_progress=advance,
                )
    except KeyboardInterrupt:
        terminal(stderr=True).print(
            "Stopped. What is stored stays; run the same command again to continue."
        )
        raise
    show(as_json, _values(report, time.perf_counter() - started), _view)
    if report.errors:
        _tell_errors(report, Path(file) if system is None else None)
        raise typer.Exit(1)


def _from_lines(file: Path, ray: str | None, is_quiet: bool, **whose: str | None) -> ImportReport:
    from reconciler.service.json_lines import read_lines

    imported: Callable[..., ImportReport] = Memory.import_notes
    if ray:
        from reconciler.integrations.ray_backfill import import_on_ray

        imported = partial(import_on_ray, address=ray)
    with (
        opened(file) as stream,
        Memory.open(warm_up=not ray) as memory,
        bar(file.name, is_quiet) as advance,
    ):
        source = str(file.resolve()) if file.is_file() else None
        return imported(memory, read_lines(stream), source=source, on_progress=advance, **whose)


def _tell_errors(report: ImportReport, lines_of: Path | None) -> None:
    """Print the first errors of a file's lines, or of a system's records."""
    console = terminal(stderr=True)
    what = "line" if lines_of else "record"
    places = grouped((error.message, str(error.line_number)) for error in report.errors)
    for message, numbers in list(places.items())[:_ERRORS_MAX]:
        equal = f" ({len(numbers)} in all)" if numbers[1:] else ""
        console.print(lines(f"{what} {first_of(numbers)}{equal}: {message}"))
    if (left := len(places) - _ERRORS_MAX) > 0:
        console.print(f"and {left} other errors; --json has all")
    if lines_of is not None and not report.decisions and not report.resumed:
        console.print(_FOREIGN.format(file=lines_of, systems=", ".join(get_args(PeerSystem))))


def _view(values: Values) -> Group:
    shown = {**values, "errors": len(values["errors"])}  # each is told on standard error
    outcome = ", ".join(f"{shown[name]} {name}" for name in _OUTCOMES)
    outcome += f", {shown['resumed']} already there; errors: {shown['errors']}"
    return Group(record_panel(shown, "Import"), outcome)


def _values(report: ImportReport, seconds: float) -> Json:
    return {
        "decisions": [
            {"action": str(action), "decided_by": str(rule), "count": count}
            for (action, rule), count in sorted(report.decisions.items())
        ],
        **picked(report, (*_OUTCOMES, "resumed")),
        "not_carried": [
            {"reason": reason, **asdict(found)} for reason, found in report.not_carried.items()
        ],
        "errors": list(report.errors),
        "seconds": round(seconds, 3),
    }


_ABOUT = inspect.getdoc(import_file) or ""  # Python -OO has no docstrings
import_file.__doc__ = f"{_ABOUT}\n\nKeys of a line: {', '.join(LINE_KEYS)}."

COMMANDS = {"import": import_file}
"""The commands of this module, by name."""
