"""A graph-backed memory for agents that reconciles every note before it is written.

Start with ``Memory.open()``. Everything public is listed in ``__all__``; errors are in
``reconciler.errors``.
"""

from reconciler.domain.decisions import Action, Comparison, DecidedBy, Decision, Relation
from reconciler.domain.explanation import Explanation
from reconciler.domain.facts import Conflict, Contact, Fact, FactHistory, RankedFact, Supersession
from reconciler.domain.notes import SourceKind
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
    "Comparison",
    "Conflict",
    "Contact",
    "DecidedBy",
    "Decision",
    "Embedder",
    "Explanation",
    "Fact",
    "FactHistory",
    "ImportReport",
    "LineError",
    "Memory",
    "MemoryToolset",
    "RankedFact",
    "Relation",
    "Settings",
    "Slot",
    "SourceKind",
    "Supersession",
    "load_settings",
]
