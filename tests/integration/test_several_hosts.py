"""Workers on several hosts, of which one is cut off in the middle of a job.

The hosts are network namespaces of this machine with links of their own; every process on them is
the command that an operator runs.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory, Turn
from reconciler.domain.records.kinds import JobState
from tests import neo4j_server, raw_store
from tests.conftest import CHOICE, cannot_run
from tests.engines import OWN_LINES, EngineUnderTest, embedded_engine
from tests.hosts import Host, Network, NoNetworkError
from tests.neo4j_artefacts import JavaParts, prepare

LEASE_SECONDS = 4
SETTINGS = {
    # Each host has files of its own; with another key it would not know what it sees again.
    "RECONCILER_GATE__HASH_KEY": "the same on all hosts",
    "RECONCILER_JOBS__LEASE_SECONDS": str(LEASE_SECONDS),
    "RECONCILER_JOBS__POLL_SECONDS": "0.2",
    "RECONCILER_NEO4J__SILENCE_TIMEOUT_SECONDS": "4",
}
THINGS = ["kettle", "bicycle", "sofa", "piano", "garden", "kitchen", "boat", "office", "tent"]
THINGS += ["guitar", "mirror", "ladder", "desk", "lamp", "carpet"]
COLOURS = ("red", "green", "white", "black")
TALKS = 6
SUBMIT = """
import json, sys
from reconciler import Memory, Turn
with Memory.open() as memory:
    for contact_id, texts in json.loads(sys.argv[1]):
        turns = [Turn(role="contact", text=text) for text in texts]
        contact = memory.contact("crm", contact_id)
        print(contact.submit_session(f"talk with {contact_id}", turns))
"""

pytestmark = [pytest.mark.faults(only=True), pytest.mark.timeout(600)]


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    try:
        with Network(tmp_path) as network:
            yield network
    except NoNetworkError as error:
        cannot_run(f"no hosts can be made here: {error}")


@pytest.fixture
def server(network: Network) -> Iterator[EngineUnderTest]:
    names = [name for name in CHOICE.one_of_each if name in OWN_LINES]
    parts = prepare(OWN_LINES[names[-1]], neo4j_server.say) if names and not CHOICE.uri else None
    if not isinstance(parts, JavaParts):
        pytest.skip("ENGINES chose no Neo4j of our own, which could listen on the hosts' network")
    with neo4j_server.start_prepared(parts, host=network.address) as started:
        own = {"uri": started.uri, "username": started.username, "password": started.password}
        yield EngineUnderTest("neo4j", {"graph": "neo4j", "neo4j": own | {"database": "neo4j"}})


def talks() -> list[tuple[str, list[str]]]:
    """With each contact one: the first is long, and takes a worker a while."""
    return [
        (
            f"contact-{number}",
            [
                f"Remember that my {thing} is {COLOURS[(number + place) % len(COLOURS)]}."
                for place, thing in enumerate(THINGS[: 3 if number else None])
            ],
        )
        for number in range(TALKS)
    ]


def environment_of(engine: EngineUnderTest) -> dict[str, str]:
    server = engine.settings_arguments["neo4j"]
    return SETTINGS | {f"NEO4J_{name.upper()}": value for name, value in server.items()}


def submitted(host: Host, engine: EngineUnderTest, some: list[tuple[str, list[str]]]) -> list[str]:
    """The jobs of sessions that a host handed over."""
    process = host.start(environment_of(engine), "-c", SUBMIT, json.dumps(some))
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.split()


@contextmanager
def worker(host: Host, engine: EngineUnderTest) -> Iterator[subprocess.Popen[str]]:
    """A worker on a host, until the block ends."""
    with host.start(environment_of(engine), "-m", "reconciler", "worker", "--json") as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(60)
            finally:
                process.kill()


def wait_for(outcome: Callable[[], bool], seconds_max: float = 180) -> None:
    deadline = time.monotonic() + seconds_max
    while not outcome():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def count(engine: EngineUnderTest, what: str, **given: Any) -> int:
    [[found]] = raw_store.query(engine, f"MATCH {what} RETURN count(*)", **given)
    return int(found)


def done(engine: EngineUnderTest) -> int:
    return count(engine, "(:Job {state: 'done'})")


def remembered(engine: EngineUnderTest) -> Counter[tuple[Any, ...]]:
    """Every decision and every fact of every contact, and how often it is there."""
    texts = """
    MATCH (x:Decision)-[:`FOR`]->(c:Contact) RETURN c.contact_id, x.action, x.text
    UNION ALL
    MATCH (x:Fact)-[:ABOUT]->(c:Contact) RETURN c.contact_id, x.state AS action, x.text"""
    texts = texts.replace("x.action,", "x.action AS action,", 1)
    return Counter(map(tuple, raw_store.query(engine, texts)))


def undisturbed(folder: Path) -> Counter[tuple[Any, ...]]:
    """What the same sessions leave behind on one host that is never cut off."""
    engine = embedded_engine(folder)
    with Memory.open(**engine.settings_arguments) as memory:
        for contact_id, texts in talks():
            turns = [Turn(role="contact", text=text) for text in texts]
            memory.contact("crm", contact_id).submit_session(f"talk with {contact_id}", turns)
        assert {job.state for job in memory.drain()} == {JobState.DONE}
    return remembered(engine)


def test_what_a_host_that_was_cut_off_had_begun_is_done_once_by_another(
    network: Network, server: EngineUnderTest, tmp_path: Path
) -> None:
    cut_off, other, desk = network.host(), network.host(), network.host()
    [long_job] = submitted(desk, server, talks()[:1])
    with worker(cut_off, server) as lonely:
        wait_for(lambda: count(server, "(:Decision)") >= 4)
        cut_off.cut()
        assert count(server, "(:Job {job_id: $id, state: 'running'})", id=long_job) == 1
        submitted(desk, server, talks()[1:-1])
        with worker(other, server):
            wait_for(lambda: done(server) == TALKS - 1)
        assert count(server, "(job:Job {job_id: $id}) WHERE job.attempts > 1", id=long_job) == 1
        cut_off.mend()
        [last_job] = submitted(desk, server, talks()[-1:])
        assert lonely.stdout is not None
        reported = next(line for line in lonely.stdout if last_job in line)  # it works again
    assert json.loads(reported)["state"] == "done"
    assert remembered(server) == undisturbed(tmp_path)
