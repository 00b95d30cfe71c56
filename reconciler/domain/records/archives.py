"""The results of a backup, an export or a restore; never their contents."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from reconciler.frozen import frozen


@frozen
class Backup:
    """The contents of a backup.

    Attributes:
        path: the archive, or the store that came out of it.
        store_bytes: how long the store's file is.
        archive_bytes: how long the archive is.
        schema_version: the version of the store's schema.
        made_at: when it was made, ISO 8601.
        hash_key: where the key of the hashes is. ``file``: in the backup. ``setting``: only in a
            setting, so a restored store needs the same setting. ``none``: the store had no key yet.
    """

    path: Path
    store_bytes: int
    archive_bytes: int
    schema_version: int
    made_at: str
    hash_key: str


@frozen
class ExportReport:
    """The counts of an export.

    Attributes:
        nodes: how many of each label.
        links: how many of each type.
        left_out: counts by ``Label.property`` of properties that another program wrote; an export
            has no place for them.
        damaged_ids: records that cannot be read, each with its label. The export holds what is left
            of them without their words, so that it can be restored.
        with_keys: whether it holds the keys of the store.
    """

    nodes: Counter[str] = field(default_factory=Counter)
    links: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    with_keys: bool = False
    damaged_ids: list[str] = field(default_factory=list)

    @property
    def contacts(self) -> int:
        """The number of contacts."""
        return self.nodes["Contact"]

    def add(self, other: ExportReport) -> None:
        """Add the counts of another report."""
        self.nodes.update(other.nodes)
        self.links.update(other.links)
        self.left_out.update(other.left_out)
        self.damaged_ids.extend(other.damaged_ids)


@dataclass(slots=True, kw_only=True)
class RestoreReport:
    """The counts of a restore.

    Attributes:
        contacts: how many were written by this run.
        already_there: how many an earlier run had written.
        nodes: how many of each label this run wrote.
        links: how many of each type.
        embedded: how many facts were embedded again.
        keeps_ids: whether the store has the export's key of ids, so that it recognises earlier
            idempotency keys and turns.
        keeps_hashes: whether the store has the export's key of hashes, so that a redacted value
            gets the same token as before; None if the export does not say.
    """

    contacts: int = 0
    already_there: int = 0
    nodes: Counter[str] = field(default_factory=Counter)
    links: Counter[str] = field(default_factory=Counter)
    embedded: int = 0
    keeps_ids: bool = True
    keeps_hashes: bool | None = None
