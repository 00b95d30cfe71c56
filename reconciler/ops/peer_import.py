"""Imports the records of another memory system, oldest first, through gate and reconciler."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace

from reconciler.frozen import frozen
from reconciler.ports.peer_memory import Carried, PeerMemory
from reconciler.service.writing.note_import import ImportReport, NoteImport

_BEGIN = """
CREATE TABLE note (number INTEGER, has_ended INTEGER, began TEXT, line BLOB UNIQUE)"""
_SOURCE = "peer"
_AS_BYTES = ("utf-8", "surrogatepass")
_KEEP = "INSERT OR IGNORE INTO note VALUES (?, ?, ?, ?)"
_IN_ORDER = "SELECT line FROM note ORDER BY has_ended, began, number"
_NUMBER_AT = "SELECT number FROM note ORDER BY has_ended, began, number LIMIT 1 OFFSET ?"
"""Records that hold come first, so that past ones are put beneath the facts that followed them."""


@frozen
class PeerImport:
    """Imports the records of another memory system; run again, it adds only new ones.

    A record names its occasion by its id there and its time. The export that holds it does not
    count, so that the next day's export adds only new records.

    Attributes:
        note_import: imports every note.
    """

    note_import: NoteImport

    def run(
        self,
        peer: PeerMemory,
        defaults: Mapping[str, str],
        on_progress: Callable[[int], None],
    ) -> ImportReport:
        """Import the records, and report on them.

        Args:
            peer: the other system.
            defaults: ``tenant`` and ``agent_id`` of all notes.
            on_progress: told how many more records are processed.

        Raises:
            InvalidRequestError, ConfigurationError: the source cannot be read to its end; nothing
                was written.
            GraphUnavailableError, EmbeddingError: what was written until then stands; run again.
        """
        with closing(sqlite3.connect("")) as kept:  # a temporary file without a name
            left_out = _keep_notes(peer, kept, on_progress)
            lines = (line.decode(*_AS_BYTES) for (line,) in kept.execute(_IN_ORDER))
            report = self.note_import.run(lines, defaults, on_progress, _SOURCE)
            for place, error in enumerate(report.errors):
                [number] = kept.execute(_NUMBER_AT, (error.line_number - 1,)).fetchone()
                report.errors[place] = replace(error, line_number=number)
        for reason, count in left_out.not_carried.items():
            report.not_carried[reason] = count
        return report


def _keep_notes(
    peer: PeerMemory, kept: sqlite3.Connection, on_progress: Callable[[int], None]
) -> ImportReport:
    """Keep all notes of the source; return a report of the records that are left out."""
    left_out = ImportReport()

    def rows() -> Iterator[tuple[int, bool, str, bytes]]:
        for record in peer.records():
            if isinstance(record, Carried):
                line = dict(record.line)
                began = line.get("valid_from") or line.get("said_at") or ""
                text = json.dumps(line, ensure_ascii=False, sort_keys=True)
                # As bytes: SQLite refuses a text with a half surrogate pair.
                yield record.number, "valid_to" in line, began, text.encode(*_AS_BYTES)
            else:
                left_out.leave_out(record.reason, record.record)
                on_progress(1)

    kept.execute(_BEGIN)
    kept.executemany(_KEEP, rows())
    return left_out
