"""Stores that the tests of a module share: to open one takes longer than to empty it.

And to fill one takes longer than to copy it.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from reconciler.ports.graph import Graph
from reconciler.queries import newest_schema_version
from tests import raw_store
from tests.commit_maps import DIMENSION
from tests.engines import EngineUnderTest, embedded_engine, opened

__all__ = ["KeptStore", "copy_of"]


@dataclass(frozen=True)
class KeptStore:
    """An open graph, and the engine that it is on."""

    engine: EngineUnderTest
    graph: Graph

    @classmethod
    def on(cls, engine: EngineUnderTest, folder: Path) -> KeptStore:
        """A new one, with a file of its own on the embedded engine."""
        own = embedded_engine(folder) if engine.name == "embedded" else engine
        kept = cls(own, opened(own))
        kept.graph.migrate(DIMENSION)
        return kept

    def empty(self) -> Graph:
        """Leave nothing of what was written; the schema stays."""
        raw_store.query(self.engine, "MATCH (n) DETACH DELETE n")
        return self.made_ready()

    def made_ready(self) -> Graph:
        """An empty store knows that it has the schema."""
        newest = newest_schema_version(self.graph.engine)
        given = {"schema_version": newest, "embedding_dimension": DIMENSION}
        self.graph.run("record_schema_version", given)
        return self.graph


def copy_of(made: EngineUnderTest, engine: EngineUnderTest) -> None:
    """Put a closed embedded store, with its key, into the place of another one."""
    source, target = (each.settings_arguments["embedded_path"] for each in (made, engine))
    target.parent.mkdir(parents=True, exist_ok=True)
    for suffix in (".lbug", ".key"):
        if source.with_suffix(suffix).exists():
            shutil.copyfile(source.with_suffix(suffix), target.with_suffix(suffix))
