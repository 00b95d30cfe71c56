"""A Neo4j that a test may kill, for the crash tests.

Here: how it is killed, and started again on what it left. Never here: what has to hold afterwards.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from urllib.parse import urlsplit

from tests import faults, neo4j_server
from tests.engines import EngineUnderTest
from tests.neo4j_artefacts import JavaParts

__all__ = ["MortalServer"]


class MortalServer:
    """A Neo4j of its own that can be killed, and started again on what it left behind."""

    def __init__(self, parts: JavaParts) -> None:
        self._parts = parts
        self._server = neo4j_server.start_prepared(parts)

    @property
    def engine(self) -> EngineUnderTest:
        """It as an engine; the same after it was started again."""
        server = self._server
        own = {"uri": server.uri, "username": server.username, "password": server.password}
        return EngineUnderTest("neo4j", {"graph": "neo4j", "neo4j": own | {"database": "neo4j"}})

    def kill(self) -> None:
        """SIGKILL, which its guard sees and leaves its data alone for."""
        guard = self._server.guard.pid
        [java] = Path(f"/proc/{guard}/task/{guard}/children").read_text().split()
        os.kill(int(java), signal.SIGKILL)
        self._server.guard.wait(60)
        faults.count("database")

    def start_again(self) -> None:
        """On the same data, ports and password."""
        server = self._server
        ports = [urlsplit(each).port or 0 for each in (server.uri, server.browser_url)]
        self._server = neo4j_server._launch(
            self._parts,
            server.home,
            neo4j_server.Ports(*ports),
            server.password,
            discard=True,
            full_speed=False,
        )

    def close(self) -> None:
        """Stop it; its data goes."""
        self._server.stop()
