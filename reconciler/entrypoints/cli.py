"""The command line. Turns arguments into calls of ``Memory`` and errors into exit codes.

Each command imports only what it needs, so that no other command waits for it.
"""

from __future__ import annotations

import gc
import inspect
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from copy import copy
from dataclasses import asdict
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Group
from rich.text import Text
from typer.core import TyperGroup
from typer.models import CommandInfo, TyperInfo

from reconciler.domain.visible_text import visible
from reconciler.entrypoints import (
    archive_commands,
    browser_commands,
    demo_command,
    import_command,
    inspection_commands,
    job_commands,
    model_commands,
    server_commands,
)
from reconciler.entrypoints.commands import ROWS
from reconciler.entrypoints.logs import quiet_the_driver
from reconciler.entrypoints.options import (
    AsJson,
    Tenant,
    add_commands,
    bar,
    existing,
    of_whom,
    opened,
    show,
)
from reconciler.entrypoints.rendering import as_it_is, make_printable, terminal
from reconciler.errors import (
    ConfigurationError,
    EmbeddingError,
    GraphLockedError,
    GraphStorageError,
    GraphUnavailableError,
    InvalidRequestError,
    ReconcilerError,
    SchemaError,
    UnknownContactError,
)
from reconciler.memory import Memory
from reconciler.named_secrets import without_secrets
from reconciler.resources import is_disk_failure

if TYPE_CHECKING:
    from reconciler.domain.review.calibration import MeasuredPair

_EXIT_CODES: Mapping[type[ReconcilerError], int] = {
    UnknownContactError: 1,
    InvalidRequestError: 2,
    ConfigurationError: 3,
    GraphUnavailableError: 4,
    GraphLockedError: 4,
    GraphStorageError: 4,
    SchemaError: 5,
    EmbeddingError: 6,
    ReconcilerError: 1,
}
"""The first class that fits the error decides. Wrong usage also gives 2."""


