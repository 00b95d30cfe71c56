"""What a recall reads, and what it gives where others write meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reconciler.bootstrap.chosen_models import open_graph
from reconciler.domain.recalling.recallable import Recalling
from reconciler.domain.records.facts import RankedFact
from reconciler.domain.records.kinds import Action
from reconciler.domain.records.notes import Scope
from reconciler.domain.records.policies import RankingPolicy
from reconciler.errors import GraphClosedError
from reconciler.ports.graph import Graph, Row
from reconciler.service.recall import Recall
from reconciler.service.stores.commits import Commit
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.fact_store import FactStore
from reconciler.service.stores.stored_facts import StoredFacts
from reconciler.service.use_trace import UseTrace
from reconciler.service.writing.neighbourhoods import Neighbourhoods
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder
from tests.commits import MODEL, NOON, committed
from tests.engines import EngineUnderTest

ALICE = Scope("acme", "crm", "alice")
EMBEDDER = HashingEmbedder(16)
COUNT, LIMIT = 40, 5
NEAREST = "Invoice 7 is unpaid"
UNCOUNTED = UseTrace(write=print, write_asked=print, clock=lambda: NOON, flush_seconds=0)


class WatchedGraph:
    """A real graph that tells what was asked of it, and calls a function before that."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.asked: list[str] = []
        self.rows: list[Row] = []
        self.before: Callable[[str], None] = lambda name: None

    def run(
        self, name: str, parameters: Mapping[str, Any], seconds_max: float | None = None
    ) -> list[Row]:
        self.before(name)
        self.asked.append(name)
        rows = self._graph.run(name, parameters, seconds_max)
        self.rows += [dict(row) for row in rows]
        return rows

    def begin(self, name: str, parameters: Mapping[str, Any]) -> Callable[[], list[Row]]:
        self.before(name)
        self.asked.append(name)
        return self._graph.begin(name, parameters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)


@pytest.fixture
def graph(any_engine: EngineUnderTest) -> Iterator[WatchedGraph]:
    """A store in which forty invoices of one contact are unpaid."""
    with closing(open_graph(load_settings(**any_engine.settings_arguments))) as graph:
        graph.migrate(EMBEDDER.dimension)
        facts = [add(n, f"Invoice {n} is unpaid", fact_id=str(n)) for n in range(COUNT)]
        DecisionStore(graph).commit_decisions(facts)
        yield WatchedGraph(graph)


@pytest.fixture
def neighbourhoods(graph: WatchedGraph) -> Neighbourhoods:
    return Neighbourhoods(FactStore(graph), MODEL, 1000)


@pytest.fixture
def recall(graph: WatchedGraph, neighbourhoods: Neighbourhoods) -> Callable[[], list[RankedFact]]:
    """Recalls what is nearest to one of the invoices."""
    service = Recall(
        fact_store=FactStore(graph),
        neighbourhoods=neighbourhoods,
        records=None,  # type: ignore[arg-type]  # which only the past needs
        embedder=EMBEDDER,
        how=Recalling(ranking=RankingPolicy()),
        use_trace=UNCOUNTED,
        clock=lambda: NOON,
    )
    return lambda: service.recall(ALICE, NEAREST, LIMIT)


def add(version: int, text: str, meaning: str | None = None, **given: Any) -> Commit:
    vector = EMBEDDER.embed([meaning or text])[0].tolist()
    return committed(ALICE, version, vector, text=text, **given)


def supersede(graph: WatchedGraph, version: int, ended_id: str) -> Commit:
    """Another process's: one of the facts says something else from now on."""
    update = {"action": Action.UPDATE, "targets": (ended_id,)}
    commit = add(version, f"{NEAREST} as of version {version}", meaning=NEAREST, **update)
    assert DecisionStore(graph._graph).commit_decisions([commit])
    return commit


def texts(found: list[RankedFact]) -> list[str]:
    return [each.fact.text for each in found]


@pytest.mark.on_neo4j_too
def test_a_recall_gives_the_nearest_facts_and_no_more_than_asked_for(
    recall: Callable[[], list[RankedFact]],
) -> None:
    found = recall()
    assert (texts(found)[0], len(found)) == (NEAREST, LIMIT)


def test_a_recall_about_a_contact_that_the_process_knows_asks_once(
    graph: WatchedGraph, recall: Callable[[], list[RankedFact]]
) -> None:
    first = recall()
    graph.asked.clear()
    assert (recall(), graph.asked) == (first, ["list_versions"])


def test_a_recall_asks_for_the_version_before_it_embeds_the_question(
    graph: WatchedGraph, recall: Callable[[], list[RankedFact]], monkeypatch: pytest.MonkeyPatch
) -> None:
    recall()
    graph.asked.clear()
    asked_before: list[list[str]] = []
    embed = HashingEmbedder.embed

    def noting(embedder: HashingEmbedder, texts: Sequence[str]) -> NDArray[np.float32]:
        asked_before.append([*graph.asked])
        return embed(embedder, texts)

    monkeypatch.setattr(HashingEmbedder, "embed", noting)
    recall()
    assert asked_before == [["list_versions"]]


