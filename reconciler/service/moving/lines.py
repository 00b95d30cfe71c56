"""The lines of an export: what one may hold, how a value is written, and how it is read again.

The types of properties come from the JSON Schema that is shipped, so that what is described and
what is read are the same. Never here: a query, or a file.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from types import NoneType
from typing import Any

from reconciler.domain.records.far_ahead import FAR_AHEAD
from reconciler.errors import InvalidArchiveError
from reconciler.frozen import frozen, in_order
from reconciler.ports.graph import Row
from reconciler.service.embedding import UNIT_LENGTH_TOLERANCE

FORMAT = "reconciler-export"
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_NUMBER_MAX = 2**53
"""Up to here, every integer can be a number in JSON without loss."""

VERSION = 1
"""The version of the format. A new property needs no new version: see ``schema_version``."""

KEY_OF: Mapping[str, str] = {
    "Contact": "contact_key",
    "Task": "task_key",
    "Session": "session_key",
    "Episode": "episode_id",
    "Job": "job_id",
    "Fact": "fact_id",
    "Decision": "decision_id",
    "Erasure": "erasure_id",
    "Tombstone": "tombstone_key",
}
"""The labels, in the order of a contact's lines, and the property that names a node of each."""


@in_order
class LinkKind:
    """The labels that a relationship joins."""

    start: str
    end: str


LINKS: Mapping[str, LinkKind] = {
    "WITH": LinkKind("Session", "Contact"),
    "PART_OF": LinkKind("Session", "Task"),
    "IN": LinkKind("Episode", "Session"),
    "READS": LinkKind("Job", "Session"),
    "SUPERSEDES": LinkKind("Fact", "Fact"),
    "CONFLICTS_WITH": LinkKind("Fact", "Fact"),
    "EVIDENCED_BY": LinkKind("Fact", "Episode"),
    "JUDGED": LinkKind("Decision", "Episode"),
    "WROTE": LinkKind("Decision", "Fact"),
    "COMPARED_WITH": LinkKind("Decision", "Fact"),
    "SETTLES": LinkKind("Decision", "Decision"),
    "REVOKED": LinkKind("Decision", "Fact"),
    "REVERTED": LinkKind("Decision", "Decision"),
}
"""The relationships that have a line. Those that tie a fact, a decision, a task or an erasure to
its contact, and a contact to its agent, follow from where the line stands."""

NOT_EXPORTED: Mapping[str, frozenset[str]] = {
    "Contact": frozenset({"locked_by"}),
    "Session": frozenset({"title"}),
    "Episode": frozenset({"title"}),
    "Fact": frozenset(
        {
            *("name", "contact_key", "embedding", "embedding_bytes"),
            *("next_embedding", "next_embedding_bytes", "next_embedding_model"),
        }
    ),
    "Decision": frozenset({"title", "contact_key"}),
    "COMPARED_WITH": frozenset({"title"}),
    "SUPERSEDES": frozenset({"contact_key"}),
    "CONFLICTS_WITH": frozenset({"contact_key"}),
    "Job": frozenset({"locked_by", "leased_by"}),
}
"""Properties that have a place of their own in a line, follow from others (captions, a contact's
key), or mean nothing in another store (locks, leases, next vectors)."""


@frozen
class Node:
    """A node of a line; its vector as float32 bytes, None if it has none."""

    label: str
    properties: Row
    vector: bytes | None = None

    @property
    def node_id(self) -> str:
        """Its id."""
        return str(self.properties[KEY_OF[self.label]])


@frozen
class Link:
    """A relationship of a line."""

    kind: str
    from_id: str
    to_id: str
    properties: Row


