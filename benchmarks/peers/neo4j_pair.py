"""Two Neo4j servers of our own, one for each of two stores that are compared in turn.

They are started at the first need and emptied for each system, schema and all. Every system has a
round that does not count before the first that does, so that all find a warm JVM.
"""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

import neo4j

from tests.engines import DELETE_NODES, EngineUnderTest, wipe_schema
from tests.neo4j_server import start

__all__ = ["Neo4jPair"]

LINE = "2026"
DATABASE = "neo4j"


class Neo4jPair:
    def __init__(self) -> None:
        self._running = ExitStack()
        self._reached: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._running.close()

    def emptied(self, number: int) -> dict[str, Any]:
        """How the first (0) or the second (1) server is reached, with nothing in it.

        Raises:
            ServerNotAvailableError: this machine lacks what it takes.
            ServerFailedError: it did not start.
        """
        while len(self._reached) <= number:
            server = self._running.enter_context(start(LINE, full_speed=True))
            login = {"username": server.username, "password": server.password}
            self._reached.append({"uri": server.uri, **login, "database": DATABASE})
        reached = self._reached[number]
        with (
            neo4j.GraphDatabase.driver(
                reached["uri"], auth=(reached["username"], reached["password"])
            ) as driver,
            driver.session(database=DATABASE) as session,
        ):
            session.run(DELETE_NODES).consume()
        wipe_schema(EngineUnderTest(f"neo4j-{LINE}", {"graph": "neo4j", "neo4j": reached}))
        return reached
