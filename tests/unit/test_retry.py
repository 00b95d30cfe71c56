from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from reconciler import errors
from reconciler.domain.records.policies import RetryPolicy
from reconciler.errors import GraphConflictError, GraphUnavailableError, QueryError, ReconcilerError
from reconciler.service.stores.patient_graph import call_with_retries
from tests.tables import every

QUICK = RetryPolicy(attempts_max=5, unavailable_seconds_max=0.0)


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the loop would have slept, in seconds; the tests do not wait for it."""
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    return slept


class ScriptedCall:
    """Raises each error in turn, then returns the attempt's number; counts its calls."""

    def __init__(self, *outcomes: Exception) -> None:
        self.outcomes: Iterator[Exception] = iter(outcomes)
        self.numbers: list[int] = []

    def __call__(self, number: int) -> str:
        self.numbers.append(number)
        if error := next(self.outcomes, None):
            raise error
        return f"attempt {number}"


def test_a_call_that_works_is_made_once(waits: list[float]) -> None:
    call = ScriptedCall()
    assert call_with_retries(QUICK, call) == "attempt 1"
    assert (call.numbers, waits) == ([1], [])


def test_a_conflict_is_tried_again_and_the_attempts_are_counted() -> None:
    call = ScriptedCall(*[GraphConflictError("moved")] * 4)
    assert call_with_retries(QUICK, call) == "attempt 5"
    assert call.numbers == [1, 2, 3, 4, 5]


def test_conflicts_are_tried_again_however_long_the_engine_may_be_away() -> None:
    never_away = RetryPolicy(attempts_max=3, unavailable_seconds_max=0.0)
    assert call_with_retries(never_away, ScriptedCall(GraphConflictError("moved"))) == "attempt 2"


def test_the_last_attempts_error_reaches_the_caller_as_it_is() -> None:
    raised = [GraphConflictError(str(number)) for number in range(5)]
    with pytest.raises(GraphConflictError) as caught:
        call_with_retries(QUICK, ScriptedCall(*raised))
    assert caught.value is raised[-1]


def test_an_engine_that_is_away_is_given_up_once_the_time_is_over() -> None:
    call = ScriptedCall(*[GraphUnavailableError("away")] * 9)
    with pytest.raises(GraphUnavailableError):
        call_with_retries(QUICK, call)
    assert call.numbers == [1]


def test_an_engine_that_comes_back_in_time_is_used() -> None:
    patient = RetryPolicy(attempts_max=9, unavailable_seconds_max=60.0)
    call = ScriptedCall(*[GraphUnavailableError("away")] * 3)
    assert call_with_retries(patient, call) == "attempt 4"


@every("error", [QueryError("no"), ReconcilerError("no"), ValueError("no"), KeyboardInterrupt()])
def test_anything_else_is_raised_at_once(error: Exception) -> None:
    call = ScriptedCall(error)
    with pytest.raises(type(error)):
        call_with_retries(QUICK, call)
    assert call.numbers == [1]


def test_only_a_conflict_and_an_absence_call_themselves_retryable() -> None:
    every = [getattr(errors, name) for name in errors.__all__]
    assert {each for each in every if each.retryable} == {GraphConflictError, GraphUnavailableError}


def test_every_error_is_a_reconciler_error_and_none_shadows_a_builtin() -> None:
    import builtins

    for name in errors.__all__:
        assert issubclass(getattr(errors, name), ReconcilerError)
        assert not hasattr(builtins, name)


def test_waits_for_an_engine_that_is_away_differ_grow_and_stay_below_half_a_second(
    waits: list[float],
) -> None:
    patient = RetryPolicy(attempts_max=60, unavailable_seconds_max=60.0)
    call_with_retries(patient, ScriptedCall(*[GraphUnavailableError("away")] * 50))
    assert len(set(waits)) > 1
    assert all(0 <= wait <= 0.5 for wait in waits)
    assert sum(waits[:3]) < 0.1 < sum(waits[-20:])


def test_who_loses_often_waits_no_longer_than_who_loses_once(waits: list[float]) -> None:
    call_with_retries(
        RetryPolicy(attempts_max=60), ScriptedCall(*[GraphConflictError("moved")] * 50)
    )
    assert len(set(waits)) > 1
    assert all(0 <= wait <= 0.02 for wait in waits)


def test_what_is_waited_for_before_an_attempt_is_no_absence_of_the_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0

    def wait_for_ones_turn() -> None:
        nonlocal now
        now += 3600.0

    monkeypatch.setattr(time, "monotonic", lambda: now)
    call = ScriptedCall(GraphUnavailableError("away"), GraphConflictError("moved"))
    patient = RetryPolicy(attempts_max=9, unavailable_seconds_max=60.0)
    assert call_with_retries(patient, call, before_each=wait_for_ones_turn) == "attempt 3"


def test_a_call_that_was_long_in_failing_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def times_out(_: int) -> None:
        nonlocal now
        now += 15.0
        raise GraphUnavailableError("silent")

    monkeypatch.setattr(time, "monotonic", lambda: now)
    with pytest.raises(GraphUnavailableError):
        call_with_retries(RetryPolicy(unavailable_seconds_max=6.0), times_out)
    assert now == 15.0
