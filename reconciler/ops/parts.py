"""The first argument of a function of ``ops``: an open memory, or a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.bound_memory import AgentMemory, BoundMemory, ContactMemory
from reconciler.errors import InvalidRequestError
from reconciler.memory import Memory

if TYPE_CHECKING:
    from reconciler.bootstrap.services import Services

_GIVEN = {
    Memory: "an open Memory",
    BoundMemory: 'memory.agent("crm") or memory.contact("crm", "priya")',
    AgentMemory: 'memory.agent("crm")',
    ContactMemory: 'memory.contact("crm", "priya")',
}


def parts_of(memory: object, *kinds: type[Memory | BoundMemory]) -> Services:
    """Return the parts of an open memory, if it is of one of these kinds.

    Raises:
        InvalidRequestError: it is something else.
        GraphClosedError: the memory was closed, or opened before this process was forked.
    """
    if not isinstance(memory, kinds):
        raise InvalidRequestError(
            f"pass {' or '.join(_GIVEN[kind] for kind in kinds)}, not {type(memory).__name__}; "
            "with an AsyncMemory or a part of it, call `await memory.run(...)`"
        )
    return memory._services
