"""A writer that is killed outright: what it acknowledged is there, what it had begun is not."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest

from reconciler import Memory
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.engines import EngineUnderTest
from tests.worker import Worker

KILLS = 5
NOTES_MAX = 500
SEED = 20250309
LATEST_KILL_SECONDS = 0.4

Acknowledged = list[dict[str, Any]]

# What a whole write never leaves behind: a node that lacks its relationship.
WHOLE = {
    "fact": "(x:Fact)-[:ABOUT]->(:Contact)",
    "evidence": "(x:Fact)-[:EVIDENCED_BY]->(:Episode)",
    "writer": "(x:Fact)<-[:WROTE]-(:Decision)",
    "decision": "(x:Decision)-[:`FOR`]->(:Contact)",
    "note": "(x:Decision)-[:JUDGED]->(:Episode)",
    "episode": "(x:Episode)-[:`IN`]->(:Session)",
    "session": "(x:Session)-[:`WITH`]->(:Contact)",
    "contact": "(x:Contact)<-[:KNOWS]-(:Agent)",
}
# Nor this: numbers that do not agree.
MISCOUNTED = {
    "version": """
        MATCH (x:Contact) OPTIONAL MATCH (x)<-[made:`FOR`]-(:Decision)
        WITH x, count(made) AS decisions WHERE x.version <> decisions RETURN 1""",
    "written facts": """
        MATCH (x:Decision) OPTIONAL MATCH (x)-[wrote:WROTE]->(:Fact)
        WITH x, count(wrote) AS facts
        WHERE facts <> CASE WHEN x.action = 'SKIP' THEN 0 ELSE 1 END RETURN 1""",
    "successors": """
        MATCH (x:Fact) OPTIONAL MATCH (x)<-[by:SUPERSEDES]-(:Fact)
        WITH x, count(by) AS successors
        WHERE successors <> CASE WHEN x.state = 'live' THEN 0 ELSE 1 END RETURN 1""",
    "ended facts": """
        MATCH (x:Decision)-[:WROTE]->(new:Fact) OPTIONAL MATCH (new)-[over:SUPERSEDES]->(:Fact)
        WITH x, count(over) AS ended
        WHERE ended <> CASE WHEN x.action = 'UPDATE' THEN 1 ELSE 0 END RETURN 1""",
}


def notes(round_number: int) -> list[dict[str, Any]]:
    """New facts, restatements of them, and every twenty notes a new contact."""
    return [
        {
            "contact_id": f"contact-{round_number}-{number // 20}",
            "text": f"word{number - number % 3}",
        }
        for number in range(NOTES_MAX)
    ]


def killed_while_writing(engine: EngineUnderTest, number: int, seconds: float) -> Acknowledged:
    """What a process had acknowledged when it was killed so long after its first note."""
    with Worker() as worker:
        assert worker.ask("open", settings=engine.settings_arguments) == "open"
        worker.tell("add", notes=notes(number))
        acknowledged = [worker.answer()]
        killing = threading.Timer(seconds, worker.kill)
        killing.start()
        acknowledged += worker.answers()
        killing.join()
    assert len(acknowledged) < NOTES_MAX, "it was done before it was killed; write more notes"
    return acknowledged


def halves(engine: EngineUnderTest) -> list[str]:
    """Which kinds of half-written things there are."""
    lacking = {
        name: f"MATCH {pattern.split(')')[0]}) WHERE NOT EXISTS {{ MATCH {pattern} }} RETURN 1"
        for name, pattern in WHOLE.items()
    }
    return [name for name, text in (lacking | MISCOUNTED).items() if raw_store.query(engine, text)]


@pytest.mark.slow
def test_a_killed_writer_loses_nothing_it_acknowledged_and_leaves_no_halves(
    one_of_each: EngineUnderTest,
) -> None:
    chance = random.Random(SEED)
    acknowledged: Acknowledged = []
    for number in range(KILLS):
        seconds = chance.uniform(0, LATEST_KILL_SECONDS)
        acknowledged += killed_while_writing(one_of_each, number, seconds)
        assert halves(one_of_each) == []
    with Memory.open(embedder=HashingEmbedder(), **one_of_each.settings_arguments) as memory:
        known = _decisions(memory)
    made = {each["decision_id"]: each for each in acknowledged}
    assert {key: known[key] for key in made if key in known} == made
    # Of each process the note that it was about to acknowledge may be there too, and no more.
    assert len(made) <= len(known) <= len(made) + KILLS


def _decisions(memory: Memory) -> dict[str, dict[str, Any]]:
    contacts = [each.contact_id for each in memory.contacts("crm")]
    found = [each for c in contacts for each in memory.decisions("crm", c, limit=1000)]
    return {each.decision_id: each.to_dict() for each in found}


def test_a_store_works_on_after_its_writer_was_killed(one_of_each: EngineUnderTest) -> None:
    last = killed_while_writing(one_of_each, 0, seconds=0.05)[-1]["note"]
    contact_id = last["scope"]["contact_id"]
    with Memory.open(embedder=HashingEmbedder(), **one_of_each.settings_arguments) as memory:
        decision = memory.add_contact_note("crm", contact_id, last["text"])
        assert decision.action == "UPDATE"
        assert decision in memory.decisions("crm", contact_id)
    assert halves(one_of_each) == []
