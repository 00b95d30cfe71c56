"""Graphiti on Neo4j, by ``add_episode`` with its own OpenAI clients."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime
from typing import Any

os.environ |= {"GRAPHITI_TELEMETRY_ENABLED": "false", "EMBEDDING_DIM": "384"}

from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.edges import EntityEdge
from graphiti_core.embedder.openai import OpenAIEmbedder, OpenAIEmbedderConfig
from graphiti_core.errors import GroupsEdgesNotFoundError
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
from graphiti_core.nodes import EntityNode
from graphiti_core.utils.bulk_utils import add_nodes_and_edges_bulk
from side import DIMENSION, Bare, OneByOne, Others, serve


class InOrder(CrossEncoderClient):
    """Needed to open Graphiti without a key; a write never asks it."""

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:  # noqa: ARG002
        return [(each, 1.0) for each in passages]


class Episodes(OneByOne):
    def __init__(self, config: dict[str, Any]) -> None:
        store, url = config["store"], config["model_url"]
        self._person = config["person"]
        self._loop = asyncio.new_event_loop()
        self._bare = Bare(store)
        self._embedder = OpenAIEmbedder(
            OpenAIEmbedderConfig(
                api_key="none", base_url=url, embedding_model="minilm", embedding_dim=DIMENSION
            )
        )
        model = LLMConfig(api_key="none", base_url=url, model="stub", small_model="stub")
        self._graphiti = Graphiti(
            store["uri"],
            store["username"],
            store["password"],
            llm_client=OpenAIGenericClient(model),
            embedder=self._embedder,
            cross_encoder=InOrder(),
        )
        if config["is_first"]:
            self._loop.run_until_complete(self._graphiti.build_indices_and_constraints())

    def write(self, contact: str, note: dict[str, str]) -> None:
        self._loop.run_until_complete(
            self._graphiti.add_episode(
                name=note["text"],
                episode_body=f"{self._person}: {note['text']}",
                source_description="chat",
                reference_time=datetime.now(UTC),
                group_id=contact,
            )
        )

    def live(self, contact: str) -> list[str]:
        try:
            edges = self._loop.run_until_complete(
                EntityEdge.get_by_group_ids(self._graphiti.driver, [contact])
            )
        except GroupsEdgesNotFoundError:
            return []
        return [edge.fact for edge in edges if not (edge.expired_at or edge.invalid_at)]

    def recall(self, contact: str, question: str, count: int) -> list[str]:
        """Its search returns what is over too, and says so; that is left out here."""
        edges = self._loop.run_until_complete(
            self._graphiti.search(question, group_ids=[contact], num_results=count)
        )
        return [edge.fact for edge in edges if not (edge.expired_at or edge.invalid_at)]

    def embed(self, text: str) -> list[float]:
        return self._loop.run_until_complete(self._embedder.create(input_data=[text]))

    def insert(self, text: str, vector: list[float]) -> None:
        self._bare.insert(text, vector)

    def fill(self, count: int) -> None:
        """By the function with which it saves the nodes and edges of an episode."""
        self._loop.run_until_complete(self._fill(count))

    async def _fill(self, count: int) -> None:
        others, now, people = Others(), datetime.now(UTC), {}
        for batch in others.rows(count):
            nodes, edges = [], []
            for row in batch:
                group = row["contact"]
                if group not in people:
                    people[group] = self._node("Robin Ellis", group, others, now)
                    nodes.append(people[group])
                thing = self._node(row["thing"], group, others, now)
                nodes.append(thing)
                edges.append(
                    EntityEdge(
                        source_node_uuid=people[group].uuid,
                        target_node_uuid=thing.uuid,
                        name="SENT",
                        fact=row["text"],
                        group_id=group,
                        created_at=now,
                        valid_at=now,
                        fact_embedding=others.vector(),
                    )
                )
            await add_nodes_and_edges_bulk(
                self._graphiti.driver, [], [], nodes, edges, self._embedder
            )

    def _node(self, name: str, group: str, others: Others, now: datetime) -> EntityNode:
        return EntityNode(
            name=name, group_id=group, labels=["Entity"], summary="", created_at=now,
            name_embedding=others.vector(),
        )  # fmt: skip

    def close(self) -> None:
        self._loop.run_until_complete(self._graphiti.close())
        self._bare.close()


serve(Episodes)
