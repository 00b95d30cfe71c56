"""Restoring an export: checks the whole file against its own counts before it writes anything.

Then it writes each contact page by page; a contact is complete only with its last page. The graph
keeps which page comes next, so a restore that was killed continues when it is run again.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from reconciler.domain.records.archives import RestoreReport
from reconciler.domain.records.decisions import NO_MODEL, Decision
from reconciler.domain.records.kinds import FactState, JobState
from reconciler.domain.records.scope import Scope
from reconciler.errors import (
    GraphConflictError,
    InvalidArchiveError,
    InvalidRequestError,
    InvalidScopeError,
    SchemaError,
)
from reconciler.ports.embedder import Embedder
from reconciler.ports.graph import Row
from reconciler.queries import newest_schema_version
from reconciler.sensitive_data import key_check
from reconciler.service.batches import batches
from reconciler.service.json_lines import loads
from reconciler.service.moving.coherence import Coherence
from reconciler.service.moving.damage import is_citation, read_node
from reconciler.service.moving.lines import (
    FORMAT,
    KEY_OF,
    LINKS,
    VERSION,
    Link,
    Node,
    PropertyTypes,
    check_bounds,
)
from reconciler.service.stores.archive_store import ArchiveStore
from reconciler.service.stores.row_reader import UNREADABLE

__all__ = ["Checked", "Restorer"]

NODES_A_PAGE = 200
"""Nodes that are written in one transaction; their texts are embedded together."""

LINKS_A_PAGE = 500

_LINE_BYTES_MAX = 64 << 20
"""A job's proposals and a decision's record are lines of their own; none is near to it."""

_NAMED_MAX = 5
_WHY_LENGTH_MAX = 300

_TOLD: Mapping[str, type] = {
    "version": int,
    "schema_version": int,
    "id_key_check": str,
    "with_vectors": bool,
    "export_id": str,
}
"""What a first line has to tell, and of what type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _ContactInFile:
    """One contact of a file that was read through."""

    scope: Scope
    held: Row
    session_keys: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Vectors:
    """Of how many numbers a model's vectors are in a file, and in which line the first is."""

    dimension: int
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A file that was read through, and found whole; ``vectors`` by their models."""

    header: Mapping[str, Any]
    contacts: Mapping[str, _ContactInFile]
    vectors: Mapping[str, _Vectors]


class Restorer:
    """Writes one export into a store: first ``check``, then ``run``.

    Args:
        path: the file.
        types: the properties that a line may hold.
        engine: the engine that is restored into; this code knows the newest version of its schema.
    """

    def __init__(self, path: Path, types: PropertyTypes, engine: str) -> None:
        self._reading = _FileReader(path, types, newest_schema_version(engine))

    def check(self) -> Checked:
        """Read the file through.

        Raises:
            InvalidArchiveError: it is no export, is cut off, damaged, or of a newer version.
        """
        return self._reading.checked()

    @staticmethod
    def check_vectors(checked: Checked, embedder: Embedder) -> None:
        """Refuse vectors of a length that the model that is said to have made them does not make.

        Raises:
            InvalidArchiveError: there are such.
        """
        model, own = embedder.model_id, embedder.dimension
        told = checked.vectors.get(str(model))
        if told and told.dimension != own:
            raise InvalidArchiveError(
                f"line {told.line} holds a vector of {told.dimension} numbers, and {model} makes "
                f"{own}; nothing was written. Export again without vectors"
            )

    def run(
        self,
        checked: Checked,
        *,
        store: ArchiveStore,
        embedder: Embedder,
        hash_key: bytes | None,
        keep_hash_key: Callable[[bytes], None],
        clock: Callable[[], datetime],
        accept_other_key: bool = False,
        on_progress: Callable[[int, int], None] = lambda *_: None,
    ) -> RestoreReport:
        """Write what the file holds; run again after it was killed, it goes on where it stopped.

        Args:
            checked: what ``check`` found.
            store: where to.
            embedder: what makes the vectors that the file lacks, or has of another model.
            hash_key: the key of this place's hashes; None where nothing was hashed yet.
            keep_hash_key: keeps the key that came with the export, where there is none.
            clock: the time now, UTC-aware.
            accept_other_key: also restore into a store with contacts that got their ids by another
                key; then no restored node recognises an earlier idempotency key.
            on_progress: told how many contacts are there, of how many.

        Raises:
            InvalidArchiveError: the store knows contacts of the file otherwise, or makes ids with
                another key. Nothing was written.
            EmbeddingError: the model failed; run it again.
            GraphConflictError: another writer wrote about a contact while it was restored.
            SchemaError: the store was moved to another model meanwhile.
            GraphError: the engine is unavailable; run it again.
        """
        writing = _Writing(checked, store, embedder, clock)
        report = writing.report
        writing.look(accept_other_key=accept_other_key)
        _take_hash_key(checked.header, hash_key, keep_hash_key, report)
        total = len(checked.contacts)
        on_progress(report.already_there, total)
        for contact, lines in self._reading.contacts():
            if contact.node_id not in writing.done:
                writing.contact(contact, lines)
                on_progress(report.already_there + report.contacts, total)
        return report


class _Writing:
    """One run: what it found in the store, and what it has written."""

    def __init__(
        self,
        checked: Checked,
        store: ArchiveStore,
        embedder: Embedder,
        clock: Callable[[], datetime],
    ) -> None:
        self._checked = checked
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._mark = f"(being restored from export {checked.header['export_id']})"
        """The name of a contact that is not there whole yet."""
        self.done: set[str] = set()
        self.report = RestoreReport()

    def look(self, *, accept_other_key: bool) -> None:
        """Look at what is there, before anything is written.

        Raises:
            InvalidArchiveError: it does not go with the file.
        """
        self.done = self._already_there()
        self.report.already_there = len(self.done)
        self._bind(accept_other_key=accept_other_key)

    def contact(self, contact: Node, lines: Iterator[Node | Link]) -> None:
        """Write a contact, from the page on that is not there yet.

        Raises:
            GraphConflictError: another writer wrote about it meanwhile.
        """
        scope = self._checked.contacts[contact.node_id].scope
        version, name = self._store.begin_contact(scope, self._mark)
        if name != self._mark:
            raise self._disturbed(scope)
        for place, page in enumerate(_pages(lines)):
            if -1 - place != version:
                continue  # an earlier run wrote it
            try:
                self._page(contact.node_id, version, page)
            except GraphConflictError as error:
                raise GraphConflictError(
                    f"contact {scope.contact_id} could not be written: {error}. Run it again; "
                    "where that does not help, an id of it is in the store under another contact"
                ) from error
            version -= 1
            self._check_version(scope, version)
        if not self._store.finish_contact(contact.node_id, version, contact.properties):
            self._check_version(scope, int(contact.properties["version"]))
        self.report.nodes["Contact"] += 1
        self.report.contacts += 1

    def _already_there(self) -> set[str]:
        """The contacts that an earlier run has written.

        Raises:
            InvalidArchiveError: the store knows contacts of the file otherwise.
        """
        there, other = set(), []
        for key, contact in self._checked.contacts.items():
            held = self._store.find_contact(key)
            if held is None:
                self._check_not_erased(contact.scope)
            if held is None or held["name"] == self._mark:
                continue
            if held["version"] < 0 or not self._is_same(key, contact, held):
                self._check_not_erased(contact.scope)
                other.append(contact.scope.contact_id)
            there.add(key)
        if other:
            named = ", ".join(other[:_NAMED_MAX]) + (", …" if len(other) > _NAMED_MAX else "")
            raise InvalidArchiveError(
                f"the store holds {len(other)} of these contacts with other content ({named}); "
                "nothing was written. Restore into an empty store"
            )
        return there

    def _check_not_erased(self, scope: Scope) -> None:
        """Keep out whom the store was told to forget: an older file must not bring that back.

        Raises:
            InvalidArchiveError: something of the contact was erased here.
        """
        is_erased = (
            next(self._store.node_pages(scope.contact_key, label, with_vectors=False), None)
            for label in ("Erasure", "Tombstone")
        )
        if any(is_erased):
            raise InvalidArchiveError(
                f"contact {scope.contact_id} was erased in this store, or a part of it, and the "
                "file may hold that still; nothing was written. Export again without it, or "
                "restore into an empty store and forget it there"
            )

    def _is_same(self, contact_key: str, contact: _ContactInFile, held: Row) -> bool:
        if any(
            held.get(name) != contact.held.get(name) for name in ("version", "last_decision_at")
        ):
            return False
        if held["version"] > 0:
            return True
        pages = self._store.node_pages(contact_key, "Session", with_vectors=False)
        return contact.session_keys == {key for page in pages for key, _ in page}

    def _bind(self, *, accept_other_key: bool) -> None:
        """See to it that ids go on being made with the key that those of the file were made with.

        Raises:
            InvalidArchiveError: the store has contacts, and another key.
        """
        header, own = self._checked.header, bytes.fromhex(self._store.bound().id_key)
        if header["id_key_check"] == key_check(own):
            return
        if not self._store.count_contacts():
            if header.get("id_key"):
                self._store.bind(header["id_key"], self._clock())
            else:
                self.report.keeps_ids = False
            return
        if not (accept_other_key or self._is_going_on()):
            raise InvalidArchiveError(
                "the store has contacts, and makes ids with another key than the store that was "
                "exported: earlier idempotency keys and turns would not be recognised. Restore "
                "into an empty store an export that was made with its keys, or accept that "
                "(--other-key)"
            )
        self.report.keeps_ids = False

    def _is_going_on(self) -> bool:
        """Whether everything in the store comes from this file, of which a run was killed."""
        there = (self._store.find_contact(key) for key in self._checked.contacts)
        return self._store.count_contacts() == sum(held is not None for held in there)

    def _check_version(self, scope: Scope, version: int) -> None:
        if self._store.contact_version(scope.contact_key) != version:
            raise self._disturbed(scope)

    def _disturbed(self, scope: Scope) -> GraphConflictError | SchemaError:
        if (model := self._store.bound().embedding_model) != self._embedder.model_id:
            return SchemaError(
                f"the store was moved to {model} while contact {scope.contact_id} was restored; "
                "set RECONCILER_EMBEDDER__MODEL to that one, and run it again"
            )
        return GraphConflictError(
            f"contact {scope.contact_id} was written to while it was restored; restore into a "
            "store that no other process writes to, or forget that contact first"
        )

    def _page(self, contact_key: str, version: int, page: Sequence[Node | Link]) -> None:
        first = page[0]
        if isinstance(first, Node):
            nodes = [item for item in page if isinstance(item, Node)]
            rows = self._rows(first.label, nodes)
            model = self._embedder.model_id
            self._store.restore_nodes(contact_key, version, first.label, rows, model)
            self.report.nodes[first.label] += len(rows)
            return
        links = [(e.from_id, e.to_id, e.properties) for e in page if isinstance(e, Link)]
        self._store.restore_links(contact_key, version, first.kind, links)
        self.report.links[first.kind] += len(links)

    def _rows(self, label: str, nodes: Sequence[Node]) -> list[tuple[Row, Any]]:
        if label == "Job":
            return [(_as_due(node.properties, self._clock()), None) for node in nodes]
        if label != "Fact":
            return [(node.properties, None) for node in nodes]
        return list(self._facts(nodes))

    def _facts(self, nodes: Sequence[Node]) -> Iterator[tuple[Row, Any]]:
        """Facts with the vectors of the store's model: those of the file, or new ones.

        Raw words and what was erased have none, and get none.
        """
        import numpy as np

        from reconciler.service.embedding import embed

        model = self._embedder.model_id
        is_own = [node.properties.get("embedding_model") == model for node in nodes]
        kept = [node.vector if own else None for node, own in zip(nodes, is_own, strict=True)]
        lacking = [
            place
            for place, node in enumerate(nodes)
            if kept[place] is None and not _is_without_vector(node)
        ]
        made = embed(self._embedder, [nodes[place].properties["text"] for place in lacking])
        self.report.embedded += len(lacking) if self._embedder.dimension else 0
        for place, vector in zip(lacking, made, strict=True):
            kept[place] = vector.tobytes()
        for node, held in zip(nodes, kept, strict=True):
            is_raw = node.properties.get("embedding_model") == NO_MODEL
            row = node.properties | ({} if is_raw else {"embedding_model": model})
            if held:
                vector = np.frombuffer(held, dtype=np.float32).tolist()
                yield row | {"embedding_bytes": held}, vector
            else:
                yield row, None


def _is_without_vector(fact: Node) -> bool:
    held = fact.properties
    return held.get("embedding_model") == NO_MODEL or held.get("state") == FactState.ERASED


class _FileReader:
    """A file, read from its beginning."""

    def __init__(self, path: Path, types: PropertyTypes, schema_version: int) -> None:
        self._path = path
        self._types = types
        self._schema_version = schema_version
        self._vectors: dict[str, _Vectors] = {}

    def checked(self) -> Checked:
        """The file's contents, once all of it is read and agrees with its last line.

        Raises:
            InvalidArchiveError: it is no export, or cannot be used.
        """
        header = self.header()
        counted: Counter[str] = Counter()
        contacts: dict[str, _ContactInFile] = {}
        wrong: str | None = None
        for contact, lines in self.contacts():
            if contact.node_id in contacts:
                raise InvalidArchiveError(f"{self._path} holds contact {contact.node_id} twice")
            counted["Contact"] += 1
            check = _ContactCheck(contact)
            contacts[contact.node_id] = check.found(lines, counted)
            wrong = wrong or check.wrong
        self._check_end(counted)
        if wrong is not None:  # and no line is missing, so a person edited the file
            raise InvalidArchiveError(
                f"{self._path} was altered: {wrong}. Nothing was written; export it again"
            )
        told = self._vectors.get(str(header.get("embedding_model")))
        if told and told.dimension != header.get("embedding_dimension"):
            raise InvalidArchiveError(
                f"{self._path}, line {told.line}: its vector has {told.dimension} numbers, and the "
                f"first line says {header.get('embedding_dimension')}"
            )
        return Checked(header=header, contacts=contacts, vectors=self._vectors)

    def header(self) -> Mapping[str, Any]:
        """The first line.

        Raises:
            InvalidArchiveError: it is no header of an export that this version reads.
        """
        with self._open() as file:
            line = file.readline(_LINE_BYTES_MAX)
        header = _json(line)
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise InvalidArchiveError(
                f"{self._path} is neither an export nor a backup of this program"
            )
        version, schema = header.get("version"), header.get("schema_version")
        is_told = isinstance(version, int) and isinstance(schema, int)
        if is_told and (version != VERSION or int(schema or 0) > self._schema_version):
            raise InvalidArchiveError(
                f"{self._path} was made by a newer version of this package (format "
                f"{header.get('version')}, schema {header.get('schema_version')}; this one reads "
                f"{VERSION} and {self._schema_version}); install that version"
            )
        for name, kind in _TOLD.items():
            if type(header.get(name)) is not kind:
                raise InvalidArchiveError(f"{self._path}: its first line lacks {name}")
        for name in ("id_key", "hash_key"):
            if not _is_key(header.get(name)):
                raise InvalidArchiveError(f"{self._path}: its first line has no usable {name}")
        return header

    def contacts(self) -> Iterator[tuple[Node, Iterator[Node | Link]]]:
        """Each contact with the lines that follow it."""
        current = 0

        def number(line: Node | Link) -> int:
            nonlocal current
            current += isinstance(line, Node) and line.label == "Contact"
            return current

        for place, lines in groupby(self._lines(), number):
            contact = next(lines)
            if not place or not isinstance(contact, Node):
                raise InvalidArchiveError(f"{self._path}: its second line is not a contact")
            yield contact, lines  # noqa: B031  each group is read before the next

    def _lines(self) -> Iterator[Node | Link]:
        """The lines between the first and the last."""
        with self._open() as file:
            file.readline(_LINE_BYTES_MAX)
            number = 1
            while line := file.readline(_LINE_BYTES_MAX):
                number += 1
                values = self._values(line, number)
                if "end" in values:
                    return
                try:
                    yield self._line(values, number)
                except (KeyError, TypeError, InvalidArchiveError) as error:
                    raise InvalidArchiveError(f"{self._path}, line {number}: {error}") from None

    def _line(self, values: Mapping[str, Any], number: int) -> Node | Link:
        if "node" not in values:
            return self._types.link(values)
        node = self._types.node(values)
        if node.vector is not None:
            own = _Vectors(len(node.vector) // 4, number)
            first = self._vectors.setdefault(str(node.properties.get("embedding_model")), own)
            if first.dimension != own.dimension:
                raise InvalidArchiveError(
                    f"its vector has {own.dimension} numbers, and that of line {first.line}, by "
                    f"the same model, {first.dimension}"
                )
        return node

    def _values(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            values = loads(line.decode("utf-8", "surrogatepass"))
        except (ValueError, InvalidRequestError) as error:
            if line.endswith(b"\n"):
                raise InvalidArchiveError(f"{self._path}, line {number}: {error}") from None
            raise self._cut_off() from None
        if not isinstance(values, dict):
            raise InvalidArchiveError(f"{self._path}, line {number} is not a JSON object")
        return values

    def _check_end(self, counted: Counter[str]) -> None:
        """Hold the last line to what was read."""
        digest, last = hashlib.sha256(), b""
        with self._open() as file:
            while line := file.readline(_LINE_BYTES_MAX):
                digest.update(last)
                last = line
        end = _json(last)
        if not isinstance(end, dict) or end.get("end") is not True:
            raise self._cut_off()
        told: dict[str, Any] = {}
        for name in ("nodes", "links"):
            counts = end.get(name)
            told |= counts if isinstance(counts, dict) else {}
        if told != dict(counted) or end.get("sha256") != digest.hexdigest():
            raise InvalidArchiveError(
                f"{self._path} was changed or damaged: its last line does not match its content. "
                "Nothing was written; export it again"
            )

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
    """Holds a contact's lines to each other: what belongs to it, and that they agree."""

    def __init__(self, contact: Node) -> None:
        self._key = contact.node_id
        self._contact = contact
        self._ids: dict[str, set[str]] = {label: set() for label in KEY_OF}
        self._ids["Contact"].add(contact.node_id)
        self._coherence = Coherence()
        self.wrong: str | None = None
        """In what the contact's lines contradict each other, as far as was seen."""

    def found(self, lines: Iterator[Node | Link], counted: Counter[str]) -> _ContactInFile:
        """The contact, once all its lines were looked at and counted."""
        scope = self._scope()
        for line in lines:
            if isinstance(line, Node):
                self._node(line, scope)
                counted[line.label] += 1
            else:
                self._link(line)
                counted[line.kind] += 1
        self._note(self._coherence.wrong_at_the_end())
        return _ContactInFile(
            scope=scope,
            held=self._contact.properties,
            session_keys=frozenset(self._ids["Session"]),
        )

    def _scope(self) -> Scope:
        held = self._contact.properties
        try:
            scope = Scope(*(held.get(name, "") for name in ("tenant", "agent_id", "contact_id")))
        except InvalidScopeError as error:
            raise InvalidArchiveError(f"contact {self._key}: {error}") from None
        if scope.contact_key != self._key or held.get("version", -1) < 0:
            raise InvalidArchiveError(f"contact {self._key} is not what its key says")
        return scope

    def _node(self, node: Node, scope: Scope) -> None:
        """Let a node through that is new and this contact's own, as far as its properties tell."""
        ids = self._ids[node.label]
        told = {
            "contact_key": scope.contact_key,
            "tenant": scope.tenant,
            "agent_id": scope.agent_id,
            "contact_id": scope.contact_id,
        }
        is_own = all(node.properties.get(name, value) == value for name, value in told.items())
        if node.label in ("Session", "Task"):
            is_own &= node.node_id.startswith(f"{self._key}/")
        is_own &= self._is_told(self._as_record(node, scope), node, scope)
        if not is_own or node.node_id in ids:
            raise InvalidArchiveError(
                f"contact {self._key}: {node.label} {node.node_id} is another's, or comes twice"
            )
        ids.add(node.node_id)
        self._note(self._coherence.wrong_with_node(node))

    def _as_record(self, node: Node, scope: Scope) -> Any:
        """A node's record, as the store will read it.

        Raises:
            InvalidArchiveError: it cannot be read so.
        """
        try:
            said = read_node(node.label, node.properties, scope)
            check_bounds(said)
        except UNREADABLE as error:
            raise self._unreadable(f"{node.label} {node.node_id}", error) from None
        return said

    def _unreadable(self, what: str, error: Exception) -> InvalidArchiveError:
        return InvalidArchiveError(
            f"contact {self._key}: {what} cannot be read: {_why(error)}. Nothing was written"
        )

    @staticmethod
    def _is_told(held: Any, node: Node, scope: Scope) -> bool:
        """Whether what JSON holds is of this node; only a decision's record says of which it is."""
        if not isinstance(held, Decision):
            return True
        is_this = held.decision_id == node.node_id and held.action == node.properties.get("action")
        return is_this and held.note.scope == scope

    def _link(self, link: Link) -> None:
        ends = LINKS[link.kind]
        if link.from_id not in self._ids[ends.start] or link.to_id not in self._ids[ends.end]:
            raise InvalidArchiveError(
                f"contact {self._key}: a {link.kind} from {link.from_id} to {link.to_id}, which "
                "are not both there"
            )
        if not is_citation(link.properties.get("span", "all")):
            raise InvalidArchiveError(
                f"contact {self._key}: a {link.kind} from {link.from_id} cites words that are "
                "blank or too long. Nothing was written"
            )
        self._note(self._coherence.wrong_with_link(link))

    def _note(self, wrong: str | None) -> None:
        if wrong is not None and self.wrong is None:
            self.wrong = f"of contact {self._key}, {wrong}"


