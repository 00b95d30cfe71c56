"""The engines that a test run has: which were chosen, how each is reached, how each is emptied.

``ENGINES`` chooses, ``NEO4J_URI`` replaces our own servers by the caller's. The caller's database
is emptied between tests, so it is refused unless it is empty, or holds our own labels only and
RECONCILER_TEST_WIPE=1 allows it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import neo4j
from neo4j.exceptions import DriverError, Neo4jError

from reconciler.bootstrap.chosen_models import open_graph
from reconciler.ports.graph import Graph
from reconciler.settings import load_settings
from tests import faults
from tests.neo4j_artefacts import LINES, DockerParts, JavaParts, prepare
from tests.neo4j_server import Neo4jServer, ServerNotAvailableError, start_prepared

__all__ = ["Choice", "EngineUnderTest", "Neo4jEngines", "NotOurDatabaseError", "wipe_schema"]

OWN_LINES = {f"neo4j-{name}": line for name, line in LINES.items()}
OUR_LABELS = ["Store", "Agent", "Contact", "Fact", "Session", "Episode", "Decision", "Job", "Task"]
OUR_LABELS += ["Erasure", "Tombstone", "Webhook"]
OUR_LABELS += ["Expired", "Archived", "Superseded", "Revoked", "Erased"]
INDEXED_LINKS = {"SUPERSEDES", "CONFLICTS_WITH"}

DELETE_NODES = "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS"
COUNT_NODES = "MATCH (n) RETURN count(n)"
COUNT_FOREIGN_NODES = """
MATCH (n) WHERE size(labels(n)) = 0 OR any(label IN labels(n) WHERE NOT label IN $ours)
RETURN count(n)"""
LIST_CONSTRAINTS = "SHOW CONSTRAINTS YIELD name, labelsOrTypes"
LIST_INDEXES = """
SHOW INDEXES YIELD name, labelsOrTypes, type, owningConstraint
WHERE type <> 'LOOKUP' AND owningConstraint IS NULL"""


@dataclass(frozen=True)
class EngineUnderTest:
    """One engine with an empty store; ``load_settings(**engine.settings_arguments)`` opens it."""

    name: str
    settings_arguments: dict[str, Any]


class NotOurDatabaseError(Exception):
    """The database that the caller named cannot be used; nothing in it was changed."""


class Choice:
    """What the caller's environment asks for; read once, before the environment is scrubbed."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.uri = environment.get("NEO4J_URI")
        self.username = environment.get("NEO4J_USERNAME") or environment.get("NEO4J_USER", "neo4j")
        self.password = environment.get("NEO4J_PASSWORD", "")
        self.database = environment.get("NEO4J_DATABASE", "neo4j")
        self.may_wipe = environment.get("RECONCILER_TEST_WIPE") == "1"
        self.must_run_all = environment.get("CI", "").lower() in {"1", "true"}
        asked = environment.get("ENGINES") or "embedded,neo4j"
        self.names = self._chosen([name.strip() for name in asked.split(",") if name.strip()])

    @property
    def neo4j_names(self) -> list[str]:
        return [name for name in self.names if name != "embedded"]

    @property
    def one_of_each(self) -> list[str]:
        """The embedded engine and one Neo4j, the newest: where the lines cannot differ.

        All of them where a run breaks as much as it can.
        """
        if faults.EVERY_CALL:
            return self.names
        return [name for name in self.names if name not in self.neo4j_names[:-1]]

    @property
    def any_one(self) -> list[str]:
        """The embedded engine, which is the fastest, or else the newest Neo4j."""
        return ["embedded"] if "embedded" in self.names else self.names[-1:]

    def _chosen(self, asked: list[str]) -> list[str]:
        lines = ["neo4j"] if self.uri else list(OWN_LINES)
        known = {"embedded": ["embedded"], "neo4j": lines}
        known |= {name: ["neo4j"] if self.uri else [name] for name in OWN_LINES}
        if unknown := set(asked) - set(known):
            raise ValueError(f"ENGINES: {sorted(unknown)} unknown; known: {', '.join(known)}")
        return list(dict.fromkeys(name for each in asked for name in known[each]))


