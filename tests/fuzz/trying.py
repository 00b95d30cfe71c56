"""How a made-up input is tried: how many there are, what may come of one, and for how long.

Nothing about any door lives here.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from reconciler.errors import ReconcilerError
from tests import faults

__all__ = ["SECONDS_MAX", "HangError", "each_number", "each_of", "refusal", "within_the_time"]

SECONDS_MAX = 5.0
"""How much of this process's time one input may take; a busy machine makes it no shorter."""

_ROUND = 500
"""Inputs made in one go: Hypothesis remembers all that it made in one."""


class HangError(BaseException):
    """An input took longer; no ``except Exception`` on the way may take it for something else."""


def each_of(
    few: int, name: str, inputs: SearchStrategy[Any], attempt: Callable[[Any], object]
) -> None:
    """Try some inputs, FAULTS times as many as are named; FAULTS_SEED makes others.

    Args:
        few: how many ``make test`` tries.
        name: what their seed is made of, besides.
        inputs: what makes them.
        attempt: tries one; Hypothesis makes those that fail smaller, and shows the smallest.
    """
    left, number = faults.times(few), 0
    while left > 0:
        _round(min(left, _ROUND), f"{faults.SEED} {name} {number}", inputs, attempt)
        left, number = left - _ROUND, number + 1


def each_number(few: int, name: str, attempt: Callable[[int], object]) -> None:
    """Try what a number each makes, FAULTS times as many as are named; FAULTS_SEED makes others.

    For what bends something real: the number that failed is told, and bends it again. Hypothesis
    takes longer to draw a number than most of those inputs take to be tried.
    """
    chance = faults.moments(name)
    for _ in range(faults.times(few)):
        number = chance.getrandbits(32)
        try:
            attempt(number)
        except BaseException as error:
            error.add_note(f"{name}: the input that {number} makes")
            raise


def _round(
    count: int, seed_: str, inputs: SearchStrategy[Any], attempt: Callable[[Any], object]
) -> None:
    @seed(seed_)
    @settings(
        max_examples=count,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs)
    def one(given_: Any) -> None:
        attempt(given_)

    one()


@contextmanager
def within_the_time(door: str) -> Iterator[None]:
    """Count an input, and end it where it takes more of this process's time than it may.

    Raises:
        HangError: it does.
    """

    def too_long(*_: object) -> None:
        raise HangError(f"{door}: an input took more than {SECONDS_MAX:g} s")

    before = signal.signal(signal.SIGPROF, too_long)
    started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, SECONDS_MAX)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        faults.count_input(door, time.process_time() - started)


def refusal(door: str, call: Callable[[], object]) -> ReconcilerError | None:
    """Make a call: None where it succeeds, else the error of ours that refuses it.

    Any other error goes on, and fails the test. What is said of a refusal is short, and can be
    printed.
    """
    with within_the_time(door):
        try:
            call()
        except ReconcilerError as error:
            refused = error
        else:
            return None
    said = str(refused)
    assert said.strip(), "a refusal must say why"
    said.encode("utf-8", "backslashreplace")
    return refused
