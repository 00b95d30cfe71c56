"""Write a graph as it lies in Neo4j, without its vectors: a line for each node and relationship."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import neo4j

__all__ = ["dump_graph"]

NODES = "MATCH (n) RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties"
RELATIONSHIPS = """
MATCH (a)-[r]->(b)
RETURN elementId(a) AS start, type(r) AS type, elementId(b) AS end, properties(r) AS properties"""


def dump_graph(uri: str, auth: tuple[str, str], file: Path) -> None:
    """Write every node, then every relationship; times as ``{"at": ISO 8601}``."""
    with neo4j.GraphDatabase.driver(uri, auth=auth) as driver, file.open("w") as out:
        nodes = [each.data() for each in driver.execute_query(NODES).records]
        links = [each.data() for each in driver.execute_query(RELATIONSHIPS).records]
        number_of = {each["id"]: number for number, each in enumerate(nodes)}
        for node in nodes:
            kept = {"labels": node["labels"], "properties": _plain(node["properties"])}
            out.write(json.dumps(kept, ensure_ascii=False) + "\n")
        for link in links:
            ends = {"start": number_of[link["start"]], "end": number_of[link["end"]]}
            kept = {"type": link["type"], **ends, "properties": _plain(link["properties"])}
            out.write(json.dumps(kept, ensure_ascii=False) + "\n")


def _plain(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {"at": value.iso_format()} if hasattr(value, "iso_format") else value
        for name, value in sorted(properties.items())
        if not name.endswith("embedding")
    }
