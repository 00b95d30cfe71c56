"""What tests through a memory share: an empty memory at a time that a test moves."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest

from reconciler import Memory
from reconciler.bootstrap.chosen_models import utc_now
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest
from tests.kept_stores import KeptMemory


@pytest.fixture
def clock() -> Callable[[], datetime]:
    """This machine's; a module that moves the time has its own."""
    return utc_now


@pytest.fixture
def memory(
    kept_engine: EngineUnderTest, shared_memory: KeptMemory, clock: Callable[[], datetime]
) -> Iterator[Memory]:
    """An empty memory at the time of the module's own ``clock``.

    On the embedded engine other tests have it too, and each is a tenant of its own. So it is not
    for a test that looks into the store from behind, opens it again, or counts all tenants.
    """
    if kept_engine.name == "embedded":
        yield shared_memory.of(str(uuid.uuid4()), clock)
        return
    arguments = kept_engine.settings_arguments
    with Memory.open(embedder=HashingEmbedder(), clock=clock, **arguments) as opened:
        yield opened


@pytest.fixture
def opened(
    kept_engine: EngineUnderTest, clock: Callable[[], datetime]
) -> Iterator[Callable[..., Memory]]:
    """Opens one store as often as a test asks, at the module's time; the end closes each."""
    memories: list[Memory] = []

    def open_memory(**given: Any) -> Memory:
        arguments = {"embedder": HashingEmbedder(), "clock": clock, **given}
        memories.append(Memory.open(**arguments, **kept_engine.settings_arguments))
        return memories[-1]

    yield open_memory
    for memory in memories:
        memory.close()


@pytest.fixture
def asked(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries about facts and decisions, as they come."""
    graph, names = memory._services.fact_store.graph, list[str]()
    begin, run = graph.begin, graph.run

    def beginning(name: str, parameters: Any, *more: Any) -> Callable[[], list[Any]]:
        names.append(name)
        return begin(name, parameters, *more)

    def running(name: str, parameters: Any, *more: Any, **others: Any) -> list[Any]:
        names.append(name)
        return run(name, parameters, *more, **others)

    monkeypatch.setattr(graph, "begin", beginning)
    monkeypatch.setattr(graph, "run", running)
    return names