class _Commands(TyperGroup):
    """The commands. The message about a wrong usage repeats no typed secret."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        with _secrets_kept():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        with _secrets_kept():
            return super().invoke(ctx)


@contextmanager
def _secrets_kept() -> Iterator[None]:
    try:
        yield
    except ExceptionGroup:  # its message cannot be set, and is not about usage
        raise
    except Exception as error:
        if isinstance(said := getattr(error, "message", None), str):
            error.message = without_secrets(said)  # type: ignore[attr-defined]
        raise


_new_app = partial(
    typer.Typer,
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="A memory for agents that reconciles every note before it is written.",
    epilog="Exit codes: 0 done, 1 failed, 2 wrong input, 3 configuration, 4 the graph is "
    "unavailable or locked, or a disk full, 5 schema or model differs, 6 the model failed.",
)

_GROUPS: Mapping[str, str] = {
    "Start here": "demo add recall history contacts init doctor",
    "What is known about a contact": "briefing profile value about find evidence decisions explain "
    "tasks report browser",
    "Questions, disputes and corrections": "pending confirm reject withdraw disputes resolve "
    "relate amend revoke revert refusals expiring",
    "Memory for other programs": "mcp serve token",
    "Conversations read in the background": "extract worker jobs job retry drain",
    "Backup, export and erasure": "import export restore backup forget erasures archive "
    "unarchive reembed",
    "How well it works": "health rejudge policy correct calibrate replay",
}
"""Help headings, in order, with their commands."""

app = _new_app()
for row in ROWS:
    row.add_to(app)
for module in (
    archive_commands,
    browser_commands,
    demo_command,
    inspection_commands,
    job_commands,
    server_commands,
    model_commands,
):
    add_commands(app, module.COMMANDS)
add_commands(app, {"import": import_command.import_file}, import_command.EPILOG)
for module in (inspection_commands, server_commands):
    for name, group in module.GROUPS.items():
        app.add_typer(group, name=name)


def main() -> NoReturn:
    """Run the command line; an error of this package becomes one line and an exit code."""
    make_printable()
    quiet_the_driver()
    try:
        with _all_printed():
            _app_of(sys.argv[1:2])()
    except ReconcilerError as error:
        terminal(stderr=True).print(Text("error:", style="red"), str(error))
        sys.exit(next(code for kind, code in _EXIT_CODES.items() if isinstance(error, kind)))
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        gc.freeze()  # else the interpreter scans all objects once more at its end: 0.1 s
    sys.exit(0)


@contextmanager
def _all_printed() -> Iterator[None]:
    """Flush the output; if nothing more can be written, end the command.

    At the interpreter's end a full disk would give a traceback, or no error at all.

    Raises:
        GraphStorageError: the disk that the output goes to is full or failing.
    """
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except OSError as error:
        is_pipe = isinstance(error, BrokenPipeError)  # its reader has read enough
        if error.filename is not None or not (is_pipe or is_disk_failure(error)):
            raise
        with suppress(OSError):  # the rest of the buffer would fail again at the interpreter's end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if is_pipe:
            sys.exit(1)
        raise GraphStorageError(f"cannot write the output: {error.strerror}") from error


def _app_of(called: Sequence[str]) -> typer.Typer:
    """Only the called command: to read the options of all, typer takes longer than the command.

    ``--help`` gets all commands without their options; anything else gets all commands.
    """
    wanted = [command for command in app.registered_commands if _name_of(command) in called]
    if not wanted:
        _group_commands()
        return _listing() if called == ["--help"] else app
    alone = _new_app()
    alone.registered_commands = wanted
    alone.callback()(lambda: None)  # else typer would not make a group of a single command
    return alone


def _listing() -> typer.Typer:
    """All commands by name and help."""
    listed = _new_app()
    listed.registered_callback, listed.registered_groups = (
        app.registered_callback,
        app.registered_groups,
    )
    for command in app.registered_commands:
        shown = copy(command)
        shown.name, shown.callback = _name_of(command), lambda: None
        shown.help = command.help or inspect.getdoc(command.callback)
        listed.registered_commands.append(shown)
    return listed


def _group_commands() -> None:
    """Put the commands under their headings, in order."""
    headings = {name: heading for heading, names in _GROUPS.items() for name in names.split()}
    places = {name: place for place, name in enumerate(headings)}
    app.registered_commands.sort(key=lambda command: places.get(_name_of(command), len(places)))
    for command in app.registered_commands:
        command.rich_help_panel = headings.get(_name_of(command), "Others")
    for group in app.registered_groups:
        group.rich_help_panel = headings.get(_name_of(group), "Others")


def _say_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"reconciler {metadata.version('graph-memory-reconciler')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """The options before a command."""


def _name_of(command: CommandInfo | TyperInfo) -> str:
    return command.name or str(getattr(command.callback, "__name__", ""))


def init(
    accept_other_hash_key: bool = False,
    as_json: AsJson = False,
) -> None:
    """Set up the store, or upgrade an older one; does nothing if it is up to date.

    Options:
        accept_other_hash_key: use this host's hash key from now on, if the store's own is lost.
            Earlier erasures and proposals are then not recognised.
    """
    if accept_other_hash_key:
        from reconciler.bootstrap import accept_hash_key
        from reconciler.settings import load_settings

        accept_hash_key(load_settings())
    with Memory.open(migrate=True) as memory:
        engine = memory.describe()
        made = {**asdict(engine), "embedding_model": memory.model_move().model}
    show(as_json, made, lambda: f"Ready: {engine.engine} {engine.version} at {engine.location}")


def calibrate_thresholds(
    pairs: Annotated[Path | None, typer.Argument(callback=existing)] = None,
    from_decisions: bool = False,
    agent: str | None = None,
    contact: str | None = None,
    tenant: Tenant = None,
    bound: float = 0.01,
    source: list[str] | None = None,
    name: str = "calibrated",
    overwrite: bool = False,
    as_json: AsJson = False,
) -> None:
    """Measure the model on labelled pairs; write a profile of thresholds.

    A line of PAIRS has "fact", "note" and "label" (same, update or distinct), and may have
    "source", "id", "fact_slot" and "note_slot".

    Options:
        pairs: labelled pairs, JSON lines.
        from_decisions: take labels from the arbiter's answers and from corrections.
        agent: with --from-decisions: the agent whose decisions to use.
        contact: only decisions about this contact.
        bound: the share of distinct pairs that may be superseded.
        source: choose thresholds from this source only, and report on all; repeat for several.
        name: the profile's name.
        overwrite: replace it if it exists.
    """
    from reconciler.domain.review.calibration import CalibrationGoal
    from reconciler.entrypoints.calibration_report import calibration_tables
    from reconciler.service.calibration import calibrate, provenance_of, write_profile

    if (pairs is None) is not from_decisions:
        raise InvalidRequestError("give either a file of labelled pairs or --from-decisions")
    goal = CalibrationGoal(
        false_supersession_max=bound, sources=frozenset(source) if source else None
    )
    made = _profile_file(name, overwrite)
    if pairs is None:
        measured, model_id = _measured_from_decisions(agent, contact, tenant)
    else:
        measured, model_id = _measured_from_file(pairs, as_json)
    report = calibrate(measured, embedding_model=model_id, goal=goal, name=name)
    measured_on = visible(pairs.name) if pairs else "recorded decisions"
    write_profile(report.profile, made, provenance_of(report, measured_on), overwrite=overwrite)
    show(
        as_json,
        report.to_dict() | {"files": [str(made)]},
        lambda: Group(
            calibration_tables(report),
            f"\nWritten: {made}",
            as_it_is(f"Use it with RECONCILER_RECONCILE__PROFILE={made.resolve()}"),
        ),
    )


def doctor(
    as_json: AsJson = False,
    judge: bool = False,
) -> None:
    """Check engine, schema, model and round trip; exit code 1 if a check fails.

    Options:
        judge: also ask the arbiter ten questions, which costs money.
    """
    from reconciler.entrypoints.doctor import checks_table, checkup
    from reconciler.settings import load_settings

    checks = checkup(load_settings(), asks_judge=judge)
    show(as_json, checks, lambda: checks_table(checks))
    if not all(check.is_ok for check in checks):
        raise typer.Exit(1)


add_commands(app, {"init": init, "calibrate": calibrate_thresholds, "doctor": doctor})


def _profile_file(name: str, overwrite: bool) -> Path:
    """The profile's file in the current folder; one that may not be written is an error at once."""
    from reconciler.service.calibration import check_profile_name

    check_profile_name(name)
    made = Path(f"{name}.toml")
    try:
        is_there = made.exists()
    except OSError as error:
        raise InvalidRequestError(f"{made} cannot be written: {error.strerror}") from error
    if is_there and not overwrite:
        raise InvalidRequestError(f"{made} exists; give --overwrite or another --name")
    return made


