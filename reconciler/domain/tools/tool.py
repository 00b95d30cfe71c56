"""Tools: their descriptions for a model, and the check of its arguments. Knows no single tool.

One table of parameters makes the schema and checks the arguments, so that the two cannot differ. A
model's mistake is an error with a text that says what to send instead.

``config/tools.toml`` has the tools' names, texts and parameters. No tool has a parameter by which a
model could choose tenant, session or proposer; an agent's tool also has none for agent or contact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, get_args

from reconciler.domain.records.facts import SYSTEM_NAME
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import (
    check_identifier,
    not_one_of,
)
from reconciler.errors import InvalidRequestError
from reconciler.frozen import Json, Strings, Values, in_order, is_number, present

Style = Literal["anthropic", "openai", "openai-responses", "mcp", "gemini"]
"""The firm that defined the format of a tool; ``openai`` is that of Chat Completions."""

Dialect = Literal["full", "strict", "gemini"]
"""The part of JSON Schema that an API takes: all that is used here, the part of strict modes, or
Gemini's part.

Strict modes want each property required and take no bounds; an optional value may be null.
Anthropic's takes no ``enum`` together with a list of types. Gemini takes one type for a value and
no null, so an optional value is left out. Source: OpenAI's guide to structured outputs, Anthropic's
to strict tool use, Gemini's reference of ``Schema``.
"""

_NAMES_MAX = 5
_NAME_LENGTH_MAX = 40
_TRUTHS = {"true": True, "false": False}


class Kind(StrEnum):
    """The kinds of value that a parameter takes, as JSON Schema names them."""

    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    LIST = "array"
    """A list, mostly of words; an empty list means no value, so that a strict mode has one type."""


@in_order
class Parameter:
    """One value that a model may send.

    Attributes:
        description: its meaning, for the model.
        missing: the text about a missing required value; None if it is optional.
        choices: the only words that it may be; empty for any.
        renamed: earlier choices, each with the choice that replaces it.
        length_max: the most characters or items; None without a bound.
        is_fraction: for a number, whether it is from 0 to 1.
        is_blank_none: whether the schema asks for an empty word, or false, in place of null: strict
            modes bound how many values may be of two types.
        also: other kinds that are understood, although the schema does not ask for them.
        items: for a list, the schema of an item; None for a word.
    """

    name: str
    description: str
    kind: Kind = Kind.STRING
    missing: str | None = None
    choices: Strings = ()
    renamed: tuple[tuple[str, str], ...] = ()
    length_max: int | None = None
    is_fraction: bool = False
    is_blank_none: bool = False
    also: tuple[Kind, ...] = ()
    items: Values | None = None

    @property
    def is_required(self) -> bool:
        """True if a call without it is refused."""
        return self.missing is not None

    def schema(self, dialect: Dialect = "full") -> Json:
        """Return the parameter as JSON Schema; an optional one may be null.

        Bounds are checked here in any case.
        """
        made: Json = {"type": str(self.kind)}
        if self.kind is Kind.LIST:
            made["items"] = self.items or {"type": str(Kind.STRING)}
        if self.choices:
            made["enum"] = list(self.choices)
        has_one_type = self.is_required or self.is_blank_none or self.kind is Kind.LIST
        if dialect != "gemini" and not has_one_type:
            made = _or_null(made, dialect)
        if self.length_max is not None and dialect == "full":
            made["maxItems" if self.kind is Kind.LIST else "maxLength"] = self.length_max
        if self.is_fraction and dialect == "full":
            made |= {"minimum": 0, "maximum": 1}
        return made | {"description": self.description}

    def read(self, given: Any) -> Any:
        """Return the value, or None if there is none.

        A blank word in place of an optional value counts as no value: a strict mode makes models
        fill it in.

        Raises:
            InvalidRequestError: the value cannot be used.
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
        if self.length_max is not None and isinstance(given, str) and len(given) > self.length_max:
            raise InvalidRequestError(
                f"{self.name} has {len(given):,} characters, at most {self.length_max:,} are taken"
            )
        if self.is_fraction and not 0 <= given <= 1:
            raise InvalidRequestError(f"{self.name} must be from 0 to 1")
        return given


