"""The watch over calls that are under way: it hangs up on silence, and on nothing else."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from threading import Event

import pytest

from reconciler.adapters.neo4j_watch import CallWatch

SILENCE_SECONDS = 0.4
LONG_SECONDS = 60.0
NEVER_SECONDS = 0.8
"""After this long a watch has looked at a silent call, asked, and given it up, twice over."""


class Server:
    """What a watch watches over: it answers, or it does not, and notes when it is hung up on."""

    def __init__(self, call_seconds_max: float, *, answers: bool) -> None:
        self.answers = answers
        self.questions = 0
        self.is_hung_up = Event()
        self.watch = CallWatch(
            silence_seconds=SILENCE_SECONDS,
            call_seconds_max=call_seconds_max,
            ask=self._ask,
            hang_up=self.is_hung_up.set,
        )

    def _ask(self) -> None:
        self.questions += 1
        if self.answers:
            self.watch.note_sign()


Make = Callable[..., Server]


@pytest.fixture
def server() -> Iterator[Make]:
    """Makes servers, each with a watch that is closed at the end."""
    made: list[Server] = []

    def make(*, answers: bool, call_seconds_max: float = LONG_SECONDS) -> Server:
        made.append(Server(call_seconds_max, answers=answers))
        return made[-1]

    yield make
    for each in made:
        each.watch.close()


def test_a_silent_server_is_hung_up_on_and_its_call_told_so(server: Make) -> None:
    silent = server(answers=False)
    with silent.watch.call() as call:
        assert silent.is_hung_up.wait(30)
    assert call.given_up_after_seconds is not None
    assert call.given_up_after_seconds >= SILENCE_SECONDS / 2
    assert silent.questions == 1


def test_a_server_that_answers_the_question_is_waited_for(server: Make) -> None:
    busy = server(answers=True)
    with busy.watch.call() as call:
        assert not busy.is_hung_up.wait(NEVER_SECONDS)
    assert call.given_up_after_seconds is None
    assert busy.questions >= 1


def test_another_calls_answer_is_a_sign_of_life(server: Make) -> None:
    deaf = server(answers=False)
    with deaf.watch.call():
        for _ in range(16):
            assert not deaf.is_hung_up.wait(NEVER_SECONDS / 16)
            deaf.watch.note_sign()


def test_no_call_takes_longer_than_it_may_whatever_the_server_says(server: Make) -> None:
    chatty = server(answers=True, call_seconds_max=0.5)
    with chatty.watch.call() as call:
        assert chatty.is_hung_up.wait(30)
    assert call.given_up_after_seconds is not None


def test_nothing_is_asked_while_no_call_is_under_way(server: Make) -> None:
    idle = server(answers=False)
    with idle.watch.call():
        pass
    assert not idle.is_hung_up.wait(NEVER_SECONDS)
    assert idle.questions == 0


def test_a_silence_after_another_one_is_noticed_too(server: Make) -> None:
    silent = server(answers=False)
    for _ in range(2):
        silent.is_hung_up.clear()
        with silent.watch.call():
            assert silent.is_hung_up.wait(30)


def test_a_call_that_has_just_begun_is_not_told_that_it_was_given_up(server: Make) -> None:
    silent = server(answers=False)
    with silent.watch.call() as old:
        time.sleep(SILENCE_SECONDS * 0.6)
        with silent.watch.call() as young:
            assert silent.is_hung_up.wait(30)
            told = young.given_up_after_seconds
    assert old.given_up_after_seconds is not None
    assert told is None or told < old.given_up_after_seconds


def test_a_closed_watch_leaves_no_thread_behind(server: Make) -> None:
    before = set(threading.enumerate())
    watched = server(answers=True)
    with watched.watch.call():
        watched.watch.close()
    for thread in set(threading.enumerate()) - before:
        thread.join(30)
        assert not thread.is_alive()
