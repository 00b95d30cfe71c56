"""A graph-backed memory for agents that reconciles every note before it is written.

Start with ``Memory.open()``. What most programs need is listed in ``__all__``; the rest is imported
from the module that defines it: errors from ``reconciler.errors``, records and enumerations from
``reconciler.domain.records``, doubles for tests from ``reconciler.testing``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "reconciler.async_memory": "AsyncMemory",
    "reconciler.bound_memory": "AgentMemory ContactMemory",
    "reconciler.domain.recalling.prompting": "as_prompt",
    "reconciler.domain.recalling.recalled": "Recalled SlotValue",
    "reconciler.domain.records.candidates": "Candidate Evidence Turn",
    "reconciler.domain.records.decisions": "Decision",
    "reconciler.domain.records.facts": "Dispute Fact",
    "reconciler.domain.records.kinds": "Action SourceKind",
    "reconciler.domain.records.notes": "Note Scope",
    "reconciler.domain.tools.replies": "ToolReply",
    "reconciler.memory": "Memory",
    "reconciler.ports.arbiter": "Arbiter",
    "reconciler.ports.embedder": "Embedder",
    "reconciler.ports.extractor": "Extractor",
    "reconciler.service.tasks.memory_context": "MemoryContext",
    "reconciler.service.tools.agent_tools": "AgentTools",
    "reconciler.settings": "Settings load_settings",
}
"""Where each public name is defined. It is imported when it is first asked for: all of them
together take longer than most programs that need one. Type checkers read ``__init__.pyi``, and a
test holds that to this."""

_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Return a public name from the module that defines it."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
