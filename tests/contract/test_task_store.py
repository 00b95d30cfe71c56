"""The task store on each engine: what several processes write about one task is all kept."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from threading import Barrier
from typing import Any

import pytest

from reconciler.domain.records.notes import Scope
from reconciler.domain.records.policies import RetryPolicy
from reconciler.domain.tasks.tasks import Task, TaskState
from reconciler.errors import UnknownTaskError
from reconciler.ports.graph import Graph
from reconciler.service.stores.patient_graph import call_with_retries
from reconciler.service.stores.session_store import TaskStore

ALICE, BOB = Scope("acme", "crm", "alice"), Scope("acme", "crm", "bob")
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)
THREADS, ROUNDS = 6, 5


@pytest.fixture
def store(graph: Graph) -> TaskStore:
    """The tasks of a store that has a schema and nothing in it."""
    return TaskStore(graph)


def begin(store: TaskStore, **given: Any) -> Task:
    plain = {"scope": ALICE, "task_id": "t", "session_id": "s", "goal": "Refund", "at": NOON}
    return store.upsert_task(**plain | given)


def found(store: TaskStore, scope: Scope = ALICE) -> Task:
    task = store.find_task(scope, "t")
    assert task is not None
    return task


def test_a_task_comes_back_as_it_was_begun(store: TaskStore) -> None:
    assert (
        begin(store)
        == found(store)
        == Task(
            task_id="t",
            scope=ALICE,
            session_id="s",
            goal="Refund",
            state=TaskState.START,
            started_at=NOON,
            changed_at=NOON,
        )
    )


def test_a_task_that_is_there_is_not_begun_again(store: TaskStore) -> None:
    first = begin(store)
    assert begin(store, goal="Another", session_id="x", at=LATER) == first


def test_a_task_is_its_own_contacts_alone(store: TaskStore) -> None:
    begin(store)
    assert store.find_task(BOB, "t") is None


def test_what_was_never_begun_cannot_be_written(store: TaskStore) -> None:
    with pytest.raises(UnknownTaskError):
        store.add_done_subtask(ALICE, "t", "one", NOON)


def test_a_subtask_is_done_once_and_in_order(store: TaskStore) -> None:
    begin(store)
    for each in ("two", "one", "two"):
        written = store.add_done_subtask(ALICE, "t", each, LATER)
    assert written == found(store)
    assert (written.done, written.changed_at) == (("two", "one"), LATER)


def test_what_was_decided_is_kept_once_and_in_order(store: TaskStore) -> None:
    begin(store)
    for each in (["b", "a", "b"], ["a"], ["c", "b"]):
        written = store.add_decisions(ALICE, "t", each, LATER)
    assert written == found(store)
    assert written.decided == ("b", "a", "c")


def test_a_blocker_stays_until_it_is_lifted(store: TaskStore) -> None:
    begin(store)
    assert store.set_blocker(ALICE, "t", "no answer", LATER).blocker == "no answer"
    assert store.add_done_subtask(ALICE, "t", "one", LATER).blocker == "no answer"
    assert store.set_blocker(ALICE, "t", None, LATER).blocker is None


@pytest.mark.parametrize("end", [TaskState.SUCCESS, TaskState.FAILURE])
def test_a_task_that_has_ended_never_goes_on(store: TaskStore, end: TaskState) -> None:
    begin(store)
    ended = store.set_state(ALICE, "t", end, "s", NOON)
    others = set(TaskState) - {end}
    assert {store.set_state(ALICE, "t", each, "x", LATER) for each in others} == {None}
    assert found(store) == ended


def test_an_end_whose_answer_was_lost_is_written_again(store: TaskStore) -> None:
    begin(store)
    ends = [store.set_state(ALICE, "t", TaskState.SUCCESS, "s", NOON) for _ in range(2)]
    assert ends == [found(store)] * 2


def test_a_task_goes_on_in_the_session_of_its_last_step(store: TaskStore) -> None:
    begin(store)
    store.set_state(ALICE, "t", TaskState.DECIDING, "tuesday", LATER)
    assert (found(store).state, found(store).session_id) == (TaskState.DECIDING, "tuesday")


def test_the_sessions_of_a_task_are_listed_once_as_they_began(store: TaskStore) -> None:
    begin(store)
    for session_id, at in (("tuesday", LATER), ("monday", NOON), ("tuesday", LATER)):
        store.link_session(ALICE, "t", session_id, "task", at)
    assert store.list_sessions(ALICE, "t") == ["monday", "tuesday"]


def _at_once(work: Callable[[int], Task]) -> list[Task]:
    """The work in several threads that begin at the same time, each tried again while busy."""
    barrier = Barrier(THREADS)

    def begun(number: int) -> list[Task]:
        barrier.wait()
        own = [partial(work, number * ROUNDS + place) for place in range(ROUNDS)]
        return [call_with_retries(RetryPolicy(), lambda _, each=each: each()) for each in own]

    with ThreadPoolExecutor(THREADS) as pool:
        return list(chain.from_iterable(pool.map(begun, range(THREADS))))


def test_marks_that_are_made_at_once_are_all_kept(store: TaskStore) -> None:
    begin(store)
    _at_once(lambda number: store.add_done_subtask(ALICE, "t", str(number), NOON))
    assert sorted(map(int, found(store).done)) == list(range(THREADS * ROUNDS))


def test_decisions_that_are_kept_at_once_are_all_kept(store: TaskStore) -> None:
    begin(store)
    _at_once(lambda number: store.add_decisions(ALICE, "t", [str(number), "same"], NOON))
    assert len(found(store).decided) == THREADS * ROUNDS + 1


def test_a_task_that_is_begun_at_once_is_one_task(store: TaskStore) -> None:
    begun = _at_once(lambda number: begin(store, goal=str(number)))
    assert {each.goal for each in begun} == {found(store).goal}
