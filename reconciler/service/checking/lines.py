"""The lines of an export: their allowed contents, and how values are written and read.

The types of properties come from the JSON Schema that is shipped, so description and reader agree.
Never here: a query, or a file.

``Coherence`` checks that the lines of one contact agree with each other: an altered file with a
right checksum may hold a live fact that another fact replaced. The check finds that while it reads.
For each node it keeps only the id and the links that it still expects.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.resources import files
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le
from pydantic import (
    AfterValidator,
    AllowInfNan,
    AwareDatetime,
    BeforeValidator,
    Strict,
    ValidationError,
)

from reconciler.domain.records.kinds import FAR_AHEAD, LASTING, Action, FactState
from reconciler.domain.records.notes import first_of
from reconciler.errors import InvalidArchiveError
from reconciler.frozen import Json, Strings, Values, frozen
from reconciler.ports.graph import Row
from reconciler.service.embedding import UNIT_LENGTH_TOLERANCE
from reconciler.service.stores.rows import adapter_of

FORMAT = "reconciler-export"
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_NUMBER_MAX = 2**53
"""The largest integer up to which every integer can be a JSON number without loss."""

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


LINKS: Mapping[str, tuple[str, str]] = {
    "WITH": ("Session", "Contact"),
    "PART_OF": ("Session", "Task"),
    "IN": ("Episode", "Session"),
    "READS": ("Job", "Session"),
    "SUPERSEDES": ("Fact", "Fact"),
    "CONFLICTS_WITH": ("Fact", "Fact"),
    "EVIDENCED_BY": ("Fact", "Episode"),
    "JUDGED": ("Decision", "Episode"),
    "WROTE": ("Decision", "Fact"),
    "COMPARED_WITH": ("Decision", "Fact"),
    "SETTLES": ("Decision", "Decision"),
    "REVOKED": ("Decision", "Fact"),
    "REVERTED": ("Decision", "Decision"),
}
"""The relationships that have a line, with the labels that each joins. Those that tie a fact, a
decision, a task or an erasure to its contact, and a contact to its agent, follow from the place of
the line."""

_BOUNDS = (Strict(), Ge(-_NUMBER_MAX), Le(_NUMBER_MAX))
_STORED_TIME = Annotated[AwareDatetime, Strict(), Ge(_EARLIEST), Le(FAR_AHEAD)]
_TIME = Annotated[
    _STORED_TIME,
    BeforeValidator(lambda at: datetime.fromisoformat(at) if isinstance(at, str) else at),
    AfterValidator(lambda at: at.astimezone(UTC)),
]
"""Read a time of a store, or the text of a time in a line; in UTC."""

_KINDS: Values = {
    "string": Annotated[str, Strict()],
    "integer": Annotated[int, *_BOUNDS],
    "number": Annotated[float, *_BOUNDS, AllowInfNan(False)],
    "boolean": Annotated[bool, Strict()],
    "array": Annotated[list[Annotated[str, Strict()]], Strict()],
}


def _kind(told: Values) -> Any:
    """Return Python's type for a property's type in the schema."""
    if words := told.get("enum"):
        return Literal[*words]
    return _TIME if told.get("format") == "date-time" else _KINDS[told["type"]]


@frozen
class Node:
    """A node of a line; its vector as float32 bytes, None if it has none."""

    label: str
    properties: Row
    vector: bytes | None = None

    @property
    def node_id(self) -> str:
        """Return its id."""
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

    def __init__(self, schema: Values) -> None:
        self._kinds: dict[str, Json] = {}
        for name in (*KEY_OF, *LINKS):
            described = schema["$defs"][name]["properties"]["properties"]["properties"]
            self._kinds[name] = {key: _kind(told) for key, told in described.items()}

    def known(self, name: str, held: Row) -> Row:
        """Return the properties of a node or a relationship that an export can hold."""
        kinds = self._kinds[name]
        return {key: value for key, value in held.items() if key in kinds}

    def without_values(self, name: str) -> Row:
        """Return all properties of a node or a relationship, none of them with a value."""
        return dict.fromkeys(self._kinds[name])

    def node(self, line: Values) -> Node:
        """Read the node in a line.

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

    def link(self, line: Values) -> Link:
        """Read the relationship in a line.

        Raises:
            InvalidArchiveError: the line holds no valid relationship.
        """
        kind, ends = line["link"], (line.get("from"), line.get("to"))
        if not isinstance(kind, str) or kind not in LINKS:
            raise InvalidArchiveError(f"no kind of link has the name {kind!r}")
        if not all(isinstance(end, str) for end in ends):
            raise InvalidArchiveError(f"a {kind} needs two nodes, from and to")
        properties = self.read(kind, line.get("properties", {}))
        return Link(kind=kind, from_id=str(ends[0]), to_id=str(ends[1]), properties=properties)

    def read(self, name: str, held: Any) -> Row:
        """Read the typed properties of a node or a relationship, from a line or a store.

        Raises:
            InvalidArchiveError: a property is unknown, or has an impossible value.
        """
        if not isinstance(held, dict):
            raise InvalidArchiveError(f"a {name} has no properties")
        kinds = self._kinds[name]
        if unknown := held.keys() - kinds.keys():
            raise InvalidArchiveError(f"a {name} has no property {min(unknown)!r}")
        read: Row = {}
        for key, value in held.items():
            if value is None:
                continue
            try:
                read[key] = adapter_of(kinds[key]).validate_python(value)
            except ValidationError as error:
                raise InvalidArchiveError(
                    f"a {name} has a {key} that cannot be used: {error.errors()[0]['msg']}"
                ) from None
        return read

    def check_columns(self, name: str, columns: Mapping[str, Sequence[Any]]) -> None:
        """Check many nodes of one label, given as a list of stored values for each property.

        Raises:
            ValueError: a value is impossible.
        """
        for key, kind in self._kinds[name].items():
            stored = _STORED_TIME if kind is _TIME else kind
            adapter_of(list[stored | None]).validate_python(columns[key])  # type: ignore[valid-type]  # known at run time


