"""A graph-backed memory for agents that reconciles every note before it is written.

Start with ``Memory.open()``. Everything public is listed in ``__all__``; errors are in
``reconciler.errors``.
"""

from reconciler.domain.candidates import Candidate, Evidence
from reconciler.domain.decisions import Action, Comparison, DecidedBy, Decision, Relation
from reconciler.domain.explanation import Explanation
from reconciler.domain.extraction import Citation, Extracted, Extraction, Window
from reconciler.domain.facts import (
    Conflict,
    Contact,
    Fact,
    FactHistory,
    RankedFact,
    RefusalCount,
    Supersession,
)
from reconciler.domain.gate.assessment import Assessment, Disposal, GateReason
from reconciler.domain.jobs import Job, JobState, Outcomes, QueueReport
from reconciler.domain.kinds import Category, RecallSemantics, Sensitivity, SourceKind, Speech
from reconciler.domain.notes import Note
from reconciler.domain.procedures import Procedure
from reconciler.domain.prompting import as_prompt
from reconciler.domain.scope import Scope
from reconciler.domain.sessions import Episode, Role, Session, SessionRecord, Turn
from reconciler.domain.slots import Slot
from reconciler.domain.task_states import TaskState
from reconciler.domain.tasks import Task, WorkingMemory
from reconciler.memory import ContactMemory, Memory
from reconciler.ports.arbiter import Arbiter
from reconciler.ports.embedder import Embedder
from reconciler.ports.extractor import Extractor
from reconciler.service.doors import MemoryToolset
from reconciler.service.extraction import MemoryExtractor
from reconciler.service.memory_context import Cited, MemoryContext, Proposed
from reconciler.service.note_import import ImportReport, LineError
from reconciler.service.task_memory import TaskMemory
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
