"""A writer that is killed outright: what it acknowledged is there, what it had begun is not.

So with an import, with a move to the present schema, and where the database is killed instead.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory
from reconciler.testing import HashingEmbedder
from tests import acts, faults, raw_store
from tests.conftest import ON_ANY_ONE
from tests.engines import EngineUnderTest
from tests.mortal_server import MortalServer
from tests.worker import Worker

KILLS = faults.times(2, 5)
NOTES_MAX = 500
LATEST_KILL_SECONDS = 0.4

IMPATIENT = {"reconcile": {"unavailable_seconds_max": 0.3}}
"""Writers hear of a database's end soon."""
pytestmark = [pytest.mark.faults, pytest.mark.kills]
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


def open_after_a_kill(engine: EngineUnderTest) -> None:
    """A kill may cut the engine's log within a record, which only the next opener mends."""
    Memory.open(embedder=HashingEmbedder(), **engine.settings_arguments).close()


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
    chance = faults.moments("a writer")
    acknowledged: Acknowledged = []
    for number in range(KILLS):
        seconds = chance.uniform(0, LATEST_KILL_SECONDS)
        acknowledged += killed_while_writing(one_of_each, number, seconds)
        open_after_a_kill(one_of_each)
        assert halves(one_of_each) == []
    with Memory.open(embedder=HashingEmbedder(), **one_of_each.settings_arguments) as memory:
        known = _decisions(memory)
    made = {each["decision_id"]: each for each in acknowledged}
    assert {key: known[key] for key in made if key in known} == made
    # Of each process the note that it was about to acknowledge may be there too, and no more.
    assert len(made) <= len(known) <= len(made) + KILLS


def _is_told(answer: dict[str, Any]) -> bool:
    """Whether the answer is a decision, and no error."""
    return "error" not in answer


def _decisions(memory: Memory) -> dict[str, dict[str, Any]]:
    contacts = [each.contact_id for each in memory.agent("crm").contacts()]
    found = [each for c in contacts for each in memory.contact("crm", c).decisions(limit=1000)]
    return {each.decision_id: each.to_dict() for each in found}


@ON_ANY_ONE
def test_a_store_works_on_after_its_writer_was_killed(one_of_each: EngineUnderTest) -> None:
    last = killed_while_writing(one_of_each, 0, seconds=0.05)[-1]["note"]
    contact_id = last["scope"]["contact_id"]
    with Memory.open(embedder=HashingEmbedder(), **one_of_each.settings_arguments) as memory:
        decision = memory.add_contact_note("crm", contact_id, last["text"])
        assert decision.action == "UPDATE"
        assert decision in memory.contact("crm", contact_id).decisions()
    assert halves(one_of_each) == []


@pytest.mark.slow
@ON_ANY_ONE
def test_an_import_that_is_killed_again_and_again_writes_every_line_once(
    one_of_each: EngineUnderTest, tmp_path: Path
) -> None:
    kills, chance = faults.times(2), faults.moments("an import")
    path = tmp_path / "notes.jsonl"
    lines = [
        {"agent_id": "crm", "contact_id": f"contact-{number // 200}", "text": f"Owns item{number}."}
        for number in range(200 * kills)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    for _ in range(kills):
        with Worker() as worker:
            worker.ask("open", settings=one_of_each.settings_arguments)
            worker.tell("import", path=str(path))
            while worker.answer() == 0:
                pass  # lines were read, and none was written yet
            killing = threading.Timer(chance.uniform(0, LATEST_KILL_SECONDS), worker.kill)
            killing.start()
            told = list(worker.answers())
            killing.join()
        assert "imported" not in told, "it was done before it was killed; write more notes"
        open_after_a_kill(one_of_each)
        assert halves(one_of_each) == []
    with Memory.open(embedder=HashingEmbedder(), **one_of_each.settings_arguments) as memory:
        report = memory.import_notes(path.read_text().splitlines(), source=str(path))
        assert report.resumed > 0
        assert not report.errors
        decided = Counter(each["text"] for each in _decisions(memory).values())
    assert decided == Counter(line["text"] for line in lines)
    assert halves(one_of_each) == []


@pytest.mark.slow
@pytest.mark.faults(only=True)
@pytest.mark.parametrize("act", acts.ACTS)
def test_an_act_that_is_killed_loses_nothing_it_answered_and_leaves_no_halves(
    one_of_each: EngineUnderTest, tmp_path: Path, act: str
) -> None:
    kills, chance = faults.times(1), faults.moments(act)
    settings = one_of_each.settings_arguments
    contacts = [f"priya-{number}" for number in range(kills)]
    for contact_id in contacts:  # each opened by itself: a judge that is away is soon left alone
        with acts.opened(settings) as memory:
            acts.prepare(memory, contact_id)
            known = acts.made(memory, contact_id)
        with Worker() as worker:
            given = {"settings": settings, "contact_id": contact_id, "folder": str(tmp_path)}
            worker.tell("act", name=act, **given)
            assert worker.answer() == "open"
            answers, done = worker.answers(), chance.randrange(4)
            # Some are answered before: a first call mostly plans its queries.
            told = {*itertools.islice(itertools.takewhile("done".__ne__, answers), done)}
            killing = threading.Timer(
                chance.uniform(0, LATEST_KILL_SECONDS), worker.kill, [f"at an act: {act}"]
            )
            killing.start()
            told |= {*answers} - {"done"}
            killing.join()
        acts.check(one_of_each, contact_id, known, told)


@pytest.mark.slow
@pytest.mark.faults(only=True)
def test_a_database_killed_under_its_writers_keeps_all_that_they_were_told(
    mortal_server: MortalServer,
) -> None:
    chance, engine = faults.moments("a database"), mortal_server.engine
    known: dict[str, dict[str, Any]] = {}
    for number in range(faults.times(1)):
        with contextlib.ExitStack() as stack:
            writers = [stack.enter_context(Worker()) for _ in range(3)]
            for place, writer in enumerate(writers):
                writer.ask("open", settings=engine.settings_arguments | IMPATIENT)
                writer.tell("add", notes=notes(10 * number + place))
            told = [writer.answer() for writer in writers]
            killing = threading.Timer(chance.uniform(0, 1), mortal_server.kill)
            killing.start()
            # A server that has just started again may refuse an impatient writer's first note.
            writing = [writer for writer, said in zip(writers, told, strict=True) if _is_told(said)]
            told += [each for writer in writing for each in writer.answers_until("error")]
            killing.join()
        known |= {each["decision_id"]: each for each in told if _is_told(each)}
        mortal_server.start_again()
        with Memory.open(embedder=HashingEmbedder(), **engine.settings_arguments) as memory:
            found = _decisions(memory)
        assert {key: found.get(key) for key in known} == known
        # Each writer's last note may be there too; its answer was lost with the server.
        assert len(found) <= len(known) + 3 * (number + 1)
        assert halves(engine) == []
