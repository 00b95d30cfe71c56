"""A graph-backed memory for agents that reconciles every note before it is written.

Start with ``Memory.open()``. Everything public is listed in ``__all__``; errors are in
``reconciler.errors``.
"""

from reconciler.domain.decisions import Action, Comparison, DecidedBy, Decision
from reconciler.domain.facts import Contact, Fact, FactHistory, RankedFact, Supersession
from reconciler.domain.notes import SourceKind
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
    "Contact",
    "DecidedBy",
    "Decision",
    "Embedder",
    "Fact",
    "FactHistory",
    "ImportReport",
    "LineError",
    "Memory",
    "MemoryToolset",
    "RankedFact",
    "Settings",
    "SourceKind",
    "Supersession",
    "load_settings",
]
