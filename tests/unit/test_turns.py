"""Turns, and a contact's: in the order in which they came, in bounded time, none ever lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from reconciler.domain.scope import Scope
from reconciler.service.contact_turns import ContactTurns
from reconciler.turns import Turns

ALICE, BOB = Scope("default", "crm", "alice"), Scope("default", "crm", "bob")
SOON, LONG = 0.05, 60.0


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def queue_up(turns: Turns, count: int, threads: ThreadPoolExecutor) -> list[int]:
    """Have that many queue one after the other; the list fills in the order of their turns."""
    served: list[int] = []

    def go(number: int) -> None:
        assert turns.take(LONG)
        served.append(number)
        turns.give_back()

    for number in range(count):
        threads.submit(go, number)
        until(lambda waiting=number + 1: len(turns._waiting) == waiting)
    return served


def test_who_comes_first_goes_first() -> None:
    turns = Turns()
    turns.take(LONG)
    with ThreadPoolExecutor(20) as threads:
        served = queue_up(turns, 20, threads)
        turns.give_back()
    assert served == list(range(20))


def test_who_gives_a_turn_back_and_asks_again_does_not_overtake() -> None:
    turns = Turns()
    turns.take(LONG)
    with ThreadPoolExecutor(1) as threads:
        served = queue_up(turns, 1, threads)
        turns.give_back()
        assert turns.take(LONG)
        assert served == [0]


def test_as_many_go_on_at_once_as_may() -> None:
    turns = Turns(3)
    assert [turns.take(0.0) for _ in range(5)] == [True, True, True, False, False]
    turns.give_back()
    assert [turns.take(0.0) for _ in range(2)] == [True, False]


def test_who_has_waited_long_enough_leaves_no_place_behind() -> None:
    turns = Turns()
    turns.take(LONG)
    assert not turns.take(SOON)
    turns.give_back()
    assert turns.take(0.0)


@pytest.mark.parametrize("while_moving", [True, False])
def test_a_queue_that_moves_is_left_only_by_who_does_not_care(
    monkeypatch: pytest.MonkeyPatch, while_moving: bool
) -> None:
    turns = Turns()
    turns.take(LONG)
    with ThreadPoolExecutor(3) as threads:
        ahead = [threads.submit(turns.take, LONG) for _ in range(3)]
        until(lambda: len(turns._waiting) == 3)
        waits = whenever_somebody_waits(monkeypatch, turns.give_back)
        assert turns.take(SOON, while_moving=while_moving) is while_moving
        for _ in ahead:
            turns.give_back()
    assert waits == [SOON] * (4 if while_moving else 1)


def whenever_somebody_waits(
    monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None]
) -> list[float | None]:
    """Have it happen, and the time be over at once; gives the times that were to be waited."""
    waits: list[float | None] = []

    class Impatient(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout)
            happens()
            return self.is_set()

    monkeypatch.setattr(threading, "Event", Impatient)
    return waits


@pytest.mark.parametrize("is_called_first", [False, True])
def test_an_interrupted_wait_takes_no_turn_away(
    monkeypatch: pytest.MonkeyPatch, is_called_first: bool
) -> None:
    turns = Turns()
    turns.take(LONG)

    def interrupt() -> None:
        if is_called_first:
            turns.give_back()
        raise KeyboardInterrupt

    whenever_somebody_waits(monkeypatch, interrupt)
    with pytest.raises(KeyboardInterrupt):
        turns.take(LONG)
    if not is_called_first:
        turns.give_back()
    monkeypatch.undo()
    assert (turns.take(0.0), turns.take(0.0)) == (True, False)


def test_a_contacts_turn_is_one_writers_at_a_time() -> None:
    turns = ContactTurns(LONG)
    inside: list[int] = []

    def go(number: int) -> int:
        with turns.turn(ALICE) as turn:
            turn.take()
            inside.append(number)
            time.sleep(0.001)
            at_once = len(inside)
            inside.remove(number)
            return at_once

    with ThreadPoolExecutor(16) as threads:
        assert set(threads.map(go, range(64))) == {1}


def test_nobody_waits_for_another_contacts_turn() -> None:
    turns = ContactTurns(LONG)
    with turns.turn(ALICE) as alice, turns.turn(BOB) as bob:
        alice.take()
        bob.take()
        assert (alice.is_taken, bob.is_taken) == (True, True)


def test_a_queue_that_stands_still_is_gone_on_in_without_a_turn_until_it_moves() -> None:
    turns = ContactTurns(SOON)
    with turns.turn(ALICE) as second:
        with turns.turn(ALICE) as first:
            first.take()
            second.take()
            assert (first.is_taken, second.is_taken) == (True, False)
        second.take()
        assert second.is_taken


def test_who_has_the_turn_does_not_wait_for_it_again() -> None:
    turns = ContactTurns(LONG)
    for _ in range(2):
        with turns.turn(ALICE) as turn:
            turn.take()
            turn.take()


def test_no_queue_is_kept_for_a_contact_that_nobody_writes_about() -> None:
    turns = ContactTurns(SOON)
    with turns.turn(ALICE), turns.turn(BOB), turns.turn(BOB) as bob:
        bob.take()
        assert len(turns._queues) == 2
    assert turns._queues == {}


def test_a_writer_that_fails_gives_its_turn_back() -> None:
    turns = ContactTurns(SOON)
    with suppress(ValueError), turns.turn(ALICE) as turn:
        turn.take()
        raise ValueError
    with turns.turn(ALICE) as turn:
        turn.take()
        assert turn.is_taken
