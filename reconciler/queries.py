"""Loads the query files under ``cypher/``, which a test holds to what follows. Runs nothing.

A query file is a comment header, then one statement. The header says why, and ``// mode: read`` or
``// mode: write``. The parameters are the ``$names`` in the text, and the columns those of its last
RETURN. What maps in them hold is seen where they are made; ``tests/unit/test_sent_maps.py``
compares that with what the texts of both dialects read.

Columns that several queries return stand once, in ``cypher/fragments``. A line ``// include: fact``
puts them into the text. ``// set to null: columns of fact but fields of fact_left``, within a SET,
takes away each column that ``cypher/fields/fact_left.txt`` does not name. ``caption(fact.text)``
stands for what a node's caption shows of a text. In a file for Neo4j ``// times: as text`` has the
times that are given go there as ISO 8601; the statement makes times of them. ``// rows: by column``
has all rows come as one, with a list for each column. ``// embedded: join contact, about, fact``
below a MATCH has the embedded engine join in that order; without it, where links are few, it reads
all nodes to find them.

The embedded dialect may hold a script instead: statements divided by a semicolon at a line's end,
run in one transaction, rolled back at the first one that has a RETURN and gives no row. Its rows
are those of the last one that has a RETURN. A comment ``// only when NAME is VALUE, VALUE`` above a
statement leaves it out for other values, and ``// only when NAME is not empty`` for null and for an
empty list; ``is empty`` is the reverse, and ``is one`` and ``is not one`` ask for a list of one
element. ``// for each NAME of LIST`` runs it once for each element. With ``// script for each: NAME
of LIST`` in the header the whole script runs once for each element; if a statement gives no row,
that element's run ends there, and the others go on. There ``$commit.decision.action`` is a value
inside a map.

A file for Neo4j may mark what few calls need, from ``// rare`` to ``// end``. It is loaded as two
statements, and the first one that applies is run: the one without these parts, if its ``// only
when contacts is without absorbs, parts`` holds: neither a map in that list nor one of its commits
has a value under any of these names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from reconciler.errors import QueryFileError
from reconciler.frozen import Match, Strings, StringSet, in_order
from reconciler.resources import resource_path

PARAMETER = re.compile(r"\$(\w+(?:\.\w+)*)")
"""A parameter in a query's text, or a value in one that is a map; group 1 is its path."""

_HEADER_LINE = re.compile(r"^//\s*(mode|rows|times|kept|index|script for each):(.*)$")
_CAPTION = re.compile(r"\bcaption\(([$\w.\[\]]+)\)")
"""Stands for what Neo4j Browser shows of a text: at most 60 characters of it."""

_INCLUDE = re.compile(r"^[ \t]*//\s*include:\s*(\w+)[ \t]*$", re.MULTILINE)
_NULLED = re.compile(
    r"^[ \t]*//\s*set to null: columns of (\w+) but fields of (\w+)[ \t]*$", re.MULTILINE
)
_MAPPED = re.compile(r"^[ \t]*//\s*in a map: columns of (\w+)[ \t]*$", re.MULTILINE)
_JOINED = re.compile(r"^[ \t]*//\s*embedded: join (\w+(?:, \w+)+)[ \t]*$", re.MULTILINE)
_CONDITION = re.compile(r"^//\s*only when ([\w.]+) is (.+)$", re.MULTILINE)
_RARE = re.compile(r"^// rare\n(?s:.*?)^// end\n", re.MULTILINE)
_LOOP = re.compile(r"^//\s*for each (\w+ of [\w.]+)[ \t]*$", re.MULTILINE)
_TOGETHER = re.compile(r"^//\s*all of them in one[ \t]*$", re.MULTILINE)
_BRACKETED = re.compile(r"\([^()\[\]]*\)|\[[^()\[\]]*\]")
_STATEMENT_END = re.compile(r";[ \t]*(?:\n|$)")
Parameters = Mapping[str, Any]
"""What a query is given, by the names in its text."""

_OF_LISTS: Mapping[str, Callable[[Any], bool]] = {
    "empty": lambda held: not held,
    "not empty": bool,
    "one": lambda held: len(held) == 1,
    "not one": lambda held: len(held) != 1,
}
"""What a condition may ask of a list."""


