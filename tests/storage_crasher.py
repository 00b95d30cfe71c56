"""Processes that fail to write to the disk at a chosen call, for the tests of the embedded engine.

Here: how such a process is made, and what it does until it ends. Never here: what has to hold
afterwards. A C library that is loaded first counts every write, sync and rename of the store's
folder, and kills the process at one of them, or has the disk be full from then on. Each process is
forked from one that has imported everything and holds nothing open.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

from reconciler import ops
from tests import faults

__all__ = ["CannotCompileError", "Ended", "StorageCrasher", "StorageFault", "compiled"]

ROOT = Path(__file__).resolve().parent.parent
SOURCE = Path(__file__).with_name("storage_faults.c")
SECONDS_MAX = 60
"""A process that takes longer hangs."""


class CannotCompileError(Exception):
    """This machine has no C compiler; the text says what to install."""


class StorageFault(IntEnum):
    """What happens at the chosen call; the numbers are those of the C file."""

    NONE = 0
    KILL_BEFORE = 1
    KILL_HALFWAY = 2
    DISK_FULL = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a process ended.

    Attributes:
        acknowledged: the ids of the decisions that were returned to it, in order.
        errors: the names of the errors that it met.
        calls: a letter for each call that was counted, if it came to its end.
        signal: what ended it; 0 if it came to its end.
    """

    acknowledged: list[str]
    errors: list[str]
    calls: str
    signal: int


def compiled(folder: Path) -> Path:
    """The library that makes calls fail.

    Raises:
        CannotCompileError: there is no C compiler.
    """
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or not sys.platform.startswith("linux"):
        raise CannotCompileError("faults of the disk need Linux and a C compiler; install gcc")
    library = folder / "storage_faults.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
    return library


class StorageCrasher:
    """The test's side: has processes forked that end at a chosen call.

    Args:
        library: what ``compiled`` made.
    """

    def __init__(self, library: Path) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.storage_crasher"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "LD_PRELOAD": str(library)},
        )

    def run(
        self, task: str, path: Path, fault: StorageFault = StorageFault.NONE, at_call: int = 0
    ) -> Ended:
        """What became of a process that does a task with the store at a path."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        asked = {"task": task, "path": str(path), "fault": int(fault), "at_call": at_call}
        self._server.stdin.write(json.dumps(asked) + "\n")
        self._server.stdin.flush()
        ended = Ended(**json.loads(self._server.stdout.readline()))
        if ended.signal == signal.SIGKILL:
            faults.count(f"at a call of the disk: {task}")
        return ended

    def close(self) -> None:
        """End the process that forks the others."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.close()
        self._server.stdout.close()
        self._server.wait(SECONDS_MAX)


# The other side, in processes that have the library loaded.

Say = Callable[[dict[str, Any]], None]


def _write(path: Path, say: Say, arm: Callable[[], None]) -> None:
    """Open a store, write two notes, a third one after which the log is folded in, and close."""
    from reconciler.adapters import embedded_graph

    arm()
    with _memory(path) as memory:
        for number, text in enumerate(NOTES):
            if number == len(NOTES) - 1:
                embedded_graph.CHECKPOINT_LOG_BYTES = 0
            say({"acknowledged": memory.add_contact_note("crm", "priya", text).decision_id})
            say({"calls": number})


def _close(path: Path, say: Say, arm: Callable[[], None]) -> None:
    """Open a store, write two notes, and close it."""
    with _memory(path) as memory:
        for text in NOTES[:2]:
            say({"acknowledged": memory.add_contact_note("crm", "priya", text).decision_id})
        arm()


def _open(path: Path, say: Say, arm: Callable[[], None]) -> None:
    """Open a store and close it; say only what it met."""
    from reconciler.errors import ReconcilerError

    arm()
    try:
        with _memory(path):
            pass
    except ReconcilerError as error:
        say({"error": type(error).__name__})


def _go_on(path: Path, say: Say, arm: Callable[[], None]) -> None:
    """Write on after the disk was full, in vain; then, with room, open it again and write."""
    from reconciler.errors import ReconcilerError

    with _memory(path) as memory:
        arm()
        for text in NOTES:
            try:
                decision = memory.add_contact_note("crm", "priya", text)
                say({"acknowledged": decision.decision_id})
            except ReconcilerError as error:
                say({"error": type(error).__name__})
        _arm(path.parent, StorageFault.NONE, 0)
        try:  # there is room again, but what the engine kept must not get into its log now
            memory.add_contact_note("crm", "priya", NOTES[0])
            say({"error": "none after the disk had room again"})
        except ReconcilerError as error:
            say({"error": type(error).__name__})
        if not memory.contact("crm", "priya").recall():
            say({"error": "nothing could be read after the disk was full"})
    with _memory(path) as memory:
        for text in LATER_NOTES:
            say({"acknowledged": memory.add_contact_note("crm", "priya", text).decision_id})
        os.kill(os.getpid(), signal.SIGKILL)


def _leave(path: Path, say: Say, arm: Callable[[], None]) -> None:
    """Meet a full disk, and end without closing anything."""
    from reconciler import Memory
    from reconciler.errors import GraphStorageError
    from reconciler.testing import HashingEmbedder

    memory = Memory.open(embedder=HashingEmbedder(16), graph="embedded", embedded_path=path)
    arm()
    try:
        memory.add_contact_note("crm", "priya", NOTES[0])
        say({"error": "the disk was never full"})
    except GraphStorageError:
        pass
    del memory
    gc.collect()


