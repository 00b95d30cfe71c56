"""A network that fails at the worst moment: each call ends in time, and its retry settles it.

Between the memory and a real Neo4j is a line that hangs up, resets, stalls or trickles: before a
write is sent, while it is made, or when it is made and the caller was not told. Afterwards the
write is there whole or not at all, and the same call again is the same write.
``test_graph_failures.py`` has the calls that write nothing.
"""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory, SourceKind, Turn, load_settings
from reconciler.domain.records.candidates import Role
from reconciler.errors import GraphUnavailableError
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.acts import JUDGE, NOT_JUDGED
from tests.bad_line import BadLine, LineFault, Moment, bad_line
from tests.engines import EngineUnderTest
from tests.http_api import PRIYA, serving_api
from tests.integration.test_crashes import WHOLE
from tests.mcp_server import granted
from tests.whole_graph import links_of, nodes_of

# Each waits for a time-out of seconds, and how long it takes depends on the machine.
pytestmark = pytest.mark.faults(only=True)

SILENCE_SECONDS = 4.0
WAITED_SECONDS_MAX = 20.0
"""The silence, what is waited for an engine that is away, and what a busy machine adds."""

SAID = [
    Turn(role=role, text=text, said_at=datetime(2026, 1, 5, 9, tzinfo=UTC))
    for role, text in ((Role.CONTACT, "I live in Pune."), (Role.AGENT, "Noted."))
]
LINES = [
    json.dumps({"contact_id": "priya", "text": text, "idempotency_key": text})
    for text in ("Likes tea.", "Owns a boat.")
]


@dataclass(frozen=True)
class Write:
    """A call that writes.

    Attributes:
        statement: a part of what it sends.
        make: the call, given what was prepared.
        count: how many of its writes there are.
        whole: how many there are after it.
        prepare: what has to be there first.
        fails: the error that its caller gets.
        told: its words.
    """

    statement: str
    make: Callable[[Memory, Any], object]
    count: Callable[[Memory], int]
    whole: int = 1
    prepare: Callable[[Memory], object] = lambda memory: None
    fails: type[Exception] = GraphUnavailableError
    told: str = r"Neo4j at bolt://127\.0\.0\.1:\d+ "


class ProblemError(Exception):
    """The API answered with a problem: its status, type, ``Retry-After`` and body."""


def decisions(memory: Memory) -> int:
    return len(memory.contact("crm", "priya").decisions(limit=1000))


def held(memory: Memory) -> str:
    told = memory.add_contact_note(
        "crm", "priya", "Lives in Goa.", source_kind=SourceKind.TOOL_OUTPUT
    )
    return told.decision_id


def house_and_flat(memory: Memory) -> list[str]:
    texts = ("Bought a new house.", "Rents a house from Tom Meyer.")
    notes = [memory.add_contact_note("crm", "priya", text) for text in texts[::-1]]
    return [str(each.fact_id) for each in notes[::-1]]


def known(memory: Memory) -> str | None:
    return memory.add_contact_note("crm", "priya", "Lives in Goa.").fact_id


def forget(memory: Memory, fact_id: Any) -> object:
    return memory.contact("crm", "priya").forget(
        fact_id=fact_id, by="contact", reason="I asked for it."
    )


def not_judged(memory: Memory) -> None:
    """Two notes of which a judge was to be asked, and was away; it is back."""
    JUDGE.is_away = True
    for text in NOT_JUDGED[:2]:
        memory.add_contact_note("crm", "priya", text)
    JUDGE.is_away = False


def in_dispute(memory: Memory) -> str | None:
    about = memory.contact("crm", "priya")
    made = about.note("Lives in Pune.", attribute="city", value="Pune")
    about.note("Lives in Goa.", attribute="city", value="Goa", source_kind="operator")
    assert about.disputes()
    return made.fact_id


def end(memory: Memory, fact_id: Any) -> str:
    about = memory.contact("crm", "priya")
    return about.revoke(fact_id, by="anna", reason="Moved away.").decision_id


def amend(memory: Memory, **which: Any) -> object:
    about = memory.contact("crm", "priya")
    return about.amend("Lives in Agra.", **which, by="anna", reason="Heard wrong.")


def note_over_http(memory: Memory, _: Any) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        serving_api(memory, Path(folder)) as api,
        api.client(granted()) as client,
    ):
        headers = {"Idempotency-Key": "a key"}
        answer = client.post(f"{PRIYA}/notes", json={"text": "Keeps bees."}, headers=headers)
    if not answer.is_success:
        form = [answer.headers.get(name) for name in ("Content-Type", "Retry-After")]
        raise ProblemError(answer.status_code, *form, answer.text)


