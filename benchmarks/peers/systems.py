"""Which systems are compared, by which door, on which kind of store."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SYSTEMS", "System"]


@dataclass(frozen=True, slots=True)
class System:
    """One row of the table.

    ``store`` is ``neo4j``, ``embedded`` (a file of this project's embedded engine) or ``folder``.
    ``environment`` names the requirement file, None for this project's own environment.
    ``serves_many`` says whether several processes may have the store open; where not, many writers
    are threads of one process. ``door`` is passed on to the driver.
    """

    key: str
    label: str
    door: str
    driver: str
    store: str
    environment: str | None = None
    serves_many: bool = True
    has_background_door: bool = False

    @property
    def is_ours(self) -> bool:
        return self.environment is None


SYSTEMS = (
    System(
        key="ours-neo4j",
        label="this project, Neo4j",
        door="add_contact_note",
        driver="drive_ours",
        store="neo4j",
        has_background_door=True,
    ),
    System(
        key="ours-embedded",
        label="this project, embedded",
        door="add_contact_note",
        driver="drive_ours",
        store="embedded",
        serves_many=False,
        has_background_door=True,
    ),
    System(
        key="agent-memory-preference",
        label="neo4j-agent-memory, preferences",
        door="add_preference",
        driver="drive_neo4j_agent_memory",
        store="neo4j",
        environment="neo4j-agent-memory",
    ),
    System(
        key="agent-memory-fact",
        label="neo4j-agent-memory, facts",
        door="add_fact",
        driver="drive_neo4j_agent_memory",
        store="neo4j",
        environment="neo4j-agent-memory",
    ),
    System(
        key="graphiti",
        label="Graphiti",
        door="add_episode",
        driver="drive_graphiti",
        store="neo4j",
        environment="graphiti",
    ),
    System(
        key="memvara-remember",
        label="memvara, triples",
        door="remember",
        driver="drive_memvara",
        store="folder",
        environment="memvara",
    ),
    System(
        key="memvara-add",
        label="memvara, sentences",
        door="add",
        driver="drive_memvara",
        store="folder",
        environment="memvara",
    ),
    System(
        key="mem0",
        label="mem0",
        door="add",
        driver="drive_mem0",
        store="folder",
        environment="mem0",
        serves_many=False,
    ),
    System(
        key="langgraph",
        label="LangGraph SqliteStore",
        door="put",
        driver="drive_langgraph",
        store="folder",
        environment="langgraph",
    ),
)