class Neo4jEngines:
    """The Neo4j servers of a process, each started once, at first need or ahead of it."""

    def __init__(self, choice: Choice, *, full_speed: bool = False) -> None:
        self.choice = choice
        self._full_speed = full_speed
        self.not_run: Counter[str] = Counter()
        self._pool = ThreadPoolExecutor(max_workers=len(OWN_LINES))
        self._parts: dict[str, JavaParts | DockerParts | ServerNotAvailableError] = {}
        self._arguments: dict[str, Future[dict[str, Any]]] = {}
        self._servers: list[Neo4jServer] = []
        self._used: dict[str, neo4j.Driver] = {}
        self._is_closed = False
        self._lock = threading.Lock()

    def check_callers_database(self) -> None:
        """Look once at the caller's database, if there is one, before any process works in it.

        Raises:
            NotOurDatabaseError: it is away, or not to be emptied.
        """
        if self.choice.uri and self.choice.neo4j_names:
            engine = EngineUnderTest("neo4j", _callers_arguments(self.choice))
            _refuse_unless_ours(engine, may_wipe=self.choice.may_wipe)

    def fetch(self, names: list[str], say: Callable[[str], None]) -> None:
        """Fetch what our own servers lack, which may take minutes."""
        for name in names if not self.choice.uri else ():
            try:
                self._parts[name] = prepare(OWN_LINES[name], say)
            except ServerNotAvailableError as lack:
                self._parts[name] = lack

    def start(self, name: str) -> Future[dict[str, Any]]:
        """Start the named server in the background, unless it was; gives how it is reached."""
        with self._lock:
            if name not in self._arguments:
                self._arguments[name] = self._pool.submit(self._start, name)
            return self._arguments[name]

    def engine(self, name: str) -> EngineUnderTest:
        """The named server, emptied; its schema stays.

        Raises:
            ServerNotAvailableError: this machine lacks what it takes.
            ServerFailedError: the server did not start.
        """
        engine = EngineUnderTest(name, self.start(name).result())
        if name not in self._used:  # one for all tests: each would connect only to empty it
            self._used[name] = _driver(engine)
        _asked(self._used[name], engine, DELETE_NODES)
        return engine

    def close(self) -> None:
        """Stop our own servers; leave the caller's, where it was used, as empty as it came."""
        with self._lock:
            self._is_closed = True
            for server in self._servers:
                server.ask_to_stop()
        self._pool.shutdown(cancel_futures=True)
        for server in self._servers:
            server.stop()
        if self.choice.uri:
            self._leave_empty()
        for driver in self._used.values():
            driver.close()

    def _start(self, name: str) -> dict[str, Any]:
        if self.choice.uri:
            return _callers_arguments(self.choice)
        parts = self._parts[name]
        if isinstance(parts, ServerNotAvailableError):
            raise parts
        server = start_prepared(parts, full_speed=self._full_speed)
        with self._lock:
            self._servers.append(server)
            if self._is_closed:
                server.ask_to_stop()
        return _arguments(server.uri, server.username, server.password, "neo4j")

    def _leave_empty(self) -> None:
        for name in sorted(self._used):
            with contextlib.suppress(DriverError, Neo4jError):  # away: the tests said so
                wipe_schema(self.engine(name))


def opened(engine: EngineUnderTest) -> Graph:
    """The engine's graph alone, for the caller to close."""
    return open_graph(load_settings(**engine.settings_arguments))


def embedded_engine(folder: Path) -> EngineUnderTest:
    """The embedded engine with a new file in the folder."""
    return EngineUnderTest(
        "embedded", {"graph": "embedded", "embedded_path": folder / "memory.lbug"}
    )


