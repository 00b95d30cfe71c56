"""A fork after the memory was opened: the child is told at once, and the parent goes on.

Web servers that load an application before they fork, task queues and ``multiprocessing`` do that.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.engines import EngineUnderTest

pytest.importorskip("fcntl", reason="only POSIX forks")

FORKS_AT_ONCE = """
import os, sys, threading, time
from pathlib import Path
from reconciler.adapters.embedded_graph import EmbeddedGraph

def parse_slowly(graph):
    time.sleep(0.5)
    parsed.append(threading.current_thread())

parsed = []
EmbeddedGraph._parse_ahead = parse_slowly
graph = EmbeddedGraph(Path(sys.argv[1]))
if not (child := os.fork()):
    os._exit(len(parsed))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
graph.close()
"""

CALLS = ("note", "recall", "history", "worker", "task", "async")


@cache
def told(settings: str) -> dict[str, str]:
    """What became of each thing that a forking process tried, by who tried it and what."""
    ended = subprocess.run(
        [sys.executable, "-m", "tests.forking", settings],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    lines = (line.partition(": ") for line in ended.stdout.splitlines())
    return {what: outcome for what, _, outcome in lines} | {"errors": ended.stderr}


@pytest.fixture
def outcomes(one_of_each: EngineUnderTest) -> dict[str, str]:
    return told(json.dumps(one_of_each.settings_arguments, default=str))


def test_a_forked_child_is_told_at_once_and_the_parent_goes_on(
    outcomes: dict[str, str], one_of_each: EngineUnderTest
) -> None:
    for call in CALLS:
        assert "opened before the process forked" in outcomes[f"child {call}"]
        assert "Memory.open(...)" in outcomes[f"child {call}"]
    assert "the memory is closed" in outcomes["child tool"]
    assert (outcomes["child close"], outcomes["child close async"]) == ("None", "None")
    is_embedded = one_of_each.name == "embedded"
    assert ("is open in another process" in outcomes["child own"]) == is_embedded
    assert (outcomes["child own"] == "ADD") != is_embedded
    assert outcomes["parent waited"] == "0", outcomes
    assert outcomes["pool note"] == "GraphClosedError"
    assert (outcomes["parent note"], outcomes["parent recall"]) == ("ADD", "Plays chess.")
    assert outcomes["parent history"] == "2"
    assert "parent closed" in outcomes


def test_a_fork_waits_until_the_first_statement_is_parsed(tmp_path: Path) -> None:
    """A lock that the engine's parser holds at the fork would be held in the child for ever."""
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKS_AT_ONCE, str(tmp_path / "memory.lbug")],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert told.stdout == "1\n"
