"""Processes that work in the background door until they are killed outright, for the crash tests.

Here: what such a process does, the sessions it hands over or reads, and how a test starts it, and
counts its end. Never here: what has to hold afterwards. Each process is forked from one that has
imported everything and holds nothing open, so that a kill costs tenths of a second.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import reconciler.adapters.embedded_graph
import reconciler.adapters.neo4j_graph  # noqa: F401  imported before any process is forked
from reconciler import Memory
from reconciler.domain.records.candidates import Turn
from reconciler.domain.records.sessions import Episode, Stage
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction, Window
from reconciler.queries import load_queries
from reconciler.reading.kinds import Category
from reconciler.testing import HashingEmbedder
from tests import faults, second_schema

__all__ = [
    "AGENT",
    "CONTEXT",
    "CrashPoint",
    "NumberTalk",
    "Talk",
    "Victim",
    "die_at",
    "die_before_a_write",
    "hand_over",
    "migrate",
    "opened",
    "stall_at",
    "submit",
    "talks",
    "work_on",
]

AGENT = "crm"
CONTACTS = 2
FIRST_TALK_AT = datetime(2015, 1, 5, tzinfo=UTC)  # `make faults` has thousands, an hour apart
JOBS = {
    "lease_seconds": 0.4,
    "poll_seconds": 0.02,
    "backoff_seconds": 0.01,
    "backoff_seconds_max": 0.05,
    "attempts_max": 200,
}
NOT_SAID = "words that nobody said"
USUAL_WORDING = "usual"
STATEMENT = re.compile(r"Please remember that my (?P<attribute>.+) is (?P<value>.+)\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A session to hand over; every other one is with the same contact."""

    number: int

    @property
    def contact_id(self) -> str:
        """With whom."""
        return f"contact-{self.number % CONTACTS}"

    @property
    def session_id(self) -> str:
        """Its id."""
        return f"session-{self.number}"

    @property
    def statements(self) -> tuple[str, ...]:
        """The dog stays the same and the city changes; the third is held, the fourth refused."""
        number = self.number
        return (
            "dog is Rex",
            f"city is Townsville{number}",
            f"hunch{number} is perhaps{number}",
            f"rumour{number} is hearsay{number}",
        )

    @property
    def turns(self) -> list[Turn]:
        """One a statement."""
        at = FIRST_TALK_AT + timedelta(hours=self.number)
        return [
            Turn(
                role="contact",
                text=f"Please remember that my {statement}.",
                said_at=at + timedelta(minutes=minute),
            )
            for minute, statement in enumerate(self.statements)
        ]

    def claims(self, wording: str = USUAL_WORDING) -> list[str]:
        """What is read out of it, in the order of the statements."""
        pairs = (each.split(" is ") for each in self.statements)
        return [_claim(attribute, value, wording) for attribute, value in pairs]


class NumberTalk(Talk):
    """A talk in which the contact tells their phone number, which only a slot's value may keep."""

    @property
    def statements(self) -> tuple[str, ...]:
        """The number alone."""
        return ("phone is 020 7946 0018",)


def talks(count: int) -> list[Talk]:
    """So many talks, with three contacts in turn."""
    return [Talk(number=number) for number in range(count)]


class PleadingExtractor:
    """Reads what begins with a plea, the same at each time but for the wording that it is given.

    Args:
        wording: stands at the end of every claim; another one for each reader shows its reader
            reading it was.
    """

    name = "pleading-v1"

    def __init__(self, wording: str) -> None:
        self._wording = wording

    def extract(self, window: Window) -> Extraction:
        """A candidate for each statement."""
        read = (
            self._read(number, episode)
            for number, episode in enumerate(window.episodes, start=1)
            if episode.episode_id in window.new_ids
        )
        return Extraction(candidates=tuple(each for each in read if each))

    def close(self) -> None:
        """Nothing to close."""

    def _read(self, number: int, episode: Episode) -> Extracted | None:
        found = STATEMENT.fullmatch(episode.text)
        if found is None:
            return None
        attribute, value = found["attribute"], found["value"]
        span = NOT_SAID if attribute.startswith("rumour") else episode.text
        is_hunch = attribute.startswith("hunch")
        return Extracted(
            text=_claim(attribute, value, self._wording),
            category=Category.PREFERENCE if is_hunch else Category.FACT,
            importance=0.8,
            confidence=0.5 if is_hunch else 0.95,
            citations=(Citation(episode=number, span=span),),
            attribute=attribute,
            value="something that was not said" if is_hunch else value,
            single_valued=True,
        )


def _claim(attribute: str, value: str, wording: str) -> str:
    """Few words that two claims have in common, so that only slots bring them together."""
    return f"{attribute} {value}, {wording}"


@contextmanager
def opened(
    arguments: dict[str, Any], *, wording: str = USUAL_WORDING, **jobs: float
) -> Iterator[Memory]:
    """A memory with short leases and an extractor that ends every claim with that wording."""
    with Memory.open(
        embedder=HashingEmbedder(),
        extractor=PleadingExtractor(wording),
        jobs=JOBS | jobs,
        **arguments,
    ) as memory:
        yield memory


def submit(memory: Memory, talk: Talk) -> str:
    """The id of the job of a talk that was handed over."""
    return memory.contact(AGENT, talk.contact_id).submit_session(talk.session_id, talk.turns)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashPoint:
    """The point of a worker's life at which it ends: the n-th time that it comes to a stage."""

    stage: Stage
    occurrence: int = 1