def _why(error: Exception) -> str:
    """Why something cannot be read, without what it says."""
    if not isinstance(error, ValidationError):
        return " ".join(str(error).split())[:_WHY_LENGTH_MAX]
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    told = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in faults[:_NAMED_MAX])
    return "; ".join(told)[:_WHY_LENGTH_MAX]


def _json(line: bytes) -> Any:
    """A line's value; None if it is not JSON."""
    try:
        return loads(line.decode("utf-8", "surrogatepass"))
    except (ValueError, InvalidRequestError):
        return None


def _is_key(text: object) -> bool:
    """Whether it can be a key, in hexadecimal; none is one, too."""
    return text is None or (
        isinstance(text, str) and re.fullmatch("([0-9a-f]{2})+", text) is not None
    )


def _take_hash_key(
    header: Mapping[str, Any],
    own: bytes | None,
    keep: Callable[[bytes], None],
    report: RestoreReport,
) -> None:
    """See whether values that were taken out go on having the same tokens; take the key along."""
    told = header.get("hash_key_check")
    if told is None:
        return
    if own is None and header.get("hash_key"):
        own = bytes.fromhex(header["hash_key"])
        keep(own)
    report.keeps_hashes = own is not None and told == key_check(own)


def _pages(lines: Iterator[Node | Link]) -> Iterator[list[Node | Link]]:
    """The lines in pages of one kind each; the same pages whenever the same file is read."""
    for (size, _), alike in groupby(lines, _page_of):
        yield from batches(alike, size)


def _page_of(line: Node | Link) -> tuple[int, str]:
    """How many lines are in a page of such, and what all lines of a page are."""
    if isinstance(line, Node):
        return NODES_A_PAGE, line.label
    return LINKS_A_PAGE, line.kind


def _as_due(held: Row, now: datetime) -> Row:
    """A job; if a worker held it, it waits for a worker of the new store."""
    if held.get("state") != JobState.RUNNING:
        return held
    return held | {"state": str(JobState.WAITING), "due_at": now}
