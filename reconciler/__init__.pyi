"""The public names, for type checkers; ``__init__.py`` imports each when it is asked for."""

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
