"""What contracts are tried on: an empty store of each chosen engine, or an empty memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reconciler import Memory
from reconciler.ports.graph import Graph
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest
from tests.kept_stores import KeptStore


@pytest.fixture(scope="module")
def kept_stores() -> Iterator[dict[str, KeptStore]]:
    """What tests of the module have opened, by the engine's name."""
    stores: dict[str, KeptStore] = {}
    yield stores
    for kept in stores.values():
        kept.graph.close()


@pytest.fixture
def kept(
    engine: EngineUnderTest,
    kept_stores: dict[str, KeptStore],
    tmp_path_factory: pytest.TempPathFactory,
) -> KeptStore:
    """An empty store at the newest schema, open since the first test of the module that took it.

    A test that closes a store, or takes its schema away, takes ``engine`` and opens another.
    """
    if engine.name not in kept_stores:
        kept_stores[engine.name] = KeptStore.on(engine, tmp_path_factory.mktemp("kept"))
    kept = kept_stores[engine.name]
    if engine.name == "embedded":
        kept.empty()
    else:  # ``engine`` emptied it
        kept.made_ready()
    return kept


@pytest.fixture
def graph(kept: KeptStore) -> Graph:
    """An empty store at the newest schema."""
    return kept.graph


@pytest.fixture
def memory(kept_engine: EngineUnderTest) -> Iterator[Memory]:
    """An empty memory on the embedded engine, for the tools of frameworks."""
    with Memory.open(embedder=HashingEmbedder(), **kept_engine.settings_arguments) as opened:
        yield opened
