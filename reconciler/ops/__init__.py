"""Operations on a memory: moving, measuring and reporting. The core does not use them.

Each is a function over an open memory, or over an agent's or a contact's part of it::

    from reconciler import Memory, ops

    with Memory.open() as memory:
        ops.backup(memory, "memory.zip")
        print(ops.health(memory.agent("crm")))

An ``AsyncMemory`` and its parts make such a call in one of their threads: ``await
memory.run(ops.backup, "memory.zip")``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "reviews": "contact_page health import_from report",
    "store_moves": "backup cancel_reembed export model_move reembed restore",
    "webhooks": "digest resend",
}
"""Each name is imported when it is first used, so that a help text does not wait for an engine.
Type checkers read ``__init__.pyi``."""

_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Return a function from the module that defines it."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
