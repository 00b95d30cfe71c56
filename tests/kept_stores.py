"""Stores that the tests of a module share: to open one takes longer than to empty it.

And to fill one takes longer than to copy it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from reconciler import Memory
from reconciler.adapters.embedded_graph import EmbeddedGraph, file_of
from reconciler.bootstrap.chosen_models import utc_now
from reconciler.errors import GraphClosedError
from reconciler.ports.graph import Graph, Row
from reconciler.queries import newest_schema_version
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.commit_maps import DIMENSION
from tests.engines import EngineUnderTest, embedded_engine, opened

__all__ = ["KeptGraphs", "KeptMemory", "KeptStore", "copy_of"]

_USES_MAX = 300
"""How many tests have an embedded store before a new one takes its place."""


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


class KeptGraphs:
    """Open embedded stores that the tests of a process have one after the other, each empty.

    A test names a file of its own. While the file is lent, its path is a link to a kept store, and
    what opens it is given that store. To close it lets others use it, and what was written stays
    for the test's next opener. A process that the test starts cannot open it: such a test has a
    file of its own.

    Args:
        folder: for the files of the kept stores.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: dict[int, _Kept] = {}
        self._lent: dict[Path, _LentFile] = {}
        self._made = 0

    @contextmanager
    def lent(self, path: Path) -> Iterator[None]:
        """Lend an empty store to whatever opens the path meanwhile."""
        self._lent[path] = lent = _LentFile(self, path)
        try:
            yield
        finally:
            del self._lent[path]
            lent.give_back()

    def open_graph(self, settings: Any) -> Graph:
        """As the adapter's own; a lent path gives a kept store, unless it is a file by now."""
        path = file_of(settings)
        lent = self._lent.get(path)
        if lent is None or (path.exists() and not path.is_symlink()):
            return EmbeddedGraph(path)
        return _LentGraph(lent)

    def take(self, dimension: int) -> _Kept:
        """An empty store for vectors of this length, which no other test has."""
        kept = self._kept.pop(dimension, None)
        if kept and (kept.uses >= _USES_MAX or not kept.is_sound):
            kept.graph.close()
            kept = None
        if kept is None:
            self._made += 1
            kept = _Kept(EmbeddedGraph(self._folder / f"kept_{self._made}.lbug"), dimension)
            kept.graph.migrate(dimension)
        else:
            kept.empty()
        return kept

    def give_back(self, kept: _Kept) -> None:
        """Keep the store for the next test."""
        kept.uses += 1
        if self._kept.setdefault(kept.dimension, kept) is not kept:
            kept.graph.close()

    def close(self) -> None:
        """Close all of them."""
        for kept in self._kept.values():
            kept.graph.close()


@dataclass
class _Kept:
    graph: EmbeddedGraph
    dimension: int
    uses: int = 0

    @property
    def is_sound(self) -> bool:
        """Whether the test before has neither closed nor broken it."""
        return not (self.graph._is_closed or self.graph._failure)

    def empty(self) -> None:
        with self.graph._writer() as connection:
            connection.rows("MATCH (n) DETACH DELETE n")
        newest = newest_schema_version(self.graph.engine)
        given = {"schema_version": newest, "embedding_dimension": self.dimension}
        self.graph.run("record_schema_version", given)


class _LentFile:
    """A test's own path, and the store behind it once something has migrated it."""

    def __init__(self, graphs: KeptGraphs, path: Path) -> None:
        self._graphs = graphs
        self.path = path
        self.kept: _Kept | None = None
        self.own: EmbeddedGraph | None = None

    @property
    def graph(self) -> EmbeddedGraph:
        """The kept store; before anything has migrated the file, a new one at its path."""
        if self.kept:
            return self.kept.graph
        if self.own is None or self.own._is_closed:
            self.own = EmbeddedGraph(self.path)
        return self.own

    def take(self, dimension: int) -> None:
        self.kept = self._graphs.take(dimension)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.symlink_to(self.kept.graph._path)

    def give_back(self) -> None:
        if self.kept:
            self._graphs.give_back(self.kept)
        if self.own:
            self.own.close()


class _LentGraph:
    """What an opener has of a lent file; to close it closes the store for this opener alone."""

    engine = "embedded"

    def __init__(self, lent: _LentFile) -> None:
        self._lent = lent
        self._is_closed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lent.graph, name)

    def run(
        self, name: str, parameters: Mapping[str, Any], seconds_max: float | None = None
    ) -> list[Row]:
        self._check_open()
        return self._lent.graph.run(name, parameters, seconds_max)

    def begin(self, name: str, parameters: Mapping[str, Any]) -> Any:
        return lambda: self.run(name, parameters)

    def schema_version(self) -> int:
        self._check_open()
        lent = self._lent
        return lent.graph.schema_version() if lent.kept or lent.own else 0

    def migrate(self, embedding_dimension: int) -> int:
        self._check_open()
        if not (self._lent.kept or self._lent.own):
            self._lent.take(embedding_dimension)
            return newest_schema_version(self.engine)
        return self._lent.graph.migrate(embedding_dimension)

    def close(self) -> None:
        self._is_closed = True
        if self._lent.own:
            self._lent.own.close()

    def _check_open(self) -> None:
        if self._is_closed:
            path = self._lent.path
            raise GraphClosedError(f"{path} was closed by this program; open it again")


class KeptMemory:
    """An open memory that the tests of a process share: each is a tenant of its own, without facts.

    It is for tests that neither look into the store from behind, nor count what others may have
    written, nor open the store again.

    Args:
        folder: for the files of its stores.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._memory: Memory | None = None
        self._clock: Callable[[], datetime] = utc_now
        self._uses = 0

    def of(self, tenant: str, clock: Callable[[], datetime]) -> Memory:
        """The memory as this tenant finds it, at the time of this clock."""
        if self._memory is None or self._uses % _USES_MAX == 0:
            self.close()
            self._memory = self._opened()
        self._uses += 1
        self._clock = clock
        services = copy(self._memory._services)
        services.settings = services.settings.model_copy(update={"tenant": tenant})
        services.closing = ExitStack()
        return Memory(services)

    def close(self) -> None:
        """Close it."""
        if self._memory:
            self._memory.close()

    def _opened(self) -> Memory:
        place = embedded_engine(self._folder / str(self._uses)).settings_arguments
        return Memory.open(embedder=HashingEmbedder(), clock=lambda: self._clock(), **place)