@in_order
class Tool:
    """A tool as it is described to a model.

    Attributes:
        title: its name for a person.
        description: its effect, and when to call it.
        is_read_only: whether it changes nothing.
    """

    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    is_read_only: bool

    def schema(self, dialect: Dialect = "full") -> Json:
        """Return the tool's parameters, as JSON Schema."""
        needed = [each.name for each in self.parameters if dialect == "strict" or each.is_required]
        made = {
            "type": "object",
            "properties": {each.name: each.schema(dialect) for each in self.parameters},
            "required": needed,
        }
        return made if dialect == "gemini" else made | {"additionalProperties": False}

    def definition(self, style: Style, *, strict: bool) -> Json:
        """Return the tool's definition in the format of one API.

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

    def read(self, given: Mapping[Any, Any]) -> Json:
        """Return the given arguments, checked; a null argument is left out.

        Raises:
            InvalidRequestError: an argument cannot be used, is missing, or is unknown to the tool.
        """
        known = [parameter.name for parameter in self.parameters]
        if unknown := [name for name in given if name not in known]:
            named = ", ".join(_short(name) for name in unknown[:_NAMES_MAX])
            raise InvalidRequestError(f"{self.name} takes no {named}; it takes {', '.join(known)}")
        read = {
            parameter.name: parameter.read(given.get(parameter.name))
            for parameter in self.parameters
        }
        return present(read)


def check_style(style: object) -> None:
    """Check that a style is known.

    Raises:
        InvalidRequestError: the style is unknown.
    """
    if style not in get_args(Style):
        raise InvalidRequestError(not_one_of("style", style, get_args(Style)))


def _or_null(schema: Json, dialect: Dialect) -> Json:
    if "enum" not in schema:
        return schema | {"type": [schema["type"], "null"]}
    if dialect == "strict":
        return {"anyOf": [schema, {"type": "null"}]}
    return schema | {"type": [schema["type"], "null"], "enum": [*schema["enum"], None]}


def _is_of(kind: Kind, given: object) -> bool:
    if kind is Kind.NUMBER:  # not NaN, and no number that takes long to write down
        return is_number(given)
    if kind is Kind.LIST:
        return isinstance(given, list) and all(isinstance(each, str) for each in given)
    return isinstance(given, bool if kind is Kind.BOOLEAN else str)


def _a(given: object) -> str:
    """Return the JSON name of its type, with an article."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}
    return names.get(type(given), "such a number" if isinstance(given, int | float) else "that")


def _an_odd_one(given: object) -> str:
    """Return the first item of a list that is no word, or the list's place."""
    if not isinstance(given, list):
        return _a(given)
    odd = next(each for each in given if not isinstance(each, str))
    return f"a list with {'null' if odd is None else _a(odd).replace('such a', 'a')} in it"


def _short(given: object) -> str:
    """Shorten a model's argument, so that it can be repeated to the model."""
    text = given if isinstance(given, str) else repr(given)
    return text if len(text) <= _NAME_LENGTH_MAX else f"{text[:_NAME_LENGTH_MAX]}…"


if TYPE_CHECKING:
    from reconciler.reading.values.attribute import Attribute

ADD_CONTACT_NOTE = "add_contact_note"
RECALL_CONTACT = "recall_contact"
RELATE_CONTACT_NOTE = "relate_contact_note"
CHECK_BEFORE_ACTING = "check_before_acting"

AGENT_SOURCES: Mapping[str, SourceKind] = {
    "contact": SourceKind.USER_EXPLICIT,
    "tool": SourceKind.TOOL_OUTPUT,
    "document": SourceKind.TOOL_OUTPUT,
}
"""The sources that any agent may name, as its model calls them."""

COLLEAGUE = "colleague"
SOURCE = "source_kind"
"""The parameter that names the source."""


def agent_sources(trusted_tools: Iterable[str], colleague: str | None) -> dict[str, SourceKind]:
    """Return the sources that an agent may name, as its model calls them, the contact's first.

    Args:
        trusted_tools: the builder's own systems, by name; their statements are validated.
        colleague: the operator's person in the conversation; None without one.

    Raises:
        InvalidRequestError: a name cannot be used.
    """
    if isinstance(trusted_tools, str) or not isinstance(trusted_tools, Iterable):
        raise InvalidRequestError('trusted_tools is a list of names, such as ("erp",)')
    sources = dict(AGENT_SOURCES)
    for name in trusted_tools:
        if not isinstance(name, str) or not SYSTEM_NAME.fullmatch(name):
            raise InvalidRequestError(
                f"{name!r} cannot be the name of a trusted tool; use up to 40 small letters, "
                "digits, - and _"
            )
        if name in (*AGENT_SOURCES, COLLEAGUE, *SourceKind):
            raise InvalidRequestError(
                f"{name!r} is already the name of another source; give the name of the system"
            )
        sources[name] = SourceKind.APPROVED_DOC
    if colleague is not None:
        check_identifier("colleague", colleague, InvalidRequestError)
        sources[COLLEAGUE] = SourceKind.OPERATOR
    return sources


def add_tool(
    told: Tool, attributes: Iterable[Attribute], sources: Mapping[str, SourceKind]
) -> Tool:
    """Make the tool that remembers a note, for an agent.

    Args:
        told: its table in ``config/tools.toml``.
        attributes: the attributes of the book.
        sources: the sources that it may name, from ``agent_sources``.
    """
    known = list(attributes)
    words = {
        "one": ", ".join(attribute.name for attribute in known if attribute.is_single_valued),
        "many": ", ".join(attribute.name for attribute in known if not attribute.is_single_valued),
        "whose": _whose_word(sources),
        "sources": ", ".join(sources),
    }
    parameters = [
        replace(
            each,
            description=each.description.format_map(words),
            missing=each.missing and each.missing.format_map(words),
            choices=tuple(sources) if each.name == SOURCE else each.choices,
        )
        for each in told.parameters
    ]
    return replace(told, parameters=tuple(parameters))


def _whose_word(sources: Mapping[str, SourceKind]) -> str:
    """Say which source to name, and that a guess is not a source."""
    told = (
        "Whose word it is. contact: said so in this conversation, and meant it. tool, document: "
        "what one returned or holds."
    )
    if COLLEAGUE in sources:
        told += " colleague: the person of our own who is in this conversation said so."
    trusted = [name for name, kind in sources.items() if kind is SourceKind.APPROVED_DOC]
    if trusted:
        told += f" {', '.join(trusted)}: that system itself returned it in this conversation."
    return f"{told} Never note what only you conclude."