def _forget(path: Path, say: Say, arm: Callable[[], None]) -> None:
    """Open a store, and forget a contact."""
    with _memory(path) as memory:
        arm()
        memory.contact("crm", "priya").forget(by="contact", reason="I asked for it.")
        say({"calls": 0})


def _reembed(path: Path, say: Say, arm: Callable[[], None]) -> None:
    """Open a store, and move it to another model."""
    from reconciler.testing import HashingEmbedder

    with _memory(path) as memory:
        arm()
        ops.reembed(memory, HashingEmbedder(24), batch_size=2, uncalibrated=True)
        say({"calls": 0})


def _export(path: Path, say: Say, arm: Callable[[], None]) -> None:
    """Export a store, beside it."""
    with _memory(path) as memory:
        arm()
        ops.export(memory, path.with_name("all.jsonl"), vectors=True)
        say({"calls": 0})


def _backup(path: Path, say: Say, arm: Callable[[], None]) -> None:
    """Back a store up, beside it."""
    with _memory(path) as memory:
        arm()
        ops.backup(memory, path.with_name("memory.zip"))
        say({"calls": 0})


def _restore(path: Path, say: Say, arm: Callable[[], None]) -> None:
    """Restore the backup that lies beside a path into a folder beside it."""

    arm()
    ops.restore(
        path.with_name("memory.zip"), graph="embedded", embedded_path=path.parent / "to" / path.name
    )
    say({"calls": 0})


def _one(call: Callable[[Any], object]) -> Callable[[Path, Say, Callable[[], None]], None]:
    """Open a store, make one call that writes, and end as soon as it is answered."""

    def one(path: Path, say: Say, arm: Callable[[], None]) -> None:
        with _memory(path) as memory:
            arm()
            call(memory.contact("crm", "priya"))
            say({"calls": 0})
            os._exit(0)

    return one


def _act(name: str) -> Callable[[Path, Say, Callable[[], None]], None]:
    """Open a store that holds what an act needs, and do it."""

    def act(path: Path, say: Say, arm: Callable[[], None]) -> None:
        from tests import acts

        with acts.opened({"graph": "embedded", "embedded_path": path}) as memory:
            arm()
            for made in acts.ACTS[name](memory, "priya", path.parent):
                say({"acknowledged": made})
            say({"calls": 0})

    return act


NOTES = ("Lives in Pune.", "Prefers tea to coffee.", "Works at the harbour.")
SAID = ({"role": "contact", "content": "Remember that I only take calls after 5 pm."},)
LATER_NOTES = ("Has a dog named Rex.", "Plays the cello.")
ACTS = ("relate", "rejudge", "settle", "merge", "rename", "split")
TASKS = {
    **{"write": _write, "close": _close, "open": _open, "go on": _go_on, "leave": _leave},
    "reembed": _reembed,
    "note": _one(lambda contact: contact.note(NOTES[0])),
    "hand over": _one(lambda contact: contact.submit_session("chat", SAID)),
    **{"forget": _forget, "export": _export, "back up": _backup, "restore": _restore},
    **{name: _act(name) for name in ACTS},
}


@contextmanager
def _memory(path: Path) -> Iterator[Any]:
    from reconciler import Memory
    from reconciler.testing import HashingEmbedder

    with Memory.open(embedder=HashingEmbedder(16), graph="embedded", embedded_path=path) as memory:
        yield memory


def _arm(folder: Path, fault: StorageFault, at_call: int) -> None:
    ctypes.CDLL(None).storage_faults_arm(f"{folder}/".encode(), int(fault), ctypes.c_long(at_call))


def _calls() -> str:
    kinds = ctypes.CDLL(None).storage_faults_kinds
    kinds.restype = ctypes.c_char_p
    return bytes(kinds()).decode()


def _child(asked: dict[str, Any], telling: int) -> None:
    path = Path(asked["path"])

    def say(words: dict[str, Any]) -> None:
        if "calls" in words:
            words = {"calls": _calls()}
        os.write(telling, (json.dumps(words) + "\n").encode())

    signal.alarm(SECONDS_MAX)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what the engine says when it is ended
    try:
        TASKS[asked["task"]](
            path, say, lambda: _arm(path.parent, StorageFault(asked["fault"]), asked["at_call"])
        )
        say({"calls": 0})
    except Exception as error:  # noqa: BLE001  the test looks at its name
        say({"error": f"{type(error).__name__}: {error}"})


def _forked(asked: dict[str, Any]) -> dict[str, Any]:
    told, telling = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(told)
        _child(asked, telling)
        os._exit(0)
    os.close(telling)
    with os.fdopen(told) as lines:
        words = [json.loads(line) for line in lines]
    _, status = os.waitpid(child, 0)
    return {
        "acknowledged": [each["acknowledged"] for each in words if "acknowledged" in each],
        "errors": [each["error"] for each in words if "error" in each],
        "calls": next((each["calls"] for each in reversed(words) if "calls" in each), ""),
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
    }


def _main() -> None:
    import tests.job_crasher

    tests.job_crasher._warm_up()
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["task"] in ACTS:
            import tests.acts  # once, and only for those who need it
        sys.stdout.write(json.dumps(_forked(asked)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main()