# What the processes do. All take where to say something, and the settings' arguments.


def die_at(
    told: Connection,
    arguments: dict[str, Any],
    fault: CrashPoint,
    given: Sequence[Talk],
    **how: Any,
) -> None:
    """Hand talks over, then work, and be killed at that point."""
    left = fault.occurrence

    def on_stage(stage: Stage) -> None:
        nonlocal left
        left -= stage is fault.stage
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    with opened(arguments, **how) as memory:
        for each in given:
            submit(memory, each)
        memory.worker(on_stage).run()


def die_before_a_write(
    told: Connection, arguments: dict[str, Any], number: int, talk: Talk
) -> None:
    """Hand a talk over, and be killed before the first, second, … write after it was read."""
    left: int | None = None

    def on_stage(stage: Stage) -> None:
        nonlocal left
        left = number if stage is Stage.EXTRACTED else left

    with opened(arguments) as memory:
        graph = memory._services.session_store.graph
        queries, run = load_queries(graph.engine), graph.run

        def counted(name: str, *given: Any, **how: Any) -> Any:
            nonlocal left
            if left and queries[name].mode == "write" and name != "renew_lease":
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return run(name, *given, **how)

        graph.run = counted  # type: ignore[method-assign]
        submit(memory, talk)
        memory.worker(on_stage).run()


def work_on(told: Connection, arguments: dict[str, Any], given: Sequence[Talk], **how: Any) -> None:
    """Hand talks over, say that work begins, and work until killed."""
    with opened(arguments, **how) as memory:
        for each in given:
            submit(memory, each)
        told.send("working")
        memory.worker().run()


def stall_at(
    told: Connection,
    arguments: dict[str, Any],
    fault: CrashPoint,
    given: Sequence[Talk],
    **how: Any,
) -> None:
    """Hand talks over, freeze in the middle of one, and go on with it when it is thawed."""

    def on_stage(stage: Stage) -> None:
        if stage is fault.stage:
            told.send("frozen")
            os.kill(os.getpid(), signal.SIGSTOP)

    with opened(arguments, **how) as memory:
        for each in given:
            submit(memory, each)
        memory.worker(on_stage).work_once()
        told.send("through")
        signal.pause()


def hand_over(told: Connection, arguments: dict[str, Any], given: Sequence[Talk]) -> None:
    """Hand talks over, one after another, and tell each job's id once the call returned."""
    with opened(arguments) as memory:
        for each in given:
            told.send((each, submit(memory, each)))


def migrate(told: Connection, arguments: dict[str, Any], cypher: Path, place: int) -> None:
    """Bring a store up to the invented schema, and stop before a statement of its last step."""
    with second_schema.used(cypher):
        second_schema.stop_before(place, arguments["graph"], lambda: told.send("midway"))
        Memory.open(embedder=HashingEmbedder(16), migrate=True, **arguments).close()


class Victim:
    """The test's side of such a process.

    Args:
        task: what it does.
        arguments: the settings.
        given: the task's further arguments.
    """

    def __init__(
        self, task: Callable[..., None], arguments: dict[str, Any], *given: Any, **how: Any
    ) -> None:
        self._doing = task.__name__.replace("_", " ")
        self._told, telling = CONTEXT.Pipe(duplex=False)
        call = functools.partial(task, telling, arguments, *given, **how)
        self._process = CONTEXT.Process(target=call, daemon=True)
        self._process.start()
        telling.close()

    def told(self) -> Any:
        """The next thing that it says.

        Raises:
            EOFError: it ended first.
        """
        return self._told.recv()

    def all_told(self) -> Iterator[Any]:
        """All that it said before it ended."""
        try:
            while True:
                yield self.told()
        except (EOFError, OSError):  # also in the middle of a word
            return

    def kill(self) -> None:
        """SIGKILL from outside: it can finish nothing."""
        assert self._process.pid is not None
        os.kill(self._process.pid, signal.SIGKILL)
        self.wait()

    def kill_or_find_ended(self) -> None:
        """SIGKILL from outside, unless it came to its own good end before."""
        with contextlib.suppress(ProcessLookupError):
            assert self._process.pid is not None
            os.kill(self._process.pid, signal.SIGKILL)
        self._process.join(60)
        if self._process.exitcode:
            assert self._process.exitcode == -signal.SIGKILL
            faults.count(self._doing)

    def thaw(self) -> None:
        """Have it go on after it froze."""
        assert self._process.pid is not None
        os.kill(self._process.pid, signal.SIGCONT)

    def wait(self) -> None:
        """Wait until SIGKILL has ended it; any other end is a failure of the test."""
        self._process.join(60)
        assert self._process.exitcode == -signal.SIGKILL, self._process.exitcode
        faults.count(self._doing)

    def close(self) -> None:
        """Leave nothing running, also where the test failed."""
        self._process.kill()
        self._process.join(60)
        self._told.close()


def _warm_up() -> None:
    """Import, compile and load once for all processes what each would at its first talk.

    What it opens is closed again, and no thread is left that a fork could cut off.
    """
    with tempfile.TemporaryDirectory() as folder:
        store = {"graph": "embedded", "embedded_path": Path(folder) / "memory.lbug"}
        with opened(store) as memory:
            submit(memory, Talk(number=0))
            memory.drain()


CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload([__name__])
if "multiprocessing.forkserver" in sys.orig_argv[-1]:  # not in the test run's own process
    _warm_up()
