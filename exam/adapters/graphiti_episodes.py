"""Graphiti on Neo4j, by ``add_episode`` with its own OpenAI clients and its default search."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

os.environ |= {"GRAPHITI_TELEMETRY_ENABLED": "false", "EMBEDDING_DIM": "384"}
os.environ |= {"OPENAI_API_KEY": "none"}

from graphiti_core import Graphiti
from graphiti_core.edges import EntityEdge
from graphiti_core.embedder.openai import OpenAIEmbedder, OpenAIEmbedderConfig
from graphiti_core.errors import GroupsEdgesNotFoundError
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
from graphiti_core.search.search_config import DEFAULT_SEARCH_LIMIT, SearchResults
from graphiti_core.utils.maintenance import edge_operations
from openai import AsyncOpenAI
from side import serve

WAIT_SECONDS = 3600
"""A model that answers while the exam runs takes its time."""


def _in_one_order(
    search: Callable[..., Awaitable[SearchResults]],
) -> Callable[..., Awaitable[SearchResults]]:
    """Sort by text what a prompt shows; Lucene's ranks depend on what other groups hold."""

    async def found(*given: Any, **named: Any) -> SearchResults:
        results = await search(*given, **named)
        results.edges.sort(key=lambda edge: edge.fact)
        return results

    return found


edge_operations.search = _in_one_order(edge_operations.search)


class Episodes:
    """A group for each contact; its documents ask that episodes of a group follow one another."""

    def __init__(self, config: dict[str, Any]) -> None:
        where, url = config["neo4j"], config["model_url"]
        self._loop = asyncio.new_event_loop()
        client = AsyncOpenAI(api_key="none", base_url=url, max_retries=0, timeout=WAIT_SECONDS)
        model = LLMConfig(api_key="none", base_url=url, model="recorded", small_model="recorded")
        vectors = OpenAIEmbedderConfig(
            api_key="none", base_url=url, embedding_model="minilm", embedding_dim=384
        )
        self._graphiti = Graphiti(
            where["uri"],
            where["username"],
            where["password"],
            llm_client=OpenAIGenericClient(model, client=client),
            embedder=OpenAIEmbedder(vectors),
        )
        self._notes: dict[str, str] = {}
        if config["is_first"]:
            self._wait(self._graphiti.build_indices_and_constraints())

    def tell(self, contact: str, person: str, text: str, at: datetime) -> None:
        added = self._graphiti.add_episode(
            name="chat",
            episode_body=f"{person}: {text}",
            source_description="chat message",
            reference_time=at,
            group_id=contact,
        )
        self._notes[self._wait(added).episode.uuid] = text

    def tell_together(self, notes: list[dict[str, str]]) -> None:
        """One after the other: its documents put a queue before each group."""
        for note in notes:
            self.tell(**note | {"at": datetime.fromisoformat(note["at"])})

    def recall(self, contact: str, question: str, limit: int) -> list[tuple[str, str]]:
        found = self._search(contact, question, limit)
        return [(edge.fact, _state(edge)) for edge in found]

    def live(self, contact: str) -> list[tuple[str, str, str]]:
        """A note is held while an edge that cites its episode is not over, in the first's words."""
        try:
            edges = self._wait(EntityEdge.get_by_group_ids(self._graphiti.driver, [contact]))
        except GroupsEdgesNotFoundError:
            return []
        cited = [
            (uuid, edge.episodes[0])
            for edge in edges
            if _state(edge) == "true"
            for uuid in edge.episodes
        ]
        words = [(self._notes[uuid], self._notes[first]) for uuid, first in cited]
        own = {text for text, by in words if text == by}
        return [(text, "true", by) for text, by in words if by == text or text not in own]

    def erase(self, contact: str, about: str) -> None:
        """The episodes of the edge that its search finds first go, with all edges they made."""
        for edge in self._search(contact, about, DEFAULT_SEARCH_LIMIT)[:1]:
            for uuid in edge.episodes:
                self._wait(self._graphiti.remove_episode(uuid))

    def close(self) -> None:
        self._wait(self._graphiti.close())

    def _search(self, contact: str, words: str, limit: int) -> list[EntityEdge]:
        """Its limit outlasts the search: ``add_episode`` compares a new edge with no more then."""
        found = self._graphiti.search(words, group_ids=[contact], num_results=limit)
        return self._wait(found)

    def _wait(self, started: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(started)


def _state(edge: EntityEdge) -> str:
    """As Graphiti says it: an edge is over once it is invalid in the world, or was expired."""
    ends = [each for each in (edge.invalid_at, edge.expired_at) if each is not None]
    return "over" if any(each <= datetime.now(UTC) for each in ends) else "true"


serve(Episodes)
