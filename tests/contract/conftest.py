"""What contracts are tried on: an empty store of each chosen engine, or an empty memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from reconciler import Memory
from reconciler.ports.graph import Graph
from reconciler.testing import HashingEmbedder
from tests.commit_maps import DIMENSION
from tests.engines import EngineUnderTest, embedded_engine, opened as opened_graph


@pytest.fixture
def graph(engine: EngineUnderTest) -> Iterator[Graph]:
    """An empty store at the newest schema."""
    with closing(opened_graph(engine)) as graph:
        graph.migrate(DIMENSION)
        yield graph


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """An empty memory on the embedded engine, for the tools of frameworks."""
    arguments = embedded_engine(tmp_path).settings_arguments
    with Memory.open(embedder=HashingEmbedder(), **arguments) as opened:
        yield opened
