"""A graph-backed memory for agents that reconciles every note before it is written.

Start with ``Memory.open()``. Everything public is listed in ``__all__``; errors are in
``reconciler.errors``.
"""

from reconciler.domain.candidates import Candidate, Evidence
from reconciler.domain.decisions import Action, Comparison, DecidedBy, Decision, Relation
from reconciler.domain.explanation import Explanation
from reconciler.domain.facts import (
    Conflict,
    Contact,
    Fact,
    FactHistory,
    RankedFact,
    RefusalCount,
    Supersession,
)
from reconciler.domain.gate.assessment import Assessment, Disposal, GateReason, Sensitivity
from reconciler.domain.gate.classification import Category, RecallSemantics
from reconciler.domain.notes import Note, SourceKind
from reconciler.domain.prompting import as_prompt
from reconciler.domain.scope import Scope
from reconciler.domain.slots import Slot
from reconciler.memory import Memory
from reconciler.ports.arbiter import Arbiter
from reconciler.ports.embedder import Embedder
from reconciler.service.doors import MemoryToolset
from reconciler.service.note_import import ImportReport, LineError
from reconciler.settings import Settings, load_settings

__all__ = [
    "Action",
    "Arbiter",
    "Assessment",
    "Candidate",
    "Category",
    "Comparison",
    "Conflict",
    "Contact",
    "DecidedBy",
    "Decision",
    "Disposal",
    "Embedder",
    "Evidence",
    "Explanation",
    "Fact",
    "FactHistory",
    "GateReason",
    "ImportReport",
    "LineError",
    "Memory",
    "MemoryToolset",
    "Note",
    "RankedFact",
    "RecallSemantics",
    "RefusalCount",
    "Relation",
    "Scope",
    "Sensitivity",
    "Settings",
    "Slot",
    "SourceKind",
    "Supersession",
    "as_prompt",
    "load_settings",
]
