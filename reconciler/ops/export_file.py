"""The file of an export: reads its lines, and checks the whole file against itself.

What a single line may hold is in ``lines.py``, and how the lines of a contact agree in
``Coherence``. Nothing here knows a store.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.notes import Scope
from reconciler.errors import InvalidArchiveError, InvalidRequestError, InvalidScopeError
from reconciler.frozen import Json, StringSet, Values, in_order
from reconciler.ports.graph import Row
from reconciler.queries import newest_schema_version
from reconciler.service.checking.damage import is_citation, read_node
from reconciler.service.checking.lines import (
    FORMAT,
    LINKS,
    VERSION,
    Coherence,
    Link,
    Node,
    check_bounds,
    shipped_types,
)
from reconciler.service.json_lines import loads
from reconciler.service.stores.rows import UNREADABLE

_LINE_BYTES_MAX = 64 << 20
"""The longest line; even a job's proposals and a decision's record are much shorter."""

_FAULTS_MAX = 5
_WHY_LENGTH_MAX = 300

Line = Node | Link
"""A line of an export, except its first and its last."""

_HEADER: Mapping[str, type] = {
    "version": int,
    "schema_version": int,
    "id_key_check": str,
    "with_vectors": bool,
    "export_id": str,
}
"""The keys of the first line, and the type of each value."""


@in_order
class ContactInFile:
    """One contact of a checked file."""

    scope: Scope
    held: Row
    session_keys: StringSet


@in_order
class _Vectors:
    """The dimension of a model's vectors in a file, and the line of the first one."""

    dimension: int
    line: int


@in_order
class CheckedExport:
    """A complete file: its first line, its contacts by key, its vectors by model."""

    header: Values
    contacts: Mapping[str, ContactInFile]
    vectors: Mapping[str, _Vectors]


