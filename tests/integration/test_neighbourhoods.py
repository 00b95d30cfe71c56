"""Which contacts' neighbourhoods a process keeps: the ones used last, at most so many facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reconciler import Memory
from reconciler.bootstrap.chosen_models import open_graph
from reconciler.domain.records.kinds import Action
from reconciler.domain.records.notes import Scope
from reconciler.ports.graph import Graph, Row
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.fact_store import FactStore
from reconciler.service.writing.neighbourhoods import Neighbourhoods
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.commits import MODEL, committed
from tests.engines import EngineUnderTest, embedded_engine

ALICE, BOB, CAROL, DAVE = (Scope("acme", "crm", name) for name in ("alice", "bob", "carol", "dave"))
EAST = (1.0, 0.0)
TWO_CONTACTS = 6
"""Two contacts of two facts: each contact counts as one more."""


class CountedGraph:
    """A real graph that counts how often each contact's facts are loaded."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.loads: Counter[str] = Counter()

    def run(
        self, name: str, parameters: Mapping[str, Any], seconds_max: float | None = None
    ) -> list[Row]:
        if name == "list_neighbourhood":
            self.loads[parameters["contact_key"]] += 1
        return self._graph.run(name, parameters, seconds_max)

    def begin(self, name: str, parameters: Mapping[str, Any]) -> Callable[[], list[Row]]:
        return partial(self.run, name, parameters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    """A store in which three contacts have two facts each, and nothing is known of a fourth."""
    engine = embedded_engine(Path(tmp_path_factory.mktemp("neighbourhoods")))
    with closing(open_graph(load_settings(**engine.settings_arguments))) as graph:
        graph.migrate(len(EAST))
        known = [committed(scope, n, EAST) for scope in (ALICE, BOB, CAROL) for n in range(2)]
        DecisionStore(graph).commit_decisions(known)
        yield graph


@pytest.fixture
def graph(shared: Graph) -> CountedGraph:
    return CountedGraph(shared)


def kept(graph: CountedGraph, facts_max: int, *used: Scope) -> Neighbourhoods:
    """Neighbourhoods of which these were used, in that order."""
    made = Neighbourhoods(FactStore(graph), MODEL, facts_max)
    for scope in used:
        made.of(scope)
    graph.loads.clear()
    return made


def loads(graph: CountedGraph, among: Neighbourhoods, *scopes: Scope) -> dict[str, bool]:
    """Whether each of these has to be loaded when it is used now."""
    found = {}
    for scope in scopes:
        graph.loads.clear()
        among.of(scope)
        found[scope.contact_id] = bool(graph.loads)
    return found


def test_what_was_loaded_is_not_loaded_again(graph: CountedGraph) -> None:
    among = kept(graph, 100, ALICE, BOB)
    assert loads(graph, among, ALICE, BOB, CAROL) == {"alice": False, "bob": False, "carol": True}


def test_what_was_used_longest_ago_is_left_out_first(graph: CountedGraph) -> None:
    among = kept(graph, TWO_CONTACTS, ALICE, BOB, ALICE, CAROL)
    assert loads(graph, among, ALICE, CAROL, BOB) == {"alice": False, "carol": False, "bob": True}


@pytest.mark.parametrize(("facts_max", "is_left_out"), [(6, False), (5, True)])
def test_the_bound_is_in_facts_and_one_more_for_each_contact(
    graph: CountedGraph, facts_max: int, is_left_out: bool
) -> None:
    among = kept(graph, facts_max, ALICE, BOB)
    assert loads(graph, among, ALICE) == {"alice": is_left_out}


@pytest.mark.parametrize("scope", [ALICE, DAVE], ids=["with facts", "without facts"])
def test_a_bound_of_0_keeps_none(graph: CountedGraph, scope: Scope) -> None:
    among = kept(graph, 0, scope)
    assert loads(graph, among, scope) == {scope.contact_id: True}


def test_a_contact_larger_than_the_bound_is_used_and_not_kept_and_leaves_the_others(
    graph: CountedGraph,
) -> None:
    among = kept(graph, 2, DAVE)
    assert among.of(ALICE).version == 2
    assert loads(graph, among, DAVE, ALICE) == {"dave": False, "alice": True}


def test_contacts_without_facts_are_bounded_too(graph: CountedGraph) -> None:
    crowd = [Scope("acme", "crm", f"nobody {number}") for number in range(20)]
    among = kept(graph, 10, *crowd)
    assert Counter(loads(graph, among, *reversed(crowd[10:])).values()) == {False: 10}
    assert loads(graph, among, crowd[9]) == {crowd[9].contact_id: True}


def test_what_grows_in_place_leaves_out_what_was_used_longest_ago(graph: CountedGraph) -> None:
    among = kept(graph, TWO_CONTACTS, ALICE, BOB)
    among.apply(committed(BOB, 2, EAST))
    assert loads(graph, among, BOB, ALICE) == {"bob": False, "alice": True}


def test_what_grows_beyond_the_bound_by_itself_is_not_kept(graph: CountedGraph) -> None:
    among = kept(graph, 3, ALICE)
    among.apply(committed(ALICE, 2, EAST))
    assert loads(graph, among, ALICE) == {"alice": True}


def test_what_was_dropped_gives_its_room_back(graph: CountedGraph) -> None:
    among = kept(graph, TWO_CONTACTS, ALICE, BOB)
    among.drop(ALICE)
    among.drop(ALICE)
    among.of(CAROL)
    assert loads(graph, among, BOB, CAROL) == {"bob": False, "carol": False}


def test_what_was_committed_on_another_version_is_loaded_again(graph: CountedGraph) -> None:
    among = kept(graph, 100, ALICE)
    among.apply(committed(ALICE, 5, EAST))
    assert loads(graph, among, ALICE) == {"alice": True}


def test_what_is_not_kept_takes_nothing_over(graph: CountedGraph) -> None:
    among = kept(graph, 100)
    among.apply(committed(ALICE, 2, EAST))
    assert among.of(ALICE).version == 2


def test_a_version_is_read_where_the_contact_is_not_kept(graph: CountedGraph) -> None:
    among = kept(graph, 100, ALICE)
    among.apply(committed(ALICE, 2, EAST, action=Action.REJECT, fact_id=None))
    assert [among.standing(scope)[0] for scope in (ALICE, BOB, DAVE)] == [3, 2, 0]


def test_facts_of_another_model_are_not_loaded(graph: CountedGraph) -> None:
    among = Neighbourhoods(FactStore(graph), "model@2", 100)
    assert among.of(ALICE).version == 2
    assert among.of(ALICE).size == 1


def test_what_is_loaded_is_what_was_written_to_the_letter(shared: Graph) -> None:
    eve = Scope("acme", "crm", "eve")
    vector = np.asarray([0.6, 0.8], dtype=np.float32)
    written = committed(eve, 0, vector.tolist(), text="Zoë's café", importance=0.25)
    DecisionStore(shared).commit_decisions([written])
    version, facts, vectors = FactStore(shared).begin_neighbourhood(eve, MODEL)()
    assert (version, list(facts)) == (1, [written.fact])
    assert np.array_equal(vectors, [vector])


def test_a_time_that_another_program_wrote_with_its_zone_is_read(
    one_neo4j: EngineUnderTest,
) -> None:
    arguments = {"embedder": HashingEmbedder(16), **one_neo4j.settings_arguments}
    with Memory.open(**arguments) as memory:
        memory.add_contact_note("crm", "alice", "Lives in Pune.")
        [before] = memory.contact("crm", "alice").recall("Where does she live?")
    zoned = "datetime({datetime: f.recorded_at, timezone: 'Europe/Berlin'})"
    raw_store.query(one_neo4j, f"MATCH (f:Fact) SET f.recorded_at = {zoned}")
    with Memory.open(**arguments) as memory:
        [found] = memory.contact("crm", "alice").recall("Where does she live?")
    assert found.fact.recorded_at == before.fact.recorded_at
