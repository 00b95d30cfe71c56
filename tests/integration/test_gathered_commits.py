"""What many threads commit at once goes in one transaction, and each gets its own outcome."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import neo4j
import pytest

from reconciler import Decision, Memory, Scope
from reconciler.domain.records.kinds import Action
from reconciler.errors import GraphUnavailableError, QueryError
from reconciler.ports.graph import Graph, Row
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.writing import ledger
from reconciler.service.writing.ledger import AT_ONCE_MAX, BATCH_MAX
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.commits import committed
from tests.engines import EngineUnderTest

COUNT = 12
NAMES = [f"contact-{number:02}" for number in range(COUNT)]
Happens = Callable[[list[str]], None]


class HeldGraph:
    """A real graph that lets the first commits wait, and notes the contacts of every commit.

    The first ones keep all transactions busy that are made at once, so that later ones gather.
    """

    def __init__(self, graph: Graph, held: int = AT_ONCE_MAX) -> None:
        self._graph = graph
        self._held = held
        self.arrived, self.may_go_on = threading.Semaphore(0), threading.Event()
        self.commits: list[list[str]] = []
        self.threads: list[int] = []
        self.before: Happens = lambda contacts: None
        self.after: Happens = lambda contacts: None

    def run(
        self, name: str, parameters: Mapping[str, Any], seconds_max: float | None = None
    ) -> list[Row]:
        if name != "commit_decisions":
            return self._graph.run(name, parameters, seconds_max)
        contacts = [each["contact_id"] for each in parameters["contacts"]]
        self.commits.append(contacts)
        self.threads.append(threading.get_ident())
        if len(self.commits) <= self._held:
            self.arrived.release()
            assert self.may_go_on.wait(60)
        self.before(contacts)
        rows = self._graph.run(name, parameters, seconds_max)
        self.after(contacts)
        return rows

    @property
    def gathered(self) -> list[list[str]]:
        """The commits that came after those that were held."""
        return self.commits[self._held :]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)


@pytest.fixture
def memory(one_of_each: EngineUnderTest) -> Iterator[Memory]:
    with Memory.open(embedder=HashingEmbedder(), **one_of_each.settings_arguments) as memory:
        memory.add_contact_note("crm", "first", "Prefers email")  # a server plans the commit
        yield memory


@pytest.fixture
def held(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> HeldGraph:
    patient: Any = memory._services.fact_store.graph
    graph = HeldGraph(patient.graph)
    monkeypatch.setattr(patient, "graph", graph)
    monkeypatch.setattr(ledger, "STALLED_SECONDS", 60.0)
    return graph


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(BATCH_MAX + 20) as threads:
        yield threads


def note(memory: Memory, contact_id: str) -> Decision:
    return memory.add_contact_note("crm", contact_id, "Prefers email")


def waiting(memory: Memory) -> int:
    return len(memory._services.ledger._commits._waiting)


def gathering(
    memory: Memory, held: HeldGraph, threads: ThreadPoolExecutor, names: Sequence[str] = NAMES
) -> dict[str, Future[Decision]]:
    """Write about each contact in a thread of its own; all of them wait when this returns."""
    for number in range(AT_ONCE_MAX):
        threads.submit(note, memory, f"held-{number}")
        assert held.arrived.acquire(timeout=60)
    writing = {}
    for place, name in enumerate(names, start=1):
        writing[name] = threads.submit(note, memory, name)
        until(lambda wanted=place: waiting(memory) == wanted)  # type: ignore[misc]
    return writing


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def versions(engine: EngineUnderTest) -> dict[str, int]:
    rows = raw_store.query(engine, "MATCH (c:Contact) RETURN c.contact_id, c.version")
    return {name: version for name, version in rows if name in NAMES}


def attempts(writing: dict[str, Future[Decision]]) -> dict[str, int]:
    return {name: each.result(60).timings.attempts for name, each in writing.items()}


def test_what_waits_goes_in_one_transaction(
    one_of_each: EngineUnderTest, memory: Memory, held: HeldGraph, threads: ThreadPoolExecutor
) -> None:
    writing = gathering(memory, held, threads)
    held.may_go_on.set()
    assert attempts(writing) == dict.fromkeys(NAMES, 1)
    assert held.gathered == [NAMES]
    assert versions(one_of_each) == dict.fromkeys(NAMES, 1)
    for name in NAMES:
        [recalled] = memory.contact("crm", name).recall("email")
        assert recalled.fact.fact_id == writing[name].result().fact_id


def test_a_transaction_holds_a_bounded_number_of_commits(
    memory: Memory, held: HeldGraph, threads: ThreadPoolExecutor
) -> None:
    names = [f"many-{number:02}" for number in range(BATCH_MAX + 5)]
    writing = gathering(memory, held, threads, names)
    held.may_go_on.set()
    attempts(writing)
    assert sorted(map(len, held.gathered)) == [5, BATCH_MAX]


def test_a_thread_alone_sends_its_own_and_waits_for_nothing(
    memory: Memory, held: HeldGraph
) -> None:
    held.may_go_on.set()
    for _ in range(AT_ONCE_MAX + 2):
        note(memory, "alone")
    assert held.commits == [["alone"]] * (AT_ONCE_MAX + 2)
    assert set(held.threads) == {threading.get_ident()}


def test_one_that_cannot_be_written_fails_no_other(
    one_of_each: EngineUnderTest, memory: Memory, held: HeldGraph, threads: ThreadPoolExecutor
) -> None:
    def reject(contacts: list[str]) -> None:
        if NAMES[3] in contacts:
            raise QueryError("a value that the engine rejects")

    held.before = reject
    writing = gathering(memory, held, threads)
    held.may_go_on.set()
    with pytest.raises(QueryError):
        writing.pop(NAMES[3]).result(60)
    assert attempts(writing) == dict.fromkeys(writing, 1)
    assert held.gathered[0] == NAMES
    assert sorted(held.gathered[1:]) == [[name] for name in NAMES]
    assert versions(one_of_each) == dict.fromkeys(writing, 1)


def test_a_batch_whose_answer_is_lost_is_not_written_twice(
    one_of_each: EngineUnderTest, memory: Memory, held: HeldGraph, threads: ThreadPoolExecutor
) -> None:
    def lose(contacts: list[str]) -> None:
        if contacts == NAMES:
            raise GraphUnavailableError("the line broke")

    held.after = lose
    writing = gathering(memory, held, threads)
    held.may_go_on.set()
    made = {name: each.result(60) for name, each in writing.items()}
    assert {decision.action for decision in made.values()} == {"ADD"}
    assert not any(decision.replayed for decision in made.values())
    assert versions(one_of_each) == dict.fromkeys(NAMES, 1)


def test_a_contact_that_moved_on_is_tried_again_alone(
    one_of_each: EngineUnderTest, memory: Memory, held: HeldGraph, threads: ThreadPoolExecutor
) -> None:
    moved = Scope("default", "crm", NAMES[5])

    def overtake(contacts: list[str]) -> None:
        if contacts == NAMES:
            refused = committed(moved, 0, action=Action.REJECT, fact_id=None)
            assert DecisionStore(held._graph).commit_decisions([refused])

    held.before = overtake
    writing = gathering(memory, held, threads)
    held.may_go_on.set()
    assert attempts(writing) == dict.fromkeys(NAMES, 1) | {NAMES[5]: 2}
    assert held.gathered == [NAMES, [NAMES[5]]]
    assert versions(one_of_each) == dict.fromkeys(NAMES, 1) | {NAMES[5]: 2}


def test_no_transaction_holds_two_commits_of_one_contact(
    memory: Memory, held: HeldGraph, threads: ThreadPoolExecutor
) -> None:
    gathering(memory, held, threads, [])
    scopes = [Scope("default", "crm", name) for name in ("alice", "alice", "bob")]
    refused = [committed(scope, 0, action=Action.REJECT, fact_id=None) for scope in scopes]
    write = memory._services.ledger._commits.write
    outcomes = []
    for place, commit in enumerate(refused, start=1):
        outcomes.append(threads.submit(write, commit))
        until(lambda wanted=place: waiting(memory) == wanted)  # type: ignore[misc]
    held.may_go_on.set()
    first, second, other = (each.result(60) for each in outcomes)
    assert other
    assert first != second  # two transactions are under way at once, and either may win
    assert sorted(held.gathered) == [["alice"], ["alice", "bob"]]


def test_an_interrupted_sender_strands_nobody(
    one_of_each: EngineUnderTest, memory: Memory, held: HeldGraph, threads: ThreadPoolExecutor
) -> None:
    def interrupt(contacts: list[str]) -> None:
        if contacts == NAMES:
            raise KeyboardInterrupt

    held.before = interrupt
    writing = gathering(memory, held, threads)
    held.may_go_on.set()
    with pytest.raises(KeyboardInterrupt):
        writing.pop(NAMES[0]).result(60)
    assert attempts(writing) == dict.fromkeys(writing, 1)
    assert versions(one_of_each) == dict.fromkeys(writing, 1)


@pytest.mark.parametrize("place", [0, 5], ids=["the first", "a later one"])
def test_an_interrupted_waiter_strands_nobody(
    memory: Memory,
    held: HeldGraph,
    threads: ThreadPoolExecutor,
    monkeypatch: pytest.MonkeyPatch,
    place: int,
) -> None:
    monkeypatch.setattr(ledger._Asked, "wait", _wait_briefly)
    writing = gathering(memory, held, threads)
    asked = list(memory._services.ledger._commits._waiting)[place]
    until(lambda: asked in WAITERS)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(WAITERS[asked]), ctypes.py_object(KeyboardInterrupt)
    )
    with pytest.raises(KeyboardInterrupt):
        writing.pop(NAMES[place]).result(60)
    held.may_go_on.set()
    assert attempts(writing) == dict.fromkeys(writing, 1)
    assert held.gathered == [list(writing)]


WAITERS: dict[Any, int] = {}


def _wait_briefly(asked: Any) -> None:
    WAITERS[asked] = threading.get_ident()
    time.sleep(0.01)


def test_one_that_does_not_come_back_is_overtaken(
    memory: Memory,
    held: HeldGraph,
    threads: ThreadPoolExecutor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ledger, "STALLED_SECONDS", 0.1)
    for number in range(AT_ONCE_MAX):
        threads.submit(note, memory, f"held-{number}")
        assert held.arrived.acquire(timeout=60)
    assert note(memory, "behind").timings.attempts == 1
    held.may_go_on.set()


def test_a_contact_that_another_process_keeps_locked_hangs_no_other(
    one_neo4j: EngineUnderTest, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "BATCH_SECONDS_MAX", 1.0)
    server = one_neo4j.settings_arguments["neo4j"]
    with (
        Memory.open(embedder=HashingEmbedder(), **one_neo4j.settings_arguments) as memory,
        neo4j.GraphDatabase.driver(
            server["uri"], auth=(server["username"], server["password"])
        ) as driver,
        driver.session(database=server["database"]) as session,
        session.begin_transaction() as locking,
    ):
        for name in NAMES:
            note(memory, name)
        patient: Any = memory._services.fact_store.graph
        held = HeldGraph(patient.graph)
        monkeypatch.setattr(patient, "graph", held)
        text = "MATCH (c:Contact {contact_id: $name}) SET c.locked_by = 'an operator'"
        locking.run(text, name=NAMES[0]).consume()
        writing = gathering(memory, held, threads)
        held.may_go_on.set()
        locked = writing.pop(NAMES[0])
        attempts(writing)
        assert not locked.done()
        locking.rollback()
        assert locked.result(60)
