"""Runs one command for as long as the process that asked for it lives, and cleans up after it.

A run that is killed outright can stop nothing itself: no handler, no ``atexit``. So the server is
the child of this guard, which watches its own parent, and stops the server and deletes its folder
when the parent is gone or asks by SIGTERM. It has its own session, out of reach of Ctrl-C.

Used by ``tests.neo4j_server`` only; imports nothing but the standard library, to start at once.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

POLL_SECONDS = 0.2


def guard(options: argparse.Namespace) -> int:
    """The command's exit status, once it ended by itself or was stopped."""
    signals: list[int] = []  # no Event: a handler that sets one while it is waited for never ends
    signal.signal(signal.SIGTERM, lambda number, _: signals.append(number))
    signal.signal(signal.SIGHUP, lambda number, _: signals.append(number))
    child = subprocess.Popen(options.command, stdin=subprocess.DEVNULL)
    is_over = False
    while child.poll() is None and not is_over:
        time.sleep(POLL_SECONDS)
        is_over = bool(signals) or os.getppid() != options.parent
    _stop(child, options.grace_seconds)
    if options.container:
        subprocess.run(["docker", "rm", "-f", options.container], check=False, timeout=60)
    # Where the command ended by itself, the parent still wants to read why.
    if options.discard and is_over:
        shutil.rmtree(options.discard, ignore_errors=True)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode  # as in a shell


def _stop(child: subprocess.Popen[bytes], grace_seconds: float) -> None:
    if child.poll() is None and grace_seconds > 0:
        child.terminate()
    try:
        child.wait(grace_seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run a command until the parent is gone.")
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--grace-seconds", type=float, default=10.0)
    parser.add_argument("--discard", type=Path)
    parser.add_argument("--container")
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(guard(_options()))
