"""The text that the embedded engine is sent for a statement and its parameters.

The engine has no ``SET n += $map``, is slow with structs, and plans a statement with a null again
at every call. So maps are written out, value by value, and nulls become part of the text. Never
here: a connection or a transaction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from reconciler.errors import QueryFileError
from reconciler.frozen import Match, Strings, StringSet
from reconciler.queries import PARAMETER, Parameters, Statement, value_at

_PROPERTY = re.compile(r"\b\w+: \$([\w.]+),\s*")
"""A property that is not the last of its map; it is matched with its comma."""

_NODE_OF_MAP = re.compile(r"\((\w+:\w+) (?:\{((?:\w+: \$[\w.]+, )+))?\$([\w.]+)\}?\)")
"""A node that is made of a map, or of properties and a map: ``{embedding: $vector, $fact}``."""

_LINK_OF_MAP = re.compile(r"\[(:\w+|:`\w+`) \$([\w.]+)\]")
"""A link that is made of a map: ``-[:SUPERSEDES $link]->``."""

_LENGTH = re.compile(r"\bFLOAT\[\$(\w+)\]")
"""The length of a column's vectors: a part of its type, which takes no parameter."""

_AMONG = re.compile(r"\b\w+\.contact_key(?= IN \$contact_keys\b)")
"""A contact's key that is compared with a list."""

_COUNT = "count_of_rows"

_LEAST, _GREATEST = "least_contact_key", "greatest_contact_key"

_PROPERTY_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
"""The accepted keys of a map: a key becomes a part of a statement's text."""

_SET_FROM_MAP = re.compile(r"(\w+) \+= \$([\w.]+)")

Values = dict[str, Any]
"""The values of parameters, by their paths, or by the names that a text has for them."""

Bound = tuple[str, Values]
"""A statement for the engine, and the values of the parameters that are left in it."""

_Maps = dict[str, Strings]
_Told = tuple[_Maps, Values]
"""The keys of each map that a text names, and every value by its path."""


def bound(statement: Statement, given: Parameters) -> Bound:
    """Make a statement for the engine, with the values of the parameters that are left in it.

    A null has no type, so the engine would plan the statement again at every call: half of a
    write's time. Writing a property as NULL also costs time. So nulls in a map are left out: a new
    node lacks the property, an old one keeps its value.
    """
    return _bound(statement, *_told(statement, given))


def _bound(statement: Statement, maps: _Maps, values: Values) -> Bound:
    statement, values = _with_lengths(statement, values)
    statement, values = _with_bounds(statement, values)
    nulls = frozenset(path for path, value in values.items() if value is None)
    named = {_flat(path): _foreign(value) for path, value in values.items() if value is not None}
    return _text(statement, tuple(maps.items()), nulls), named


def bound_together(statement: Statement, runs: Sequence[Parameters]) -> Iterator[Bound]:
    """Like ``bound``, for many runs of a statement: few texts, with a list for each value.

    The engine makes many rows together in half the time, and each statement alone costs 0.15 ms. A
    null in a list is a property that the node lacks. If a list holds lists, none of them may be
    null, or the engine cannot read it; so runs without such a list go in another text.
    """
    if len(runs) == 1:
        yield bound(statement, runs[0])
        return
    alike: dict[StringSet, list[_Told]] = {}
    for given in runs:
        maps, values = _told(statement, given)
        lists = frozenset(path for path, value in values.items() if isinstance(value, list))
        alike.setdefault(lists, []).append((maps, values))
    for some in alike.values():
        yield _bound(statement, *some[0]) if len(some) == 1 else _bound_in_lists(statement, some)


def _bound_in_lists(statement: Statement, told: Sequence[_Told]) -> Bound:
    keys: dict[str, set[str]] = {}
    for maps, _ in told:
        for path, names in maps.items():
            keys.setdefault(path, set()).update(names)
    lists: dict[str, list[Any]] = {
        path: _in_one_order([values.get(path) for _, values in told])
        for path in sorted({path for _, values in told for path in values})
    }
    nulls = frozenset(path for path, held in lists.items() if all(one is None for one in held))
    if odd := keys.keys() & lists.keys() - nulls:
        raise QueryFileError(f"${min(odd)} must be a map")
    maps_of_all = tuple((path, tuple(sorted(names))) for path, names in keys.items())
    text = _text(statement, maps_of_all, nulls)
    named = {_flat(path): held for path, held in lists.items() if path not in nulls}
    return _unwound(text, tuple(named)), {_COUNT: len(told), **named}


@cache
def _unwound(text: str, names: Strings) -> str:
    """A text for each place in the lists with these names."""
    columns = ", ".join(f"${name}[place] AS {name}" for name in names)
    each = PARAMETER.sub(r"\1", text)
    return f"UNWIND range(1, ${_COUNT}) AS place\nWITH {columns}\n{each}"


