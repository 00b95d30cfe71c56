"""Tools: what a model is told of one, and what it sends, checked. Knows no tool in particular.

One table of parameters makes the schema and checks the arguments, so that the two cannot differ. A
model's mistake is an error with a text that says what to send instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal, get_args

from reconciler.domain.records.choices import not_one_of
from reconciler.errors import InvalidRequestError
from reconciler.frozen import frozen

Style = Literal["anthropic", "openai", "openai-responses", "mcp", "gemini"]
"""The firm that defined the format of a tool; ``openai`` is that of Chat Completions."""

Dialect = Literal["full", "strict", "gemini"]
"""What an API takes of JSON Schema: all that is used here, what strict modes do, what Gemini does.

Strict modes want each property required and take no bounds; what is optional may be null. Beside a
list of types Anthropic's takes no ``enum``. Gemini takes one type for a value and no null, so what
is optional is left out. Source: OpenAI's guide to structured outputs, Anthropic's to strict tool
use, Gemini's reference of ``Schema``.
"""

_NAMES_MAX = 5
_NUMBER_MAX = 1e15
_NAME_LENGTH_MAX = 40
_TRUTHS = {"true": True, "false": False}


class Kind(StrEnum):
    """The kinds of value that a parameter takes, as JSON Schema names them."""

    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    LIST = "array"
    """Of words; an empty one stands for none, so that its type is one also in a strict mode."""


@frozen
class Parameter:
    """One value that a model may send.

    Attributes:
        description: what it means, for the model.
        missing: what to say where a required one is not there; None where it is optional.
        choices: the only words that it may be; empty for any.
        renamed: words that were choices once, each with the one that stands for it now.
        length_max: at most so many characters; None without a bound.
        is_fraction: of a number, whether it is from 0 to 1.
        is_blank_none: whether the schema asks for an empty word, or false, in place of null: strict
            modes bound how many values may be of two types.
        also: other kinds that are understood, though the schema does not ask for them.
    """

    name: str
    description: str
    kind: Kind = Kind.STRING
    missing: str | None = None
    choices: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    length_max: int | None = None
    is_fraction: bool = False
    is_blank_none: bool = False
    also: tuple[Kind, ...] = ()

    @property
    def is_required(self) -> bool:
        """Whether a call without it is refused."""
        return self.missing is not None

    @property
    def _has_one_type(self) -> bool:
        return self.is_required or self.is_blank_none or self.kind is Kind.LIST

    def schema(self, dialect: Dialect = "full") -> dict[str, Any]:
        """It as JSON Schema; what is optional may be null. Bounds are checked here in any case."""
        made: dict[str, Any] = {"type": str(self.kind)}
        if self.kind is Kind.LIST:
            made["items"] = {"type": str(Kind.STRING)}
        if self.choices:
            made["enum"] = list(self.choices)
        if dialect != "gemini" and not self._has_one_type:
            made = _or_null(made, dialect)
        if self.length_max is not None and dialect == "full":
            made["maxLength"] = self.length_max
        if self.is_fraction and dialect == "full":
            made |= {"minimum": 0, "maximum": 1}
        return made | {"description": self.description}

    def read(self, given: object) -> Any:
        """The value, or None where there is none.

        A blank word in place of an optional value is none: a strict mode makes models fill it in.

        Raises:
            InvalidRequestError: it cannot be used.
        """
        if given is None or given == [] or (isinstance(given, str) and not given.strip()):
            if self.missing is not None:
                raise InvalidRequestError(f"{self.name} is missing: {self.missing}")
            return None
        if self.kind is Kind.BOOLEAN and isinstance(given, str):  # some models send every value so
            given = _TRUTHS.get(given.strip().lower(), given)
        if not any(_is_of(kind, given) for kind in (self.kind, *self.also)):
            article = "a" if self.is_required else "null or a"
            kind = "list of words" if self.kind is Kind.LIST else self.kind
            what_it_is = _an_odd_one(given) if self.kind is Kind.LIST else _a(given)
            raise InvalidRequestError(f"{self.name} must be {article} {kind}, not {what_it_is}")
        given = next((now for once, now in self.renamed if once == given), given)
        if self.choices and given not in self.choices:
            known = ", ".join(self.choices)
            raise InvalidRequestError(f"{self.name} {_short(given)} is not one of {known}")
        self._check_bounds(given)
        return given

    def _check_bounds(self, given: Any) -> None:
        if self.length_max is not None and isinstance(given, str) and len(given) > self.length_max:
            raise InvalidRequestError(
                f"{self.name} has {len(given):,} characters, at most {self.length_max:,} are taken"
            )
        if self.is_fraction and not 0 <= given <= 1:
            raise InvalidRequestError(f"{self.name} must be from 0 to 1")


@frozen
class Tool:
    """A tool as a model is told of it.

    Attributes:
        title: what a person would call it.
        description: what it does, and when to call it.
        is_read_only: whether it changes nothing.
    """

    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    is_read_only: bool

    def schema(self, dialect: Dialect = "full") -> dict[str, Any]:
        """The tool's parameters, as JSON Schema."""
        needed = [each.name for each in self.parameters if dialect == "strict" or each.is_required]
        made = {
            "type": "object",
            "properties": {each.name: each.schema(dialect) for each in self.parameters},
            "required": needed,
        }
        return made if dialect == "gemini" else made | {"additionalProperties": False}

    def definition(self, style: Style, *, strict: bool) -> dict[str, Any]:
        """The tool in the words of one API.

        Raises:
            InvalidRequestError: there is no such style.
        """
        check_style(style)
        named = {"name": self.name, "description": self.description}
        if style == "gemini":
            return named | {"parameters": self.schema("gemini")}
        schema = self.schema("strict" if strict else "full")
        if style == "anthropic":
            return named | {"input_schema": schema} | ({"strict": True} if strict else {})
        if style == "mcp":
            hints = {"readOnlyHint": self.is_read_only, "destructiveHint": False}
            about = {"title": self.title, "annotations": hints | {"openWorldHint": False}}
            return named | {"inputSchema": schema} | about
        function = named | {"parameters": schema, "strict": strict}
        if style == "openai-responses":
            return {"type": "function"} | function
        return {"type": "function", "function": function}

    def read(self, given: Mapping[Any, Any]) -> dict[str, Any]:
        """The arguments that were given, checked; what is null is left out.

        Raises:
            InvalidRequestError: one cannot be used, is missing, or is none of the tool's.
        """
        known = [parameter.name for parameter in self.parameters]
        if unknown := [name for name in given if name not in known]:
            named = ", ".join(_short(name) for name in unknown[:_NAMES_MAX])
            raise InvalidRequestError(f"{self.name} takes no {named}; it takes {', '.join(known)}")
        read = {
            parameter.name: parameter.read(given.get(parameter.name))
            for parameter in self.parameters
        }
        return {name: value for name, value in read.items() if value is not None}