def _measured_from_file(file: Path, is_quiet: bool) -> tuple[list[MeasuredPair], str]:
    from reconciler.bootstrap import build_embedder
    from reconciler.config_files import load_attribute_book
    from reconciler.service.calibration import measure_pairs, read_pairs
    from reconciler.service.embedding import embed
    from reconciler.service.json_lines import read_lines
    from reconciler.settings import load_settings

    settings = load_settings()
    attributes = load_attribute_book(settings.reconcile.attributes_file)
    with opened(file) as stream:
        pairs = read_pairs(read_lines(stream), attributes)
    with (
        closing(build_embedder(settings)) as embedder,
        bar(file.name, len(pairs), is_quiet, has_end=True) as advance,
    ):
        measured = measure_pairs(pairs, lambda texts: embed(embedder, texts), advance)
        return measured, embedder.model_id


def _measured_from_decisions(
    agent: str | None, contact: str | None, tenant: str | None
) -> tuple[list[MeasuredPair], str]:
    from reconciler.service.calibration import pairs_from_decisions

    if agent is None:
        raise InvalidRequestError("--from-decisions needs --agent")
    with Memory.open(must_exist=True) as memory:
        decisions = of_whom(memory, agent, contact, tenant).all_decisions()
        model = memory.model_move().model
        return pairs_from_decisions(decisions, model), model
