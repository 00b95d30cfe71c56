"""The common parts of commands: options, the opening of a memory to read, printing, progress."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO, TypeVar, get_args, get_origin

import typer
from rich.console import Group

from reconciler.bound_memory import AgentMemory, ContactMemory
from reconciler.entrypoints.rendering import Verbatim, terminal
from reconciler.errors import InvalidNoteError, InvalidRequestError, InvalidScopeError
from reconciler.memory import Memory
from reconciler.reading.named_secrets import without_secrets
from reconciler.reading.visible_text import visible
from reconciler.serve.descriptions import _SECTION, capital, descriptions
from reconciler.serve.wording import json_text

Agent = Annotated[str, typer.Option("--agent", help="The agent that the memory belongs to.")]
ContactId = Annotated[str, typer.Option("--contact", help="The contact that the notes are about.")]
Tenant = Annotated[
    str | None, typer.Option("--tenant", help="The tenant; default: the configured one.")
]
MaybeAgent = Annotated[
    str | None, typer.Option("--agent", help="Only this agent; default: all agents.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
_LIMIT = typer.Option("--limit", min=1, help="Return at most this many.")
Limit = Annotated[int, _LIMIT]
MaybeLimit = Annotated[int | None, _LIMIT]
MaybeContactId = Annotated[
    str | None, typer.Option("--contact", help="Only this contact; default: all of the agent's.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")]

R = TypeVar("R")

STANDARD_INPUT = Path("-")
_DAY_LENGTH = len("2026-01-31")


def add_commands(app: typer.Typer, commands: Mapping[str, Any], heading: str | None = None) -> None:
    """Give the command line these commands by name.

    Args:
        app: the command line, or a group of it.
        commands: functions, rows that make one, or groups of commands.
        heading: the heading in the help.
    """
    for name, command in commands.items():
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, rich_help_panel=heading)
            continue
        made = _with_help(command) if inspect.isfunction(command) else command
        app.command(name, rich_help_panel=heading)(made)


def _with_help(command: Callable[..., None]) -> Callable[..., None]:
    """Return the function of a command; its docstring describes the options under "Options".

    A truth value is a flag without its opposite. The rest is typer's.
    """
    texts = descriptions(command)
    signature = inspect.signature(command, eval_str=True)
    taken = [_described(each, texts) for each in signature.parameters.values()]
    command.__signature__ = signature.replace(parameters=taken)  # type: ignore[attr-defined]
    command.__annotations__ = {}  # the signature has them
    command.__doc__ = _SECTION.sub("", inspect.getdoc(command) or "")  # none with Python -OO
    return command


def _described(parameter: inspect.Parameter, texts: Mapping[str, str]) -> inspect.Parameter:
    """Return the parameter with its option or argument, and its text as help."""
    text = capital(" ".join(texts.get(parameter.name, "").split())) or None
    kind, taken = parameter.annotation, None
    if get_origin(kind) is Annotated:
        kind, taken = get_args(kind)
    if taken is None and parameter.default is parameter.empty:
        taken = typer.Argument()
    elif taken is None:
        flag = f"--{parameter.name.rstrip('_').replace('_', '-')}"
        taken = typer.Option(*[flag] * (kind is bool))
    taken = copy(taken)
    taken.help = taken.help or text
    return parameter.replace(annotation=Annotated[kind, taken])


def opened(file: Path) -> BinaryIO:
    """Open a file to read it.

    Raises:
        InvalidRequestError: it cannot be opened.
    """
    try:
        return file.open("rb")
    except OSError as error:
        raise InvalidRequestError(f"{file} cannot be read: {error.strerror}") from error


@contextmanager
def reading(agent: str | None, contact: str | None, tenant: str | None) -> Iterator[Memory]:
    """Open a memory to read from, in which a contact is known under these names.

    This is checked when the block ends without an error: errors about wrong input come first.

    Raises:
        ConfigurationError: there is no memory; none is created.
        UnknownContactError: nothing is known of the contact, or of any of the agent's.
    """
    with Memory.open(must_exist=True) as memory:
        yield memory
        if agent is not None:
            of_whom(memory, agent, contact, tenant).check_known()


def of_whom(
    memory: Memory, agent: str, contact: str | None, tenant: str | None
) -> AgentMemory | ContactMemory:
    """Return the memory of a contact, or that of the agent if no contact is named."""
    whole = memory.agent(agent, tenant=tenant)
    return whole if contact is None else whole.contact(contact)


def bound_to(
    call: Callable[..., R],
    memory: Memory,
    agent: str | None,
    contact: str | None,
    tenant: str | None,
) -> Callable[..., R]:
    """Return a call about a contact, an agent, or the store if no agent is named.

    Raises:
        InvalidScopeError: a contact is named without an agent.
    """
    if agent is not None:
        return partial(call, of_whom(memory, agent, contact, tenant))
    if contact is not None:
        raise InvalidScopeError("a contact belongs to an agent; give the agent, too")
    return partial(call, memory, tenant=tenant)


def show(as_json: bool, result: R, view: Callable[[R], Any]) -> None:
    """Print a result as JSON, or as its view for a person; a string is no markup."""
    if as_json:
        print_json(result)
        return
    drawn = view(result)
    for part in drawn.renderables if isinstance(drawn, Group) else (drawn,):
        if isinstance(part, Verbatim):
            sys.stdout.write(part + "\n")
        else:
            terminal().print(part)


def print_json(plain: Any) -> None:
    """Print plain values or records as JSON; times as ISO 8601."""
    sys.stdout.write(json_text(plain, indent=2) + "\n")


def parse_time(option: str, value: str | None) -> datetime | None:
    """Read the time that an option gives; None without one. A day alone begins in UTC.

    Raises:
        InvalidNoteError: it is not an ISO 8601 time, or has no zone.
    """
    if value is None:
        return None
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        raise InvalidNoteError(
            f"{option} {value!r} is not an ISO 8601 time; give one such as "
            "2026-01-31T09:00:00+00:00"
        ) from None
    if time.tzinfo is not None:
        return time
    if len(value) <= _DAY_LENGTH:
        return time.replace(tzinfo=UTC)
    raise InvalidNoteError(
        f"{option} {value!r} has no time zone; write {time.isoformat()}+00:00 for UTC"
    )


@contextmanager
def progress(
    name: str, is_quiet: bool, total: int | None = None
) -> Iterator[Callable[[int, int | None], None]]:
    """Show a bar; call the given function with the done part and the total, or None.

    Args:
        name: the counted things.
        is_quiet: show nothing.
        total: the number of things; None while unknown.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=terminal(stderr=True), disable=is_quiet) as shown:
        task = shown.add_task(visible(without_secrets(name)), total=total)
        yield lambda done, total: shown.update(task, completed=done, total=total)


@contextmanager
def bar(name: str, is_quiet: bool, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show a bar; call the given function with how many more things are done.

    Args:
        name: the counted things.
        is_quiet: show nothing.
        total: the number of things; None while unknown.
    """
    done = 0
    with progress(name, is_quiet, total) as update:

        def advance(count: int) -> None:
            nonlocal done
            done += count
            update(done, total)

        yield advance