def value_at(given: Parameters, path: str) -> Any:
    """Value at a path, such as ``commit.decision.action``; None inside a null map.

    Raises:
        QueryFileError: a map on the way lacks the key.
    """
    value: Any = given
    try:
        for name in _names_in(path):
            value = None if value is None else value[name]
    except (KeyError, TypeError):
        raise QueryFileError(f"${path}: there is no {name}") from None
    return value


@cache
def _names_in(path: str) -> list[str]:
    return path.split(".")


class Loop(NamedTuple):
    """Something done once for each element of a list, which then goes by ``name``."""

    name: str
    path: str


Scopes = dict[tuple[Loop, ...], list[Parameters]]
"""The parameters of each repetition that some loops give."""


@in_order
class Statement:
    """One statement, the parameters in its text, when it runs, and over what.

    ``params`` holds the paths as they stand in the text. Without a condition it always runs,
    without loops once. All runs of one that ``is_together`` may be one, since none sees another.
    """

    text: str
    params: StringSet
    condition: tuple[str, Callable[[Any], bool]] | None = None
    loops: tuple[Loop, ...] = ()
    is_together: bool = False

    @property
    def needs(self) -> StringSet:
        """Parameters that its text, its condition or its loops name, by their first names."""
        paths = {*self.params, *(loop.path for loop in self.loops)}
        if self.condition is not None:
            paths.add(self.condition[0])
        return frozenset(path.split(".")[0] for path in paths) - {loop.name for loop in self.loops}

    def applies(self, given: Parameters) -> bool:
        """True if it runs for these parameters."""
        if self.condition is None:
            return True
        path, holds = self.condition
        return holds(value_at(given, path))

    def repetitions(self, given: Parameters, known: Scopes | None = None) -> list[Parameters]:
        """Parameters of each run of it: as given, or for every element of its loops.

        None where it does not apply. Statements with the same loops share what those give for the
        same parameters: ``known`` keeps it.
        """
        scopes = _repeated(self.loops, given, {} if known is None else known)
        return [scope for scope in scopes if self.applies(scope)]


@in_order
class Query:
    """One named query. ``statements`` has one element except for an embedded script."""

    name: str
    mode: str
    params: StringSet
    returns: Strings
    statements: tuple[Statement, ...]
    loop: Loop | None = None
    takes_times_as_text: bool = False
    is_by_column: bool = False
    is_kept: bool = False
    index: str | None = None
    """The index that it goes by, which is made when it is first needed; see cypher/README.md."""

    def check_parameters(self, given: Parameters) -> None:
        """Hold a call to the names in the text: one engine answers a missing one with silence.

        Raises:
            QueryFileError: a parameter is missing or unknown.
        """
        if given.keys() != self.params:
            missing, unknown = self.params - given.keys(), given.keys() - self.params
            raise QueryFileError(
                f"query {self.name}: missing {sorted(missing)}, unknown {sorted(unknown)}"
            )

    def repetitions(self, given: Parameters) -> list[Parameters]:
        """Parameters of each run of the script."""
        return _repeated((self.loop,) if self.loop else (), given, {})


@in_order
class Migration:
    """One step of the schema: the statements that lead to ``version``."""

    version: int
    statements: tuple[Statement, ...]


class QueryBook(dict[str, Query]):
    """The queries of one engine by name."""

    def __missing__(self, name: str) -> Query:
        raise QueryFileError(f"no query file is named {name}")


@cache
def load_queries(engine: str) -> QueryBook:
    """Queries that an engine runs: ``cypher/shared`` and the engine's own folder.

    A name never stands in both.
    """
    folder = resource_path("cypher")
    folders = folder / "shared", folder / engine
    queries = QueryBook()
    for path in (path for part in folders for path in sorted(part.glob("*.cypher"))):
        text = path.read_text(encoding="utf-8")
        if engine == "embedded":
            text = _JOINED.sub(_joined, text)
        queries[path.stem] = parse_query(path.stem, text)
    return queries


@cache
def load_migrations(engine: str) -> tuple[Migration, ...]:
    """Schema's steps for an engine, oldest first, counted from 1 without a gap."""
    paths = sorted((resource_path("cypher") / engine / "migrations").glob("*.cypher"))
    return tuple(
        Migration(number, _statements(path.read_text(encoding="utf-8")))
        for number, path in enumerate(paths, start=1)
    )


