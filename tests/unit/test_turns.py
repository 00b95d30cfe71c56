"""Turns, and a contact's: in the order in which they came, in bounded time, none ever lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import pytest

from reconciler.domain.records.notes import Scope
from reconciler.service.writing.ledger import ContactTurns
from reconciler.turns import Ticket, Turns
from tests.interrupts import interrupt_everywhere

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
    ahead = len(turns._queue)

    def go(number: int) -> None:
        with turns.turn() as turn:
            assert turn.take(LONG)
            served.append(number)

    for number in range(count):
        threads.submit(go, number)
        until(lambda queued=ahead + number + 1: len(turns._queue) == queued)
    return served


def free_count(turns: Turns, asked: int) -> int:
    """How many of so many would get a turn now."""
    with ExitStack() as stack:
        return sum(stack.enter_context(turns.turn()).take(0.0) for _ in range(asked))


def test_who_comes_first_goes_first() -> None:
    turns = Turns()
    with ThreadPoolExecutor(20) as threads, turns.turn() as turn:
        turn.take(LONG)
        served = queue_up(turns, 20, threads)
    assert served == list(range(20))


def test_who_gives_a_turn_back_and_asks_again_does_not_overtake() -> None:
    turns = Turns()
    with ThreadPoolExecutor(1) as threads:
        with turns.turn() as turn:
            turn.take(LONG)
            served = queue_up(turns, 1, threads)
        with turns.turn() as turn:
            assert turn.take(LONG)
            assert served == [0]


def test_as_many_go_on_at_once_as_may() -> None:
    turns = Turns(3)
    with turns.turn() as turn:
        assert turn.take(0.0)
        assert free_count(turns, 5) == 2
    assert free_count(turns, 5) == 3


def test_who_has_waited_long_enough_leaves_no_place_behind() -> None:
    turns = Turns()
    with turns.turn() as turn, turns.turn() as late:
        turn.take(LONG)
        assert not late.take(SOON)
        assert list(turns._queue) == [turn]


@pytest.mark.parametrize("while_moving", [True, False])
def test_a_queue_that_moves_is_left_only_by_who_does_not_care(
    monkeypatch: pytest.MonkeyPatch, while_moving: bool
) -> None:
    turns = Turns()
    ahead = [Ticket(turns) for _ in range(4)]
    turns._queue.update(dict.fromkeys(ahead))
    waits = whenever_somebody_waits(monkeypatch, lambda: turns._queue.pop(ahead.pop(0)))
    with turns.turn() as turn:
        assert turn.take(SOON, while_moving=while_moving) is while_moving
    assert waits == [SOON] * (4 if while_moving else 1)


def whenever_somebody_waits(
    monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]
) -> list[float]:
    """Have it happen, and the time be over at once; gives the times that were to be waited."""
    waits: list[float] = []

    def wait(_turn: Ticket, seconds: float) -> None:
        waits.append(seconds)
        happens()

    monkeypatch.setattr(Ticket, "_wait", wait)
    return waits


def test_an_interrupt_at_no_point_takes_a_turn_away() -> None:
    turns = Turns(2)

    def use() -> None:
        with turns.turn() as turn:
            turn.take(0.0)

    assert interrupt_everywhere(use) > 10
    assert (turns._queue, free_count(turns, 3)) == ({}, 2)


def test_an_interrupt_at_no_point_of_a_wait_takes_a_turn_away() -> None:
    turns = Turns()

    def wait_in_vain() -> None:
        with turns.turn() as turn:
            turn.take(0.001, while_moving=True)

    with turns.turn() as first:
        first.take(0.0)
        assert interrupt_everywhere(wait_in_vain) > 20
        assert list(turns._queue) == [first]
    assert free_count(turns, 2) == 1


def test_an_interrupt_at_no_point_takes_a_contacts_turn_away() -> None:
    turns = ContactTurns(SOON)

    def use() -> None:
        with turns.turn(ALICE) as turn:
            turn()

    assert interrupt_everywhere(use) > 10
    with turns.turn(ALICE) as turn:
        assert turn()


def test_who_was_not_called_looks_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt of the caller that gave its turn back swallows the call."""
    turns = Turns()
    with ThreadPoolExecutor(1) as threads, turns.turn() as turn:
        turn.take(LONG)
        served = queue_up(turns, 1, threads)
        monkeypatch.setattr(Turns, "_call_first", lambda _: None)
        del turns._queue[turn]
        until(lambda: served == [0])


def test_a_contacts_turn_is_one_writers_at_a_time() -> None:
    turns = ContactTurns(LONG)
    inside: list[int] = []

    def go(number: int) -> int:
        with turns.turn(ALICE) as turn:
            turn()
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
        assert (alice(), bob()) == (True, True)


def test_a_queue_that_stands_still_is_gone_on_in_without_a_turn_until_it_moves() -> None:
    turns = ContactTurns(SOON)
    with turns.turn(ALICE) as second:
        with turns.turn(ALICE) as first:
            assert (first(), second()) == (True, False)
        assert second()


def test_who_has_the_turn_does_not_wait_for_it_again() -> None:
    turns = ContactTurns(LONG)
    for _ in range(2):
        with turns.turn(ALICE) as turn:
            turn()
            turn()


def test_no_queue_is_kept_for_a_contact_that_nobody_writes_about() -> None:
    turns = ContactTurns(SOON)
    with turns.turn(ALICE), turns.turn(BOB), turns.turn(BOB) as bob:
        bob()
        assert len(turns._queues) == 2
    del bob
    assert not turns._queues


def test_a_writer_that_fails_gives_its_turn_back() -> None:
    turns = ContactTurns(SOON)
    with suppress(ValueError), turns.turn(ALICE) as turn:
        turn()
        raise ValueError
    with turns.turn(ALICE) as turn:
        assert turn()