class PropertyTypes:
    """The properties of each label and each relationship, with their types.

    Args:
        schema: the shipped JSON Schema of a line.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._readers: dict[str, dict[str, Callable[[Any], Any]]] = {}
        for name in (*KEY_OF, *LINKS):
            described = schema["$defs"][name]["properties"]["properties"]["properties"]
            self._readers[name] = {key: _reader(told) for key, told in described.items()}

    def known(self, name: str, held: Row) -> Row:
        """The properties of a node or a relationship that an export has a place for."""
        readers = self._readers[name]
        return {key: value for key, value in held.items() if key in readers}

    def node(self, line: Mapping[str, Any]) -> Node:
        """The node in a line.

        Raises:
            InvalidArchiveError: the line holds no valid node.
        """
        label = line["node"]
        if not isinstance(label, str) or label not in KEY_OF:
            raise InvalidArchiveError(f"no node is called {label!r}")
        properties = self.read(label, line.get("properties"))
        if not isinstance(properties.get(KEY_OF[label]), str):
            raise InvalidArchiveError(f"a {label} lacks its {KEY_OF[label]}")
        return Node(label=label, properties=properties, vector=_vector(line.get("vector")))

    def link(self, line: Mapping[str, Any]) -> Link:
        """The relationship in a line.

        Raises:
            InvalidArchiveError: the line holds no valid relationship.
        """
        kind, ends = line["link"], (line.get("from"), line.get("to"))
        if not isinstance(kind, str) or kind not in LINKS:
            raise InvalidArchiveError(f"no link is called {kind!r}")
        if not all(isinstance(end, str) for end in ends):
            raise InvalidArchiveError(f"a {kind} lacks an end")
        properties = self.read(kind, line.get("properties", {}))
        return Link(kind=kind, from_id=str(ends[0]), to_id=str(ends[1]), properties=properties)

    def read(self, name: str, held: Any) -> Row:
        """The properties of a node or a relationship, from a line or a store, with their types.

        Raises:
            InvalidArchiveError: one is unknown, or has an impossible value.
        """
        if not isinstance(held, dict):
            raise InvalidArchiveError(f"a {name} has no properties")
        readers = self._readers[name]
        if unknown := held.keys() - readers.keys():
            raise InvalidArchiveError(f"a {name} has no property {min(unknown)!r}")
        read: Row = {}
        for key, value in held.items():
            try:
                if value is not None:
                    read[key] = readers[key](value)
            except (TypeError, ValueError, OverflowError) as error:
                raise InvalidArchiveError(f"a {name} has a {key} that cannot be: {error}") from None
        return read

    def check_columns(self, name: str, columns: Mapping[str, Sequence[Any]]) -> None:
        """Check many nodes of one label, given as a list of values for each property.

        Each value is checked once, however many nodes have it. If all values are times, only the
        first and the last are checked; if all are texts, none.

        Raises:
            TypeError, ValueError, OverflowError: a value is impossible.
        """
        for key, reader in self._readers[name].items():
            for value in _telling(columns[key], reader):
                if value is not None:
                    reader(value)


def check_bounds(value: Any) -> None:
    """Check that no number and no time in a value is too large to calculate with.

    Both engines keep integers of 64 bits, and add many of them; a time must stay a time when
    something is added to it. The parts of a record are checked as well.

    Raises:
        ValueError: it holds a number or a time that is out of bounds, or NaN.
    """
    if isinstance(value, datetime):
        if not _EARLIEST <= value <= FAR_AHEAD:
            raise ValueError(f"{value.isoformat()} is out of bounds")
    elif isinstance(value, float | int):
        if not abs(value) <= _NUMBER_MAX:  # also where it is NaN
            raise ValueError("a number is out of bounds")
    else:
        for part in _parts(value):
            check_bounds(part)


def _parts(value: Any) -> Iterable[Any]:
    if is_dataclass(value):
        return (getattr(value, described.name) for described in fields(value))
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def as_line(values: Mapping[str, Any]) -> bytes:
    """A line of the file, with its line end."""
    return _encoder().encode(values).encode("utf-8", "surrogatepass") + b"\n"


def vector_text(vector: bytes) -> str:
    """A vector as text for a line: base64 of its bytes."""
    return base64.b64encode(vector).decode("ascii")


@cache
def _encoder() -> json.JSONEncoder:
    return json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_as_json)


def _as_json(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    raise TypeError(f"{type(value).__name__} has no place in an export")


def _vector(text: Any) -> bytes | None:
    """The vector in a line, of unit length; one engine takes NaN for equal to every vector.

    Raises:
        InvalidArchiveError: it cannot be compared.
    """
    import numpy as np

    if text is None:
        return None
    try:
        vector = base64.b64decode(text, validate=True)
        length = np.linalg.norm(np.frombuffer(vector, dtype="<f4").astype(np.float64))
    except (TypeError, ValueError, binascii.Error):
        raise InvalidArchiveError("its vector is not float32 in base64") from None
    if not abs(length - 1) < UNIT_LENGTH_TOLERANCE:  # also where it is NaN
        raise InvalidArchiveError(f"its vector has length {length:g}, not 1")
    return vector


@cache
def shipped_types() -> PropertyTypes:
    """Those of the shipped schema, read once a process and not at each opening of a memory."""
    return PropertyTypes(load_export_schema())


def _reader(told: Mapping[str, Any]) -> Callable[[Any], Any]:
    if words := told.get("enum"):
        return _one_of(words)
    if told.get("format") == "date-time":
        return _time
    return {
        "string": _text,
        "integer": _integer,
        "number": _number,
        "boolean": _exactly(bool),
        "array": _texts,
    }[told["type"]]


def _telling(column: Sequence[Any], reader: Callable[[Any], Any]) -> Iterable[Any]:
    """The values of a column that are enough to check all of it."""
    kinds = set(map(type, column)) - {NoneType}
    if kinds == {datetime} and reader is _time:
        times = [at for at in column if at is not None]
        if all(at.tzinfo is UTC for at in times):
            return min(times), max(times)
    if kinds == {str} and reader is _text:
        return ()
    is_told_apart = len(kinds) == 1 and list not in kinds  # 1 and True are one in a set
    return set(column) if is_told_apart else column


def _one_of(words: Sequence[str]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if value not in words:
            raise ValueError(f"it is one of {', '.join(words)}, not {value!r}")
        return value

    return read


def _exactly(kind: type) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise TypeError(f"must be {kind.__name__}, not {type(value).__name__}")
        return value

    return read


_text = _exactly(str)


def _integer(value: Any) -> int:
    number: int = _exactly(int)(value)
    check_bounds(number)
    return number


def _number(value: Any) -> float:
    if type(value) not in (int, float):
        raise TypeError(f"must be a number, not {type(value).__name__}")
    number = float(value)
    check_bounds(number)
    return number


def _time(value: Any) -> datetime:
    is_read = isinstance(value, datetime)  # from a store, and not from a line
    time: datetime = value if is_read else datetime.fromisoformat(_exactly(str)(value))
    if time.tzinfo is None:
        raise ValueError(f"{value!r} names no zone")
    check_bounds(time)
    return time.astimezone(UTC)


def _texts(value: Any) -> list[str]:
    return [_text(item) for item in _exactly(list)(value)]


def load_export_schema() -> dict[str, Any]:
    """The schema as it is shipped; ``tools/export_schema.py`` writes it from the tables."""
    text = files(__package__).joinpath("export.schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))
