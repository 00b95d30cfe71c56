"""A process of its own with a memory in it, which does what a test tells it.

Commands and answers are JSON, one a line. A note is acknowledged by a line of its own after the
call returned, so that a test that kills the process knows what was promised until then.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests import faults

__all__ = ["Worker", "WorkerDiedError"]

ROOT = Path(__file__).resolve().parent.parent


class WorkerDiedError(Exception):
    """The process ended before it answered."""


class Worker:
    """The test's side: starts the process, talks to it, and ends it one way or another."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "tests.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def tell(self, command: str, **arguments: Any) -> None:
        """Give a command without waiting for its answer."""
        assert self._process.stdin is not None
        line = json.dumps({"command": command, **arguments}, default=str)
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def answer(self) -> Any:
        """The next answer.

        Raises:
            WorkerDiedError: the process ended first.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith("\n"):
            raise WorkerDiedError
        return json.loads(line)

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
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait(30)
        faults.count(doing)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if exc_type is not None:
            self._process.kill()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(60)


def _main() -> None:
    from reconciler import Memory
    from reconciler.errors import ReconcilerError
    from reconciler.testing import HashingEmbedder

    memory: Memory | None = None
    for line in sys.stdin:
        given = json.loads(line)
        command = given.pop("command")
        try:
            if command == "open":
                memory = Memory.open(embedder=HashingEmbedder(), **given["settings"])
                _say("open")
            elif command == "close":
                memory = _closed(memory)
            else:
                DOES[command](memory, **given)
        except ReconcilerError as error:
            _say({"error": type(error).__name__, "text": str(error)})
    if memory is not None:
        memory.close()


def _add(memory: Any, notes: list[dict[str, Any]]) -> None:
    for note in notes:
        _say(memory.add_contact_note("crm", **note).to_dict())


def _import(memory: Any, path: str) -> None:
    with Path(path).open() as lines:
        memory.import_notes(lines, on_progress=lambda count: _say(count))
    _say("imported")


def _act(_: Any, name: str, settings: dict[str, Any], contact_id: str, folder: str) -> None:
    from tests import acts

    with acts.opened(settings) as memory:
        _say("open")
        for made in acts.ACTS[name](memory, contact_id, Path(folder)):
            _say(made)
    _say("done")


DOES = {"add": _add, "import": _import, "act": _act}


def _closed(memory: Any) -> None:
    memory.close()
    _say("closed")


def _say(answer: Any) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _main()
