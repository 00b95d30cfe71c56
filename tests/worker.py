"""A process of its own with a memory in it, which does what a test tells it.

It is forked as those of ``job_crasher`` are. A note is acknowledged by an answer of its own after
the call returned, so that a test that kills the process knows what was promised until then.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from reconciler import Memory
from reconciler.errors import ReconcilerError
from reconciler.testing import HashingEmbedder
from tests import faults
from tests.job_crasher import CONTEXT

__all__ = ["Worker", "WorkerDiedError"]


class WorkerDiedError(Exception):
    """The process ended before it answered."""


class Worker:
    """The test's side: has the process forked, talks to it, and ends it one way or another."""

    def __init__(self) -> None:
        self._answers, answering = CONTEXT.Pipe(duplex=False)
        commanded, self._commands = CONTEXT.Pipe(duplex=False)
        self._process = CONTEXT.Process(target=_serve, args=(commanded, answering), daemon=True)
        self._process.start()
        commanded.close()
        answering.close()

    def tell(self, command: str, **arguments: Any) -> None:
        """Give a command without waiting for its answer."""
        self._commands.send({"command": command, **arguments})

    def answer(self) -> Any:
        """The next answer.

        Raises:
            WorkerDiedError: the process ended first.
        """
        try:
            return self._answers.recv()
        except (EOFError, OSError) as error:  # also in the middle of a word
            raise WorkerDiedError from error

    def ask(self, command: str, **arguments: Any) -> Any:
        """Give a command and wait for its answer."""
        self.tell(command, **arguments)
        return self.answer()

    def answers(self) -> Iterator[Any]:
        """All answers until the process ends."""
        try:
            while True:
                yield self.answer()
        except WorkerDiedError:
            return

    def answers_until(self, key: str) -> Iterator[Any]:
        """All answers up to the one that has this key, or until the process ends."""
        for answer in self.answers():
            yield answer
            if key in answer:
                return

    def kill(self, doing: str = "writing") -> None:
        """SIGKILL: it can finish nothing; what it said before can still be read."""
        self._process.kill()
        self._process.join(30)
        faults.count(doing)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if exc_type is not None:
            self._process.kill()
        self._commands.close()
        self._answers.close()
        self._process.join(60)


def _serve(commanded: Connection, answering: Connection) -> None:
    """Do what is asked, one command after another, until no more can come."""
    warnings.simplefilter("error")
    memory: Memory | None = None
    while True:
        try:
            given = commanded.recv()
        except EOFError:
            break
        command = given.pop("command")
        try:
            if command == "open":
                memory = Memory.open(embedder=HashingEmbedder(), **given["settings"])
                answering.send("open")
            elif command == "close":
                if memory is not None:
                    memory.close()
                memory = None
                answering.send("closed")
            else:
                DOES[command](answering.send, memory, **given)
        except ReconcilerError as error:
            answering.send({"error": type(error).__name__, "text": str(error)})
    if memory is not None:
        memory.close()


Say = Callable[[Any], None]


def _add(say: Say, memory: Any, notes: list[dict[str, Any]]) -> None:
    for note in notes:
        say(memory.add_contact_note("crm", **note).to_dict())


def _import(say: Say, memory: Any, path: str) -> None:
    with Path(path).open() as lines:
        memory.import_notes(lines, on_progress=say)
    say("imported")


def _act(
    say: Say, _: Any, name: str, settings: dict[str, Any], contact_id: str, folder: str
) -> None:
    from tests import acts

    with acts.opened(settings) as memory:
        say("open")
        for made in acts.ACTS[name](memory, contact_id, Path(folder)):
            say(made)
    say("done")


def _follow(say: Say, memory: Any, count: int) -> None:
    """Read the agent's changes, few at a time, until there were so many."""
    after = None
    while count > 0:
        some = memory.agent("crm").changes(after=after, limit=7)
        for change in some:
            say({"decision_id": change.decision_id, "cursor": change.cursor})
        after = some[-1].cursor if some else after
        count -= len(some)
    say("followed")


DOES = {"add": _add, "import": _import, "act": _act, "follow": _follow}
