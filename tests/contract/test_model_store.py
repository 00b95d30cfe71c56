"""A store's way to another model, step by step: what each query writes and tells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest

from reconciler.bootstrap.chosen_models import open_graph
from reconciler.domain.records.notes import Scope
from reconciler.domain.records.sessions import ModelMove, MoveState
from reconciler.ports.graph import Graph, Row
from reconciler.queries import load_queries
from reconciler.service.stores.binding_store import ModelStore
from reconciler.service.stores.fact_store import FactStore
from reconciler.settings import load_settings
from tests.commit_maps import (
    ALICE,
    DIMENSION,
    EAST,
    MODEL,
    NOON,
    commit,
    contacts,
    decision,
    update,
)
from tests.engines import EngineUnderTest

NEXT, NEXT_DIMENSION = "model@2", 3
NORTH = [0.0, 1.0, 0.0]
FIRST = decision()
SECOND = update(FIRST)
IDS = sorted((FIRST["fact_id"], SECOND["fact_id"]))


class Checked:
    """A graph that holds the columns of all rows against the query's header."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.told: dict[str, list[Row]] = {}

    def run(
        self, name: str, parameters: dict[str, object], seconds_max: float | None = None
    ) -> list[Row]:
        rows = self._graph.run(name, parameters, seconds_max)
        declared = load_queries(self._graph.engine)[name].returns
        assert {tuple(row) for row in rows} <= {declared}, name
        self.told[name] = self.told.get(name, []) + rows
        return rows


@pytest.fixture
def graph(engine: EngineUnderTest) -> Iterator[Checked]:
    """A store of one model with a fact that ended and one that lives."""
    with closing(open_graph(load_settings(**engine.settings_arguments))) as opened:
        opened.migrate(DIMENSION)
        opened.run("claim_store", {"embedding_model": MODEL, "id_key": "ab", "at": NOON})
        commit(opened, FIRST)
        commit(opened, SECOND)
        yield Checked(opened)


def vectors(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.array([NORTH] * count, dtype=np.float32)


def known(graph: Checked, model: str) -> list[tuple[str, list[float]]]:
    """The facts and vectors that a process of that model compares."""
    store = FactStore(graph)  # type: ignore[arg-type]
    return [(key, list(held)) for key, held in store.load_vectors([ALICE], model).items()]


def test_a_store_goes_from_one_model_to_another(graph: Checked) -> None:
    store = ModelStore(graph)  # type: ignore[arg-type]
    here = ModelMove(state=MoveState.NONE, model=MODEL, dimension=DIMENSION)
    assert store.move() == here
    assert (store.begin(NEXT, NEXT_DIMENSION), store.begin(NEXT, NEXT_DIMENSION)) == (True, False)
    assert store.begin(MODEL, DIMENSION) is False
    moving = store.move()
    assert (moving.state, moving.next_model, moving.next_dimension, moving.facts, moving.moved) == (
        MoveState.EMBEDDING,
        NEXT,
        NEXT_DIMENSION,
        2,
        0,
    )
    assert sorted(store.list_unmoved(MODEL, NEXT, 9)) == sorted(
        (each["fact_id"], each["text"]) for each in (FIRST, SECOND)
    )
    assert len(store.list_unmoved(MODEL, NEXT, 1)) == 1
    assert store.put(NEXT, IDS[:1], vectors(1)) == 1
    assert store.put("model@3", IDS[1:], vectors(1)) == 0
    assert [key for key, _ in store.list_unmoved(MODEL, NEXT, 9)] == IDS[1:]
    assert store.switch(MODEL, NEXT) is False
    assert store.put(NEXT, IDS[1:], vectors(1)) == 1
    assert store.move().moved == 2
    assert store.count_restoring() == 0
    assert sorted(known(graph, MODEL)) == sorted((key, EAST) for key in IDS)
    assert known(graph, NEXT) == [] or graph._graph.engine == "neo4j"
    version = FactStore(graph).contact_version(ALICE)  # type: ignore[arg-type]
    assert store.switch(MODEL, NEXT) is True
    assert FactStore(graph).contact_version(ALICE) > version  # type: ignore[arg-type]
    assert store.switch(MODEL, NEXT) is False
    switched = store.move()
    assert (switched.model, switched.dimension) == (NEXT, NEXT_DIMENSION)
    assert sorted(known(graph, NEXT)) == sorted((key, NORTH) for key in IDS)
    beneath = {"fact_ids": [SECOND["fact_id"]], "embedding": NORTH}
    assert [row["cosine"] for row in graph.run("list_predecessors", beneath)] == [pytest.approx(1)]
    near = {"embedding": NORTH, "embedding_model": NEXT, "limit": 9}
    asked = near | {"contact_keys": [ALICE.contact_key]}
    for name, whose in (
        ("list_nearest", asked),
        ("find_nearest", near | {"agent_key": ALICE.agent_key}),
    ):
        found = graph.run(name, whose)
        if found or name == "list_nearest":  # an index knows only what is settled
            assert [(e["fact_id"], e["cosine"]) for e in found] == [
                (SECOND["fact_id"], pytest.approx(1))
            ]
    store.settle(store.list_next_ids(9), NEXT)
    store.settle(IDS, NEXT)  # again: it changes nothing
    store.end()
    there = ModelMove(state=MoveState.NONE, model=NEXT, dimension=NEXT_DIMENSION)
    assert store.move() == there
    assert store.list_next_ids(9) == []
    assert sorted(known(graph, NEXT)) == sorted((key, NORTH) for key in IDS)
    assert [(e["fact_id"], e["cosine"]) for e in graph.run("list_nearest", asked)] == [
        (SECOND["fact_id"], pytest.approx(1))
    ]


def test_a_move_that_is_given_up_leaves_the_old_vectors_alone(graph: Checked) -> None:
    store = ModelStore(graph)  # type: ignore[arg-type]
    assert store.cancel() is False
    store.begin(NEXT, NEXT_DIMENSION)
    store.put(NEXT, IDS, vectors(2))
    assert sorted(store.list_next_ids(9)) == IDS
    assert store.cancel() is True
    store.clear(IDS)
    assert store.list_next_ids(9) == []
    assert store.move().state is MoveState.NONE
    assert sorted(known(graph, MODEL)) == sorted((key, EAST) for key in IDS)


def test_a_fact_of_another_model_is_not_written_into_a_store(graph: Checked) -> None:
    of_new_contact = contacts(decision(scope=Scope("acme", "crm", "eve")))
    of_known_contact = contacts(decision(version=2))
    for given in (of_new_contact, of_known_contact):
        refused = {"contacts": given, "embedding_model": NEXT}
        assert graph.run("commit_decisions", refused) == []
    assert graph.run("count_contacts", {}) == [{"contacts": 1}]
    for given in (of_new_contact, of_known_contact):
        written = {"contacts": given, "embedding_model": MODEL}
        assert len(graph.run("commit_decisions", written)) == 1