class ExportFile:
    """The file of an export; each call reads it from its beginning.

    Args:
        path: the file.
        engine: the engine to restore it into.
    """

    def __init__(self, path: Path, engine: str) -> None:
        self._path = path
        self._types = shipped_types()
        self._schema_version = newest_schema_version(engine)
        self._vectors: dict[str, _Vectors] = {}
        self._is_intact = False
        self._told: Json = {}

    def checked(self) -> CheckedExport:
        """Read the whole file, and check it against its own last line.

        Raises:
            InvalidArchiveError: the file is no export, is cut off, damaged, or of a newer version.
        """
        header = self.header()
        counted: Counter[str] = Counter()
        contacts: dict[str, ContactInFile] = {}
        wrong: str | None = None
        for contact, lines in self.contacts():
            if contact.node_id in contacts:
                raise InvalidArchiveError(f"{self._path} holds contact {contact.node_id} twice")
            counted["Contact"] += 1
            check = _ContactCheck(contact)
            contacts[contact.node_id] = check.found(lines, counted)
            wrong = wrong or check.wrong
        told: Json = {}
        for name in ("nodes", "links"):
            counts = self._told.get(name)
            told |= counts if isinstance(counts, dict) else {}
        if told != dict(counted) or not self._is_intact:
            raise InvalidArchiveError(
                f"{self._path} was changed or damaged: its last line does not match its content. "
                "Nothing was written; export it again"
            )
        if wrong is not None:  # all lines are there, so a person edited the file
            raise InvalidArchiveError(
                f"{self._path} was altered: {wrong}. Nothing was written; export it again"
            )
        return CheckedExport(header, contacts, self._vectors)

    def header(self) -> Values:
        """Read the first line.

        Raises:
            InvalidArchiveError: this line does not begin an export that this version reads.
        """
        with self._open() as file:
            line = file.readline(_LINE_BYTES_MAX)
        try:
            header = loads(line.decode("utf-8", "surrogatepass"))
        except (ValueError, InvalidRequestError):
            header = None
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise InvalidArchiveError(
                f"{self._path} is neither an export nor a backup of this program"
            )
        version, schema = header.get("version"), header.get("schema_version")
        is_told = isinstance(version, int) and isinstance(schema, int)
        if is_told and (version != VERSION or int(schema or 0) > self._schema_version):
            raise InvalidArchiveError(
                f"{self._path} was made by a newer version of this package (format "
                f"{version}, schema {schema}; this one reads {VERSION} and "
                f"{self._schema_version}); install that version"
            )
        for name, kind in _HEADER.items():
            if type(header.get(name)) is not kind:
                raise InvalidArchiveError(f"{self._path}: its first line lacks {name}")
        for name in ("id_key", "hash_key"):
            key = header.get(name)  # in hexadecimal
            is_text = isinstance(key, str)
            if key is not None and not (is_text and re.fullmatch("([0-9a-f]{2})+", key)):
                raise InvalidArchiveError(f"{self._path}: its first line has no usable {name}")
        return header

    def contacts(self) -> Iterator[tuple[Node, Iterator[Line]]]:
        """Read each contact with the lines that follow it."""
        current = 0

        def number(line: Line) -> int:
            nonlocal current
            current += isinstance(line, Node) and line.label == "Contact"
            return current

        for place, lines in groupby(self._lines(), number):
            contact = next(lines)
            if not place or not isinstance(contact, Node):
                raise InvalidArchiveError(f"{self._path}: its second line is not a contact")
            yield contact, lines  # noqa: B031  each group is read before the next

    def _lines(self) -> Iterator[Line]:
        """Read the lines between the first and the last; keep what the last line says."""
        with self._open() as file:
            line = file.readline(_LINE_BYTES_MAX)
            digest, number = hashlib.sha256(line), 1
            while line := file.readline(_LINE_BYTES_MAX):
                number += 1
                values = self._values(line, number)
                if "end" in values:
                    is_hash = values.get("sha256") == digest.hexdigest()
                    self._is_intact = values["end"] is True and is_hash and not file.read(1)
                    self._told = values
                    return
                digest.update(line)
                try:
                    yield self._line(values, number)
                except (KeyError, TypeError, InvalidArchiveError) as error:
                    raise InvalidArchiveError(f"{self._path}, line {number}: {error}") from None
            raise self._cut_off()

    def _line(self, values: Values, number: int) -> Line:
        if "node" not in values:
            return self._types.link(values)
        node = self._types.node(values)
        if node.vector is not None:
            own = _Vectors(len(node.vector) // 4, number)
            first = self._vectors.setdefault(str(node.properties.get("embedding_model")), own)
            if first.dimension != own.dimension:
                raise InvalidArchiveError(
                    f"its vector has {own.dimension} numbers, but the vector of line {first.line}, "
                    f"made by the same model, has {first.dimension}"
                )
        return node

    def _values(self, line: bytes, number: int) -> Json:
        try:
            values = loads(line.decode("utf-8", "surrogatepass"))
        except (ValueError, InvalidRequestError) as error:
            if line.endswith(b"\n"):
                raise InvalidArchiveError(f"{self._path}, line {number}: {error}") from None
            raise self._cut_off() from None
        if not isinstance(values, dict):
            raise InvalidArchiveError(f"{self._path}, line {number} is not a JSON object")
        return values

    def _cut_off(self) -> InvalidArchiveError:
        return InvalidArchiveError(
            f"{self._path} is cut off: its last line, which counts what it holds, is missing. "
            "Nothing was written; export it again"
        )

    def _open(self) -> Any:
        try:
            return self._path.open("rb")
        except OSError as error:
            raise InvalidArchiveError(f"{self._path} cannot be read: {error.strerror}") from error


class _ContactCheck:
    """Checks that a contact's lines belong to it, and agree with each other."""

    def __init__(self, contact: Node) -> None:
        self._key = contact.node_id
        self._contact = contact
        self._ids: dict[str, set[str]] = defaultdict(set, Contact={contact.node_id})
        self._coherence = Coherence()
        self.wrong: str | None = None
        """The first contradiction between the contact's lines; None if there is none so far."""

    def found(self, lines: Iterator[Line], counted: Counter[str]) -> ContactInFile:
        """Check and count all lines of the contact, and return it."""
        scope = self._scope()
        for line in lines:
            if isinstance(line, Node):
                self._node(line, scope)
                counted[line.label] += 1
            else:
                self._link(line)
                counted[line.kind] += 1
        self._note(self._coherence.wrong_at_the_end())
        return ContactInFile(scope, self._contact.properties, frozenset(self._ids["Session"]))

    def _scope(self) -> Scope:
        held = self._contact.properties
        try:
            scope = Scope(*(held.get(name, "") for name in ("tenant", "agent_id", "contact_id")))
        except InvalidScopeError as error:
            raise InvalidArchiveError(f"contact {self._key}: {error}") from None
        if scope.contact_key != self._key or held.get("version", -1) < 0:
            raise InvalidArchiveError(
                f"contact {self._key} does not match its key; export it again"
            )
        return scope

    def _node(self, node: Node, scope: Scope) -> None:
        """Check that a node is new, and this contact's, as far as its properties show."""
        ids = self._ids[node.label]
        told = scope.columns.items()
        is_own = all(node.properties.get(name, value) == value for name, value in told)
        if node.label in ("Session", "Task"):
            merged = self._contact.properties.get("absorbed", ())
            owners = (scope, *(replace(scope, contact_id=each) for each in merged))
            is_own &= node.node_id.startswith(tuple(f"{one.contact_key}/" for one in owners))
        try:  # as the store will read it
            record = read_node(node.label, node.properties, scope)
            check_bounds(record)
        except UNREADABLE as error:
            raise InvalidArchiveError(
                f"contact {self._key}: {node.label} {node.node_id} cannot be read: {_why(error)}. "
                "Nothing was written"
            ) from None
        if isinstance(record, Decision):  # it alone names its node
            is_own &= record.decision_id == node.node_id and record.note.scope == scope
            is_own &= record.action == node.properties.get("action")
        if not is_own or node.node_id in ids:
            raise InvalidArchiveError(
                f"contact {self._key}: {node.label} {node.node_id} belongs to another contact, or "
                "the file holds it twice"
            )
        ids.add(node.node_id)
        self._note(self._coherence.wrong_with_node(node))

    def _link(self, link: Link) -> None:
        begins, ends = LINKS[link.kind]
        if link.from_id not in self._ids[begins] or link.to_id not in self._ids[ends]:
            raise InvalidArchiveError(
                f"contact {self._key}: a {link.kind} links {link.from_id} to {link.to_id}, and at "
                "least one of them is missing"
            )
        if not is_citation(link.properties.get("span", "all")):
            raise InvalidArchiveError(
                f"contact {self._key}: a {link.kind} from {link.from_id} quotes words that are "
                "blank or too long. Nothing was written"
            )
        self._note(self._coherence.wrong_with_link(link))

    def _note(self, wrong: str | None) -> None:
        if wrong is not None and self.wrong is None:
            self.wrong = f"of contact {self._key}, {wrong}"


def _why(error: Exception) -> str:
    """Say why something cannot be read, without its words."""
    if not isinstance(error, ValidationError):
        return " ".join(str(error).split())[:_WHY_LENGTH_MAX]
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    told = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in faults[:_FAULTS_MAX])
    return "; ".join(told)[:_WHY_LENGTH_MAX]
