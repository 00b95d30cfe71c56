"""A process that opens a memory, uses it, and forks: what the child and the parent can still do.

Run with the settings as JSON; it prints a line ``who what: outcome`` for each thing tried.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from reconciler import AsyncMemory, Memory
from reconciler.errors import ReconcilerError

WHO = ("crm", "priya")
SECONDS_MAX = 30
MEMORY: Memory


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def tell(who: str, what: str, call: Callable[[], object]) -> None:
    try:
        outcome = getattr(found := call(), "text", found)
    except ReconcilerError as error:
        outcome = f"{type(error).__name__}: {error}"
    say(f"{who} {what}: {outcome}".replace("\n", " "))


def in_child(memory: Memory, settings: dict[str, Any]) -> None:
    """Everything that hung, each tried once."""
    signal.alarm(SECONDS_MAX)
    note = {"text": "Has a dog.", "source_kind": "user_explicit"}
    tell("child", "note", lambda: memory.add_contact_note(*WHO, "Has a dog."))
    tell("child", "recall", lambda: memory.contact(*WHO).recall("dog"))
    tell("child", "history", lambda: memory.contact(*WHO).history())
    tell("child", "tool", lambda: TOOLS.call("add_contact_note", note))
    tell("child", "worker", WORKER.drain)
    tell("child", "task", TASK.observed)
    tell("child", "async", lambda: asyncio.run(ASYNC.contact(*WHO).history()))
    tell("child", "close", memory.close)
    tell("child", "close async", lambda: asyncio.run(ASYNC.close()))
    tell("child", "own", lambda: own(settings))


def own(settings: dict[str, Any]) -> str:
    with Memory.open(**settings) as memory:
        return f"{memory.add_contact_note('crm', 'bob', 'Likes tea.').action}"


def of_pool(text: str) -> str:
    signal.alarm(SECONDS_MAX)
    try:
        return str(MEMORY.add_contact_note(*WHO, text).action)
    except ReconcilerError as error:
        return type(error).__name__


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # newer Pythons warn of every fork with threads
    settings = json.loads(sys.argv[1])
    MEMORY = memory = Memory.open(**settings)
    memory.add_contact_note(*WHO, "Lives in Pune.")
    memory.contact(*WHO).recall("city")
    memory.start_worker()
    TOOLS, WORKER, TASK = (
        memory.agent_tools(*WHO),
        memory.worker(),
        memory.contact(*WHO).task("t", goal="x"),
    )
    ASYNC = AsyncMemory(memory)
    asyncio.run(ASYNC.contact(*WHO).history())
    if child := os.fork():
        _, status = os.waitpid(child, 0)
        say(f"parent waited: {os.waitstatus_to_exitcode(status)}")
    else:
        in_child(memory, settings)
        sys.exit(0)  # as a child does that ends by itself: all that it holds is cleaned up
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        tell("pool", "note", lambda: pool.submit(of_pool, "Has a cat.").result(SECONDS_MAX))
    tell("parent", "note", lambda: memory.add_contact_note(*WHO, "Plays chess.").action)
    tell("parent", "recall", lambda: memory.contact(*WHO).recall("chess")[0].fact.text)
    tell("parent", "history", lambda: len(memory.contact(*WHO).history()))
    memory.close()
    say("parent closed")
