"""A graph-backed memory for agents that reconciles every note before it is written.

Start with ``Memory.open()``. Everything public is listed in ``__all__``; errors are in
``reconciler.errors``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reconciler.domain.recalling.procedures import Procedure
    from reconciler.domain.recalling.prompting import as_prompt
    from reconciler.domain.records.assessment import Assessment, Disposal, GateReason
    from reconciler.domain.records.candidates import Candidate, Evidence
    from reconciler.domain.records.decisions import (
        Action,
        Comparison,
        DecidedBy,
        Decision,
        Relation,
    )
    from reconciler.domain.records.facts import (
        Conflict,
        Contact,
        Fact,
        FactHistory,
        RankedFact,
        RefusalCount,
        Supersession,
    )
    from reconciler.domain.records.jobs import Job, JobState, Outcomes, QueueReport
    from reconciler.domain.records.kinds import (
        Category,
        RecallSemantics,
        Sensitivity,
        SourceKind,
        Speech,
    )
    from reconciler.domain.records.notes import Note
    from reconciler.domain.records.scope import Scope
    from reconciler.domain.records.sessions import Episode, Role, Session, SessionRecord, Turn
    from reconciler.domain.records.slots import Slot
    from reconciler.domain.review.explanation import Explanation
    from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction, Window
    from reconciler.domain.tasks.task_states import TaskState
    from reconciler.domain.tasks.tasks import Task, WorkingMemory
    from reconciler.memory import ContactMemory, Memory
    from reconciler.ports.arbiter import Arbiter
    from reconciler.ports.embedder import Embedder
    from reconciler.ports.extractor import Extractor
    from reconciler.service.sessions.extraction import MemoryExtractor
    from reconciler.service.tasks.memory_context import Cited, MemoryContext, Proposed
    from reconciler.service.tasks.task_memory import TaskMemory
    from reconciler.service.writing.doors import MemoryToolset
    from reconciler.service.writing.note_import import ImportReport, LineError
    from reconciler.settings import Settings, load_settings

__all__ = [
    "Action",
    "Arbiter",
    "Assessment",
    "Candidate",
    "Category",
    "Citation",
    "Cited",
    "Comparison",
    "Conflict",
    "Contact",
    "ContactMemory",
    "DecidedBy",
    "Decision",
    "Disposal",
    "Embedder",
    "Episode",
    "Evidence",
    "Explanation",
    "Extracted",
    "Extraction",
    "Extractor",
    "Fact",
    "FactHistory",
    "GateReason",
    "ImportReport",
    "Job",
    "JobState",
    "LineError",
    "Memory",
    "MemoryContext",
    "MemoryExtractor",
    "MemoryToolset",
    "Note",
    "Outcomes",
    "Procedure",
    "Proposed",
    "QueueReport",
    "RankedFact",
    "RecallSemantics",
    "RefusalCount",
    "Relation",
    "Role",
    "Scope",
    "Sensitivity",
    "Session",
    "SessionRecord",
    "Settings",
    "Slot",
    "SourceKind",
    "Speech",
    "Supersession",
    "Task",
    "TaskMemory",
    "TaskState",
    "Turn",
    "Window",
    "WorkingMemory",
    "as_prompt",
    "load_settings",
]

_HOMES = {
    "reconciler.domain.records.candidates": "Candidate Evidence",
    "reconciler.domain.records.decisions": "Action Comparison DecidedBy Decision Relation",
    "reconciler.domain.review.explanation": "Explanation",
    "reconciler.domain.sessions.extraction": "Citation Extracted Extraction Window",
    "reconciler.domain.records.facts": (
        "Conflict Contact Fact FactHistory RankedFact RefusalCount Supersession"
    ),
    "reconciler.domain.records.assessment": "Assessment Disposal GateReason",
    "reconciler.domain.records.jobs": "Job JobState Outcomes QueueReport",
    "reconciler.domain.records.kinds": "Category RecallSemantics Sensitivity SourceKind Speech",
    "reconciler.domain.records.notes": "Note",
    "reconciler.domain.recalling.procedures": "Procedure",
    "reconciler.domain.recalling.prompting": "as_prompt",
    "reconciler.domain.records.scope": "Scope",
    "reconciler.domain.records.sessions": "Episode Role Session SessionRecord Turn",
    "reconciler.domain.records.slots": "Slot",
    "reconciler.domain.tasks.task_states": "TaskState",
    "reconciler.domain.tasks.tasks": "Task WorkingMemory",
    "reconciler.memory": "ContactMemory Memory",
    "reconciler.ports.arbiter": "Arbiter",
    "reconciler.ports.embedder": "Embedder",
    "reconciler.ports.extractor": "Extractor",
    "reconciler.service.writing.doors": "MemoryToolset",
    "reconciler.service.sessions.extraction": "MemoryExtractor",
    "reconciler.service.tasks.memory_context": "Cited MemoryContext Proposed",
    "reconciler.service.writing.note_import": "ImportReport LineError",
    "reconciler.service.tasks.task_memory": "TaskMemory",
    "reconciler.settings": "Settings load_settings",
}
"""Where each public name is defined. It is imported when it is first asked for: all of them
together take longer than most programs that need one."""

_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """A public name, out of the module that defines it."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
