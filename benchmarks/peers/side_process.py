"""A side of the comparison as a process that is asked one thing at a time."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

__all__ = ["SideFailedError", "SideProcess"]

ROOT = Path(__file__).parents[2]
SIDES = Path(__file__).parent / "sides"
START_SECONDS_MAX = 300.0
ANSWER_SECONDS_MAX = 180.0


class SideFailedError(Exception):
    """The side did not open, ended, took too long, or its system raised; the text says which."""


class SideProcess:
    """Started without waiting; it opens its store when it is first asked something.

    Args:
        python: of the environment that has the system's package.
        driver: the file of ``sides`` that drives it.
        config: what the driver is told; JSON.
        log: where what it prints goes.
    """

    def __init__(self, python: Path, driver: str, config: dict[str, Any], log: Path) -> None:
        self._log = log
        self._is_ready = False
        self._buffer = b""
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                [str(python), str(SIDES / f"{driver}.py"), json.dumps(config, default=str)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=out,
                env=_environment(),
                bufsize=0,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def ask(self, do: str, *, within: float = ANSWER_SECONDS_MAX, **given: Any) -> dict[str, Any]:
        """Have it do something and wait for the answer.

        Raises:
            SideFailedError: it took longer than ``within`` seconds, ended, or the system raised.
        """
        self.tell(do, **given)
        return self.answer(within=within)

    def tell(self, do: str, **given: Any) -> None:
        """Have it do something; ``answer`` waits for it."""
        self._wait_until_ready()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **given}).encode() + b"\n")
        except (BrokenPipeError, ValueError) as error:  # ended by itself, or killed by us
            raise SideFailedError(f"it has ended: {self._tail()}") from error

    def answer(self, *, within: float = ANSWER_SECONDS_MAX) -> dict[str, Any]:
        """What it answers to what it was told last; raises as ``ask`` does."""
        given = self._answer(within)
        if "error" in given:
            raise SideFailedError(given["error"])
        return given

    def kill(self) -> None:
        """SIGKILL, at once: nothing that it holds in memory is written any more."""
        self._process.kill()
        self._reap()

    def close(self) -> None:
        """Let it close its system; kill it where that takes too long."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._reap()

    def _wait_until_ready(self) -> None:
        if not self._is_ready:
            self._answer(START_SECONDS_MAX)
            self._is_ready = True

    def _reap(self) -> None:
        self._process.wait()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()

    def _answer(self, within: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        deadline = time.monotonic() + within
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    self.kill()
                    raise SideFailedError(f"no answer within {within:g} s")
                some = os.read(self._process.stdout.fileno(), 1 << 16)
                if not some:
                    raise SideFailedError(f"it has ended: {self._tail()}")
                self._buffer += some
        line, _, self._buffer = self._buffer.partition(b"\n")
        given: dict[str, Any] = json.loads(line)
        return given

    def _tail(self) -> str:
        lines = self._log.read_text(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else "(it said nothing)"


def _environment() -> dict[str, str]:
    """Ours for every side; only this project's own side finds the project on its path."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
