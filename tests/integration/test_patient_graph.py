"""An engine that is away: waited for beneath the stores, in one place, and only once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any

import pytest

from reconciler import Memory, Turn
from reconciler.adapters.embedded_graph import EmbeddedGraph
from reconciler.domain.records.candidates import Role
from reconciler.domain.records.policies import RetryPolicy
from reconciler.errors import GraphConflictError, GraphUnavailableError, QueryError
from reconciler.ports.graph import Row
from reconciler.service.stores.patient_graph import PatientGraph
from reconciler.testing import HashingEmbedder
from tests.engines import embedded_engine

PATIENT = RetryPolicy(attempts_max=4, unavailable_seconds_max=60.0)
HASTY = RetryPolicy(attempts_max=4, unavailable_seconds_max=0.0)
AWAY = GraphUnavailableError("away")
NOBODY = {"contact_key": "nobody"}
CALLS: dict[str, Callable[[Memory], object]] = {
    "a note": lambda memory: memory.add_contact_note("crm", "alice", "Lives in Pune"),
    "a recall": lambda memory: memory.contact("crm", "alice").recall("Where?"),
    "an import": lambda memory: memory.import_notes(
        ['{"text": "Lives in Pune", "contact_id": "alice"}'], agent_id="crm"
    ),
    "a hand-over": lambda memory: memory.contact("crm", "alice").submit_session(
        "chat", [Turn(role=Role.CONTACT, text="I live in Pune.")]
    ),
    "a task": lambda memory: memory.contact("crm", "alice").task("task", goal="a refund"),
}


class FailingGraph:
    """An engine that fails with these errors first, and then answers; keeps what it was asked."""

    def __init__(self, graph: EmbeddedGraph, *errors: Exception) -> None:
        self._graph = graph
        self._errors = list(errors)
        self.asked: list[str] = []

    def run(
        self, name: str, parameters: Mapping[str, Any], seconds_max: float | None = None
    ) -> list[Row]:
        self._fail_at("run")
        return self._graph.run(name, parameters, seconds_max)

    def schema_version(self) -> int:
        self._fail_at("schema_version")
        return self._graph.schema_version()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)

    def _fail_at(self, method: str) -> None:
        self.asked.append(method)
        if self._errors:
            raise self._errors.pop(0)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedGraph]:
    path = tmp_path_factory.mktemp("patient") / "store.lbug"
    with closing(EmbeddedGraph(path)) as graph:
        graph.migrate(0)
        yield graph


@pytest.fixture
def without_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)


@pytest.mark.usefixtures("without_waits")
@pytest.mark.parametrize("error", [AWAY, GraphConflictError("a deadlock")])
def test_a_query_that_failed_for_a_moment_is_run_again(
    engine: EmbeddedGraph, error: Exception
) -> None:
    disturbed = FailingGraph(engine, error, error)
    assert PatientGraph(disturbed, PATIENT).run("find_contact_version", NOBODY) == []
    assert disturbed.asked == ["run"] * 3


@pytest.mark.parametrize("error", [AWAY, QueryError("no")])
def test_when_the_time_is_over_or_the_query_is_rejected_it_is_not_run_again(
    engine: EmbeddedGraph, error: Exception
) -> None:
    disturbed = FailingGraph(engine, error)
    with pytest.raises(type(error)):
        PatientGraph(disturbed, HASTY).run("find_contact_version", NOBODY)
    assert disturbed.asked == ["run"]


def test_whoever_examines_the_schema_is_told_at_once(engine: EmbeddedGraph) -> None:
    disturbed = FailingGraph(engine, AWAY)
    with pytest.raises(GraphUnavailableError):
        PatientGraph(disturbed, PATIENT).schema_version()
    assert disturbed.asked == ["schema_version"]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    arguments = embedded_engine(tmp_path_factory.mktemp("away")).settings_arguments
    patience = {"unavailable_seconds_max": 0.3}
    with Memory.open(embedder=HashingEmbedder(), reconcile=patience, **arguments) as memory:
        yield memory


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_caller_waits_once_for_an_engine_that_stays_away(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, call: Callable[[Memory], object]
) -> None:
    def away(*_: object) -> list[Row]:
        failed_at.append(time.monotonic())
        raise AWAY

    failed_at: list[float] = []
    monkeypatch.setattr(EmbeddedGraph, "run", away)
    with pytest.raises(GraphUnavailableError):
        call(memory)
    assert len(failed_at) > 1, "it was tried again"
    assert failed_at[-1] - failed_at[0] < 1.0, "and not by a loop around a loop"


@pytest.mark.parametrize("call", [CALLS["a note"], CALLS["an import"]], ids=["a note", "an import"])
def test_a_commit_that_was_waited_for_in_vain_is_not_waited_for_again(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    call: Callable[[Memory], object],
) -> None:
    arguments = embedded_engine(tmp_path_factory.mktemp("vain")).settings_arguments
    hasty = {"unavailable_seconds_max": 0.0}
    run, asked = EmbeddedGraph.run, list[str]()

    def away_at_the_commit(
        graph: EmbeddedGraph, name: str, parameters: Mapping[str, Any]
    ) -> list[Row]:
        asked.append(name)
        if name == "commit_decisions":
            raise AWAY
        return run(graph, name, parameters)

    with Memory.open(embedder=HashingEmbedder(), reconcile=hasty, **arguments) as memory:
        monkeypatch.setattr(EmbeddedGraph, "run", away_at_the_commit)
        with pytest.raises(GraphUnavailableError):
            call(memory)
    assert asked.count("commit_decisions") == 1
