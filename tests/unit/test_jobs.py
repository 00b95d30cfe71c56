"""Jobs in themselves: how long they wait, and what their numbers mean."""

from __future__ import annotations

from datetime import timedelta

from reconciler.domain.records.policies import JobPolicy
from reconciler.domain.records.sessions import Outcomes
from tests.tables import every

POLICY = JobPolicy(attempts_max=5, backoff_seconds=4, backoff_seconds_max=20)


@every(
    ("attempts", "chance", "seconds"),
    [(1, 1, 4), (1, 0, 2), (2, 1, 8), (3, 1, 16), (4, 1, 20), (4, 0, 10), (500, 1, 20)],
)
def test_the_wait_doubles_up_to_its_bound_with_half_of_it_left_to_chance(
    attempts: int, chance: float, seconds: float
) -> None:
    assert POLICY.wait(attempts, None, chance) == timedelta(seconds=seconds)


@every(("asked", "seconds"), [(1, 4), (30, 30), (3600, 3600)])
def test_no_attempt_comes_before_the_server_wants_it(asked: float, seconds: float) -> None:
    assert POLICY.wait(1, asked, 1) == timedelta(seconds=seconds)


def test_a_wait_of_its_own_lies_between_the_bounds() -> None:
    waits = {POLICY.wait(2, None).total_seconds() for _ in range(50)}
    assert min(waits) >= 4
    assert max(waits) <= 8
    assert len(waits) > 1


def test_the_outcomes_together_are_all_candidates() -> None:
    outcomes = Outcomes(added=1, superseding=2, known=3, held=4, refused=5, left_out=6)
    assert outcomes.candidates == 21
