"""Loads the query files under ``cypher/`` and holds them to their headers. Runs nothing.

A query file is a comment header, then one statement::

    // What it does, in a sentence or more.
    // mode: read | write
    // params: name, name
    // returns: column, column

A parameter may be a map, or a list of maps. The header then names the keys that each must have, no
more and no fewer; those of a record that several files use stand in ``cypher/fields``::

    // map commits: version, decision
    // map commits.decision: fields of decision

A map whose keys nobody can list, because it is a whole node of any age, is ``any``: its keys are
names of properties, and nothing else.

Columns that several queries return stand once, in ``cypher/fragments``. A line ``// include: fact``
puts them into the text, and ``columns of fact`` names them in the header; ``caption(fact.text)``
stands for what a node's caption shows of a text. ``// set to null: columns of fact but fields of
fact_left``, within a SET, takes away each column that a list does not name. In a file for Neo4j
``// times: as text`` has the times that are given go there as ISO 8601; the statement makes times
of them.

The embedded dialect may hold a script instead: statements divided by a semicolon at a line's end,
run in one transaction, rolled back at the first one that has a RETURN and gives no row. Its rows
are those of the last one that has a RETURN. A comment ``// only when NAME is VALUE, VALUE`` above a
statement leaves it out for other values, and ``// only when NAME is not empty`` for null and for an
empty list; ``is empty`` is the reverse, and ``is one`` and ``is not one`` ask for a list of one
element. ``// for each NAME of LIST`` runs it once for each element. With ``// script for each: NAME
of LIST`` in the header the whole script runs once for each element; one whose statement gives no
row ends there, and the others go on. There ``$commit.decision.action`` is a value inside a map.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from reconciler.errors import QueryFileError
from reconciler.resources import resource_path

__all__ = [
    "ANY_KEYS",
    "PARAMETER",
    "Loop",
    "MapKeys",
    "Migration",
    "Query",
    "QueryBook",
    "Statement",
    "load_index",
    "load_migrations",
    "load_queries",
    "newest_schema_version",
    "value_at",
]

PARAMETER = re.compile(r"\$(\w+(?:\.\w+)*)")
"""A parameter in a query's text, or a value in one that is a map; group 1 is its path."""

ANY_KEYS = ("any",)
"""The keys of a map that may have any: it is written with those that it has."""

_PROPERTY_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
"""What such a key may be: it becomes a part of a query's text."""

_HEADER_LINE = re.compile(
    r"^//\s*(mode|params|returns|times|index|script for each|map [\w.]+):(.*)$"
)
_CAPTION = re.compile(r"\bcaption\(([$\w.\[\]]+)\)")
"""Stands for what Neo4j Browser shows of a text: at most 60 characters of it."""

_INCLUDE = re.compile(r"^[ \t]*//\s*include:\s*(\w+)[ \t]*$", re.MULTILINE)
_LISTED_ELSEWHERE = re.compile(r"(fields|columns) of (\w+)")
_NULLED = re.compile(
    r"^[ \t]*//\s*set to null: columns of (\w+) but fields of (\w+)[ \t]*$", re.MULTILINE
)
_CONDITION = re.compile(r"^//\s*only when ([\w.]+) is (.+)$", re.MULTILINE)
_LOOP = re.compile(r"^//\s*for each (\w+ of [\w.]+)[ \t]*$", re.MULTILINE)
_BRACKETED = re.compile(r"\([^()\[\]]*\)|\[[^()\[\]]*\]")
_STATEMENT_END = re.compile(r";[ \t]*(?:\n|$)")
_MODES = ("read", "write")
_NOT_EMPTY = frozenset({"not empty"})
_EMPTY = frozenset({"empty"})
_ONE = frozenset({"one"})
_NOT_ONE = frozenset({"not one"})


def value_at(given: Mapping[str, Any], path: str) -> Any:
    """What a path names, such as ``commit.decision.action``; None inside a map that is null."""
    value: Any = given
    for name in path.split("."):
        value = None if value is None else value[name]
    return value


