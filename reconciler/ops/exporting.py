"""Exporting: contacts with all that belongs to them, as lines of JSON, a page at a time.

It writes the stored records as they are, decides nothing, and reads only what the caller asked for.
"""

from __future__ import annotations

import hashlib
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from tempfile import SpooledTemporaryFile
from typing import IO

from reconciler.domain.records.erasures import ExportReport
from reconciler.domain.records.kinds import Clock, Progress
from reconciler.domain.records.notes import Scope
from reconciler.errors import DamagedRecordError, GraphConflictError, InvalidScopeError
from reconciler.frozen import frozen, present
from reconciler.ports.graph import Row
from reconciler.reading.sensitive_data import key_check
from reconciler.service.checking.damage import Damage, DamagedNode
from reconciler.service.checking.lines import (
    FORMAT,
    HOME_BY,
    KEY_OF,
    LINKS,
    VERSION,
    as_line,
    vector_text,
)
from reconciler.service.stores.commits import taken
from reconciler.service.stores.contact_store import ArchiveStore, ContactFilter

_SPOOL_BYTES = 8 << 20
"""The bytes of one contact that are kept in memory; a larger contact goes to an unnamed file."""

_ATTEMPTS_MAX = 5
_KEY_BYTES = 32
"""The length of a key that the store made; a shorter key is a setting, which the operator sets
again for the restored store."""

_CHUNK_BYTES = 1 << 20

_ABOVE_ALL = "\U0010ffff"


@frozen
class Exporter:
    """Writes exports.

    Args:
        archive_store: the store to export.
        damage: finds the remains of damaged records.
        hash_key: returns this host's hash key; None if it has none.
        clock: the time now, UTC-aware.
    """

    archive_store: ArchiveStore
    damage: Damage
    hash_key: Callable[[], bytes | None]
    clock: Clock

    def run(
        self,
        out: IO[bytes],
        wanted: ContactFilter,
        *,
        with_vectors: bool,
        with_keys: bool,
        on_progress: Progress,
    ) -> ExportReport:
        """Write an export, contact by contact, each as of one moment.

        Args:
            out: the stream to write to.
            wanted: the contacts to export.
            with_vectors: also the facts' vectors, so that no model is needed to restore them.
            with_keys: also the key that ids are made with, and the hash key.
            on_progress: called with how many more contacts were written.

        Raises:
            GraphConflictError: another writer writes about a contact without a pause.
            GraphError: the engine is unavailable.
        """
        report, digest = ExportReport(with_keys=with_keys), hashlib.sha256()

        def write(line: bytes) -> None:
            digest.update(line)
            out.write(line)

        write(as_line(self._header(wanted, with_vectors, with_keys)))
        for contact_key, _ in self.archive_store.contact_keys(wanted):
            with SpooledTemporaryFile(max_size=_SPOOL_BYTES) as spool:
                report.add(self._contact(spool, contact_key, with_vectors))
                spool.seek(0)
                for part in iter(lambda: spool.read(_CHUNK_BYTES), b""):
                    write(part)
            on_progress(1)
        counted = {"nodes": dict(report.nodes), "links": dict(report.links)}
        out.write(as_line({"end": True, **counted, "sha256": digest.hexdigest()}))
        return report

    def _header(self, wanted: ContactFilter, with_vectors: bool, with_keys: bool) -> Row:
        bound, hash_key = self.archive_store.bound(), self.hash_key()
        keys = {"id_key": bound.id_key} if with_keys else {}
        if with_keys and hash_key and len(hash_key) >= _KEY_BYTES:
            keys["hash_key"] = hash_key.hex()
        return {
            "format": FORMAT,
            "version": VERSION,
            "export_id": str(uuid.uuid4()),
            "schema_version": self.archive_store.schema_version(),
            "engine": self.archive_store.describe().engine,
            "exported_at": self.clock(),
            **taken(wanted, "tenant", "agent_id", "contact_id"),
            **taken(bound, "embedding_model", "embedding_dimension"),
            "with_vectors": with_vectors,
            "id_key_check": key_check(bytes.fromhex(bound.id_key)),
            "hash_key_check": key_check(hash_key) if hash_key else None,
            **keys,
        }

    def _contact(self, out: IO[bytes], contact_key: str, with_vectors: bool) -> ExportReport:
        """Write a contact as of one version; repeat it if the version moved meanwhile.

        New turns and sessions do not move the version. If some were read only in part, the contact
        is read again as well.
        """
        for _ in range(_ATTEMPTS_MAX):
            out.seek(0)
            out.truncate()
            version = self.archive_store.contact_version(contact_key)
            export = _ContactExport(
                self.archive_store, self.damage, contact_key, with_vectors, self.clock()
            )
            report = export.run(out)
            is_of_one_version = self.archive_store.contact_version(contact_key) == version
            if is_of_one_version and not export.has_loose_ends:
                return report
        raise GraphConflictError(
            f"contact {contact_key} was written to during its export, {_ATTEMPTS_MAX} times; "
            "export again when the memory is less busy"
        )


