"""A graph-backed memory for agents that reconciles every note before it is written.

Start with ``Memory.open()``. What most programs need is listed in ``__all__``; the rest is imported
from the module that defines it: errors from ``reconciler.errors``, records and enumerations from
``reconciler.domain.records``, doubles for tests from ``reconciler.testing``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what a type checker sees; a test holds it to what follows
    from reconciler.async_memory import AsyncMemory as AsyncMemory
    from reconciler.bound_memory import AgentMemory as AgentMemory, ContactMemory as ContactMemory
    from reconciler.domain.recalling.prompting import as_prompt as as_prompt
    from reconciler.domain.recalling.recalled import Recalled as Recalled, SlotValue as SlotValue
    from reconciler.domain.records.candidates import (
        Candidate as Candidate,
        Evidence as Evidence,
        Turn as Turn,
    )
    from reconciler.domain.records.decisions import Decision as Decision
    from reconciler.domain.records.facts import Dispute as Dispute, Fact as Fact
    from reconciler.domain.records.kinds import Action as Action, SourceKind as SourceKind
    from reconciler.domain.records.notes import Note as Note, Scope as Scope
    from reconciler.domain.tools.replies import ToolReply as ToolReply
    from reconciler.memory import Memory as Memory
    from reconciler.ports.arbiter import Arbiter as Arbiter
    from reconciler.ports.embedder import Embedder as Embedder
    from reconciler.ports.extractor import Extractor as Extractor
    from reconciler.service.tasks.memory_context import MemoryContext as MemoryContext
    from reconciler.service.tools.agent_tools import AgentTools as AgentTools
    from reconciler.settings import Settings as Settings, load_settings as load_settings

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
"""The module that defines each public name. A name is imported when it is first used: importing all
takes longer than most programs that need one."""

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