def check_bounds(value: Any) -> None:
    """Check that no number and no time in a value is too large to calculate with.

    Both engines keep integers of 64 bits, and add many of them. A time must stay valid when a
    duration is added to it. The parts of a record are checked as well.

    Raises:
        ValueError: a number or a time is out of bounds, or NaN.
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


def as_line(values: Values) -> bytes:
    """Write a line of the file, with its line end."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"), default=_as_json)
    return text.encode("utf-8", "surrogatepass") + b"\n"


def vector_text(vector: bytes) -> str:
    """Write a vector as text for a line: base64 of its bytes."""
    return base64.b64encode(vector).decode("ascii")


def _as_json(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    raise TypeError(f"{type(value).__name__} cannot be written to an export")


def _vector(text: Any) -> bytes | None:
    """Read the vector of a line, of unit length; one engine finds NaN equal to every vector.

    Raises:
        InvalidArchiveError: the vector cannot be compared.
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
    """Read the types of the shipped schema once for each process, not at each opening."""
    return PropertyTypes(load_export_schema())


def load_export_schema() -> Json:
    """Load the shipped schema; ``tools/export_schema.py`` writes it from the tables."""
    text = files(__package__).joinpath("export.schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


HOME_BY: Mapping[str, Strings] = {
    "Session": ("WITH", "PART_OF"),
    "Episode": ("IN",),
    "Job": ("READS",),
}
"""The links that join a node to its contact. A task's session without turns is linked only to the
task."""

_ONCE = ("WITH", "IN", "READS")
"""Link types of which a node has at most one."""

_HELD: Mapping[str, Strings] = {
    "COMPARED_WITH": ("cosine", "rank"),
    "SUPERSEDES": ("decided_by", "at"),
    "CONFLICTS_WITH": ("decided_by", "at"),
}
"""The properties that links must have."""


class Coherence:
    """Takes the lines of one contact, nodes before their links, and finds contradictions.

    Each method returns a text for an error message, or None if it finds nothing.
    """

    def __init__(self) -> None:
        self._homeless: dict[str, set[str]] = {label: set() for label in HOME_BY}
        self._linked: dict[str, set[str]] = {kind: set() for kind in _ONCE}
        self._holding: set[str] = set()
        self._erased: set[str] = set()
        self._endless: set[str] = set()
        self._unwritten: set[str] = set()
        self._to_write: set[str] = set()
        self._above: dict[str, str] = {}
        self._order: TopologicalSorter[str] = TopologicalSorter()

    def wrong_with_node(self, node: Node) -> str | None:
        """Take a node, and check it."""
        if node.label in self._homeless:
            self._homeless[node.label].add(node.node_id)
        if node.label == "Decision":
            if not node.properties.keys() >= {"action", "record"}:
                return f"decision {node.node_id} has no record"
            if node.properties["action"] in (Action.ADD, Action.UPDATE):
                self._to_write.add(node.node_id)
        return self._wrong_with_fact(node) if node.label == "Fact" else None

    def wrong_with_link(self, link: Link) -> str | None:
        """Take a link between two nodes that were taken before, and check it."""
        for name in _HELD.get(link.kind, ()):
            if name not in link.properties:
                return f"a {link.kind} from {link.from_id} has no {name}"
        for label, kinds in HOME_BY.items():
            if link.kind in kinds:
                self._homeless[label].discard(link.from_id)
        if link.kind in _ONCE:
            if link.from_id in self._linked[link.kind]:
                return f"{link.from_id} has more than one {link.kind}"
            self._linked[link.kind].add(link.from_id)
            return None
        if link.kind == "WROTE":
            return self._wrong_with_writing(link)
        return self._wrong_with_supersession(link) if link.kind == "SUPERSEDES" else None

    def wrong_at_the_end(self) -> str | None:
        """Check what the lines lack, after all of them were taken."""
        for label, ids in self._homeless.items():
            for node_id in ids:
                return f"{label} {node_id} lacks its {' or '.join(HOME_BY[label])}"
        for fact_id in self._endless:
            return f"fact {fact_id} has ended, and nothing says when, or what took its place"
        for fact_id in self._unwritten:
            return f"no decision wrote fact {fact_id}"
        for decision_id in self._to_write:
            return f"decision {decision_id} lacks the fact that it wrote"
        try:
            self._order.prepare()
        except CycleError as error:
            return f"each replaced the next: {first_of(error.args[1][1:])}"
        return None

    def _wrong_with_fact(self, fact: Node) -> str | None:
        fact_id, state = fact.node_id, fact.properties.get("state")
        has_end = "valid_to" in fact.properties
        may_hold = not has_end or "expires_at" in fact.properties  # only those with a known end
        if state is None:
            return f"fact {fact_id} has no state"
        self._unwritten.add(fact_id)
        if state == FactState.ERASED:
            self._erased.add(fact_id)
        elif state in LASTING:
            self._holding.add(fact_id)
            return None if may_hold else f"fact {fact_id} is {state}, and has ended"
        elif not has_end:
            self._endless.add(fact_id)
        return None

    def _wrong_with_writing(self, link: Link) -> str | None:
        if link.from_id not in self._to_write:
            return f"decision {link.from_id} writes no fact, or wrote another one"
        if link.to_id not in self._unwritten:
            return f"fact {link.to_id} was written twice"
        self._to_write.remove(link.from_id)
        self._unwritten.remove(link.to_id)
        return None

    def _wrong_with_supersession(self, link: Link) -> str | None:
        new_id, old_id = link.from_id, link.to_id
        self._order.add(old_id, new_id)
        self._endless.discard(old_id)
        if new_id in self._erased:
            return None  # the fact that it replaced may have come back, and been replaced once more
        if old_id in self._holding:
            return f"fact {old_id} still holds, although {new_id} replaced it"
        if old_id in self._above:
            return f"{self._above[old_id]} and {new_id} both replaced fact {old_id}"
        self._above[old_id] = new_id
        return None
