"""What the contract of the graph is tried on: an empty store of each chosen engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from reconciler.ports.graph import Graph
from tests.commit_maps import DIMENSION
from tests.engines import EngineUnderTest, opened


@pytest.fixture
def graph(engine: EngineUnderTest) -> Iterator[Graph]:
    """An empty store at the newest schema."""
    with closing(opened(engine)) as graph:
        graph.migrate(DIMENSION)
        yield graph
