"""Many writers at once, in processes and in threads: nothing is lost, doubled or forked.

Processes race on each line of Neo4j; what threads and chosen moments add lies on this side of the
connection, and one line shows it.

What chance brings about rarely, another writer at the worst moment or an answer that is lost, is
brought about on purpose at the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from itertools import cycle
from threading import Barrier
from typing import Any

import pytest

from reconciler import Decision, Memory
from reconciler.bootstrap.chosen_models import open_graph
from reconciler.domain.records.kinds import Action
from reconciler.domain.records.notes import Note as NewNote, Scope
from reconciler.domain.records.policies import ReconcilePolicy, RetryPolicy
from reconciler.errors import GraphUnavailableError
from reconciler.ports.graph import Graph, Row
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.fact_store import FactStore
from reconciler.service.stores.patient_graph import PatientGraph
from reconciler.service.writing.forgotten import Withholding
from reconciler.service.writing.ledger import Ledger
from reconciler.service.writing.memory_reconciler import MemoryReconciler
from reconciler.service.writing.neighbourhoods import Neighbourhoods
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.commits import committed
from tests.engines import EngineUnderTest, wipe_schema
from tests.submissions import admitted
from tests.worker import Worker

PROCESSES = 8
THREADS = 32
ALL_CACHED, FEW_CACHED, NONE_CACHED = 50_000, 10, 0
"""Facts that a process keeps: more than there are, those of two small contacts, none."""

CONTACTS = [f"contact-{number}" for number in range(5)]

ALICE = Scope("default", "crm", "alice")
NOON = datetime(2025, 3, 9, 12, tzinfo=UTC)

Note = dict[str, Any]
Moment = tuple[str, str, int]


def note(text: str, contact_id: str = "alice", **given: Any) -> Note:
    return {"contact_id": contact_id, "text": text, **given}


DIFFERENT_NOTES = [note(f"word{number}", CONTACTS[number % 5]) for number in range(120)]


@pytest.fixture(scope="module")
def processes() -> Iterator[list[Worker]]:
    """Processes that wait for commands; they outlive a test, not what they opened in it."""
    with ExitStack() as stack:
        yield [stack.enter_context(Worker()) for _ in range(PROCESSES)]


def opened(engine: EngineUnderTest) -> Memory:
    return Memory.open(embedder=HashingEmbedder(), **engine.settings_arguments)


def in_processes(
    workers: list[Worker],
    engine: EngineUnderTest,
    shares: list[list[Note]],
    cached: Sequence[int] = (ALL_CACHED,),
) -> list[dict[str, Any]]:
    """What the processes were answered, all of them having started at once.

    Each keeps as many facts as one of ``cached`` says, in turn.
    """
    opened(engine).close()
    settings = [_cached(engine, facts_max) for _, facts_max in zip(workers, cycle(cached))]
    _all(workers, [{"command": "open", "settings": each} for each in settings])
    for worker, share in zip(workers, shares, strict=True):
        worker.tell("add", notes=share)
    answers = [w.answer() for w, share in zip(workers, shares, strict=True) for _ in share]
    _all(workers, [{"command": "close"}] * len(workers))
    return answers


def _all(workers: list[Worker], commands: list[dict[str, Any]]) -> list[Any]:
    for worker, command in zip(workers, commands, strict=True):
        worker.tell(**command)
    return [worker.answer() for worker in workers]


def _cached(engine: EngineUnderTest, facts_max: int) -> dict[str, Any]:
    return engine.settings_arguments | {"reconcile": {"cached_facts_max": facts_max}}


def in_threads(
    engine: EngineUnderTest, shares: list[list[Note]], cached: int = ALL_CACHED
) -> list[Decision]:
    """What the threads were answered, all of them having started at once."""
    start = Barrier(len(shares))

    def add(share: list[Note]) -> list[Decision]:
        start.wait(60)
        return [memory.add_contact_note("crm", **each) for each in share]

    settings = _cached(engine, cached)
    with (
        Memory.open(embedder=HashingEmbedder(), **settings) as memory,
        ThreadPoolExecutor(len(shares)) as threads,
    ):
        return [decision for made in threads.map(add, shares) for decision in made]


def shared_out(notes: list[Note], count: int) -> list[list[Note]]:
    return [notes[number::count] for number in range(count)]


def assert_one_live_fact_and_one_chain(engine: EngineUnderTest, calls: int) -> None:
    with opened(engine) as memory:
        [live] = memory.contact("crm", "alice").recall(limit=100)
        chains = memory.contact("crm", "alice").history()
        decisions = memory.contact("crm", "alice").decisions(limit=1000)
    [chain] = chains
    assert Counter(str(each.action) for each in decisions) == {"ADD": 1, "UPDATE": calls - 1}
    assert len(chain.facts) == len(chain.supersessions) + 1 == calls
    assert [fact.is_live for fact in chain.facts] == [True] + [False] * (calls - 1)
    assert (live.fact.fact_id, live.fact.observations) == (chain.facts[0].fact_id, calls)
    assert [fact.observations for fact in chain.facts] == list(range(calls, 0, -1))
    assert versions(engine) == {"alice": calls}
    assert forks(engine) == []


def assert_nothing_lost(engine: EngineUnderTest, notes: list[Note]) -> None:
    with opened(engine) as memory:
        made = [each for c in CONTACTS for each in memory.contact("crm", c).decisions(limit=1000)]
        live = [each for c in CONTACTS for each in memory.contact("crm", c).recall(limit=1000)]
    texts = sorted(each["text"] for each in notes)
    assert sorted(each.text for each in made) == texts
    assert sorted(each.fact.text for each in live) == texts
    assert versions(engine) == Counter(each["contact_id"] for each in notes)


def versions(engine: EngineUnderTest) -> dict[str, int]:
    rows = raw_store.query(engine, "MATCH (c:Contact) RETURN c.contact_id, c.version")
    return dict(rows)


def forks(engine: EngineUnderTest) -> list[list[Any]]:
    """Facts that more than one fact superseded, or that superseded more than one."""
    links = ("(fact:Fact)<-[:SUPERSEDES]-(other:Fact)", "(fact:Fact)-[:SUPERSEDES]->(other:Fact)")
    counted = "MATCH {} WITH fact, count(other) AS others WHERE others > 1 RETURN fact.text"
    return [row for link in links for row in raw_store.query(engine, counted.format(link))]


# Processes


@pytest.mark.slow
def test_processes_that_write_one_note_at_once_leave_one_live_fact(
    neo4j_engine: EngineUnderTest, processes: list[Worker]
) -> None:
    shares = [[note("Prefers email")] * 2] * PROCESSES
    answers = in_processes(processes, neo4j_engine, shares)
    assert [answer for answer in answers if "error" in answer] == []
    assert_one_live_fact_and_one_chain(neo4j_engine, calls=2 * PROCESSES)


@pytest.mark.slow
def test_processes_that_write_different_notes_at_once_lose_none(
    neo4j_engine: EngineUnderTest, processes: list[Worker]
) -> None:
    shares = shared_out(DIFFERENT_NOTES, PROCESSES)
    answers = in_processes(processes, neo4j_engine, shares, [FEW_CACHED])
    assert [answer for answer in answers if "error" in answer] == []
    assert_nothing_lost(neo4j_engine, DIFFERENT_NOTES)


def _said_by(process: int, number: int) -> list[Note]:
    town = {"attribute": "city", "value": f"town{process}"}
    return [
        note(f"word{process}{number}"),
        note("Prefers email"),
        note(f"Lives in town{process}", **town),
    ]


def test_processes_see_what_the_others_wrote_whatever_they_keep(
    neo4j_engine: EngineUnderTest, processes: list[Worker]
) -> None:
    """Each says what is new, what the others say too, and what ends what they said."""
    shares = [[each for number in range(3) for each in _said_by(p, number)] for p in range(4)]
    cached = [ALL_CACHED, ALL_CACHED, FEW_CACHED, NONE_CACHED]
    answers = in_processes(processes[:4], neo4j_engine, shares, cached)
    assert [answer for answer in answers if "error" in answer] == []
    with opened(neo4j_engine) as memory:
        live = {
            each.fact.text: each.fact for each in memory.contact("crm", "alice").recall(limit=99)
        }
        ended = [f for chain in memory.contact("crm", "alice").history() for f in chain.facts[1:]]
    words = {f"word{process}{number}" for process in range(4) for number in range(3)}
    [city] = live.keys() - words - {"Prefers email"}
    assert (len(live), city.startswith("Lives in town")) == (14, True)
    assert live["Prefers email"].observations == 12
    assert Counter(fact.text == "Prefers email" for fact in ended) == {True: 11, False: 11}
    assert versions(neo4j_engine) == {"alice": 36}


def test_processes_that_use_one_key_at_once_make_one_decision(
    neo4j_engine: EngineUnderTest, processes: list[Worker]
) -> None:
    shares = [[note("Prefers email", idempotency_key="key")]] * PROCESSES
    answers = in_processes(processes, neo4j_engine, shares, [NONE_CACHED])
    assert [answer for answer in answers if "error" in answer] == []
    assert len({answer["decision_id"] for answer in answers}) == 1
    assert sorted(answer["replayed"] for answer in answers) == [False] + [True] * 7
    assert versions(neo4j_engine) == {"alice": 1}


def test_processes_may_open_an_empty_store_at_once(
    neo4j_engine: EngineUnderTest, processes: list[Worker]
) -> None:
    wipe_schema(neo4j_engine)
    settings = {"command": "open", "settings": neo4j_engine.settings_arguments}
    assert _all(processes, [settings] * PROCESSES) == ["open"] * PROCESSES
    assert _all(processes, [{"command": "close"}] * PROCESSES) == ["closed"] * PROCESSES
    assert len(raw_store.query(neo4j_engine, "MATCH (store:Store) RETURN store")) == 1


# Threads


@pytest.mark.slow
def test_threads_that_write_one_note_at_once_leave_one_live_fact(
    one_of_each: EngineUnderTest,
) -> None:
    in_threads(one_of_each, [[note("Prefers email")]] * THREADS)
    assert_one_live_fact_and_one_chain(one_of_each, calls=THREADS)


@pytest.mark.slow
def test_threads_that_write_different_notes_at_once_lose_none(one_of_each: EngineUnderTest) -> None:
    notes = DIFFERENT_NOTES[: 3 * THREADS]
    in_threads(one_of_each, shared_out(notes, THREADS), FEW_CACHED)
    assert_nothing_lost(one_of_each, notes)


def test_threads_that_use_one_key_at_once_make_one_decision(one_of_each: EngineUnderTest) -> None:
    shares = [[note("Prefers email", idempotency_key="key")]] * THREADS
    decisions = in_threads(one_of_each, shares, NONE_CACHED)
    assert len({each.decision_id for each in decisions}) == 1
    assert sorted(each.replayed for each in decisions) == [False] + [True] * (THREADS - 1)
    assert versions(one_of_each) == {"alice": 1}


def test_threads_may_read_while_others_write(one_of_each: EngineUnderTest) -> None:
    def write(memory: Memory) -> None:
        for number in range(10):
            memory.add_contact_note("crm", "alice", f"word{number}")

    def read(memory: Memory) -> None:
        for _ in range(10):
            texts = {
                each.fact.text for each in memory.contact("crm", "alice").recall("word1", limit=99)
            }
            known = {
                f.text for chain in memory.contact("crm", "alice").history() for f in chain.facts
            }
            assert texts <= known

    calls: list[Callable[[Memory], None]] = [write, read, read, read]
    with opened(one_of_each) as memory, ThreadPoolExecutor(len(calls)) as threads:
        for future in [threads.submit(call, memory) for call in calls]:
            future.result()
        assert len(memory.contact("crm", "alice").recall(limit=99)) == 10


# On purpose


class DisturbedGraph:
    """A real graph to which something happens before or after a chosen query."""

    def __init__(
        self, graph: Graph, moments: Sequence[Moment], happens: Callable[[], None]
    ) -> None:
        self._graph = graph
        self._moments = list(moments)
        self._happens = happens
        self._calls: Counter[str] = Counter()

    def run(
        self, name: str, parameters: Mapping[str, Any], seconds_max: float | None = None
    ) -> list[Row]:
        self._calls[name] += 1
        if ("before", name, self._calls[name]) in self._moments:
            self._happens()
        rows = self._graph.run(name, parameters, seconds_max)
        if ("after", name, self._calls[name]) in self._moments:
            self._happens()
        return rows

    def begin(self, name: str, parameters: Mapping[str, Any]) -> Callable[[], list[Row]]:
        rows = self.run(name, parameters)
        return lambda: rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)


class NotingGraph:
    """A real graph that notes what it is asked."""

    def __init__(self, graph: Graph, seen: list[str]) -> None:
        self._graph = graph
        self._seen = seen

    def run(
        self, name: str, parameters: Mapping[str, Any], seconds_max: float | None = None
    ) -> list[Row]:
        self._seen.append(name)
        return self._graph.run(name, parameters, seconds_max)

    def begin(self, name: str, parameters: Mapping[str, Any]) -> Callable[[], list[Row]]:
        self._seen.append(name)
        return self._graph.begin(name, parameters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)


@pytest.fixture
def graph(one_of_each: EngineUnderTest) -> Iterator[Graph]:
    """The engine, with a store that is ready for the hashing embedder."""
    opened(one_of_each).close()
    with closing(open_graph(load_settings(**one_of_each.settings_arguments))) as graph:
        yield graph


RETRIES = RetryPolicy(attempts_max=9, unavailable_seconds_max=60)


def _nothing_is_withheld() -> Withholding:
    raise AssertionError("nothing was forgotten here")


class Writer:
    """What writes in a process of its own; it keeps no neighbourhood unless it may."""

    def __init__(self, graph: Graph, facts_max: int = 0) -> None:
        patient = PatientGraph(graph, RETRIES, GraphUnavailableError)
        fact_store, decision_store = FactStore(patient), DecisionStore(patient)
        embedder = HashingEmbedder()
        ledger = Ledger(
            decision_store=decision_store,
            neighbourhoods=Neighbourhoods(fact_store, embedder.model_id, facts_max),
            retry_policy=RETRIES,
            clock=lambda: NOON,
            withholding=_nothing_is_withheld,
        )
        self._reconciler = MemoryReconciler(
            fact_store=fact_store,
            decision_store=decision_store,
            ledger=ledger,
            embedder=embedder,
            arbitration=None,
            policy=ReconcilePolicy(),
            attempts_max=RETRIES.attempts_max,
            clock=lambda: NOON,
        )

    def remember(self, text: str, key: str | None = None) -> Decision:
        said = NewNote(scope=ALICE, text=text, said_at=NOON, idempotency_key=key)
        return self._reconciler.reconcile(admitted(said))


def remember(graph: Graph, text: str, key: str | None = None) -> Decision:
    return Writer(graph).remember(text, key)


def live_facts(graph: Graph) -> list[tuple[str, int]]:
    facts = FactStore(graph).list_facts(ALICE)
    return sorted((fact.text, fact.observations) for fact in facts if fact.is_live)


@pytest.mark.parametrize(
    ("already_known", "moment"),
    [
        ([], ("before", "list_neighbourhood", 1)),
        ([], ("after", "list_neighbourhood", 1)),
        ([], ("after", "find_contact_version", 1)),
        ([], ("before", "commit_decisions", 1)),
        (["Lives in Pune"], ("before", "list_neighbourhood", 1)),
        (["Lives in Pune"], ("after", "list_neighbourhood", 1)),
        (["Lives in Pune"], ("before", "commit_decisions", 1)),
    ],
)
def test_a_note_that_another_writes_in_the_meantime_is_not_missed(
    graph: Graph, already_known: list[str], moment: Moment
) -> None:
    for text in already_known:
        remember(graph, text)
    disturbed = DisturbedGraph(graph, [moment], lambda: remember(graph, "Prefers email"))
    remember(disturbed, "Prefers email")
    assert live_facts(graph) == [*((text, 1) for text in already_known), ("Prefers email", 2)]
    assert len(DecisionStore(graph).list_decisions([ALICE], 9)) == 2 + len(already_known)


@pytest.mark.parametrize("look", [1, 2])
def test_a_note_that_another_writes_about_a_contact_without_facts_is_not_missed(
    graph: Graph, look: int
) -> None:
    refused = committed(ALICE, 0, action=Action.REJECT, fact_id=None)
    assert DecisionStore(graph).commit_decisions([refused])
    moments = [("after", "list_neighbourhood", look)]
    disturbed = DisturbedGraph(graph, moments, lambda: remember(graph, "Prefers email"))
    remember(disturbed, "Prefers email")
    assert live_facts(graph) == [("Prefers email", 2)]


def test_a_note_that_another_wrote_since_the_contact_was_cached_is_not_missed(
    graph: Graph,
) -> None:
    caching = Writer(graph, facts_max=100)
    caching.remember("Drinks tea")
    remember(graph, "Prefers email")
    decision = caching.remember("Prefers email")
    assert (decision.action, decision.timings.attempts) == ("UPDATE", 2)
    assert live_facts(graph) == [("Drinks tea", 1), ("Prefers email", 2)]


def test_a_cached_contact_is_written_about_without_a_look(graph: Graph) -> None:
    seen: list[str] = []
    watched = NotingGraph(graph, seen)
    caching = Writer(watched, facts_max=100)
    caching.remember("Drinks tea")
    seen.clear()
    caching.remember("Lives in Pune")
    assert seen == ["commit_decisions"]


def test_a_cached_fact_that_another_ended_is_not_superseded_again(graph: Graph) -> None:
    caching = Writer(graph, facts_max=100)
    caching.remember("Prefers email")
    remember(graph, "Prefers email")
    caching.remember("Prefers email")
    assert live_facts(graph) == [("Prefers email", 3)]
    assert len(FactStore(graph).list_supersessions(ALICE)) == 2


def test_a_cached_contact_is_forgotten_when_the_line_breaks_after_a_commit(graph: Graph) -> None:
    disturbed = DisturbedGraph(graph, [("after", "commit_decisions", 2)], line_breaks)
    caching = Writer(disturbed, facts_max=100)
    caching.remember("Prefers email")
    caching.remember("Prefers email")
    assert caching.remember("Prefers email").timings.attempts == 1
    assert live_facts(graph) == [("Prefers email", 3)]


def line_breaks() -> None:
    raise GraphUnavailableError("the line broke")


@pytest.mark.parametrize(
    "moments",
    [
        [("before", "commit_decisions", 1)],
        [("after", "commit_decisions", 1)],
        [("before", "commit_decisions", 1), ("after", "commit_decisions", 2)],
        [("after", "commit_decisions", 1), ("before", "find_decisions", 1)],
    ],
)
def test_a_commit_whose_answer_was_lost_is_not_made_twice(
    graph: Graph, moments: list[Moment]
) -> None:
    decision = remember(DisturbedGraph(graph, moments, line_breaks), "Prefers email")
    assert (decision.action, decision.replayed) == ("ADD", False)
    [stored] = DecisionStore(graph).list_decisions([ALICE], 9)
    assert stored == decision
    assert live_facts(graph) == [("Prefers email", 1)]


def test_a_key_whose_first_answer_was_lost_is_no_replay(graph: Graph) -> None:
    moments = [("after", "commit_decisions", 1)]
    decision = remember(DisturbedGraph(graph, moments, line_breaks), "Prefers email", key="key")
    assert not decision.replayed
    assert remember(graph, "Prefers email", key="key").replayed


def test_of_two_notes_with_one_key_the_second_is_a_replay_whenever_it_comes(graph: Graph) -> None:
    moments = [("before", "commit_decisions", 1)]
    disturbed = DisturbedGraph(graph, moments, lambda: remember(graph, "Likes tea", key="key"))
    decision = remember(disturbed, "Likes coffee", key="key")
    assert (decision.replayed, decision.text) == (True, "Likes tea")
    assert live_facts(graph) == [("Likes tea", 1)]
