"""Write graphiti.jsonl and graphiti_graph.jsonl with the real Graphiti on an empty Neo4j.

The first is what Graphiti's own ``EntityEdge`` gives of each edge; the second is the graph as it
lies in Neo4j, for tests that read it from there. Run with the Python of a virtual environment in
which graphiti-core is installed; see README.md.
"""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

os.environ |= {"GRAPHITI_TELEMETRY_ENABLED": "false", "EMBEDDING_DIM": "384"}

from dump_graph import dump_graph
from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.edges import EntityEdge
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.llm_client.config import LLMConfig
from stub_models import vector

# group, day, what is said, and the edges in it: source, relation, target, fact, until
EPISODES = [
    ("anna", "2025-01-10", "I live in Pune.",
     [("Anna", "LIVES_IN", "Pune", "Anna lives in Pune", None)]),
    ("anna", "2025-01-11", "I worked for Globex from 2019 to 2022.",
     [("Anna", "WORKED_AT", "Globex", "Anna worked at Globex", "2022-12-31T00:00:00Z")]),
    ("anna", "2025-02-01", "My sister is Meera.",
     [("Anna", "SISTER_OF", "Meera", "Meera is Anna's sister", None)]),
    ("anna", "2025-06-02", "I moved to Mumbai.",
     [("Anna", "LIVES_IN", "Mumbai", "Anna lives in Mumbai", None)]),
    ("ben", "2025-04-05", "I live in Oslo.",
     [("Ben", "LIVES_IN", "Oslo", "Ben lives in Oslo", None)]),
]  # fmt: skip
CONTRADICTED = {"Anna lives in Mumbai": "Anna lives in Pune"}
BEGAN = {"Anna worked at Globex": "2019-01-01T00:00:00Z"}


class Model(LLMClient):
    """Says what a model would have said, by the kind of answer that is asked for."""

    def __init__(self) -> None:
        super().__init__(LLMConfig(api_key="none", model="stub"))
        self.edges: list[tuple[Any, ...]] = []
        self.day = ""

    async def _generate_response(
        self, messages: Any, response_model: Any = None, *_: Any, **__: Any
    ) -> dict[str, Any]:
        prompt = messages[-1].content
        return getattr(self, response_model.__name__, lambda _: {})(prompt)

    def ExtractedEntities(self, _: str) -> dict[str, Any]:  # noqa: N802
        names = dict.fromkeys(name for edge in self.edges for name in (edge[0], edge[2]))
        return {"extracted_entities": [{"name": name, "entity_type_id": 0} for name in names]}

    def NodeResolutions(self, prompt: str) -> dict[str, Any]:  # noqa: N802
        return {"entity_resolutions": []}

    def ExtractedEdges(self, _: str) -> dict[str, Any]:  # noqa: N802
        return {
            "edges": [
                {
                    "source_entity_name": source,
                    "target_entity_name": target,
                    "relation_type": name,
                    "fact": fact,
                    "valid_at": BEGAN.get(fact, f"{self.day}T09:00:00Z"),
                    "invalid_at": until,
                }
                for source, name, target, fact, until in self.edges
            ]
        }

    def EdgeTimestamps(self, prompt: str) -> dict[str, Any]:  # noqa: N802
        edge = self.ExtractedEdges(prompt)["edges"][0]
        return {"valid_at": edge["valid_at"], "invalid_at": edge["invalid_at"]}

    def EdgeDuplicate(self, prompt: str) -> dict[str, Any]:  # noqa: N802
        lost = CONTRADICTED.get(self.edges[0][3])
        listed = [] if lost is None or lost not in prompt else [_index_of(prompt, lost)]
        return {"duplicate_facts": [], "contradicted_facts": listed}

    def SummarizedEntities(self, _: str) -> dict[str, Any]:  # noqa: N802
        return {"summaries": []}


def _index_of(prompt: str, fact: str) -> int:
    before = prompt[: prompt.index(fact)]
    digits = before.rsplit("idx", 1)[-1]
    return int("".join(each for each in digits if each.isdigit()))


class Vectors(EmbedderClient):
    async def create(self, input_data: Any) -> list[float]:
        return vector(str(input_data))

    async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
        return [vector(each) for each in input_data_list]


class InOrder(CrossEncoderClient):
    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        return [(each, 1.0) for each in passages]


async def main() -> None:
    uri, user, password, lines, graph = sys.argv[1:]
    model = Model()
    graphiti = Graphiti(
        uri, user, password, llm_client=model, embedder=Vectors(), cross_encoder=InOrder()
    )
    await graphiti.build_indices_and_constraints()
    for group, day, text, edges in EPISODES:
        model.edges, model.day = edges, day
        await graphiti.add_episode(
            name=f"{group} {day}",
            episode_body=f"{edges[0][0]}: {text}",
            source_description="chat",
            reference_time=datetime.fromisoformat(f"{day}T09:00:00").replace(tzinfo=UTC),
            group_id=group,
        )
    edges = await EntityEdge.get_by_group_ids(graphiti.driver, ["anna", "ben"])
    with Path(lines).open("w", encoding="utf-8") as out:
        for edge in edges:
            out.write(edge.model_dump_json(exclude={"fact_embedding"}) + "\n")
    await graphiti.close()
    dump_graph(uri, (user, password), Path(graph))


asyncio.run(main())
