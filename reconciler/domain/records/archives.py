"""The results of a backup, an export or a restore; never their contents."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Backup", "ExportReport", "RestoreReport"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """The contents of a backup.

    Attributes:
        path: the archive, or the store that came out of it.
        store_bytes: how long the store's file is.
        archive_bytes: how long the archive is.
        schema_version: the store's.
        made_at: when it was made, ISO 8601.
        hash_key: ``file``: the key of the hashes is in it. ``setting``: it is a setting, and is not
            in it; a store that is restored needs the same one. ``none``: there was none yet.
    """

    path: Path
    store_bytes: int
    archive_bytes: int
    schema_version: int
    made_at: str
    hash_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """The counts of an export.

    Attributes:
        nodes: how many of each label.
        links: how many of each type.
        left_out: properties that no export has a place for, by ``Label.property``: another program
            gave them to the graph.
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
        """How many contacts."""
        return self.nodes["Contact"]

    def add(self, other: ExportReport) -> None:
        """Count another one's, too."""
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
        embedded: how many facts' vectors were made again.
        keeps_ids: whether the store's key of ids is the export's, so that idempotency keys and
            turns that were handed over before are recognised.
        keeps_hashes: whether its key of hashes is the export's, so that a value that was taken out
            has the same token; None where the export did not say.
    """

    contacts: int = 0
    already_there: int = 0
    nodes: Counter[str] = field(default_factory=Counter)
    links: Counter[str] = field(default_factory=Counter)
    embedded: int = 0
    keeps_ids: bool = True
    keeps_hashes: bool | None = None