COMMIT = "UNWIND $given.contacts AS each"
WRITES = {
    "a note": Write(
        COMMIT,
        lambda memory, _: memory.add_contact_note(
            "crm", "priya", "Lives in Pune.", idempotency_key="a key"
        ),
        decisions,
    ),
    "a yes": Write(
        COMMIT,
        lambda memory, held_id: memory.contact("crm", "priya").confirm(held_id, "contact"),
        lambda memory: decisions(memory) - 1,
        prepare=held,
    ),
    "an import": Write(
        COMMIT,
        lambda memory, _: memory.import_notes(LINES, agent_id="crm"),
        decisions,
        whole=2,
    ),
    "a hand-over": Write(
        "MERGE (job:Job",
        lambda memory, _: memory.contact("crm", "priya").submit_session("chat", SAID),
        lambda memory: len(memory.contact("crm", "priya").jobs()),
    ),
    "a relation": Write(
        COMMIT,
        lambda memory, ids: memory.contact("crm", "priya").relate(
            ids[0], replaces=[ids[1]], idempotency_key="a key"
        ),
        lambda memory: decisions(memory) - 2,
        prepare=house_and_flat,
    ),
    "an erasure": Write(
        "CREATE (erasure:Erasure)",
        forget,
        lambda memory: len(memory.contact("crm", "priya").erasures()),
        prepare=known,
    ),
    "a rejudgement": Write(
        COMMIT,
        lambda memory, _: list(memory.contact("crm", "priya").rejudge()),
        lambda memory: decisions(memory) - 2,
        prepare=not_judged,
    ),
    "an amendment": Write(
        COMMIT,
        lambda memory, fact_id: amend(memory, fact_id=fact_id, value="Agra"),
        lambda memory: decisions(memory) - 1,
        prepare=known,
    ),
    "an amendment of an attribute": Write(
        COMMIT,
        lambda memory, _: amend(memory, attribute="city", value="Agra"),
        lambda memory: decisions(memory) - 2,
        prepare=in_dispute,
    ),
    "a settled dispute": Write(
        COMMIT,
        lambda memory, fact_id: memory.contact("crm", "priya").resolve(
            fact_id, by="contact", reason="I live there."
        ),
        lambda memory: decisions(memory) - 2,
        prepare=in_dispute,
    ),
    "an end": Write(COMMIT, end, lambda memory: decisions(memory) - 1, prepare=known),
    "an undoing": Write(
        COMMIT,
        lambda memory, decision_id: memory.contact("crm", "priya").revert(
            decision_id, by="anna", reason="Still lives there."
        ),
        lambda memory: decisions(memory) - 2,
        prepare=lambda memory: end(memory, known(memory)),
    ),
    "a note over the API": Write(
        COMMIT,
        note_over_http,
        decisions,
        fails=ProblemError,
        told=r"^\(503, 'application/problem\+json', '1', '(?!.*bolt:).*The same call may be sent "
        "again a little later; it is carried out once at most",
    ),
}
EVERY_WRITE = pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)


def opened(server: dict[str, Any], **reconcile: float) -> Memory:
    settings = {"graph": "neo4j", "neo4j": server, "reconcile": reconcile}
    given = load_settings(**settings, arbiter={"reach": 0.4})
    return Memory.open(given, embedder=HashingEmbedder(16), arbiter=JUDGE)