def _told(statement: Statement, given: Parameters) -> _Told:
    """Keys of each map that the text names, and every value by its path."""
    maps: _Maps = {}
    values: Values = {}
    for path in _sorted(statement.params):
        if isinstance(value := value_at(given, path), dict):
            maps[path] = tuple(sorted(value))  # in one order, so that few texts are planned
            values |= {f"{path}.{key}": value[key] for key in maps[path]}
        else:  # a list of maps is unwound by the text
            values[path] = value
    return maps, values


def _with_lengths(statement: Statement, values: Values) -> tuple[Statement, Values]:
    """Write the lengths of the vector columns into a statement as numbers.

    Also return its values.
    """
    if "FLOAT[$" not in statement.text:
        return statement, values
    text = _LENGTH.sub(lambda match: f"FLOAT[{int(values[match[1]])}]", statement.text)
    left = {path: value for path, value in values.items() if f"${path}" in text}
    return replace(statement, text=text, params=frozenset(left)), left


def _with_bounds(statement: Statement, values: Values) -> tuple[Statement, Values]:
    """Add bounds to a statement: the smallest and the greatest contact key of its list.

    The engine compares every contact of the store with every key of a list. With the bounds only a
    few of ten thousand contacts are compared, because the keys of a list are mostly close: 3 ms
    instead of 9.
    """
    if "$contact_keys" not in statement.text or not _AMONG.search(statement.text):
        return statement, values
    text = _AMONG.sub(rf"\g<0> >= ${_LEAST} AND \g<0> <= ${_GREATEST} AND \g<0>", statement.text)
    keys = values["contact_keys"] or [""]
    values = values | {_LEAST: min(keys), _GREATEST: max(keys)}
    return replace(statement, text=text, params=statement.params | {_LEAST, _GREATEST}), values


@cache
def _sorted(params: StringSet) -> Strings:
    return tuple(sorted(params))


@cache
def _text(statement: Statement, keys: tuple[tuple[str, Strings], ...], nulls: StringSet) -> str:
    """Write out the maps of a text, and leave out these values."""
    maps = dict(keys)
    for path, names in keys:
        if unusable := [name for name in names if not _PROPERTY_NAME.fullmatch(name)]:
            raise QueryFileError(f"{path}: {unusable[0]!r} is not the name of a property")

    def node(match: Match) -> str:
        pairs = ", ".join(f"{key}: ${match[3]}.{key}" for key in kept(match[3]))
        return f"({match[1]} {{{match[2] or ''}{pairs}}})"

    def link(match: Match) -> str:
        pairs = ", ".join(f"{key}: ${match[2]}.{key}" for key in kept(match[2]))
        return f"[{match[1]} {{{pairs}}}]" if pairs else f"[{match[1]}]"

    def changes(match: Match) -> str:
        name, path = match[1], match[2]
        changed = ", ".join(f"{name}.{key} = ${path}.{key}" for key in kept(path))
        return changed or f"{name}.{maps[path][0]} = {name}.{maps[path][0]}"

    def kept(path: str) -> list[str]:
        if path not in maps:
            raise QueryFileError(f"${path} must be a map")
        return [key for key in maps[path] if f"{path}.{key}" not in nulls]

    text = _LINK_OF_MAP.sub(link, _NODE_OF_MAP.sub(node, statement.text))
    text = _SET_FROM_MAP.sub(changes, text)
    text = _PROPERTY.sub(lambda match: "" if match[1] in nulls else match[0], text)
    return PARAMETER.sub(lambda name: "NULL" if name[1] in nulls else f"${_flat(name[1])}", text)


@cache
def _flat(path: str) -> str:
    """A path as the name of a parameter, which has no dots."""
    return path.replace(".", "__")


def _foreign(value: Any) -> Any:
    """Write times in the engine's form: UTC without a zone.

    The engine would drop any other offset.
    """
    if isinstance(value, _AS_THEY_ARE):
        return value
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None)
    if isinstance(value, list) and value and isinstance(value[0], dict | list | None):
        return _in_one_order(value)
    return value


_AS_THEY_ARE = (str, int, float, bytes)


def _in_one_order(values: Sequence[Any]) -> list[Any]:
    """A list in the engine's form, with the names of its maps, and of maps in them, in one order.

    The engine reads the maps of a list by position, under the names of one of them; and it keeps
    those names in a plan. So a map in another order would be written under wrong names.

    Raises:
        QueryFileError: the names differ, or a list in the list holds maps.
    """
    maps = [value for value in values if isinstance(value, dict)]
    lists = (value for value in values if isinstance(value, list) and value)
    if any(isinstance(held[0], dict) for held in lists):
        raise QueryFileError("a list must not hold a list of maps; give each map its own row")
    if not maps:
        return [_foreign(value) for value in values]
    names = sorted(maps[0])
    if any(each.keys() != maps[0].keys() for each in maps):
        raise QueryFileError(f"the maps of a list must all have the same names: {names}")
    columns = {name: _in_one_order([each[name] for each in maps]) for name in names}
    rows = ({name: columns[name][place] for name in names} for place in range(len(maps)))
    return [next(rows) if isinstance(value, dict) else value for value in values]