def wipe_schema(engine: EngineUnderTest) -> None:
    """Drop every constraint and index of a Neo4j engine; the embedded one's file is new anyway."""
    if engine.name == "embedded":
        return
    for kind, listing in (("CONSTRAINT", LIST_CONSTRAINTS), ("INDEX", LIST_INDEXES)):
        for name, *_ in _run(engine, listing):
            _run(engine, f"DROP {kind} `{name}` IF EXISTS")


def scrub_environment() -> None:
    """Take from this process, and so from its children, whatever could reach a user's own data."""
    for name in list(os.environ):
        if name.startswith(("RECONCILER_", "NEO4J_", "ANTHROPIC_", "OPENAI_")):
            del os.environ[name]
    data = tempfile.mkdtemp(prefix="reconciler-tests-")
    atexit.register(shutil.rmtree, data, ignore_errors=True)
    os.environ["XDG_DATA_HOME"] = data
    # What a test says of the rule it says of the rule alone; the judge's own tests choose it.
    os.environ["RECONCILER_ARBITER__MODE"] = "keyed"


def _arguments(uri: str, username: str, password: str, database: str) -> dict[str, Any]:
    server = {"uri": uri, "username": username, "password": password, "database": database}
    # A busy machine may keep 32 threads that connect at once from the server's greeting, and the
    # server from any answer, for longer than the defaults.
    patience = {"connect_timeout_seconds": 30.0, "silence_timeout_seconds": 60.0}
    return {"graph": "neo4j", "neo4j": server | patience}


def _callers_arguments(choice: Choice) -> dict[str, Any]:
    return _arguments(choice.uri or "", choice.username, choice.password, choice.database)


def _refuse_unless_ours(engine: EngineUnderTest, *, may_wipe: bool) -> None:
    uri = engine.settings_arguments["neo4j"]["uri"]
    try:
        [[all_nodes]] = _run(engine, COUNT_NODES)
        [[foreign_nodes]] = _run(engine, COUNT_FOREIGN_NODES, ours=OUR_LABELS)
        schema = _run(engine, LIST_CONSTRAINTS) + _run(engine, LIST_INDEXES)
    except (DriverError, Neo4jError, ValueError) as error:
        raise NotOurDatabaseError(f"NEO4J_URI={uri} cannot be used: {error}") from error
    ours = {*OUR_LABELS, *INDEXED_LINKS}
    foreign_rules = [row[0] for row in schema if not set(row[1] or ["?"]) <= ours]
    found = f"NEO4J_URI={uri}: the tests empty this database between tests, and it"
    if foreign_nodes or foreign_rules:
        raise NotOurDatabaseError(
            f"{found} holds data that is not ours ({foreign_nodes} nodes, constraints and indexes "
            f"{foreign_rules}); nothing was changed. Name an empty database, or unset NEO4J_URI"
        )
    if (all_nodes or schema) and not may_wipe:
        raise NotOurDatabaseError(
            f"{found} holds a memory ({all_nodes} nodes, {len(schema)} constraints and indexes); "
            f"nothing was changed. If all of it may be deleted, set RECONCILER_TEST_WIPE=1"
        )


def _run(engine: EngineUnderTest, text: str, **parameters: Any) -> list[list[Any]]:
    with _driver(engine) as driver:
        return _asked(driver, engine, text, **parameters)


def _driver(engine: EngineUnderTest) -> neo4j.Driver:
    server = engine.settings_arguments["neo4j"]
    return neo4j.GraphDatabase.driver(
        server["uri"],
        auth=(server["username"], server["password"]),
        connection_timeout=30,
        notifications_min_severity="OFF",
    )


def _asked(
    driver: neo4j.Driver, engine: EngineUnderTest, text: str, **parameters: Any
) -> list[list[Any]]:
    with driver.session(database=engine.settings_arguments["neo4j"]["database"]) as session:
        return session.run(text, parameters).values()
