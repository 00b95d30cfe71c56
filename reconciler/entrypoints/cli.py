"""The command line. Turns arguments into calls of ``Memory`` and errors into exit codes.

Each command imports only what it needs, so that no other command waits for it.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import metadata
from typing import Annotated, Any, NoReturn

import typer
from rich.text import Text
from typer.core import TyperGroup

from reconciler.entrypoints import (
    browser_commands,
    import_command,
    job_commands,
    judging_commands,
    server_commands,
    store_commands,
)
from reconciler.entrypoints.commands import ROWS
from reconciler.entrypoints.options import add_commands
from reconciler.entrypoints.rendering import make_printable, terminal
from reconciler.entrypoints.serving import quiet_the_driver
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
from reconciler.reading.named_secrets import without_secrets
from reconciler.resources import is_disk_failure

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
"""The exit codes by class of error; the first class that fits the error decides. Wrong usage also
gives 2."""


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


class _Commands(TyperGroup):
    """The commands. The message about a wrong usage repeats no typed secret."""

    make_context = _secrets_kept()(TyperGroup.make_context)
    invoke = _secrets_kept()(TyperGroup.invoke)


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
    "What is known about a contact": "briefing profile value check about find evidence decisions "
    "explain answer impact tasks report browser accounts join-account leave-account",
    "Questions, disputes and corrections": "pending confirm reject withdraw disputes resolve "
    "relate amend revoke revert refusals expiring merge rename split digest",
    "Memory for other programs": "mcp serve token changes resend",
    "Conversations read in the background": "extract worker jobs job retry drain",
    "Backup, export and erasure": "import export restore backup forget erasures archive "
    "unarchive reembed",
    "How well it works": "health rejudge policy correct calibrate",
}
"""Help headings, in order, with their commands."""

_COMMANDS: Mapping[str, Any] = {
    **{row.name: row for row in ROWS},
    **browser_commands.COMMANDS,
    **import_command.COMMANDS,
    **job_commands.COMMANDS,
    **judging_commands.COMMANDS,
    **server_commands.COMMANDS,
    **store_commands.COMMANDS,
}

app = _new_app()
for heading, names in _GROUPS.items():
    add_commands(app, {name: _COMMANDS[name] for name in names.split()}, heading)


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
    """Load only the called command: typer needs longer to read all options than the command runs.

    Anything else, such as ``--help``, gets all commands, those of other packages included.
    """
    wanted = [command for command in app.registered_commands if command.name in called]
    if not wanted:
        if _COMMANDS.keys().isdisjoint(called):
            _add_commands_of_others()
        return app
    alone = _new_app()
    alone.registered_commands = wanted
    alone.callback()(lambda: None)  # else typer would not make a group of a single command
    return alone


def _add_commands_of_others() -> None:
    """Add what other packages register under ``reconciler.commands``; ours cannot be replaced."""
    for found in metadata.entry_points(group="reconciler.commands"):
        try:
            command = found.load()
        except Exception as error:  # noqa: BLE001  a broken one must not take the others along
            package = found.dist.name if found.dist else found.value
            said = f"command {found.name} of {package} cannot be loaded: {error}"
            terminal(stderr=True).print(Text("warning:", style="yellow"), said)
        else:
            if found.name not in _COMMANDS:
                add_commands(app, {found.name: command}, "Commands of other packages")


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
