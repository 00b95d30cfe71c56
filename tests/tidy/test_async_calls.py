"""Every call of a memory and of its parts is there to be awaited, as it is documented."""

from __future__ import annotations

import inspect

from reconciler.async_memory import (
    AsyncAgentMemory,
    AsyncAgentTools,
    AsyncContactMemory,
    AsyncMemory,
    AsyncMemoryContext,
    AsyncTaskMemory,
)
from reconciler.bound_memory import AgentMemory, ContactMemory
from reconciler.memory import Memory
from reconciler.service.tasks.memory_context import MemoryContext
from reconciler.service.tasks.task_memory import TaskMemory
from reconciler.service.tools.agent_tools import AgentTools
from tests.tables import every
from tools.export_async import TARGET, as_text

MADE = {
    Memory: AsyncMemory,
    AgentMemory: AsyncAgentMemory,
    ContactMemory: AsyncContactMemory,
    MemoryContext: AsyncMemoryContext,
    TaskMemory: AsyncTaskMemory,
    AgentTools: AsyncAgentTools,
}
AT_ONCE = {"account", "contact", "agent", "agent_tools", "tools", "definitions"}
"""Calls that only bind, or make something up: they are not awaited."""


def _public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


@every("kind", MADE)
def test_every_public_name_is_there(kind: type) -> None:
    assert _public(kind) == _public(MADE[kind]) - {"run"}  # which makes calls of `ops`


@every("kind", MADE)
def test_a_call_is_that_of_the_same_name_and_is_awaited(kind: type) -> None:
    for name, function in inspect.getmembers(kind, inspect.isfunction):
        if name.startswith("_") or name in ("close", "open"):
            continue
        call = getattr(MADE[kind], name)
        assert inspect.unwrap(call) is inspect.unwrap(function), name
        assert (inspect.signature(call), call.__doc__) == (
            inspect.signature(function),
            function.__doc__,
        )
        is_streamed = str(inspect.signature(function).return_annotation).startswith("Iterator[")
        assert inspect.iscoroutinefunction(call) is (name not in AT_ONCE and not is_streamed), name


def test_a_type_checker_sees_the_calls_as_they_are_made() -> None:
    assert TARGET.read_text(encoding="utf-8") == as_text()


def test_opening_takes_what_the_opening_of_a_memory_takes() -> None:
    ours, theirs = (set(inspect.signature(each.open).parameters) for each in (AsyncMemory, Memory))
    assert ours == theirs | {"threads", "closing_seconds_max"}
