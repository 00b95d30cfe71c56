"""A graph-backed memory for agents that reconciles every note before it is written.

Start with ``Memory.open()``. Everything public is listed in ``__all__``; errors are in
``reconciler.errors``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what a type checker sees; a test holds it to what follows
    from reconciler.adapters.anthropic_tools import (
        anthropic_functions as anthropic_functions,
        async_anthropic_functions as async_anthropic_functions,
    )
    from reconciler.async_calls import (
        AsyncAgentTools as AsyncAgentTools,
        AsyncContactMemory as AsyncContactMemory,
        AsyncMemoryContext as AsyncMemoryContext,
        AsyncMemoryExtractor as AsyncMemoryExtractor,
        AsyncTaskMemory as AsyncTaskMemory,
    )
    from reconciler.async_memory import AsyncMemory as AsyncMemory
    from reconciler.domain.recalling.current_values import SlotValue as SlotValue
    from reconciler.domain.recalling.filtering import RecallFilter as RecallFilter
    from reconciler.domain.recalling.procedures import Procedure as Procedure
    from reconciler.domain.recalling.prompting import (
        as_prompt as as_prompt,
        token_count as token_count,
    )
    from reconciler.domain.recalling.recalled import (
        Recalled as Recalled,
        RecallOutcome as RecallOutcome,
    )
    from reconciler.domain.records.assessment import Assessment as Assessment
    from reconciler.domain.records.candidates import Candidate as Candidate, Evidence as Evidence
    from reconciler.domain.records.decisions import (
        Archived as Archived,
        Comparison as Comparison,
        Decision as Decision,
    )
    from reconciler.domain.records.erasures import (
        Erasure as Erasure,
        ErasureReceipt as ErasureReceipt,
    )
    from reconciler.domain.records.evidence import (
        EvidenceTurn as EvidenceTurn,
        FactEvidence as FactEvidence,
    )
    from reconciler.domain.records.facts import (
        Conflict as Conflict,
        Contact as Contact,
        Dispute as Dispute,
        ExpiringFact as ExpiringFact,
        Fact as Fact,
        FactEvent as FactEvent,
        FactHistory as FactHistory,
        RankedFact as RankedFact,
        RefusalCount as RefusalCount,
        Supersession as Supersession,
    )
    from reconciler.domain.records.jobs import (
        Job as Job,
        Outcomes as Outcomes,
        QueueReport as QueueReport,
    )
    from reconciler.domain.records.kinds import (
        Action as Action,
        Category as Category,
        DecidedBy as DecidedBy,
        Disposal as Disposal,
        FactState as FactState,
        GateReason as GateReason,
        JobState as JobState,
        RecallSemantics as RecallSemantics,
        Relation as Relation,
        Sensitivity as Sensitivity,
        SourceKind as SourceKind,
        Speech as Speech,
    )
    from reconciler.domain.records.notes import Note as Note
    from reconciler.domain.records.scope import Scope as Scope
    from reconciler.domain.records.sessions import (
        Episode as Episode,
        Role as Role,
        Session as Session,
        SessionRecord as SessionRecord,
        Turn as Turn,
    )
    from reconciler.domain.records.slots import Slot as Slot
    from reconciler.domain.review.explanation import Explanation as Explanation
    from reconciler.domain.sessions.extraction import (
        Citation as Citation,
        Extracted as Extracted,
        Extraction as Extraction,
        Window as Window,
    )
    from reconciler.domain.tasks.task_states import TaskState as TaskState
    from reconciler.domain.tasks.tasks import Task as Task, WorkingMemory as WorkingMemory
    from reconciler.domain.tools.replies import ToolReply as ToolReply
    from reconciler.memory import ContactMemory as ContactMemory, Memory as Memory
    from reconciler.ports.arbiter import Arbiter as Arbiter
    from reconciler.ports.embedder import Embedder as Embedder
    from reconciler.ports.extractor import Extractor as Extractor
    from reconciler.service.sessions.extraction import MemoryExtractor as MemoryExtractor
    from reconciler.service.tasks.memory_context import (
        Cited as Cited,
        MemoryContext as MemoryContext,
        Proposed as Proposed,
    )
    from reconciler.service.tasks.task_memory import TaskMemory as TaskMemory
    from reconciler.service.tools.agent_tools import AgentTools as AgentTools
    from reconciler.service.writing.note_import import (
        ImportReport as ImportReport,
        LineError as LineError,
    )
    from reconciler.settings import Settings as Settings, load_settings as load_settings

_HOMES = {
    "reconciler.adapters.anthropic_tools": "anthropic_functions async_anthropic_functions",
    "reconciler.async_calls": (
        "AsyncAgentTools AsyncContactMemory AsyncMemoryContext AsyncMemoryExtractor AsyncTaskMemory"
    ),
    "reconciler.async_memory": "AsyncMemory",
    "reconciler.domain.recalling.current_values": "SlotValue",
    "reconciler.domain.recalling.filtering": "RecallFilter",
    "reconciler.domain.recalling.procedures": "Procedure",
    "reconciler.domain.recalling.prompting": "as_prompt token_count",
    "reconciler.domain.recalling.recalled": "Recalled RecallOutcome",
    "reconciler.domain.records.assessment": "Assessment",
    "reconciler.domain.records.candidates": "Candidate Evidence",
    "reconciler.domain.records.decisions": "Archived Comparison Decision",
    "reconciler.domain.records.evidence": "EvidenceTurn FactEvidence",
    "reconciler.domain.records.erasures": "Erasure ErasureReceipt",
    "reconciler.domain.records.facts": (
        "Conflict Contact Dispute ExpiringFact Fact FactEvent FactHistory RankedFact "
        "RefusalCount Supersession"
    ),
    "reconciler.domain.records.jobs": "Job Outcomes QueueReport",
    "reconciler.domain.records.kinds": (
        "Action Category DecidedBy Disposal FactState GateReason JobState "
        "RecallSemantics Relation Sensitivity SourceKind Speech"
    ),
    "reconciler.domain.records.notes": "Note",
    "reconciler.domain.records.scope": "Scope",
    "reconciler.domain.records.sessions": "Episode Role Session SessionRecord Turn",
    "reconciler.domain.records.slots": "Slot",
    "reconciler.domain.review.explanation": "Explanation",
    "reconciler.domain.sessions.extraction": "Citation Extracted Extraction Window",
    "reconciler.domain.tasks.task_states": "TaskState",
    "reconciler.domain.tasks.tasks": "Task WorkingMemory",
    "reconciler.domain.tools.replies": "ToolReply",
    "reconciler.memory": "ContactMemory Memory",
    "reconciler.ports.arbiter": "Arbiter",
    "reconciler.ports.embedder": "Embedder",
    "reconciler.ports.extractor": "Extractor",
    "reconciler.service.sessions.extraction": "MemoryExtractor",
    "reconciler.service.tasks.memory_context": "Cited MemoryContext Proposed",
    "reconciler.service.tasks.task_memory": "TaskMemory",
    "reconciler.service.tools.agent_tools": "AgentTools",
    "reconciler.service.writing.note_import": "ImportReport LineError",
    "reconciler.settings": "Settings load_settings",
}
"""Where each public name is defined. It is imported when it is first asked for: all of them
together take longer than most programs that need one."""

_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """A public name, out of the module that defines it."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
