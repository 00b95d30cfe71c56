"""What tests through a memory share: an empty memory at a time that a test moves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reconciler import Memory
from reconciler.testing import HashingEmbedder
from tests.clocks import Clock
from tests.engines import EngineUnderTest


@pytest.fixture
def memory(kept_engine: EngineUnderTest, clock: Clock) -> Iterator[Memory]:
    """An empty memory at the time of the module's own ``clock``."""
    arguments = kept_engine.settings_arguments
    with Memory.open(embedder=HashingEmbedder(), clock=clock, **arguments) as opened:
        yield opened