def check_style(style: object) -> None:
    """Let a style through that is known.

    Raises:
        InvalidRequestError: it is none.
    """
    if style not in get_args(Style):
        raise InvalidRequestError(not_one_of("style", style, get_args(Style)))


def _or_null(schema: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    if "enum" not in schema:
        return schema | {"type": [schema["type"], "null"]}
    if dialect == "strict":
        return {"anyOf": [schema, {"type": "null"}]}
    return schema | {"type": [schema["type"], "null"], "enum": [*schema["enum"], None]}


def _is_of(kind: Kind, given: object) -> bool:
    if kind is Kind.NUMBER:  # not NaN, and no number that takes long to write down
        if isinstance(given, bool) or not isinstance(given, int | float):
            return False
        return -_NUMBER_MAX <= given <= _NUMBER_MAX
    if kind is Kind.LIST:
        return isinstance(given, list) and all(isinstance(each, str) for each in given)
    return isinstance(given, bool if kind is Kind.BOOLEAN else str)


def _a(given: object) -> str:
    """The JSON name of its type."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}
    return names.get(type(given), "such a number" if isinstance(given, int | float) else "that")


def _an_odd_one(given: object) -> str:
    """The first item of a list, or of a list's place, that is no word."""
    if not isinstance(given, list):
        return _a(given)
    odd = next(each for each in given if not isinstance(each, str))
    return f"a list with {'null' if odd is None else _a(odd).replace('such a', 'a')} in it"


def _short(given: object) -> str:
    """A model's argument, short enough to be repeated to it."""
    text = given if isinstance(given, str) else repr(given)
    return text if len(text) <= _NAME_LENGTH_MAX else f"{text[:_NAME_LENGTH_MAX]}…"
