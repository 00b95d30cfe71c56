"""The asynchronous calls are what their script makes of ``Memory``, and leave none of them out."""

from __future__ import annotations

import inspect

from tools.write_async_calls import BINDING, NAMES, TARGET, source

from reconciler.async_memory import AsyncMemory
from reconciler.memory import Memory
from tests.tables import every


def test_the_shipped_calls_are_what_the_script_makes_of_the_classes() -> None:
    shipped = TARGET.read_text(encoding="utf-8")
    assert shipped == source(), "run: python tools/write_async_calls.py"


def test_every_public_name_of_a_memory_is_there() -> None:
    public = {name for name in dir(Memory) if not name.startswith("_")}
    assert public == {name for name in dir(AsyncMemory) if not name.startswith("_")}


def _taken(function: object) -> list[tuple[str, object, object]]:
    parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    return [(each.name, each.kind, each.annotation) for each in parameters]


@every("kind", NAMES)
def test_a_call_takes_the_same_and_is_awaited(kind: type) -> None:
    from reconciler import async_calls

    made = getattr(async_calls, NAMES[kind])
    for name, function in inspect.getmembers(kind, inspect.isfunction):
        if name.startswith("_") or name in ("close", "open", "restore"):
            continue
        call = getattr(made, name)
        assert _taken(call) == _taken(function), name
        is_streamed = str(inspect.signature(function).return_annotation).startswith("Iterator[")
        assert inspect.iscoroutinefunction(call) is (name not in BINDING and not is_streamed), name


def test_opening_takes_what_the_opening_of_a_memory_takes() -> None:
    ours, theirs = (set(inspect.signature(each.open).parameters) for each in (AsyncMemory, Memory))
    assert ours == theirs | {"threads", "closing_seconds_max"}
    ours, theirs = (
        set(inspect.signature(each.restore).parameters) for each in (AsyncMemory, Memory)
    )
    assert ours == theirs
