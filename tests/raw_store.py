"""Looks into a store, or tampers with it, behind the package's back.

The embedded engine's file belongs to one opener at a time: while this process has it open as a
memory, it is looked into through that one's connections.
"""

from __future__ import annotations

from typing import Any

import ladybug
import neo4j

from reconciler.adapters import open_stores
from tests.engines import EngineUnderTest

__all__ = ["counts", "everything", "query"]

LABELS = ("Agent", "Contact", "Session", "Episode", "Decision", "Fact")


def query(engine: EngineUnderTest, text: str, **parameters: Any) -> list[list[Any]]:
    """The rows of a statement, each as a list of its columns."""
    if engine.name == "embedded":
        return _query_file(engine, text, parameters)
    return _query_server(engine, text, parameters)


def everything(engine: EngineUnderTest) -> list[str]:
    """All nodes and relationships with all they hold; equal before and after means untouched."""
    if engine.name == "embedded" and not engine.settings_arguments["embedded_path"].exists():
        return []  # to look must not make one
    nodes = query(engine, f"MATCH (n) RETURN {_label(engine, 'n')}, n")
    links = query(engine, f"MATCH (a)-[r]->(b) RETURN {_type(engine, 'r')}, r, a, b")
    return sorted(repr(list(map(_plain, row))) for row in [*nodes, *links])


def counts(engine: EngineUnderTest) -> dict[str, int]:
    """How many nodes there are of each label."""
    found = dict.fromkeys(LABELS, 0)
    for label, *_ in query(engine, f"MATCH (n) RETURN {_label(engine, 'n')}, 1"):
        found[label] = found.get(label, 0) + 1
    return {label: found[label] for label in LABELS}


def _query_file(engine: EngineUnderTest, text: str, parameters: dict[str, Any]) -> list[list[Any]]:
    path = engine.settings_arguments["embedded_path"]
    main = path.resolve()
    graph: Any = next((each for each, name in open_stores._OPEN.items() if name == main), None)
    if graph is not None and not graph._is_closed:
        with (
            graph._connections.for_reading() as connection,
            connection.execute(text, parameters) as result,
        ):
            return [list(row) for row in result.get_all()]
    with (
        ladybug.Database(path, buffer_pool_size=1 << 28) as database,
        ladybug.Connection(database) as connection,
        connection.execute("CALL force_checkpoint_on_close=false"),
        connection.execute(text, parameters) as result,
    ):
        return [list(row) for row in result.get_all()]


def _query_server(
    engine: EngineUnderTest, text: str, parameters: dict[str, Any]
) -> list[list[Any]]:
    server = engine.settings_arguments["neo4j"]
    with (
        neo4j.GraphDatabase.driver(
            server["uri"],
            auth=(server["username"], server["password"]),
            notifications_min_severity="OFF",
        ) as driver,
        driver.session(database=server["database"]) as session,
    ):
        return session.run(text, parameters).values()


def _label(engine: EngineUnderTest, name: str) -> str:
    return f"label({name})" if engine.name == "embedded" else f"head(labels({name}))"


def _type(engine: EngineUnderTest, name: str) -> str:
    return f"label({name})" if engine.name == "embedded" else f"type({name})"


def _plain(value: Any) -> Any:
    """What an entity holds, without the driver's object around it."""
    is_entity = isinstance(value, neo4j.graph.Node | neo4j.graph.Relationship)
    return sorted(value.items()) if is_entity else value