@dataclass(frozen=True, slots=True)
class Loop:
    """Something done once for each element of a list, which then goes by ``name``."""

    name: str
    path: str

    def over(self, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The parameters of each repetition; none for null and for an empty list."""
        for element in value_at(given, self.path) or ():
            yield {**given, self.name: element}


@dataclass(frozen=True, slots=True)
class MapKeys:
    """The keys that a map must have, and those of the maps in it."""

    names: tuple[str, ...]
    inner: Mapping[str, MapKeys]

    def check(self, value: Any, path: str) -> None:
        """Hold a map to them, or every map of a list; null is no map, and may stand for one.

        Raises:
            QueryFileError: a key is missing or unknown, or it is neither a map nor a list of maps.
        """
        if isinstance(value, list | tuple):
            for element in value:
                self.check(element, path)
        elif value is not None:
            self._check_map(value, path)

    def _check_map(self, value: Any, path: str) -> None:
        if not isinstance(value, dict):
            raise QueryFileError(f"{path}: must be a map, not {type(value).__name__}")
        if self.names == ANY_KEYS:
            _check_property_names(value, path)
        elif value.keys() != set(self.names):
            missing, unknown = set(self.names) - value.keys(), value.keys() - set(self.names)
            raise QueryFileError(f"{path}: missing {sorted(missing)}, unknown {sorted(unknown)}")
        for name, keys in self.inner.items():
            keys.check(value[name], f"{path}.{name}")


def _check_property_names(value: Mapping[str, Any], path: str) -> None:
    unusable = [name for name in value if not _PROPERTY_NAME.fullmatch(name)]
    if unusable:
        raise QueryFileError(f"{path}: {unusable[0]!r} is not the name of a property")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, the parameters in its text, when it runs, and over what.

    ``params`` holds the paths as they stand in the text, and ``maps`` the keys of those that are
    maps. Without a condition it always runs, without loops once.
    """

    text: str
    params: frozenset[str]
    condition: tuple[str, frozenset[str]] | None = None
    loops: tuple[Loop, ...] = ()
    maps: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def needs(self) -> frozenset[str]:
        """The parameters that its text, its condition or its loops name, by their first names."""
        paths = {*self.params, *(loop.path for loop in self.loops)}
        if self.condition is not None:
            paths.add(self.condition[0])
        own = {loop.name for loop in self.loops}
        return frozenset(path.split(".")[0] for path in paths) - own

    def applies(self, given: Mapping[str, Any]) -> bool:
        """Whether it runs for these parameters."""
        if self.condition is None:
            return True
        path, values = self.condition
        found = value_at(given, path)
        if values in (_EMPTY, _NOT_EMPTY):
            return (found in (None, [])) is (values == _EMPTY)
        if values in (_ONE, _NOT_ONE):
            return (len(found) == 1) is (values == _ONE)
        return str(found) in values

    def repetitions(self, given: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """The parameters of each run of it: as given, or for every element of its loops.

        None where it does not apply.
        """
        return (scope for scope in _repeated(self.loops, given) if self.applies(scope))


@dataclass(frozen=True, slots=True)
class Query:
    """One named query. ``statements`` has one element except for an embedded script."""

    name: str
    mode: str
    params: frozenset[str]
    returns: tuple[str, ...]
    statements: tuple[Statement, ...]
    maps: Mapping[str, MapKeys] = field(default_factory=dict)
    loop: Loop | None = None
    takes_times_as_text: bool = False
    index: str | None = None
    """The index that it goes by, which is made when it is first needed; see cypher/README.md."""

    def check_parameters(self, given: Mapping[str, Any]) -> None:
        """Hold a call to the header: both engines answer a missing key with silence.

        Raises:
            QueryFileError: a parameter, or a key of one that is a map, is missing or unknown.
        """
        if given.keys() != self.params:
            missing, unknown = self.params - given.keys(), given.keys() - self.params
            raise QueryFileError(
                f"query {self.name}: missing {sorted(missing)}, unknown {sorted(unknown)}"
            )
        for name, keys in self.maps.items():
            keys.check(given[name], f"query {self.name}: {name}")

    def repetitions(self, given: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """The parameters of each run of the script."""
        return _repeated((self.loop,) if self.loop else (), given)


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


def load_index(engine: str, name: str) -> tuple[Statement, ...]:
    """The statements that make an index which a query names in its header."""
    path = resource_path("cypher") / engine / "indexes" / f"{name}.cypher"
    return _statements(path.read_text(encoding="utf-8"))


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
    maps = {key[4:]: _names(header.pop(key)) for key in list(header) if key.startswith("map ")}
    loop = _loop(header.pop("script for each", ""))
    times = header.pop("times", "").strip()
    index = header.pop("index", "").strip() or None
    if times not in ("", "as text"):
        raise QueryFileError(f"{name}: times are given as text, or the line is left out")
    if header.keys() != {"mode", "params", "returns"} or header["mode"].strip() not in _MODES:
        raise QueryFileError(f"{name}: the header needs mode (read, write), params and returns")
    text = _NULLED.sub(_nulled, _INCLUDE.sub(_included, text))
    statements = _statements(_CAPTION.sub(_captioned, text))
    if not statements:
        raise QueryFileError(f"{name}: there is no statement below the header")
    query = Query(
        name=name,
        mode=header["mode"].strip(),
        params=frozenset(_names(header["params"])),
        returns=tuple(_names(header["returns"])),
        statements=tuple(_with_maps(statement, loop, maps) for statement in statements),
        maps=_map_keys(maps),
        loop=loop,
        takes_times_as_text=bool(times),
        index=index,
    )
    _check_against_text(query)
    _check_paths(query, maps)
    return query


def _check_against_text(query: Query) -> None:
    used = frozenset[str]().union(*(statement.needs for statement in query.statements))
    if query.loop:
        used = used - {query.loop.name} | {query.loop.path.split(".")[0]}
    if used != query.params:
        differing = sorted(used ^ query.params)
        raise QueryFileError(f"{query.name}: params differ from the text: {differing}")
    columns = _columns(_last_returning(query.statements))
    if columns != query.returns:
        raise QueryFileError(f"{query.name}: the text returns {columns}, not {query.returns}")


def _check_paths(query: Query, maps: Mapping[str, list[str]]) -> None:
    """Hold each map to a parameter, and every ``$commit.version`` in a text to declared keys."""
    for path in maps:
        *inside, key = path.split(".")
        if key not in (maps.get(".".join(inside), ()) if inside else query.params):
            raise QueryFileError(f"{query.name}: map {path} is neither a parameter nor in a map")
    for statement in query.statements:
        places = _places(query.loop, statement)
        condition = {statement.condition[0]} if statement.condition else set()
        loops = {loop.path for loop in statement.loops}
        for path in sorted(statement.params | condition | loops):
            *inside, key = _real(path, places).split(".")
            if inside and key not in maps.get(".".join(inside), ()):
                raise QueryFileError(f"{query.name}: no map in the header has the key ${path}")


def _map_keys(maps: Mapping[str, list[str]], within: str = "") -> dict[str, MapKeys]:
    """The declared maps, each with those that lie in it."""
    found: dict[str, MapKeys] = {}
    for path, names in maps.items():
        parent, _, name = path.rpartition(".")
        if parent == within:
            found[name] = MapKeys(tuple(names), _map_keys(maps, path))
    return found


def _with_maps(statement: Statement, loop: Loop | None, maps: Mapping[str, list[str]]) -> Statement:
    """The statement, knowing the keys of the maps that its text names."""
    places = _places(loop, statement)
    named = ((path, _real(path, places)) for path in sorted(statement.params))
    keys = tuple((path, tuple(maps[real])) for path, real in named if real in maps)
    return replace(statement, maps=keys)


def _places(loop: Loop | None, statement: Statement) -> dict[str, str]:
    """What list each loop's name goes through, by its whole path."""
    places: dict[str, str] = {}
    for outer in (*((loop,) if loop else ()), *statement.loops):
        places[outer.name] = _real(outer.path, places)
    return places


def _real(path: str, places: Mapping[str, str]) -> str:
    """A path from a parameter on: ``commit.version`` is ``commits.version``."""
    first, dot, rest = path.partition(".")
    return places.get(first, first) + dot + rest


def _repeated(loops: tuple[Loop, ...], given: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if not loops:
        yield given
        return
    outer, *inner = loops
    for scope in outer.over(given):
        yield from _repeated(tuple(inner), scope)


def _loop(text: str) -> Loop | None:
    name, _, path = text.strip().partition(" of ")
    return Loop(name, path) if path else None


def _last_returning(statements: tuple[Statement, ...]) -> str:
    """The text of the statement whose rows are the query's."""
    returning = [statement.text for statement in statements if "RETURN" in statement.text]
    return (returning or [statements[-1].text])[-1]


def _columns(statement: str) -> tuple[str, ...]:
    """The columns of the last RETURN, by alias, else by last name."""
    if "RETURN" not in statement:
        return ()
    returned = re.split(r"\bRETURN\b", statement)[-1]
    returned = re.split(r"\bORDER BY\b|\bLIMIT\b|\bSKIP\b", returned)[0]
    while (flat := _BRACKETED.sub("", returned)) != returned:
        returned = flat
    return tuple(re.split(r"\bAS\b|\.", item)[-1].strip() for item in returned.split(","))


def _statements(text: str) -> tuple[Statement, ...]:
    return tuple(
        statement for part in _STATEMENT_END.split(text) if (statement := _statement(part)).text
    )


def _statement(part: str) -> Statement:
    code = "\n".join(line for line in part.splitlines() if not line.lstrip().startswith("//"))
    condition = _CONDITION.search(part)
    return Statement(
        text=code.strip(),
        params=frozenset(PARAMETER.findall(code)),
        condition=(condition[1], frozenset(_names(condition[2]))) if condition else None,
        loops=tuple(loop for text in _LOOP.findall(part) if (loop := _loop(text))),
    )


def _names(listed: str) -> list[str]:
    """Names divided by commas; ``fields of NAME`` and ``columns of NAME`` stand for several."""
    names: list[str] = []
    for part in filter(None, map(str.strip, listed.split(","))):
        elsewhere = _LISTED_ELSEWHERE.fullmatch(part)
        if elsewhere is None:
            names.append(part)
        elif elsewhere[1] == "fields":
            names += _shared_text("fields", f"{elsewhere[2]}.txt").split()
        else:
            names += _columns(f"RETURN {_fragment(elsewhere[2])}")
    return names


def _captioned(written: re.Match[str]) -> str:
    text = written[1]
    return f"CASE WHEN size({text}) <= 60 THEN {text} ELSE left({text}, 59) + '…' END"


def _included(line: re.Match[str]) -> str:
    return _fragment(line[1])


def _nulled(line: re.Match[str]) -> str:
    """What a SET takes away: every column of a fragment that is not in a list of fields."""
    left = _shared_text("fields", f"{line[2]}.txt").split()
    gone = (name for name in _columns(f"RETURN {_fragment(line[1])}") if name not in left)
    return "".join(f"{line[1]}.{name} = NULL,\n" for name in gone)


def _fragment(name: str) -> str:
    """The columns in a fragment, without its comments."""
    lines = _shared_text("fragments", f"{name}.cypher").splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("//"))


def _shared_text(folder: str, file_name: str) -> str:
    path = resource_path("cypher") / folder / file_name
    if not path.is_file():
        raise QueryFileError(f"there is no cypher/{folder}/{file_name}")
    return path.read_text(encoding="utf-8")


def _number(path: Path) -> int:
    prefix = path.stem.split("_")[0]
    if not prefix.isdigit():
        raise QueryFileError(f"migration {path.name} does not start with a number")
    return int(prefix)