@dataclass(eq=False)
class _ContactExport:
    """One contact's lines: itself, its nodes label by label, then the links between them."""

    store: ArchiveStore
    damage: Damage
    contact_key: str
    with_vectors: bool
    now: datetime

    def __post_init__(self) -> None:
        self._report = ExportReport()
        self._ids: dict[str, set[str]] = defaultdict(set)
        self._homeless: dict[str, set[str]] = defaultdict(set)

    def run(self, out: IO[bytes]) -> ExportReport:
        """Write the lines, and return their numbers.

        Raises:
            DamagedRecordError: the contact does not name its owner.
        """
        held = self.store.find_contact(self.contact_key)
        if held is None:  # erased meanwhile
            return self._report
        try:
            self._scope = Scope(*(held[name] for name in ("tenant", "agent_id", "contact_id")))
        except (KeyError, InvalidScopeError):
            raise DamagedRecordError(
                f"contact {self.contact_key} is damaged and cannot be exported: its agent or "
                "tenant is missing. Export the other contacts one by one, or restore an earlier "
                "backup"
            ) from None
        out.write(self._node_line("Contact", self.contact_key, held))
        for label in KEY_OF:
            for line in self._nodes(label) if label != "Contact" else ():
                out.write(line)
        for kind in LINKS:
            for line in self._links(kind):
                out.write(line)
        return self._report

    @property
    def has_loose_ends(self) -> bool:
        """True if a node was read without the node that it belongs to, which came later."""
        return any(self._homeless.values())

    def _nodes(self, label: str) -> Iterator[bytes]:
        pages = self.store.node_pages(self.contact_key, label, with_vectors=self.with_vectors)
        for page in pages:
            for node_id, held in page:
                if node_id not in self._ids[label]:
                    yield self._node_line(label, node_id, held)

    def _node_line(self, label: str, node_id: str, held: Row) -> bytes:
        self._ids[label].add(node_id)
        if label in HOME_BY:
            self._homeless[label].add(node_id)
        self._report.nodes[label] += 1
        if self.damage.is_damaged(label, held, self._scope):
            self._report.damaged_ids.append(f"{label} {node_id}")
            left = self.damage.remains(DamagedNode(label, node_id, held), self._scope, self.now)
            held = {KEY_OF[label]: node_id} | left
        line = {"node": label, "properties": self.damage.types.known(label, held)}
        vector = held.get("embedding_bytes") if self.with_vectors else None
        return as_line(line | ({"vector": vector_text(bytes(vector))} if vector else {}))

    def _links(self, kind: str) -> Iterator[bytes]:
        begins, ends = LINKS[kind]
        links = self.store.list_links(self.contact_key, kind, "", _ABOVE_ALL)
        for start, end, held in links:
            if start not in self._ids[begins] or end not in self._ids[ends]:
                continue  # a node that came since then has no line
            known = self.damage.types.known(kind, held)
            left = self.damage.link_left(kind, known, self.now)
            if left != present(known):
                self._report.damaged_ids.append(f"{kind} {start}")
            if left is None:
                continue
            self._report.links[kind] += 1
            if kind in HOME_BY.get(begins, ()):
                self._homeless[begins].discard(start)
            yield as_line({"link": kind, "from": start, "to": end, "properties": left})
