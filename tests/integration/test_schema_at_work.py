"""A store is set up while its server is still at work on what another process had begun."""

from __future__ import annotations

import threading
import time

import pytest

from reconciler import Memory
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.engines import EngineUnderTest, wipe_schema

LATE_SECONDS = 10.0
"""Longer than a hundred attempts that follow each other at once."""


@pytest.mark.slow
@pytest.mark.new_schema
@pytest.mark.faults(only=True)
def test_a_setup_waits_for_an_index_that_a_killed_one_left(one_neo4j: EngineUnderTest) -> None:
    wipe_schema(one_neo4j)
    raw_store.query(one_neo4j, "CREATE INDEX erasure_id FOR (n:Erasure) ON (n.erasure_id)")

    def let_go() -> None:
        time.sleep(LATE_SECONDS)
        raw_store.query(one_neo4j, "DROP INDEX erasure_id")

    server = threading.Thread(target=let_go)
    server.start()
    try:
        settings = one_neo4j.settings_arguments
        with Memory.open(embedder=HashingEmbedder(16), **settings) as memory:
            assert memory.agent("crm").contacts() == []
    finally:
        server.join()
