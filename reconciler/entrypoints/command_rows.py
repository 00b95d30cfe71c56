"""Makes a command of a row: it opens the memory, makes one call and shows the result.

Options, types, defaults and help come from the signature and the docstring of the call.
``commands.py`` holds the rows.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from functools import cached_property
from types import SimpleNamespace, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import typer

from reconciler.bound_memory import AgentMemory, ContactMemory
from reconciler.domain.recalling.filtering import FilterFields
from reconciler.entrypoints.options import (
    Agent,
    AsJson,
    ContactId,
    MaybeContactId,
    Tenant,
    bar,
    of_whom,
    parse_time,
    show,
)
from reconciler.entrypoints.rendering import listed
from reconciler.frozen import Json, StringMap, Values
from reconciler.memory import Memory
from reconciler.serve.descriptions import capital, descriptions, field_descriptions
from reconciler.service.writing.doors import NoteFields

Call = Callable[..., Any]

_FIELDS: Values = {"FilterFields": FilterFields, "NoteFields": NoteFields}
"""Types that the calls name in their signatures, but do not import at run time."""

_CONTACT: Mapping[str, tuple[Any, ...]] = {
    "ContactMemory": (ContactId,),
    "BoundMemory": (MaybeContactId, None),
}
"""The type and default of ``--contact``, by the class of the call."""

_IDS = {
    "decision_id": "The decision's id, as `reconciler decisions` prints it.",
    "fact_id": "The fact's id, as `reconciler history` prints it.",
    "job_id": "The job's id, as `reconciler jobs` prints it.",
}
_DECLARED = {"single_valued": "--single-valued/--many-valued", "tags": "--tag"}
_OPTIONS_BY_POSITION = ("by", "profile")
"""Parameters that the calls take by position, but that are options here: users would mix up two
bare words."""

_COUNTS = ("limit", "budget_tokens")
_TEXTS = ("query", "text")
"""A call with one of these needs the embedder."""

_TIME = "ISO 8601 with a zone"
_SENTENCE_END = re.compile(r"(?<=[.]) (?=[A-Z])")


@dataclass
class CommandRow:
    """A command that makes one call; typer takes it as a function.

    The call's signature is read only when the options are needed.

    Attributes:
        name: the command's name.
        call: a method of ``ContactMemory``, ``BoundMemory`` or ``AgentMemory``, or a function that
            takes one of them first. It decides whether ``--contact`` is required, optional or none.
        view: draws the result. Its other parameters are options of the command.
        nothing: the text for an empty list; ``view`` then draws each item.
        help: the command's help; by default the first sentence of the call's docstring.
        plain: turns the result into values or records for ``--json``; takes options as ``view``
            does.
        is_good: whether the exit code is 0.
        writes: whether the command writes, and so may create the store.
        words: help by option, instead of the docstring's.
        options: types by option, with ``typer.Option``, instead of the signature's. An option that
            the call does not take goes to ``view`` and ``plain`` alone.
        defaults: defaults by option, instead of the signature's.
        counts: the things that the call counts in ``on_progress``, for a bar; empty for no bar.
    """

    name: str
    call: Call
    view: Call
    nothing: str = ""
    help: str = ""
    plain: Call = lambda result: result
    is_good: Callable[[Any], bool] = lambda _: True
    writes: bool = False
    words: StringMap = field(default_factory=dict)
    options: Values = field(default_factory=dict)
    defaults: Values = field(default_factory=dict)
    counts: str = ""

    def __post_init__(self) -> None:
        self.__name__ = self.name
        self.__doc__ = self.help or _first_sentence(inspect.getdoc(self.call) or "")
        self.__annotations__: Json = {}  # the signature has them

    def __call__(self, *, as_json: bool, **given: Any) -> None:
        """Open the memory, make the call and show the result."""
        arguments = {
            each.name: each.value(given[each.option])
            for each in self._parameters
            if not each.is_field or given[each.option] not in (None, [])
        }
        counting = bar(self.counts, as_json) if self.counts else nullcontext()
        with _opened(self, given) as memory, counting as advance:
            told = {"on_progress": advance} if advance else {}
            result = self.call(memory, **arguments, **told)
        plain = _drawn(self.plain, result, given) if as_json else None
        if self.nothing:
            show(as_json, plain, lambda _: listed(self.view, result, self.nothing))
        else:
            show(as_json, plain, lambda _: _drawn(self.view, result, given))
        if not self.is_good(result):
            raise typer.Exit(1)

    @cached_property
    def _parameters(self) -> list[_Parameter]:
        return list(_parameters(self))

    @cached_property
    def __signature__(self) -> inspect.Signature:
        own = {each.option: each.as_option(self) for each in self._parameters}
        for name, kind in self.options.items():
            own.setdefault(name, _option(name, kind, self.defaults.get(name)))
        required_first = sorted(own.values(), key=lambda each: each.default is not each.empty)
        about = [_option("agent", Agent)]
        if contact := _CONTACT.get(_owner(self.call)):
            about.append(_option("contact", *contact))
        ends = [_option("tenant", Tenant, None), _option("as_json", AsJson, False)]
        return inspect.Signature([*about, *required_first, *ends])


@dataclass(frozen=True)
class _Parameter:
    """A parameter of the call, and the option that gives its value.

    Attributes:
        name: its name in the call.
        hint: its type there; None if the row has the whole option.
        default: its default there, ``inspect.Parameter.empty`` without one.
        is_argument: whether the command takes it by position.
        is_field: whether it is one of the call's ``**fields``, which are left out unless given.
        text: its description in the docstring.
    """

    name: str
    hint: Any
    default: Any
    is_argument: bool
    is_field: bool
    text: str

    @property
    def option(self) -> str:
        """Return the name of the option: ``--fact`` gives ``fact_id``."""
        return self.name if self.is_argument else self.name.removesuffix("_id")

    @property
    def _kinds(self) -> tuple[Any, ...]:
        is_union = get_origin(self.hint) in (Union, UnionType)
        return get_args(self.hint) if is_union else (self.hint,)

    @property
    def _kind(self) -> Any:
        """Return the type on the command line, where a time is a text and a sequence is a list."""
        if datetime in self._kinds:
            return str
        if any(get_origin(kind) in (Sequence, list, tuple) for kind in self._kinds):
            return list[str]
        enums = (kind for kind in self._kinds if isinstance(kind, type) and issubclass(kind, Enum))
        return next(enums, str if str in self._kinds else self._kinds[0])

    def as_option(self, row: CommandRow) -> inspect.Parameter:
        """Return the option, as typer reads it from a function's signature."""
        default = row.defaults.get(self.option, None if self.default == () else self.default)
        if self.option in row.options:
            return _option(self.option, row.options[self.option], default)
        words = row.words.get(self.option) or _IDS.get(self.option) or self._words()
        kind = self._kind if default is not None else self._kind | None
        if self.is_argument:
            return _option(self.option, Annotated[kind, typer.Argument(help=words)], default)
        declared = _DECLARED.get(self.option, f"--{self.option.replace('_', '-')}")
        least = 1 if self.name in _COUNTS else None
        # Words of the row name the values, because a list beside the option would be cut off.
        is_enum = isinstance(self._kind, type) and issubclass(self._kind, Enum)
        metavar = "NAME" if is_enum and self.option in row.words else None
        option = typer.Option(declared, help=words, min=least, metavar=metavar)
        return _option(self.option, Annotated[kind, option], default)

    def value(self, given: Any) -> Any:
        """Return the value for the call."""
        if datetime in self._kinds:
            return parse_time(f"--{self.option.replace('_', '-')}", given)
        return given or () if self.default == () else given

    def _words(self) -> str:
        """Return the help: the description's first sentence, as it reads on the command line."""
        if not self.text:
            return ""  # Python -OO has no docstrings
        text = _first_sentence(capital(self.text)).removesuffix(".")
        text = text.replace("None for ", "default: ").replace("time-zone aware", _TIME)
        if self._kind is bool:
            text = capital(text.removeprefix("Whether "))
        if self._kind == list[str] and not self.is_argument:
            text += "; repeat for several"
        return f"{text}."