def load_index(engine: str, name: str) -> tuple[Statement, ...]:
    """Statements that make an index which a query names in its header."""
    path = resource_path("cypher") / engine / "indexes" / f"{name}.cypher"
    return _statements(path.read_text(encoding="utf-8"))


def newest_schema_version(engine: str) -> int:
    """Schema version that this code works with."""
    return load_migrations(engine)[-1].version


def parse_query(name: str, text: str) -> Query:
    """Query that a file's text holds."""
    matches = filter(None, map(_HEADER_LINE.match, text.splitlines()))
    header = {match[1]: match[2].strip() for match in matches}
    text = _INCLUDE.sub(lambda line: _fragment(line[1]), text)
    text = _MAPPED.sub(_mapped, _NULLED.sub(_nulled, text))
    if (usual := _RARE.sub("", text)) != text:
        text = f"{usual};\n{_CONDITION.sub('', text)}"
    statements = _statements(_CAPTION.sub(_captioned, text))
    loop = _loop(header.get("script for each", ""))
    params = StringSet().union(*(statement.needs for statement in statements))
    if loop:
        params = params - {loop.name} | {loop.path.split(".")[0]}
    returning = [statement.text for statement in statements if "RETURN" in statement.text]
    return Query(
        name=name,
        mode=header["mode"],
        params=params,
        returns=_columns((returning or [statements[-1].text])[-1]),
        statements=statements,
        loop=loop,
        takes_times_as_text="times" in header,
        is_by_column="rows" in header,
        is_kept="kept" in header,
        index=header.get("index"),
    )


def _repeated(loops: tuple[Loop, ...], given: Parameters, known: Scopes) -> list[Parameters]:
    if not loops:
        return [given]
    if loops not in known:
        name, path = loops[-1]
        known[loops] = [
            {**scope, name: element}
            for scope in _repeated(loops[:-1], given, known)
            for element in value_at(scope, path) or ()
        ]
    return known[loops]


def _loop(text: str) -> Loop | None:
    name, _, path = text.strip().partition(" of ")
    return Loop(name, path) if path else None


def _columns(statement: str) -> Strings:
    """Columns of the last RETURN, by alias, else by last name."""
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
        condition=(condition[1], _held(condition[2])) if condition else None,
        loops=tuple(loop for text in _LOOP.findall(part) if (loop := _loop(text))),
        is_together=_TOGETHER.search(part) is not None,
    )


def _held(told: str) -> Callable[[Any], bool]:
    """Whether a value is what a condition asks for: a kind of list, or one of several words."""
    words = frozenset(re.findall(r"\w+", told))
    if "without" in words:
        return partial(_is_without, words)
    return _OF_LISTS.get(told.strip()) or (lambda value: str(value) in words)


def _is_without(names: StringSet, maps: Sequence[Parameters]) -> bool:
    """Whether neither maps nor their commits hold more than null or nothing under some names."""
    return all(
        names.isdisjoint(name for name, value in each.items() if value)
        and _is_without(names, each.get("commits", ()))
        for each in maps
    )


def _captioned(written: Match) -> str:
    text = written[1]
    return f"CASE WHEN size({text}) <= 60 THEN {text} ELSE left({text}, 59) + '…' END"


def _joined(line: Match) -> str:
    """Embedded engine's hint: the first two are joined, then each next one to what is there."""
    first, *others = line[1].split(", ")
    for other in others:
        first = f"({first} JOIN {other})"
    return f"HINT {first}"


def _nulled(line: Match) -> str:
    """What a SET takes away: every column of a fragment that is not in a list of fields."""
    left = _shared_text("fields", f"{line[2]}.txt").split()
    gone = (name for name in _columns(f"RETURN {_fragment(line[1])}") if name not in left)
    return "".join(f"{line[1]}.{name} = NULL,\n" for name in gone)


def _mapped(line: Match) -> str:
    """Columns of a fragment as entries of a map, each under its own name."""
    names = _columns(f"RETURN {_fragment(line[1])}")
    return "".join(f"{name}: {line[1]}.{name},\n" for name in names)


def _fragment(name: str) -> str:
    """Columns in a fragment, without its comments."""
    lines = _shared_text("fragments", f"{name}.cypher").splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("//"))


def _shared_text(folder: str, file_name: str) -> str:
    return (resource_path("cypher") / folder / file_name).read_text(encoding="utf-8")
