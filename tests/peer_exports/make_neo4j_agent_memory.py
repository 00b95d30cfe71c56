"""Write neo4j_agent_memory.jsonl and …_graph.jsonl with the real package on an empty Neo4j.

The first is what the shipped query gives; the second is the graph as it lies in Neo4j, for tests
that read it from there. Run with the Python of a
virtual environment in which neo4j-agent-memory is installed; see README.md.
"""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from dump_graph import dump_graph
from neo4j import GraphDatabase
from neo4j_agent_memory import MemoryClient, MemorySettings, Neo4jConfig
from pydantic import SecretStr
from stub_models import DIMENSION, vector

QUERY = Path(__file__).parents[2] / "cypher" / "peers" / "neo4j_agent_memory.cypher"
DATE_NODES = """
MATCH (n) WHERE n.created_at IS NOT NULL
SET n.created_at = datetime('2025-05-01T09:00:00Z')"""
DATE_ENDS = """
MATCH (n:Preference) SET n.valid_from = n.created_at
WITH n WHERE n.valid_until IS NOT NULL
SET n.created_at = datetime('2025-02-01T09:00:00Z'),
    n.valid_from = datetime('2025-02-01T09:00:00Z'),
    n.valid_until = datetime('2025-05-01T09:00:00Z')"""


class Vectors:
    """An embedding provider with vectors that depend on the text alone."""

    dimensions = DIMENSION
    model = "stub"

    async def embed(self, texts: list[str]) -> list[list[float]]:
        return [vector(each) for each in texts]

    async def embed_one(self, text: str) -> list[float]:
        return vector(text)


def day(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}T09:00:00").replace(tzinfo=UTC)


async def main() -> None:
    uri, user, password, lines, graph = sys.argv[1:]
    where = Neo4jConfig(uri=uri, username=user, password=SecretStr(password))
    extraction = {"extractor_type": "none", "enable_llm_fallback": False}
    settings = MemorySettings(neo4j=where, llm=None, embedding=Vectors(), extraction=extraction)
    async with MemoryClient(settings) as client:
        known = client.long_term
        old = await known.add_preference("contact", "Prefers phone calls", user_identifier="anna")
        new = await known.add_preference(
            "contact", "Prefers email", context="after work", user_identifier="anna"
        )
        await known.supersede_preference(old.id, new.id)
        await known.add_preference("food", "Is vegetarian", user_identifier="ben")
        await known.add_fact(
            "Anna", "lives in", "Pune",
            valid_from=day("2025-01-10"), valid_until=day("2025-06-02"),
        )  # fmt: skip
        await known.add_fact("Anna", "lives in", "Mumbai", valid_from=day("2025-06-02"))
        await known.add_fact("Ben", "works at", "Fjordbank", valid_from=day("2025-03-01"))
        anna, _ = await known.add_entity("Anna", "PERSON", generate_embedding=False)
        pune, _ = await known.add_entity("Globex", "ORGANIZATION", generate_embedding=False)
        await known.add_relationship(anna, pune, "WORKS_AT")
        await client.short_term.add_message(
            "chat-1", "user", "I moved to Mumbai.", user_identifier="anna", extract_entities=False
        )
    auth = (user, password)
    with GraphDatabase.driver(uri, auth=auth) as driver:  # the package dates everything now
        driver.execute_query(DATE_NODES)
        driver.execute_query(DATE_ENDS)
        found = driver.execute_query(QUERY.read_text(encoding="utf-8")).records
    with Path(lines).open("w", encoding="utf-8") as out:
        for row in found:
            out.write(json.dumps(row["record"], ensure_ascii=False, default=str) + "\n")
    dump_graph(uri, auth, Path(graph))


asyncio.run(main())
