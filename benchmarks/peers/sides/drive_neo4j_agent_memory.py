"""neo4j-agent-memory on Neo4j, by ``add_preference`` of a user or by ``add_fact`` of a subject."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

from neo4j_agent_memory import MemoryClient, MemorySettings, Neo4jConfig
from pydantic import SecretStr
from side import DIMENSION, Bare, Model, OneByOne, Others, serve

FILL_PREFERENCES = """
UNWIND $rows AS row
MERGE (u:User {identifier: row.contact})
  ON CREATE SET u.id = row.contact, u.created_at = datetime()
CREATE (u)-[:HAS_PREFERENCE]->(:Preference {
  id: row.id, category: 'parcel', preference: row.text, confidence: 1.0, embedding: row.vector,
  created_at: datetime(), valid_from: datetime()})"""
FILL_FACTS = """
UNWIND $rows AS row
CREATE (:Fact {
  id: row.id, subject: row.contact, predicate: 'was sent', object: row.thing, confidence: 1.0,
  embedding: row.vector, created_at: datetime()})"""


class Vectors:
    """The loopback server's vectors, as the package's protocol for providers has it."""

    dimensions = DIMENSION
    model = "minilm"

    def __init__(self, model: Model) -> None:
        self._model = model

    async def embed(self, texts: list[str]) -> list[list[float]]:
        return self._model.vectors(texts)

    async def embed_one(self, text: str) -> list[float]:
        return self._model.vector(text)


class AgentMemory(OneByOne):
    def __init__(self, config: dict[str, Any]) -> None:
        store = config["store"]
        self._is_facts = config["door"] == "add_fact"
        self._loop = asyncio.new_event_loop()
        self._model = Model(config["model_url"])
        self._bare = Bare(store)
        where = Neo4jConfig(
            uri=store["uri"], username=store["username"], password=SecretStr(store["password"])
        )
        settings = MemorySettings(
            neo4j=where,
            llm=None,
            embedding=Vectors(self._model),
            extraction={"extractor_type": "none", "enable_llm_fallback": False},
        )
        self._client = MemoryClient(settings)
        self._loop.run_until_complete(self._client.connect())

    def write(self, contact: str, note: dict[str, str]) -> None:
        known = self._client.long_term
        self._loop.run_until_complete(
            known.add_fact(
                contact, note["relation"], note["thing"], metadata={"text": note["text"]}
            )
            if self._is_facts
            else known.add_preference(note["relation"], note["text"], user_identifier=contact)
        )

    def live(self, contact: str) -> list[str]:
        known = self._client.long_term
        if self._is_facts:
            facts = self._loop.run_until_complete(known.get_facts_about(contact, limit=100_000))
            return [fact.metadata["text"] for fact in facts]
        found = self._loop.run_until_complete(known.get_preferences_for(contact))
        return [preference.preference for preference in found]

    def recall(self, contact: str, question: str, count: int) -> list[str]:
        """Of all contacts, for its search takes none; the contact's own are kept where it says."""
        known = self._client.long_term
        if not self._is_facts:
            search = known.search_preferences(question, limit=count)
            return [found.preference for found in self._loop.run_until_complete(search)]
        search = known.search_facts(question, limit=count)
        facts = self._loop.run_until_complete(search)
        return [fact.metadata["text"] for fact in facts if fact.subject == contact]

    def embed(self, text: str) -> list[float]:
        return self._model.vector(text)

    def insert(self, text: str, vector: list[float]) -> None:
        self._bare.insert(text, vector)

    def fill(self, count: int) -> None:
        """Behind its back, in the shape in which its own door leaves them."""
        others = Others()
        query = FILL_FACTS if self._is_facts else FILL_PREFERENCES
        for batch in others.rows(count):
            rows = [row | {"id": str(uuid.uuid4()), "vector": others.vector()} for row in batch]
            self._loop.run_until_complete(self._client.graph.execute_write(query, {"rows": rows}))

    def close(self) -> None:
        self._loop.run_until_complete(self._client.close())
        self._bare.close()


serve(AgentMemory)
