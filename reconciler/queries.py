"""Loads the query files under ``cypher/`` and holds them to their headers. Runs nothing.

A query file is a comment header, then one statement::

    // What it does, in a sentence or more.
    // mode: read | write
    // params: name, name
    // returns: column, column

The embedded dialect may hold a script instead: statements divided by a semicolon at a line's end,
run in one transaction, rolled back at the first one that has a RETURN and gives no row. A comment
``// only when NAME is VALUE, VALUE`` above a statement leaves it out for other values, and
``// only when NAME is not empty`` for null and for an empty list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from reconciler.errors import QueryFileError
from reconciler.resources import resource_path

__all__ = [
    "PARAMETER",
    "Migration",
    "Query",
    "QueryBook",
    "Statement",
    "load_migrations",
    "load_queries",
    "newest_schema_version",
]

_HEADER_LINE = re.compile(r"^//\s*(mode|params|returns):(.*)$")
PARAMETER = re.compile(r"\$(\w+)")
"""A parameter in a query's text; group 1 is its name."""

_CONDITION = re.compile(r"^//\s*only when (\w+) is (.+)$", re.MULTILINE)
_STATEMENT_END = re.compile(r";[ \t]*(?:\n|$)")
_MODES = ("read", "write")
_NOT_EMPTY = frozenset({"not empty"})


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, the parameters in its text, and when it runs: always without a condition."""

    text: str
    params: frozenset[str]
    condition: tuple[str, frozenset[str]] | None = None

    @property
    def needs(self) -> frozenset[str]:
        """The parameters that its text or its condition names."""
        return self.params if self.condition is None else self.params | {self.condition[0]}

    def applies(self, given: Mapping[str, Any]) -> bool:
        """Whether it runs for these parameters."""
        if self.condition is None:
            return True
        name, values = self.condition
        if values == _NOT_EMPTY:
            return given[name] not in (None, [])
        return str(given[name]) in values


@dataclass(frozen=True, slots=True)
class Query:
    """One named query. ``statements`` has one element except for an embedded script."""

    name: str
    mode: str
    params: frozenset[str]
    returns: tuple[str, ...]
    statements: tuple[Statement, ...]

    def check_parameters(self, given: Mapping[str, Any]) -> None:
        """Hold a call to the header: one engine answers a missing parameter with silence.

        Raises:
            QueryFileError: a parameter is missing or unknown.
        """
        if given.keys() != self.params:
            missing, unknown = self.params - given.keys(), given.keys() - self.params
            raise QueryFileError(
                f"query {self.name}: missing {sorted(missing)}, unknown {sorted(unknown)}"
            )


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema: the statements that lead to ``version``."""

    version: int
    statements: tuple[Statement, ...]


class QueryBook(Mapping[str, Query]):
    """The queries of one engine by name."""

    def __init__(self, queries: Mapping[str, Query]) -> None:
        self._queries = dict(queries)

    def __getitem__(self, name: str) -> Query:
        try:
            return self._queries[name]
        except KeyError:
            raise QueryFileError(f"no query file is named {name}") from None

    def __iter__(self) -> Any:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)


@cache
def load_queries(engine: str) -> QueryBook:
    """The queries that an engine runs: ``cypher/shared`` and the engine's own folder.

    Raises:
        QueryFileError: a header is malformed or does not match its text, or a name stands both in
            ``shared`` and in the engine's folder.
    """
    folder = resource_path("cypher")
    paths = [
        *sorted((folder / "shared").glob("*.cypher")),
        *sorted((folder / engine).glob("*.cypher")),
    ]
    queries: dict[str, Query] = {}
    for path in paths:
        if path.stem in queries:
            raise QueryFileError(f"{path.name} stands in shared/ and in {engine}/")
        queries[path.stem] = parse_query(path.stem, path.read_text(encoding="utf-8"))
    return QueryBook(queries)


@cache
def load_migrations(engine: str) -> tuple[Migration, ...]:
    """The schema's steps for an engine, oldest first, counted from 1 without a gap.

    Raises:
        QueryFileError: the numbers have a gap.
    """
    paths = sorted((resource_path("cypher") / engine / "migrations").glob("*.cypher"))
    migrations = tuple(
        Migration(_number(path), _statements(path.read_text(encoding="utf-8"))) for path in paths
    )
    if [migration.version for migration in migrations] != list(range(1, len(paths) + 1)):
        raise QueryFileError(f"the migrations of {engine} are not numbered 1 to {len(paths)}")
    return migrations


def newest_schema_version(engine: str) -> int:
    """The schema version that this code works with."""
    return load_migrations(engine)[-1].version


def parse_query(name: str, text: str) -> Query:
    """The query that a file's text holds.

    Raises:
        QueryFileError: the header lacks a line, or names other parameters or columns than the text.
    """
    matches = filter(None, map(_HEADER_LINE.match, text.splitlines()))
    header: dict[str, str] = {match[1]: match[2] for match in matches}
    if header.keys() != {"mode", "params", "returns"} or header["mode"].strip() not in _MODES:
        raise QueryFileError(f"{name}: the header needs mode (read, write), params and returns")
    statements = _statements(text)
    if not statements:
        raise QueryFileError(f"{name}: there is no statement below the header")
    query = Query(
        name=name,
        mode=header["mode"].strip(),
        params=frozenset(_names(header["params"])),
        returns=tuple(_names(header["returns"])),
        statements=statements,
    )
    _check_against_text(query)
    return query


def _check_against_text(query: Query) -> None:
    used = frozenset[str]().union(*(statement.needs for statement in query.statements))
    if used != query.params:
        differing = sorted(used ^ query.params)
        raise QueryFileError(f"{query.name}: params differ from the text: {differing}")
    columns = _columns(query.statements[-1].text)
    if columns != query.returns:
        raise QueryFileError(f"{query.name}: the text returns {columns}, not {query.returns}")


def _columns(statement: str) -> tuple[str, ...]:
    """The columns of the last RETURN, by alias, else by last name."""
    if "RETURN" not in statement:
        return ()
    returned = re.split(r"\bRETURN\b", statement)[-1]
    returned = re.split(r"\bORDER BY\b|\bLIMIT\b|\bSKIP\b", returned)[0]
    items = re.split(r",(?![^(\[]*[)\]])", returned)
    return tuple(re.split(r"\bAS\b|\.", item)[-1].strip() for item in items)


def _statements(text: str) -> tuple[Statement, ...]:
    return tuple(
        statement for part in _STATEMENT_END.split(text) if (statement := _statement(part)).text
    )


def _statement(part: str) -> Statement:
    code = "\n".join(line for line in part.splitlines() if not line.lstrip().startswith("//"))
    params = frozenset(PARAMETER.findall(code))
    condition = _CONDITION.search(part)
    if condition is None:
        return Statement(code.strip(), params)
    name, values = condition.groups()
    return Statement(code.strip(), params, (name, frozenset(_names(values))))


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def _number(path: Path) -> int:
    prefix = path.stem.split("_")[0]
    if not prefix.isdigit():
        raise QueryFileError(f"migration {path.name} does not start with a number")
    return int(prefix)