def test_a_recall_makes_records_of_the_facts_that_it_tells_alone(
    recall: Callable[[], list[RankedFact]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, make = [], StoredFacts._fact
    monkeypatch.setattr(
        StoredFacts, "_fact", lambda facts, place: made.append(place) or make(facts, place)
    )
    assert len(recall()) == len(made) == LIMIT


def test_a_recall_after_this_process_wrote_loads_nothing_again(
    graph: WatchedGraph,
    neighbourhoods: Neighbourhoods,
    recall: Callable[[], list[RankedFact]],
) -> None:
    recall()
    neighbourhoods.apply(supersede(graph, COUNT, "7"))
    graph.asked.clear()
    assert texts(recall())[0] == f"{NEAREST} as of version {COUNT}"
    assert graph.asked == ["list_versions"]


def test_a_recall_just_before_this_process_takes_its_commit_over_loads_nothing_again(
    graph: WatchedGraph,
    neighbourhoods: Neighbourhoods,
    recall: Callable[[], list[RankedFact]],
) -> None:
    neighbourhoods.of(ALICE)
    written: list[Commit] = []

    def beside(_: str) -> None:
        if written:
            neighbourhoods.apply(written[0])
        else:
            written.append(supersede(graph, COUNT, "7"))

    graph.asked.clear()
    graph.before = beside
    assert texts(recall())[0] == f"{NEAREST} as of version {COUNT}"
    assert set(graph.asked) == {"list_versions", "find_contact_version"}


@pytest.mark.on_neo4j_too
def test_what_another_process_wrote_is_recalled(
    graph: WatchedGraph, recall: Callable[[], list[RankedFact]]
) -> None:
    recall()
    supersede(graph, COUNT, "7")
    found = texts(recall())
    assert f"{NEAREST} as of version {COUNT}" in found
    assert NEAREST not in found


def test_what_is_written_until_a_recall_ranks_is_recalled(
    graph: WatchedGraph, recall: Callable[[], list[RankedFact]]
) -> None:
    recall()

    def once(name: str) -> None:
        if name == "list_versions":
            graph.before = lambda name: None
            supersede(graph, COUNT, "7")

    graph.before = once
    found = texts(recall())
    assert f"{NEAREST} as of version {COUNT}" in found
    assert NEAREST not in found


def test_a_recall_comes_to_its_end_beside_a_writer_that_never_stops(
    graph: WatchedGraph, recall: Callable[[], list[RankedFact]]
) -> None:
    recall()
    last = {"version": COUNT, "fact_id": "7"}

    def every_time(name: str) -> None:
        if name in {"list_versions", "find_contact_version"}:
            commit = supersede(graph, last["version"], last["fact_id"])
            last.update(version=last["version"] + 1, fact_id=commit.decision.fact_id)

    graph.before = every_time
    found = recall()
    assert NEAREST not in texts(found)
    assert all(each.fact.is_live for each in found)
    assert len(found) in (LIMIT - 1, LIMIT)


def test_the_embedded_engine_is_asked_for_a_version_once_until_something_is_written(
    graph: WatchedGraph, recall: Callable[[], list[RankedFact]], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = watched_reads(graph, monkeypatch)
    recall()
    recall()
    read.clear()
    recall()
    assert read == []
    supersede(graph, COUNT, "7")
    assert texts(recall())[0] == f"{NEAREST} as of version {COUNT}"
    assert read


def test_a_version_that_was_read_before_a_commit_is_not_kept_after_it(
    graph: WatchedGraph, recall: Callable[[], list[RankedFact]], monkeypatch: pytest.MonkeyPatch
) -> None:
    recall()
    written: list[Commit] = []

    def beside() -> None:
        if not written:
            written.append(supersede(graph, COUNT, "7"))

    watched_reads(graph, monkeypatch, beside)
    assert NEAREST in texts(recall())  # it was read before
    assert written
    assert texts(recall())[0] == f"{NEAREST} as of version {COUNT}"


def test_a_closed_embedded_store_answers_no_recall(
    graph: WatchedGraph, recall: Callable[[], list[RankedFact]]
) -> None:
    recall()
    recall()
    graph._graph.close()
    with pytest.raises(GraphClosedError):
        recall()


def watched_reads(
    graph: WatchedGraph, monkeypatch: pytest.MonkeyPatch, after: Callable[[], None] = lambda: None
) -> list[object]:
    """The reads that reach the engine; each calls a function before its rows are returned."""
    read: list[object] = []
    engine: Any = graph._graph
    run = engine._read

    def noting(query: object, parameters: Mapping[str, Any]) -> list[Row]:
        read.append(query)
        rows: list[Row] = run(query, parameters)
        after()
        return rows

    monkeypatch.setattr(engine, "_read", noting)
    return read


def test_an_unknown_contact_has_nothing_to_recall(
    graph: WatchedGraph, neighbourhoods: Neighbourhoods
) -> None:
    nobody = Scope("acme", "crm", "nobody")
    assert neighbourhoods.current(nobody).version == 0
    assert FactStore(graph).find_facts(nobody, []) == {}
