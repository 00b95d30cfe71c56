"""Restoring an export: writes a checked file into a store, contact by contact.

A contact is written page by page, and is complete only with its last page. The graph keeps the
number of the next page, so a restore that was killed continues when it is run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from reconciler.domain.records.decisions import NO_MODEL
from reconciler.domain.records.erasures import RestoreReport
from reconciler.domain.records.kinds import Clock, FactState, JobState, ProgressOfAll
from reconciler.domain.records.notes import Scope, first_of
from reconciler.errors import GraphConflictError, InvalidArchiveError, SchemaError
from reconciler.ops.export_file import CheckedExport, ContactInFile, ExportFile, Line
from reconciler.ports.embedder import Embedder
from reconciler.ports.graph import Row
from reconciler.reading.sensitive_data import key_check
from reconciler.service.checking.lines import Link, Node
from reconciler.service.stores.contact_store import ArchiveStore
from reconciler.service.stores.rows import batches

NODES_A_PAGE = 200
"""Nodes that are written in one transaction; their texts are embedded together."""

LINKS_A_PAGE = 500


def check_vectors(checked: CheckedExport, embedder: Embedder) -> None:
    """Check that the vectors of the embedder's model have the embedder's dimension.

    Raises:
        InvalidArchiveError: they have another dimension.
    """
    model, own = embedder.model_id, embedder.dimension
    told = checked.vectors.get(str(model))
    if told and told.dimension != own:
        raise InvalidArchiveError(
            f"line {told.line} holds a vector of {told.dimension} numbers, but {model} makes "
            f"vectors of {own}; nothing was written. Export again without vectors"
        )


@dataclass(eq=False, kw_only=True)
class Restoring:
    """Writes an export into a store; a run that was killed continues when it is repeated.

    Attributes:
        file: the export.
        checked: the result of ``file.checked``.
        store: the store to write to.
        embedder: makes the vectors that the file lacks, or has of another model.
        hash_key: this host's hash key; None if it has none.
        keep_hash_key: keeps the key that came with the export, if this host has none.
        clock: the time now, UTC-aware.
        report: what this run has written.
    """

    file: ExportFile
    checked: CheckedExport
    store: ArchiveStore
    embedder: Embedder
    hash_key: bytes | None
    keep_hash_key: Callable[[bytes], object]
    clock: Clock
    report: RestoreReport = field(default_factory=RestoreReport)

    def run(self, *, accept_other_key: bool, on_progress: ProgressOfAll) -> RestoreReport:
        """Write all contacts that the store lacks.

        Args:
            accept_other_key: also restore into a store with contacts that got their ids by another
                key; then no restored node recognises an earlier idempotency key.
            on_progress: called with the number of restored contacts, and of all.

        Raises:
            InvalidArchiveError: the store has contacts of the file with other content, or makes ids
                with another key. Nothing was written.
            EmbeddingError: the model failed; run it again.
            GraphConflictError: another writer wrote about a contact while it was restored.
            SchemaError: the store was moved to another model meanwhile.
            GraphError: the engine is unavailable; run it again.
        """
        report, total, done = self.report, len(self.checked.contacts), self._already_there()
        report.already_there = len(done)
        self._bind(accept_other_key=accept_other_key)
        self._take_hash_key()
        on_progress(report.already_there, total)
        for contact, lines in self.file.contacts():
            if contact.node_id not in done:
                self._write(contact, lines)
                on_progress(report.already_there + report.contacts, total)
        return report

    @property
    def _mark(self) -> str:
        """Return the name of a contact until it is complete."""
        return f"(being restored from export {self.checked.header['export_id']})"

    def _write(self, contact: Node, lines: Iterator[Line]) -> None:
        """Write a contact, beginning with the first page that no earlier run wrote.

        Raises:
            GraphConflictError: another writer wrote about it meanwhile.
        """
        scope = self.checked.contacts[contact.node_id].scope
        version, name = self.store.begin_contact(scope, self._mark)
        if name != self._mark:
            raise self._disturbed(scope)
        for place, page in enumerate(_pages(lines)):
            if -1 - place != version:
                continue  # an earlier run wrote it
            try:
                self._page(contact.node_id, version, page)
            except GraphConflictError as error:
                raise GraphConflictError(
                    f"contact {scope.contact_id} could not be written: {error}. Run the restore "
                    "again; if that does not help, another contact of the store has one of its ids"
                ) from error
            version -= 1
            self._check_version(scope, version)
        if not self.store.finish_contact(contact.node_id, version, contact.properties):
            self._check_version(scope, int(contact.properties["version"]))
        self.report.nodes["Contact"] += 1
        self.report.contacts += 1

    def _already_there(self) -> set[str]:
        """Find the contacts that an earlier run has written.

        Raises:
            InvalidArchiveError: the store has contacts of the file with other content.
        """
        there, other = set(), []
        for key, contact in self.checked.contacts.items():
            held = self.store.find_contact(key)
            if held is None:
                self._check_not_erased(contact.scope)
            if held is None or held["name"] == self._mark:
                continue
            if held["version"] < 0 or not self._is_same(key, contact, held):
                self._check_not_erased(contact.scope)
                other.append(contact.scope.contact_id)
            there.add(key)
        if other:
            raise InvalidArchiveError(
                f"the store holds {len(other)} of these contacts with other content "
                f"({first_of(other)}); nothing was written. Restore into an empty store"
            )
        return there

    def _check_not_erased(self, scope: Scope) -> None:
        """Refuse a contact if any part of it was erased here: no file may restore erased data.

        Raises:
            InvalidArchiveError: something of the contact was erased here.
        """
        is_erased = (
            next(self.store.node_pages(scope.contact_key, label, with_vectors=False), None)
            for label in ("Erasure", "Tombstone")
        )
        if any(is_erased):
            raise InvalidArchiveError(
                f"contact {scope.contact_id} was erased in this store, wholly or partly, and the "
                "file may still hold the erased data; nothing was written. Export again without "
                "this contact, or restore into an empty store and forget the contact there"
            )

    def _is_same(self, contact_key: str, contact: ContactInFile, held: Row) -> bool:
        if any(
            held.get(name) != contact.held.get(name) for name in ("version", "last_decision_at")
        ):
            return False
        if held["version"] > 0:
            return True
        pages = self.store.node_pages(contact_key, "Session", with_vectors=False)
        return contact.session_keys == {key for page in pages for key, _ in page}

    def _bind(self, *, accept_other_key: bool) -> None:
        """Give an empty store the key that the file's ids were made with.

        Raises:
            InvalidArchiveError: the store has contacts, and another key.
        """
        header, own = self.checked.header, bytes.fromhex(self.store.bound().id_key)
        if header["id_key_check"] == key_check(own):
            return
        if not self.store.count_contacts():
            if header.get("id_key"):
                self.store.bind(header["id_key"], self.clock())
            else:
                self.report.keeps_ids = False
            return
        if not (accept_other_key or self._is_going_on()):
            raise InvalidArchiveError(
                "the store has contacts, and makes ids with another key than the exported store, "
                "so it would not recognise earlier idempotency keys and turns. Export with the "
                "keys and restore into an empty store, or accept this loss (--other-key)"
            )
        self.report.keeps_ids = False

    def _take_hash_key(self) -> None:
        """Keep the file's hash key if this host has none, and report whether both agree.

        If they do, the same removed value gets the same token as before.
        """
        header, own = self.checked.header, self.hash_key
        told = header.get("hash_key_check")
        if told is None:
            return
        if own is None and header.get("hash_key"):
            own = bytes.fromhex(header["hash_key"])
            self.keep_hash_key(own)
        self.report.keeps_hashes = own is not None and told == key_check(own)

    def _is_going_on(self) -> bool:
        """True if a killed run continues: all contacts of the store come from this file."""
        there = [self.store.find_contact(key) for key in self.checked.contacts]
        return self.store.count_contacts() == len(there) - there.count(None)

    def _check_version(self, scope: Scope, version: int) -> None:
        if self.store.contact_version(scope.contact_key) != version:
            raise self._disturbed(scope)

    def _disturbed(self, scope: Scope) -> GraphConflictError | SchemaError:
        if (model := self.store.bound().embedding_model) != self.embedder.model_id:
            return SchemaError(
                f"the store was moved to {model} while contact {scope.contact_id} was restored; "
                "set RECONCILER_EMBEDDER__MODEL to that one, and run it again"
            )
        return GraphConflictError(
            f"contact {scope.contact_id} was written to while it was restored; restore into a "
            "store that no other process writes to, or forget that contact first"
        )

    def _page(self, contact_key: str, version: int, page: Sequence[Line]) -> None:
        first = page[0]
        if isinstance(first, Node):
            nodes = [item for item in page if isinstance(item, Node)]
            rows = self._rows(first.label, nodes)
            model = self.embedder.model_id
            self.store.restore_nodes(contact_key, version, first.label, rows, model)
            self.report.nodes[first.label] += len(rows)
            return
        links = [(e.from_id, e.to_id, e.properties) for e in page if isinstance(e, Link)]
        self.store.restore_links(contact_key, version, first.kind, links)
        self.report.links[first.kind] += len(links)

    def _rows(self, label: str, nodes: Sequence[Node]) -> list[tuple[Row, Any]]:
        if label == "Job":
            # What a worker held waits for a worker of the new store.
            due = {"state": str(JobState.WAITING), "due_at": self.clock()}
            jobs = (node.properties for node in nodes)
            return [
                (job | due if job.get("state") == JobState.RUNNING else job, None) for job in jobs
            ]
        if label != "Fact":
            return [(node.properties, None) for node in nodes]
        return list(self._facts(nodes))

    def _facts(self, nodes: Sequence[Node]) -> Iterator[tuple[Row, Any]]:
        """Make facts with vectors of the store's model: those of the file, or new ones.

        Raw words and erased facts have none.
        """
        import numpy as np

        from reconciler.service.embedding import embed

        model = self.embedder.model_id
        kept = {
            node.node_id: node.vector
            for node in nodes
            if node.vector and node.properties.get("embedding_model") == model
        }
        lacking = [
            node
            for node in nodes
            if node.node_id not in kept
            and node.properties.get("embedding_model") != NO_MODEL
            and node.properties.get("state") != FactState.ERASED
        ]
        made = embed(self.embedder, [node.properties["text"] for node in lacking])
        self.report.embedded += len(lacking) if self.embedder.dimension else 0
        for node, vector in zip(lacking, made, strict=True):
            kept[node.node_id] = vector.tobytes()
        for node in nodes:
            is_raw = node.properties.get("embedding_model") == NO_MODEL
            row = node.properties | ({} if is_raw else {"embedding_model": model})
            if held := kept.get(node.node_id):
                vector = np.frombuffer(held, dtype=np.float32).tolist()
                yield row | {"embedding_bytes": held}, vector
            else:
                yield row, None


def _pages(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """Divide lines into pages of one label or link type; a file always gives the same pages."""
    for (size, _), alike in groupby(lines, _page_of):
        yield from batches(alike, size)


def _page_of(line: Line) -> tuple[int, str]:
    """Return the size of a page with such a line, and the label or link type of all its lines."""
    if isinstance(line, Node):
        return NODES_A_PAGE, line.label
    return LINKS_A_PAGE, line.kind