def _parameters(row: CommandRow) -> Iterator[_Parameter]:
    """List the parameters that the command gives, without the contact and callbacks."""
    signature = inspect.signature(row.call)
    given = [each for each in list(signature.parameters.values())[1:] if not _is_left_out(each)]
    texts = descriptions(row.call)
    # The types that the row does not spell out.
    annotations = {each.name: each.annotation for each in given if each.name not in row.options}
    names = {**vars(sys.modules[row.call.__module__]), **_FIELDS}
    hints = get_type_hints(SimpleNamespace(__annotations__=annotations), names)
    for each in given:
        if each.kind is each.VAR_KEYWORD:
            [fields] = get_args(hints[each.name])
            texts = field_descriptions(fields)
            for name, hint in get_type_hints(fields).items():
                text = texts.get(name, "")
                yield _Parameter(name, hint, None, is_argument=False, is_field=True, text=text)
            continue
        is_argument = each.kind is not each.KEYWORD_ONLY and each.name not in _OPTIONS_BY_POSITION
        text = texts.get(each.name, "")
        hint = hints.get(each.name)
        yield _Parameter(each.name, hint, each.default, is_argument, is_field=False, text=text)


def _is_left_out(parameter: inspect.Parameter) -> bool:
    """True if the parameter gets no option: the contact, a callback, or a place in a list."""
    if parameter.name == "contact_id" or "tuple[datetime" in str(parameter.annotation):
        return True
    return parameter.default is not parameter.empty and callable(parameter.default)


def _first_sentence(text: str) -> str:
    return _SENTENCE_END.split(" ".join(text.partition("\n\n")[0].split()))[0].replace("``", "")


def _owner(call: Call) -> str:
    """Return the class of a method, or of a function's first parameter."""
    first = next(iter(inspect.signature(call).parameters.values()))
    return call.__qualname__.rpartition(".")[0] or str(first.annotation)


def _option(name: str, kind: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)


@contextmanager
def _opened(row: CommandRow, given: Values) -> Iterator[AgentMemory | ContactMemory]:
    """Open the memory of the agent or the contact. A command that only reads creates no store.

    Raises:
        UnknownContactError: the command reads, and nothing is known of the contact, or of any of
            the agent's; checked last, so that the call names other errors first.
    """
    writes = row.writes and not given.get("dry_run")
    embeds = any(given.get(name) for name in _TEXTS)
    with Memory.open(warm_up=embeds, must_exist=not writes) as memory:
        asked = of_whom(memory, given["agent"], given.get("contact"), given["tenant"])
        yield asked
        if not row.writes:
            asked.check_known()


def _drawn(draw: Call, result: Any, given: Values) -> Any:
    """Draw the result, with the options that the function asks for by name."""
    asked = list(inspect.signature(draw).parameters.values())[1:]
    return draw(result, **{each.name: given[each.name] for each in asked})