@pytest.fixture(autouse=True)
def judge_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a note is decided by the rule alone; a write that needs the judge calls it back."""
    monkeypatch.setattr(JUDGE, "is_away", True)


@pytest.fixture
def server(one_neo4j: EngineUnderTest) -> dict[str, Any]:
    """How the server itself is reached; its store is made, and a first slow write is over."""
    server: dict[str, Any] = one_neo4j.settings_arguments["neo4j"]
    with opened(server) as memory:
        memory.add_contact_note("desk", "tom", "Likes tea.")
    return server


@pytest.fixture
def sound(server: dict[str, Any]) -> Iterator[Memory]:
    """A memory on the server itself."""
    with opened(server) as memory:
        yield memory


@pytest.fixture
def line(server: dict[str, Any]) -> Iterator[BadLine]:
    with bad_line(server["uri"]) as line:
        yield line


@pytest.fixture
def impatient(server: dict[str, Any], line: BadLine) -> dict[str, Any]:
    """How the server is reached over the line, by a caller that soon gives up on a silent one."""
    patience = {"silence_timeout_seconds": SILENCE_SECONDS, "connect_timeout_seconds": 2.0}
    return server | patience | {"uri": line.uri}


def fails_in_time(write: Write, memory: Memory, prepared: Any) -> None:
    started = time.monotonic()
    with pytest.raises(write.fails, match=write.told):
        write.make(memory, prepared)
    assert time.monotonic() - started < WAITED_SECONDS_MAX


def halves(engine: EngineUnderTest) -> list[str]:
    """Which kinds of half-written things there are."""
    lacking = {
        name: f"MATCH {pattern.split(')')[0]}) WHERE NOT EXISTS {{ MATCH {pattern} }} RETURN 1"
        for name, pattern in WHOLE.items()
    }
    return [name for name, text in lacking.items() if raw_store.query(engine, text)]


def check(
    write: Write,
    moment: Moment,
    trouble: LineFault,
    *,
    line: BadLine,
    impatient: dict[str, Any],
    sound: Memory,
) -> None:
    """The write fails in time, is there whole or not at all, and once after the same call again."""
    prepared = write.prepare(sound)
    with opened(impatient, unavailable_seconds_max=0.3) as memory:
        line.fail_at(write.statement, moment, trouble)
        fails_in_time(write, memory, prepared)
        assert line.is_met.is_set()
        there = {Moment.BEFORE: {0}, Moment.AFTER: {write.whole}}.get(moment, {0, write.whole})
        assert write.count(sound) in there
        line.mend()
        write.make(memory, prepared)
    assert write.count(sound) == write.whole


@EVERY_WRITE
def test_a_write_whose_answer_is_lost_is_settled_by_the_same_call_again(
    write: Write,
    line: BadLine,
    impatient: dict[str, Any],
    sound: Memory,
    one_neo4j: EngineUnderTest,
) -> None:
    check(write, Moment.AFTER, LineFault.RESETS, line=line, impatient=impatient, sound=sound)
    assert halves(one_neo4j) == []


@pytest.mark.faults(only=True)
@EVERY_WRITE
@pytest.mark.parametrize(
    ("moment", "trouble"),
    [
        (Moment.BEFORE, LineFault.HANGS_UP),
        (Moment.BEFORE, LineFault.RESETS),
        (Moment.BEFORE, LineFault.STALLS),
        (Moment.BEFORE, LineFault.TRICKLES),
        (Moment.DURING, LineFault.HANGS_UP),
        (Moment.DURING, LineFault.RESETS),
        (Moment.AFTER, LineFault.HANGS_UP),
        (Moment.AFTER, LineFault.STALLS),
        (Moment.AFTER, LineFault.TRICKLES),
    ],
)
def test_so_is_one_that_the_line_fails_at_in_any_way_and_at_any_moment(
    write: Write,
    moment: Moment,
    trouble: LineFault,
    line: BadLine,
    impatient: dict[str, Any],
    sound: Memory,
    one_neo4j: EngineUnderTest,
) -> None:
    check(write, moment, trouble, line=line, impatient=impatient, sound=sound)
    assert halves(one_neo4j) == []


@pytest.mark.parametrize("trouble", [LineFault.STALLS, LineFault.TRICKLES])
def test_a_note_whose_answer_does_not_come_is_given_up_in_time(
    trouble: LineFault, line: BadLine, impatient: dict[str, Any], sound: Memory
) -> None:
    check(WRITES["a note"], Moment.AFTER, trouble, line=line, impatient=impatient, sound=sound)


@EVERY_WRITE
def test_a_line_that_fails_for_a_moment_is_not_noticed_and_writes_nothing_twice(
    write: Write, line: BadLine, impatient: dict[str, Any], sound: Memory
) -> None:
    def mend() -> None:
        assert line.is_met.wait(60)
        time.sleep(0.1)
        line.mend()

    prepared = write.prepare(sound)
    line.fail_at(write.statement, Moment.AFTER, LineFault.HANGS_UP)
    mending = threading.Thread(target=mend)
    mending.start()
    with opened(impatient, unavailable_seconds_max=60.0) as memory:
        write.make(memory, prepared)
    mending.join()
    assert write.count(sound) == write.whole


@EVERY_WRITE
def test_a_write_that_arrives_after_the_same_call_again_changes_nothing(
    write: Write,
    line: BadLine,
    impatient: dict[str, Any],
    sound: Memory,
    one_neo4j: EngineUnderTest,
) -> None:
    """The line is slow, and not broken: what was given up is sent all the same, later."""
    prepared = write.prepare(sound)
    line.fail_at(write.statement, Moment.BEFORE, LineFault.HOLDS_BACK)
    hasty = impatient | {"query_timeout_seconds": 2.0}
    with opened(hasty, unavailable_seconds_max=0.3) as memory:
        fails_in_time(write, memory, prepared)
    write.make(sound, prepared)
    before = nodes_of(one_neo4j), links_of(one_neo4j)
    line.let_go()
    assert (nodes_of(one_neo4j), links_of(one_neo4j)) == before
