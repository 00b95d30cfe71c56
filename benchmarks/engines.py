"""The engines that a benchmark runs on: those of the tests, chosen by ``ENGINES``, each emptied."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.engines import Choice, Neo4jEngines, embedded_engine, scrub_environment
from tests.neo4j_server import ServerNotAvailableError, say


@dataclass(frozen=True)
class Engines:
    """What is available; ``fresh`` gives the settings of an engine with an empty store."""

    names: list[str]
    servers: Neo4jEngines
    folder: Path

    def fresh(self, name: str) -> dict[str, Any]:
        if name == "embedded":
            folder = Path(tempfile.mkdtemp(dir=self.folder))
            return embedded_engine(folder).settings_arguments
        return self.servers.engine(name).settings_arguments


@contextmanager
def engines() -> Iterator[Engines]:
    choice = Choice(os.environ)
    servers = Neo4jEngines(choice, full_speed=True)
    scrub_environment()
    servers.check_callers_database()
    servers.fetch(choice.neo4j_names, say)
    for name in choice.neo4j_names:
        servers.start(name)
    with tempfile.TemporaryDirectory(prefix="reconciler-bench-") as folder:
        try:
            names = [name for name in choice.names if _is_available(name, servers)]
            yield Engines(names=names, servers=servers, folder=Path(folder))
        finally:
            servers.close()


def _is_available(name: str, servers: Neo4jEngines) -> bool:
    if name == "embedded":
        return True
    try:
        servers.engine(name)
    except ServerNotAvailableError as error:
        print(f"{name} is left out: {error}", file=sys.stderr)
        return False
    return True
