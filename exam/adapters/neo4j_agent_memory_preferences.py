"""neo4j-agent-memory on Neo4j, by ``add_preference`` of a user; it has no call that deletes one."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections import defaultdict
from datetime import datetime
from typing import Any

from neo4j_agent_memory import MemoryClient, MemorySettings, Neo4jConfig
from pydantic import SecretStr
from side import serve


class Vectors:
    """The loopback server's vectors, as the package's protocol for providers has it."""

    dimensions, model = 384, "minilm"

    def __init__(self, url: str) -> None:
        self._url = url

    async def embed(self, texts: list[str]) -> list[list[float]]:
        sent = json.dumps({"input": list(texts)}).encode()
        asked = urllib.request.Request(f"{self._url}/embeddings", sent)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return [each["embedding"] for each in json.loads(answer.read())["data"]]

    async def embed_one(self, text: str) -> list[float]:
        return (await self.embed([text]))[0]


class Preferences:
    def __init__(self, config: dict[str, Any]) -> None:
        where = config["neo4j"]
        self._loop = asyncio.new_event_loop()
        settings = MemorySettings(
            neo4j=Neo4jConfig(
                uri=where["uri"],
                username=where["username"],
                password=SecretStr(where["password"]),
            ),
            llm=None,
            embedding=Vectors(config["model_url"]),
            extraction={"extractor_type": "none", "enable_llm_fallback": False},
        )
        self._client = MemoryClient(settings)
        self._loop.run_until_complete(self._client.connect())
        self._told: dict[str, list[tuple[str, Any]]] = defaultdict(list)

    def tell(self, contact: str, person: str, text: str, at: datetime) -> None:  # noqa: ARG002
        add = self._client.long_term.add_preference
        given = self._loop.run_until_complete(add("said", text, user_identifier=contact))
        self._told[contact].append((text, given))

    def tell_together(self, notes: list[dict[str, str]]) -> None:
        add = self._client.long_term.add_preference
        calls = [add("said", each["text"], user_identifier=each["contact"]) for each in notes]

        async def all_of_them() -> None:
            await asyncio.gather(*calls)

        self._loop.run_until_complete(all_of_them())

    def recall(self, contact: str, question: str, limit: int) -> list[tuple[str, str]]:
        """Its search takes no user; the user's own are kept, in its order."""
        known = self._client.long_term
        own = self._loop.run_until_complete(known.get_preferences_for(contact))
        found = self._loop.run_until_complete(known.search_preferences(question, limit=1000))
        texts = [each.preference for each in found]
        order = {text: place for place, text in reversed(list(enumerate(texts)))}
        mine = sorted((each.preference for each in own), key=lambda t: order.get(t, len(texts)))
        return [(text, "true") for text in mine[:limit]]

    def live(self, contact: str) -> list[tuple[str, str, str]]:
        """A note that it took for a duplicate is held by the preference that ``add`` gave back."""
        own = self._loop.run_until_complete(self._client.long_term.get_preferences_for(contact))
        held = {each.id for each in own}
        return [(text, "true", text) for text, given in self._told[contact] if given.id in held]

    def erase(self, contact: str, about: str) -> None:
        raise NotImplementedError("no call deletes a preference")

    def close(self) -> None:
        self._loop.run_until_complete(self._client.close())


serve(Preferences)
