"""The calls of a memory, awaited: each is made in a thread. Generated, never edited by hand.

``python tools/write_async_calls.py`` writes this module from ``Memory`` and from what it hands out,
whose calls they are: names, arguments, results and errors are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.async_threads import Threads
from reconciler.domain.records.kinds import SourceKind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import IO, Any, Unpack

    from reconciler.domain.recalling.briefing import Briefing
    from reconciler.domain.recalling.current_values import SlotValue
    from reconciler.domain.recalling.filtering import FilterFields
    from reconciler.domain.recalling.procedures import Procedure
    from reconciler.domain.recalling.recalled import Recalled
    from reconciler.domain.records.archives import Backup, ExportReport
    from reconciler.domain.records.assessment import Assessment
    from reconciler.domain.records.candidates import Candidate
    from reconciler.domain.records.decisions import Archived, Decision
    from reconciler.domain.records.erasures import Erasure
    from reconciler.domain.records.evidence import FactEvidence
    from reconciler.domain.records.facts import (
        Contact,
        Dispute,
        ExpiringFact,
        FactHistory,
        FoundFact,
        RankedFact,
        RefusalCount,
    )
    from reconciler.domain.records.jobs import Job, QueueReport, Stage
    from reconciler.domain.records.kinds import Category, Disposal, GateReason, JobState, Relation
    from reconciler.domain.records.model_moves import ModelMove, ReembedReport
    from reconciler.domain.records.scope import Scope
    from reconciler.domain.records.sessions import Episode, Session, SessionRecord, Turn
    from reconciler.domain.review.explanation import Explanation
    from reconciler.domain.review.health import HealthReport
    from reconciler.domain.review.replay import Replayed
    from reconciler.domain.tasks.task_states import TaskState
    from reconciler.domain.tasks.tasks import Task, WorkingMemory
    from reconciler.domain.tools.replies import ToolReply
    from reconciler.domain.tools.tool import Style
    from reconciler.memory import ContactMemory, Memory
    from reconciler.ports.arbiter import BatchState
    from reconciler.ports.embedder import Embedder
    from reconciler.ports.graph import EngineDescription
    from reconciler.service.sessions.extraction import MemoryExtractor
    from reconciler.service.sessions.extraction_worker import ExtractionWorker, WorkerThread
    from reconciler.service.stores.session_store import JobFilter
    from reconciler.service.tasks.memory_context import Cited, MemoryContext, Proposed
    from reconciler.service.tasks.task_memory import TaskMemory
    from reconciler.service.tools.agent_tools import AgentTools
    from reconciler.service.writing.doors import NoteFields
    from reconciler.service.writing.note_import import ImportReport
    from reconciler.service.writing.rejudging import Rejudged
    from reconciler.settings import Settings
__all__ = [
    "AsyncAgentTools",
    "AsyncContactMemory",
    "AsyncMemoryCalls",
    "AsyncMemoryContext",
    "AsyncMemoryExtractor",
    "AsyncTaskMemory",
]


class AsyncTaskMemory:
    """The calls of ``TaskMemory``, awaited."""

    def __init__(self, threads: Threads, sync: TaskMemory) -> None:
        self._threads = threads
        self._sync = sync

    async def load(self) -> Task:
        """The task as it is kept, with what other processes wrote; legal at start or interrupted.

        See ``TaskMemory.load``.
        """
        return await self._threads.run(self._sync.load)

    async def mark_done(self, subtask_id: str) -> Task:
        """The task with a subtask marked as done; marked again, nothing changes.

        See ``TaskMemory.mark_done``.
        """
        return await self._threads.run(self._sync.mark_done, subtask_id)

    async def set_blocker(self, blocker: str | None) -> Task:
        """The task with what it waits for; None where nothing holds it up any more.

        See ``TaskMemory.set_blocker``.
        """
        return await self._threads.run(self._sync.set_blocker, blocker)

    async def checkpoint(self, decided: Sequence[str] = ()) -> Task:
        """The task with what was decided on the way; done subtasks and blocker are kept already.

        See ``TaskMemory.checkpoint``.
        """
        return await self._threads.run(self._sync.checkpoint, decided)

    async def resume(self) -> Task:
        """The task, to go on with from its start; what was done stays done.

        See ``TaskMemory.resume``.
        """
        return await self._threads.run(self._sync.resume)


class AsyncMemoryContext:
    """The calls of ``MemoryContext``, awaited."""

    def __init__(self, threads: Threads, sync: MemoryContext) -> None:
        self._threads = threads
        self._sync = sync

    @property
    def state(self) -> TaskState:
        """Where the task stands in this process.

        See ``MemoryContext.state``.
        """
        return self._sync.state

    @property
    def task_memory(self) -> AsyncTaskMemory:
        """The stored state of the task.

        See ``MemoryContext.task_memory``.
        """
        return AsyncTaskMemory(self._threads, self._sync.task_memory)

    async def deciding(self) -> None:
        """The agent thinks about its next step: working memory only.

        See ``MemoryContext.deciding``.
        """
        await self._threads.run(self._sync.deciding)

    async def tool_returned(self) -> None:
        """A tool that the agent called has returned.

        See ``MemoryContext.tool_returned``.
        """
        await self._threads.run(self._sync.tool_returned)

    async def observed(self) -> None:
        """Something came in that no tool was called for, for example the contact's message.

        See ``MemoryContext.observed``.
        """
        await self._threads.run(self._sync.observed)

    async def succeed(self) -> None:
        """The task is over, and its goal achieved; what the agent supposed is forgotten.

        See ``MemoryContext.succeed``.
        """
        await self._threads.run(self._sync.succeed)

    async def fail(self) -> None:
        """The task is over, and its goal was missed; what the agent supposed is forgotten.

        See ``MemoryContext.fail``.
        """
        await self._threads.run(self._sync.fail)

    async def interrupt(self) -> None:
        """The task stops here, to go on later; what the agent supposed is forgotten.

        See ``MemoryContext.interrupt``.
        """
        await self._threads.run(self._sync.interrupt)

    async def resume(self) -> Task:
        """As ``task_memory.resume``.

        See ``MemoryContext.resume``.
        """
        return await self._threads.run(self._sync.resume)

    @property
    def working(self) -> WorkingMemory:
        """What the agent holds in its head; another one after every interruption.

        See ``MemoryContext.working``.
        """
        return self._sync.working

    async def recall(
        self, query: str, *, budget_tokens: int, category: Category | str | None = None
    ) -> list[RankedFact]:
        """Known facts that fit the budget, the best first; they are in working memory as well.

        See ``MemoryContext.recall``.
        """
        return await self._threads.run(
            self._sync.recall, query, budget_tokens=budget_tokens, category=category
        )

    async def recall_about(
        self, entity: str, *, budget_tokens: int, limit: int | None = None
    ) -> list[RankedFact]:
        """Known facts that mention a person or thing by name, as ``Memory.recall_about``.

        See ``MemoryContext.recall_about``.
        """
        return await self._threads.run(
            self._sync.recall_about, entity, budget_tokens=budget_tokens, limit=limit
        )

    async def procedures(self) -> list[Procedure]:
        """How the agent does things, as operators approved it: what fits the goal best comes first.

        See ``MemoryContext.procedures``.
        """
        return await self._threads.run(self._sync.procedures)

    async def episodes(self) -> list[Episode]:
        """All that was logged in this task, over all its sessions, in order.

        See ``MemoryContext.episodes``.
        """
        return await self._threads.run(self._sync.episodes)

    async def log_episode(self, turn: Turn | Mapping[str, Any]) -> Episode:
        """What happened, as it is kept: append-only, without personal data and secrets.

        See ``MemoryContext.log_episode``.
        """
        return await self._threads.run(self._sync.log_episode, turn)

    async def propose_durable(self, episodes: Sequence[Episode]) -> list[Proposed]:
        """What the task's record gives to remember, each with the gate's decision; no fact yet.

        See ``MemoryContext.propose_durable``.
        """
        return await self._threads.run(self._sync.propose_durable, episodes)

    async def propose_procedure(
        self, name: str, steps: Sequence[str], episodes: Sequence[Episode]
    ) -> Decision:
        """How the gate disposes of a way of doing something; an operator's yes applies it.

        See ``MemoryContext.propose_procedure``.
        """
        return await self._threads.run(self._sync.propose_procedure, name, steps, episodes)

    async def propose_reflection(self, text: str, cited: Sequence[Cited]) -> Decision:
        """How the gate disposes of what a failure may teach; it waits for a person's yes.

        See ``MemoryContext.propose_reflection``.
        """
        return await self._threads.run(self._sync.propose_reflection, text, cited)

    async def commit(self, candidate: Candidate, decision: Decision) -> Decision:
        """Remember what the gate admitted; once, however often it is called.

        See ``MemoryContext.commit``.
        """
        return await self._threads.run(self._sync.commit, candidate, decision)


class AsyncMemoryExtractor:
    """The calls of ``MemoryExtractor``, awaited."""

    def __init__(self, threads: Threads, sync: MemoryExtractor) -> None:
        self._threads = threads
        self._sync = sync

    async def session_id(
        self, scope: Scope, turns: Sequence[Turn], started_at: datetime | None = None
    ) -> str:
        """An id for a session without a name; its turns cannot be guessed from it.

        See ``MemoryExtractor.session_id``.
        """
        return await self._threads.run(self._sync.session_id, scope, turns, started_at)

    async def submit(self, session: Session) -> str:
        """The id of the job that will read a session, which is stored with it by then.

        See ``MemoryExtractor.submit``.
        """
        return await self._threads.run(self._sync.submit, session)

    async def job(self, scope: Scope, job_id: str) -> Job:
        """One of a contact's jobs, as it stands.

        See ``MemoryExtractor.job``.
        """
        return await self._threads.run(self._sync.job, scope, job_id)

    async def jobs(self, tenant: str, wanted: JobFilter, limit: int) -> list[Job]:
        """A tenant's jobs, the newest first.

        See ``MemoryExtractor.jobs``.
        """
        return await self._threads.run(self._sync.jobs, tenant, wanted, limit)

    async def retry(self, scope: Scope, job_id: str) -> Job:
        """Have a dead job, or one that waits, started again at once; one that is done stays done.

        See ``MemoryExtractor.retry``.
        """
        return await self._threads.run(self._sync.retry, scope, job_id)

    async def session(self, scope: Scope, session_id: str) -> SessionRecord:
        """A session as it is kept: its summary, and what became of its candidates.

        See ``MemoryExtractor.session``.
        """
        return await self._threads.run(self._sync.session, scope, session_id)

    async def report(self) -> QueueReport:
        """All jobs of the store in numbers.

        See ``MemoryExtractor.report``.
        """
        return await self._threads.run(self._sync.report)


class AsyncAgentTools:
    """The calls of ``AgentTools``, awaited."""

    def __init__(self, threads: Threads, sync: AgentTools) -> None:
        self._threads = threads
        self._sync = sync

    @property
    def scope(self) -> Scope:
        """Tenant, agent and contact that every call is bound to.

        See ``AgentTools.scope``.
        """
        return self._sync.scope

    def definitions(
        self, style: Style = "anthropic", *, strict: bool = False
    ) -> list[dict[str, Any]]:
        """The tools as a model is told of them.

        See ``AgentTools.definitions``.
        """
        return self._sync.definitions(style, strict=strict)

    async def call(self, name: str, arguments: Mapping[str, Any] | str | None) -> ToolReply:
        """What a tool answers to a model's call. No mistake of the model's raises anything.

        See ``AgentTools.call``.
        """
        return await self._threads.run(self._sync.call, name, arguments)


class AsyncContactMemory:
    """The calls of ``ContactMemory``, awaited."""

    def __init__(self, threads: Threads, sync: ContactMemory) -> None:
        self._threads = threads
        self._sync = sync

    @property
    def scope(self) -> Scope:
        """Tenant, agent and contact that every call is bound to.

        See ``ContactMemory.scope``.
        """
        return self._sync.scope

    async def note(self, text: str, **fields: Unpack[NoteFields]) -> Decision:
        """Remember something about the contact; see ``Memory.add_contact_note``."""
        return await self._threads.run(self._sync.note, text, **fields)

    async def relate(
        self,
        fact: str,
        *,
        replaces: Sequence[str] = (),
        repeats: str | None = None,
        ends: Sequence[str] = (),
        both_hold: Sequence[str] = (),
        reason: str | None = None,
    ) -> Decision:
        """Say how a remembered fact relates to others; see ``Memory.relate``."""
        return await self._threads.run(
            self._sync.relate,
            fact,
            replaces=replaces,
            repeats=repeats,
            ends=ends,
            both_hold=both_hold,
            reason=reason,
        )

    async def recall(
        self,
        query: str = "",
        *,
        limit: int | None = None,
        budget_tokens: int | None = None,
        as_of: datetime | None = None,
        valid_at: datetime | None = None,
        **filters: Unpack[FilterFields],
    ) -> Recalled:
        """The facts that fit a query best, now or at an instant; see ``Memory.recall``."""
        return await self._threads.run(
            self._sync.recall,
            query,
            limit=limit,
            budget_tokens=budget_tokens,
            as_of=as_of,
            valid_at=valid_at,
            **filters,
        )

    async def briefing(self, query: str = "", *, limit: int | None = None) -> Briefing:
        """What to know and what to ask when a conversation opens; see ``Memory.briefing``."""
        return await self._threads.run(self._sync.briefing, query, limit=limit)

    async def value(self, attribute: str, *, subject: str | None = None) -> list[SlotValue]:
        """An attribute's current value or values; see ``Memory.value``."""
        return await self._threads.run(self._sync.value, attribute, subject=subject)

    async def profile(self) -> list[SlotValue]:
        """The current values of all of the contact's slots; see ``Memory.profile``."""
        return await self._threads.run(self._sync.profile)

    async def recall_about(self, name: str, *, limit: int | None = None) -> list[FoundFact]:
        """The live facts that mention a name as whole words; see ``Memory.recall_about``."""
        return await self._threads.run(self._sync.recall_about, name, limit=limit)

    async def history(
        self,
        *,
        fact_id: str | None = None,
        at: datetime | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[FactHistory]:
        """What superseded what, and why, now or at an instant; see ``Memory.history``."""
        return await self._threads.run(
            self._sync.history, fact_id=fact_id, at=at, after=after, limit=limit
        )

    async def evidence(self, fact_id: str) -> FactEvidence:
        """What a fact rests on; see ``Memory.evidence``."""
        return await self._threads.run(self._sync.evidence, fact_id)

    async def evidence_about(self, about: str) -> list[FactEvidence]:
        """What each fact about something rests on; see ``Memory.evidence_about``."""
        return await self._threads.run(self._sync.evidence_about, about)

    async def archive(
        self, *, by: str = "operator", floor: float | None = None, dry_run: bool = False
    ) -> list[Archived]:
        """Archive the contact's faded facts; see ``Memory.archive``."""
        return await self._threads.run(self._sync.archive, by=by, floor=floor, dry_run=dry_run)

    async def unarchive(self, fact_id: str, *, by: str = "operator") -> Decision:
        """Make an archived fact live again; see ``Memory.unarchive``."""
        return await self._threads.run(self._sync.unarchive, fact_id, by=by)

    async def disputes(self) -> list[Dispute]:
        """Facts that contradict each other and are not settled; see ``Memory.disputes``."""
        return await self._threads.run(self._sync.disputes)

    async def report(self) -> str:
        """How the contact's facts followed each other, as HTML; see ``Memory.report``."""
        return await self._threads.run(self._sync.report)

    async def export_page(self) -> str:
        """All that is stored about the contact, as an HTML page; see ``Memory.export_page``."""
        return await self._threads.run(self._sync.export_page)

    async def export(
        self, out: str | Path | IO[bytes], *, vectors: bool = False, overwrite: bool = False
    ) -> ExportReport:
        """Write all that is stored about the contact as lines of JSON; see ``Memory.export``."""
        return await self._threads.run(self._sync.export, out, vectors=vectors, overwrite=overwrite)

    async def decisions(
        self,
        *,
        disposal: Disposal | str | None = None,
        reason: GateReason | str | None = None,
        door: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 50,
    ) -> list[Decision]:
        """The newest decisions, refusals included; see ``Memory.decisions``."""
        return await self._threads.run(
            self._sync.decisions,
            disposal=disposal,
            reason=reason,
            door=door,
            since=since,
            until=until,
            limit=limit,
        )

    async def submit_session(
        self,
        session_id: str | None,
        turns: Iterable[Turn | Mapping[str, Any]],
        *,
        channel: str = "chat",
        started_at: datetime | None = None,
        contact_name: str | None = None,
    ) -> str:
        """Hand over a session; returns its job's id. See ``Memory.submit_session``."""
        return await self._threads.run(
            self._sync.submit_session,
            session_id,
            turns,
            channel=channel,
            started_at=started_at,
            contact_name=contact_name,
        )

    async def task(
        self,
        task_id: str,
        *,
        goal: str | None = None,
        session_id: str | None = None,
        keeps_outcome: bool = True,
    ) -> AsyncMemoryContext:
        """The memory of one task of an agent that works in a loop; see ``Memory.task``."""
        return AsyncMemoryContext(
            self._threads,
            await self._threads.run(
                self._sync.task,
                task_id,
                goal=goal,
                session_id=session_id,
                keeps_outcome=keeps_outcome,
            ),
        )

    def agent_tools(
        self,
        *,
        session_id: str | None = None,
        can_recall: bool = True,
        budget_tokens: int | None = None,
        trusted_tools: Sequence[str] | None = None,
        colleague: str | None = None,
    ) -> AsyncAgentTools:
        """The tools that an agent's model may call; see ``Memory.agent_tools``."""
        return AsyncAgentTools(
            self._threads,
            self._sync.agent_tools(
                session_id=session_id,
                can_recall=can_recall,
                budget_tokens=budget_tokens,
                trusted_tools=trusted_tools,
                colleague=colleague,
            ),
        )

    async def tasks(self, *, state: TaskState | str | None = None, limit: int = 50) -> list[Task]:
        """The contact's tasks, last changed first; see ``Memory.tasks``."""
        return await self._threads.run(self._sync.tasks, state=state, limit=limit)

    async def forget(
        self,
        *,
        fact_id: str | None = None,
        session_id: str | None = None,
        attribute: str | None = None,
        subject: str | None = None,
        by: str,
        reason: str,
        dry_run: bool = False,
    ) -> Erasure:
        """Erase what is known about the contact, or part of it; see ``Memory.forget``."""
        return await self._threads.run(
            self._sync.forget,
            fact_id=fact_id,
            session_id=session_id,
            attribute=attribute,
            subject=subject,
            by=by,
            reason=reason,
            dry_run=dry_run,
        )


class AsyncMemoryCalls:
    """The calls of ``Memory``, awaited."""

    def __init__(self, threads: Threads, sync: Memory) -> None:
        self._threads = threads
        self._sync = sync

    @property
    def settings(self) -> Settings:
        """The settings that this memory was opened with.

        See ``Memory.settings``.
        """
        return self._sync.settings

    @property
    def embedding_model(self) -> str:
        """Name and fingerprint of the model whose vectors this store holds.

        See ``Memory.embedding_model``.
        """
        return self._sync.embedding_model

    async def warm_up(self) -> float:
        """Wait until the model is loaded and has embedded once; returns the seconds of that wait.

        See ``Memory.warm_up``.
        """
        return await self._threads.run(self._sync.warm_up)

    async def describe(self) -> EngineDescription:
        """Which engine keeps this memory, and where. It asks the engine, so it is also a check.

        See ``Memory.describe``.
        """
        return await self._threads.run(self._sync.describe)

    async def add_contact_note(
        self,
        agent_id: str,
        contact_id: str,
        text: str,
        *,
        tenant: str | None = None,
        **fields: Unpack[NoteFields],
    ) -> Decision:
        """Remember something about a contact; the decision says what was done with it.

        See ``Memory.add_contact_note``.
        """
        return await self._threads.run(
            self._sync.add_contact_note, agent_id, contact_id, text, tenant=tenant, **fields
        )

    async def relate(
        self,
        agent_id: str,
        contact_id: str,
        fact: str,
        *,
        replaces: Sequence[str] = (),
        repeats: str | None = None,
        ends: Sequence[str] = (),
        both_hold: Sequence[str] = (),
        reason: str | None = None,
        tenant: str | None = None,
    ) -> Decision:
        """Say how a remembered fact relates to others, as a decision of its own.

        See ``Memory.relate``.
        """
        return await self._threads.run(
            self._sync.relate,
            agent_id,
            contact_id,
            fact,
            replaces=replaces,
            repeats=repeats,
            ends=ends,
            both_hold=both_hold,
            reason=reason,
            tenant=tenant,
        )

    def contact(
        self, agent_id: str, contact_id: str, *, tenant: str | None = None
    ) -> AsyncContactMemory:
        """This memory bound to one contact, who then need not be named at each call.

        See ``Memory.contact``.
        """
        return AsyncContactMemory(
            self._threads, self._sync.contact(agent_id, contact_id, tenant=tenant)
        )

    def agent_tools(
        self,
        agent_id: str,
        contact_id: str,
        *,
        tenant: str | None = None,
        session_id: str | None = None,
        can_recall: bool = True,
        budget_tokens: int | None = None,
        trusted_tools: Sequence[str] | None = None,
        colleague: str | None = None,
    ) -> AsyncAgentTools:
        """The tools that an agent's model may call: to note, to relate notes, and to recall.

        See ``Memory.agent_tools``.
        """
        return AsyncAgentTools(
            self._threads,
            self._sync.agent_tools(
                agent_id,
                contact_id,
                tenant=tenant,
                session_id=session_id,
                can_recall=can_recall,
                budget_tokens=budget_tokens,
                trusted_tools=trusted_tools,
                colleague=colleague,
            ),
        )

    async def recall(
        self,
        agent_id: str,
        contact_id: str,
        query: str = "",
        *,
        tenant: str | None = None,
        limit: int | None = None,
        budget_tokens: int | None = None,
        as_of: datetime | None = None,
        valid_at: datetime | None = None,
        **filters: Unpack[FilterFields],
    ) -> Recalled:
        """The live facts about a contact that fit a query best, and the standing constraints.

        See ``Memory.recall``.
        """
        return await self._threads.run(
            self._sync.recall,
            agent_id,
            contact_id,
            query,
            tenant=tenant,
            limit=limit,
            budget_tokens=budget_tokens,
            as_of=as_of,
            valid_at=valid_at,
            **filters,
        )

    async def briefing(
        self,
        agent_id: str,
        contact_id: str,
        query: str = "",
        *,
        tenant: str | None = None,
        limit: int | None = None,
    ) -> Briefing:
        """What to know and what to ask when a conversation opens.

        See ``Memory.briefing``.
        """
        return await self._threads.run(
            self._sync.briefing, agent_id, contact_id, query, tenant=tenant, limit=limit
        )

    async def value(
        self,
        agent_id: str,
        contact_id: str,
        attribute: str,
        *,
        subject: str | None = None,
        tenant: str | None = None,
    ) -> list[SlotValue]:
        """An attribute's current value, or several where it holds many or is in dispute.

        See ``Memory.value``.
        """
        return await self._threads.run(
            self._sync.value, agent_id, contact_id, attribute, subject=subject, tenant=tenant
        )

    async def profile(
        self, agent_id: str, contact_id: str, *, tenant: str | None = None
    ) -> list[SlotValue]:
        """The current values of all of a contact's slots, the contact's own first, by attribute.

        See ``Memory.profile``.
        """
        return await self._threads.run(self._sync.profile, agent_id, contact_id, tenant=tenant)

    async def recall_about(
        self,
        agent_id: str,
        contact_id: str,
        name: str,
        *,
        all_contacts: bool = False,
        tenant: str | None = None,
        limit: int | None = None,
    ) -> list[FoundFact]:
        """The live facts that mention somebody or something by name, as whole words.

        See ``Memory.recall_about``.
        """
        return await self._threads.run(
            self._sync.recall_about,
            agent_id,
            contact_id,
            name,
            all_contacts=all_contacts,
            tenant=tenant,
            limit=limit,
        )

    async def find(
        self,
        agent_id: str,
        query: str,
        *,
        tenant: str | None = None,
        limit: int | None = None,
        **filters: Unpack[FilterFields],
    ) -> list[FoundFact]:
        """The live facts of all of an agent's contacts that are nearest to a query. For operators.

        See ``Memory.find``.
        """
        return await self._threads.run(
            self._sync.find, agent_id, query, tenant=tenant, limit=limit, **filters
        )

    async def history(
        self,
        agent_id: str,
        contact_id: str,
        *,
        fact_id: str | None = None,
        at: datetime | None = None,
        after: str | None = None,
        tenant: str | None = None,
        limit: int | None = None,
    ) -> list[FactHistory]:
        """What superseded what, and why: a contact's chains, or the one that a fact is in.

        See ``Memory.history``.
        """
        return await self._threads.run(
            self._sync.history,
            agent_id,
            contact_id,
            fact_id=fact_id,
            at=at,
            after=after,
            tenant=tenant,
            limit=limit,
        )

    async def evidence(
        self, agent_id: str, contact_id: str, fact_id: str, *, tenant: str | None = None
    ) -> FactEvidence:
        """What a fact rests on: each turn, who said it, when and where, and which decision used it.

        See ``Memory.evidence``.
        """
        return await self._threads.run(
            self._sync.evidence, agent_id, contact_id, fact_id, tenant=tenant
        )

    async def evidence_about(
        self, agent_id: str, contact_id: str, about: str, *, tenant: str | None = None
    ) -> list[FactEvidence]:
        """What each fact about something rests on, as ``evidence``; the live ones first.

        See ``Memory.evidence_about``.
        """
        return await self._threads.run(
            self._sync.evidence_about, agent_id, contact_id, about, tenant=tenant
        )

    async def decisions(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        disposal: Disposal | str | None = None,
        reason: GateReason | str | None = None,
        door: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        tenant: str | None = None,
        limit: int = 50,
    ) -> list[Decision]:
        """The newest decisions, refusals included, with what each was compared with.

        See ``Memory.decisions``.
        """
        return await self._threads.run(
            self._sync.decisions,
            agent_id,
            contact_id,
            disposal=disposal,
            reason=reason,
            door=door,
            since=since,
            until=until,
            tenant=tenant,
            limit=limit,
        )

    async def refusals(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        tenant: str | None = None,
        limit: int | None = None,
    ) -> list[RefusalCount]:
        """How often the gate refused something, by contact and reason.

        See ``Memory.refusals``.
        """
        return await self._threads.run(
            self._sync.refusals, agent_id, contact_id, tenant=tenant, limit=limit
        )

    async def expiring(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        days: float = 30,
        tenant: str | None = None,
        limit: int | None = None,
    ) -> list[ExpiringFact]:
        """The facts whose lifetime ends within this many days, the next first, with a question.

        See ``Memory.expiring``.
        """
        return await self._threads.run(
            self._sync.expiring, agent_id, contact_id, days=days, tenant=tenant, limit=limit
        )

    async def health(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        tenant: str | None = None,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> HealthReport:
        """The health of an agent's memory in numbers: duplicates, stale facts, open questions.

        See ``Memory.health``.
        """
        return await self._threads.run(
            self._sync.health, agent_id, contact_id, tenant=tenant, on_progress=on_progress
        )

    def rejudge(
        self, agent_id: str, contact_id: str | None = None, *, tenant: str | None = None
    ) -> AsyncIterator[Rejudged]:
        """Ask the arbiter about what was decided while it did not answer, and amend it.

        See ``Memory.rejudge``.
        """
        return self._threads.stream(self._sync.rejudge, agent_id, contact_id, tenant=tenant)

    def rejudge_in_batches(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        tenant: str | None = None,
        batch_id: str | None = None,
        wait_hours: float = 24.0,
        on_wait: Callable[[BatchState], None] = lambda _: None,
    ) -> AsyncIterator[Rejudged]:
        """``rejudge`` by batches of the vendor, at half the price and within a day.

        See ``Memory.rejudge_in_batches``.
        """
        return self._threads.stream(
            self._sync.rejudge_in_batches,
            agent_id,
            contact_id,
            tenant=tenant,
            batch_id=batch_id,
            wait_hours=wait_hours,
            on_wait=on_wait,
        )

    async def health_of_all(
        self, on_progress: Callable[[int], None] = lambda _: None
    ) -> list[HealthReport]:
        """``health`` of every agent of the store, of all tenants; for an operator's monitoring.

        See ``Memory.health_of_all``.
        """
        return await self._threads.run(self._sync.health_of_all, on_progress)

    async def pending(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        tenant: str | None = None,
        limit: int | None = None,
        with_silent: bool = False,
    ) -> list[Decision | Dispute]:
        """What waits for an answer; ``question`` is what to ask.

        See ``Memory.pending``.
        """
        return await self._threads.run(
            self._sync.pending,
            agent_id,
            contact_id,
            tenant=tenant,
            limit=limit,
            with_silent=with_silent,
        )

    async def disputes(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        tenant: str | None = None,
        limit: int | None = None,
    ) -> list[Dispute]:
        """Facts that contradict each other and are not settled, each contact's newest first.

        See ``Memory.disputes``.
        """
        return await self._threads.run(
            self._sync.disputes, agent_id, contact_id, tenant=tenant, limit=limit
        )

    async def resolve(
        self,
        agent_id: str,
        contact_id: str,
        keep: str | Sequence[str],
        *,
        by: str,
        reason: str,
        tenant: str | None = None,
    ) -> Decision:
        """Settle a dispute: the facts to keep hold, and those in dispute with them end, on record.

        See ``Memory.resolve``.
        """
        return await self._threads.run(
            self._sync.resolve, agent_id, contact_id, keep, by=by, reason=reason, tenant=tenant
        )

    async def amend(
        self,
        agent_id: str,
        contact_id: str,
        text: str,
        *,
        fact_id: str | None = None,
        subject: str | None = None,
        attribute: str | None = None,
        value: str | float | None = None,
        single_valued: bool | None = None,
        by: str,
        reason: str,
        said_at: datetime | None = None,
        tenant: str | None = None,
    ) -> Decision:
        """Correct a fact, as an operator: the new fact replaces it, whoever said it, on record.

        See ``Memory.amend``.
        """
        return await self._threads.run(
            self._sync.amend,
            agent_id,
            contact_id,
            text,
            fact_id=fact_id,
            subject=subject,
            attribute=attribute,
            value=value,
            single_valued=single_valued,
            by=by,
            reason=reason,
            said_at=said_at,
            tenant=tenant,
        )

    async def confirm(
        self,
        agent_id: str,
        contact_id: str,
        decision_id: str,
        by: str,
        *,
        text: str | None = None,
        tenant: str | None = None,
    ) -> Decision:
        """Store a held note as the word of whoever said yes; once, however often it is called.

        See ``Memory.confirm``.
        """
        return await self._threads.run(
            self._sync.confirm, agent_id, contact_id, decision_id, by, text=text, tenant=tenant
        )

    async def reject(
        self,
        agent_id: str,
        contact_id: str,
        decision_id: str,
        by: str,
        *,
        tenant: str | None = None,
    ) -> Decision:
        """Record the answer no: nothing is stored, and the question is not asked again.

        See ``Memory.reject``.
        """
        return await self._threads.run(
            self._sync.reject, agent_id, contact_id, decision_id, by, tenant=tenant
        )

    async def withdraw(
        self,
        agent_id: str,
        contact_id: str,
        decision_id: str,
        by: str,
        *,
        tenant: str | None = None,
    ) -> Decision:
        """Withdraw a held note, so that nobody is asked; it may be proposed again.

        See ``Memory.withdraw``.
        """
        return await self._threads.run(
            self._sync.withdraw, agent_id, contact_id, decision_id, by, tenant=tenant
        )

    async def propose(self, candidate: Candidate) -> Decision:
        """Record how the gate disposes of a candidate. Writes no fact, even if it is admitted.

        See ``Memory.propose``.
        """
        return await self._threads.run(self._sync.propose, candidate)

    async def commit(
        self, agent_id: str, contact_id: str, decision_id: str, *, tenant: str | None = None
    ) -> Decision:
        """Write the fact of an admitted proposal; once, however often it is called.

        See ``Memory.commit``.
        """
        return await self._threads.run(
            self._sync.commit, agent_id, contact_id, decision_id, tenant=tenant
        )

    async def check_policy(
        self,
        text: str,
        *,
        agent_id: str = "any",
        source_kind: SourceKind | str = SourceKind.USER_EXPLICIT,
        category: Category | str | None = None,
        topic: str | None = None,
    ) -> Assessment:
        """What the write gate would find in a note, check by check; reads and writes nothing.

        See ``Memory.check_policy``.
        """
        return await self._threads.run(
            self._sync.check_policy,
            text,
            agent_id=agent_id,
            source_kind=source_kind,
            category=category,
            topic=topic,
        )

    async def revoke(
        self,
        agent_id: str,
        contact_id: str,
        fact_id: str,
        *,
        by: str,
        reason: str,
        never: bool = False,
        tenant: str | None = None,
    ) -> Decision:
        """End a fact without replacing it; its history is kept.

        See ``Memory.revoke``.
        """
        return await self._threads.run(
            self._sync.revoke,
            agent_id,
            contact_id,
            fact_id,
            by=by,
            reason=reason,
            never=never,
            tenant=tenant,
        )

    async def revert(
        self,
        agent_id: str,
        contact_id: str,
        decision_id: str,
        *,
        by: str,
        reason: str,
        and_later: bool = False,
        tenant: str | None = None,
    ) -> Decision:
        """Undo a decision: what it wrote no longer holds, and what it ended holds again.

        See ``Memory.revert``.
        """
        return await self._threads.run(
            self._sync.revert,
            agent_id,
            contact_id,
            decision_id,
            by=by,
            reason=reason,
            and_later=and_later,
            tenant=tenant,
        )

    async def forget(
        self,
        agent_id: str,
        contact_id: str,
        *,
        fact_id: str | None = None,
        session_id: str | None = None,
        attribute: str | None = None,
        subject: str | None = None,
        by: str,
        reason: str,
        dry_run: bool = False,
        tenant: str | None = None,
    ) -> Erasure:
        """Erase what is known about a contact, or part of it, for good; it cannot be undone.

        See ``Memory.forget``.
        """
        return await self._threads.run(
            self._sync.forget,
            agent_id,
            contact_id,
            fact_id=fact_id,
            session_id=session_id,
            attribute=attribute,
            subject=subject,
            by=by,
            reason=reason,
            dry_run=dry_run,
            tenant=tenant,
        )

    async def erasures(
        self,
        agent_id: str | None = None,
        contact_id: str | None = None,
        *,
        unfinished: bool = False,
        tenant: str | None = None,
        limit: int | None = None,
    ) -> list[Erasure]:
        """The erasures that were asked for, oldest first, and how far each one got.

        See ``Memory.erasures``.
        """
        return await self._threads.run(
            self._sync.erasures,
            agent_id,
            contact_id,
            unfinished=unfinished,
            tenant=tenant,
            limit=limit,
        )

    async def finish_erasures(self) -> list[Erasure]:
        """Finish all interrupted erasures of the store; returns those that this call finished.

        See ``Memory.finish_erasures``.
        """
        return await self._threads.run(self._sync.finish_erasures)

    async def archive(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        by: str = "operator",
        reason: str = "Nobody said or needed it for long.",
        floor: float | None = None,
        dry_run: bool = False,
        tenant: str | None = None,
    ) -> list[Archived]:
        """Archive faded facts: recall leaves them out, and they are live again once repeated.

        See ``Memory.archive``.
        """
        return await self._threads.run(
            self._sync.archive,
            agent_id,
            contact_id,
            by=by,
            reason=reason,
            floor=floor,
            dry_run=dry_run,
            tenant=tenant,
        )

    async def unarchive(
        self,
        agent_id: str,
        contact_id: str,
        fact_id: str,
        *,
        by: str = "operator",
        reason: str = "It is needed again.",
        tenant: str | None = None,
    ) -> Decision:
        """Make an archived fact live again, as it was.

        See ``Memory.unarchive``.
        """
        return await self._threads.run(
            self._sync.unarchive, agent_id, contact_id, fact_id, by=by, reason=reason, tenant=tenant
        )

    async def decision(
        self,
        agent_id: str,
        contact_id: str,
        decision_id: str | None = None,
        *,
        idempotency_key: str | None = None,
        tenant: str | None = None,
    ) -> Decision:
        """One decision about a contact, with what it was compared with.

        See ``Memory.decision``.
        """
        return await self._threads.run(
            self._sync.decision,
            agent_id,
            contact_id,
            decision_id,
            idempotency_key=idempotency_key,
            tenant=tenant,
        )

    async def digest(self, text: str) -> str:
        """A keyed hash of a text, for an idempotency key that must not give the text away.

        See ``Memory.digest``.
        """
        return await self._threads.run(self._sync.digest, text)

    async def explain(
        self, agent_id: str, contact_id: str, decision_id: str, *, tenant: str | None = None
    ) -> Explanation:
        """A decision in plain words: which neighbour, which rule, what would have changed it.

        See ``Memory.explain``.
        """
        return await self._threads.run(
            self._sync.explain, agent_id, contact_id, decision_id, tenant=tenant
        )

    def all_decisions(
        self, agent_id: str, contact_id: str | None = None, *, tenant: str | None = None
    ) -> AsyncIterator[Decision]:
        """Every decision about one contact, or about all of an agent's, contact by contact.

        See ``Memory.all_decisions``.
        """
        return self._threads.stream(self._sync.all_decisions, agent_id, contact_id, tenant=tenant)

    async def replay(
        self,
        profile: str,
        agent_id: str,
        contact_id: str | None = None,
        *,
        tenant: str | None = None,
    ) -> list[Replayed]:
        """What other thresholds would have decided, from the recorded decisions; writes nothing.

        See ``Memory.replay``.
        """
        return await self._threads.run(
            self._sync.replay, profile, agent_id, contact_id, tenant=tenant
        )

    async def correct(
        self,
        agent_id: str,
        contact_id: str,
        decision_id: str,
        relation: Relation | str,
        *,
        tenant: str | None = None,
    ) -> Decision:
        """Record how a note really relates to the fact that it was compared with; changes no fact.

        See ``Memory.correct``.
        """
        return await self._threads.run(
            self._sync.correct, agent_id, contact_id, decision_id, relation, tenant=tenant
        )

    async def contacts(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        after: str | None = None,
        tenant: str | None = None,
        limit: int | None = None,
    ) -> list[Contact]:
        """The contacts of an agent, by id.

        See ``Memory.contacts``.
        """
        return await self._threads.run(
            self._sync.contacts, agent_id, contact_id, after=after, tenant=tenant, limit=limit
        )

    async def import_notes(
        self,
        lines: Iterable[str],
        *,
        tenant: str | None = None,
        agent_id: str | None = None,
        contact_id: str | None = None,
        source: str | None = None,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> ImportReport:
        """Import JSON lines; see ``NoteImport``."""
        return await self._threads.run(
            self._sync.import_notes,
            lines,
            tenant=tenant,
            agent_id=agent_id,
            contact_id=contact_id,
            source=source,
            on_progress=on_progress,
        )

    async def import_from(
        self,
        system: str,
        source: str | Path,
        agent_id: str,
        contact_id: str | None = None,
        *,
        contact_from: str | None = None,
        tenant: str | None = None,
        source_kind: SourceKind | str = SourceKind.OPERATOR,
        username: str = "neo4j",
        password: str = "",
        database: str | None = None,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> ImportReport:
        """Import what another memory system holds, through gate and reconciler.

        See ``Memory.import_from``.
        """
        return await self._threads.run(
            self._sync.import_from,
            system,
            source,
            agent_id,
            contact_id,
            contact_from=contact_from,
            tenant=tenant,
            source_kind=source_kind,
            username=username,
            password=password,
            database=database,
            on_progress=on_progress,
        )

    async def export(
        self,
        out: str | Path | IO[bytes],
        agent_id: str | None = None,
        contact_id: str | None = None,
        *,
        tenant: str | None = None,
        vectors: bool = False,
        keys: bool = False,
        overwrite: bool = False,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> ExportReport:
        """Write the memory as lines of JSON, which ``restore`` reads into either engine.

        See ``Memory.export``.
        """
        return await self._threads.run(
            self._sync.export,
            out,
            agent_id,
            contact_id,
            tenant=tenant,
            vectors=vectors,
            keys=keys,
            overwrite=overwrite,
            on_progress=on_progress,
        )

    async def export_page(
        self, agent_id: str, contact_id: str, *, tenant: str | None = None
    ) -> str:
        """All that is stored about a contact, as one HTML page that a person can read and print.

        See ``Memory.export_page``.
        """
        return await self._threads.run(self._sync.export_page, agent_id, contact_id, tenant=tenant)

    async def check_known(
        self, agent_id: str, contact_id: str | None = None, *, tenant: str | None = None
    ) -> None:
        """Check that anything is known about a contact, or about any of an agent's.

        See ``Memory.check_known``.
        """
        await self._threads.run(self._sync.check_known, agent_id, contact_id, tenant=tenant)

    async def report(
        self, agent_id: str, contact_id: str | None = None, *, tenant: str | None = None
    ) -> str:
        """How facts followed each other, as one HTML document with timelines, for an analyst.

        See ``Memory.report``.
        """
        return await self._threads.run(self._sync.report, agent_id, contact_id, tenant=tenant)

    async def backup(self, path: str | Path, *, overwrite: bool = False) -> Backup:
        """Back up the embedded store and its hash key into one archive, while it is in use.

        See ``Memory.backup``.
        """
        return await self._threads.run(self._sync.backup, path, overwrite=overwrite)

    async def reembed(
        self,
        model: str | Embedder,
        *,
        profile: str | None = None,
        uncalibrated: bool = False,
        batch_size: int = 256,
        on_progress: Callable[[int, int], None] = lambda *_: None,
    ) -> ReembedReport:
        """Move the store to another embedding model, while others recall and write.

        See ``Memory.reembed``.
        """
        return await self._threads.run(
            self._sync.reembed,
            model,
            profile=profile,
            uncalibrated=uncalibrated,
            batch_size=batch_size,
            on_progress=on_progress,
        )

    async def model_move(self) -> ModelMove:
        """Which model the store is bound to, and how far a move to another one is.

        See ``Memory.model_move``.
        """
        return await self._threads.run(self._sync.model_move)

    async def cancel_reembed(self) -> ModelMove:
        """Cancel a running move to another model; what was embedded for it is removed.

        See ``Memory.cancel_reembed``.
        """
        return await self._threads.run(self._sync.cancel_reembed)

    @property
    def extractor(self) -> AsyncMemoryExtractor:
        """The background door: takes whole sessions, and says what was learned from them.

        See ``Memory.extractor``.
        """
        return AsyncMemoryExtractor(self._threads, self._sync.extractor)

    async def submit_session(
        self,
        agent_id: str,
        contact_id: str,
        session_id: str | None,
        turns: Iterable[Turn | Mapping[str, Any]],
        *,
        tenant: str | None = None,
        channel: str = "chat",
        started_at: datetime | None = None,
        contact_name: str | None = None,
    ) -> str:
        """Hand over a session; returns its job's id. See ``MemoryExtractor``."""
        return await self._threads.run(
            self._sync.submit_session,
            agent_id,
            contact_id,
            session_id,
            turns,
            tenant=tenant,
            channel=channel,
            started_at=started_at,
            contact_name=contact_name,
        )

    async def task(
        self,
        agent_id: str,
        contact_id: str,
        task_id: str,
        *,
        goal: str | None = None,
        session_id: str | None = None,
        keeps_outcome: bool = True,
        tenant: str | None = None,
    ) -> AsyncMemoryContext:
        """The memory of one task of an agent that works in a loop, started or resumed.

        See ``Memory.task``.
        """
        return AsyncMemoryContext(
            self._threads,
            await self._threads.run(
                self._sync.task,
                agent_id,
                contact_id,
                task_id,
                goal=goal,
                session_id=session_id,
                keeps_outcome=keeps_outcome,
                tenant=tenant,
            ),
        )

    async def tasks(
        self,
        agent_id: str,
        contact_id: str | None = None,
        *,
        state: TaskState | str | None = None,
        tenant: str | None = None,
        limit: int = 50,
    ) -> list[Task]:
        """An agent's tasks, last changed first; ``task`` resumes one.

        See ``Memory.tasks``.
        """
        return await self._threads.run(
            self._sync.tasks, agent_id, contact_id, state=state, tenant=tenant, limit=limit
        )

    async def session(
        self, agent_id: str, contact_id: str, session_id: str, *, tenant: str | None = None
    ) -> SessionRecord:
        """A session as it is stored: its summary, and what was decided about its candidates.

        See ``Memory.session``.
        """
        return await self._threads.run(
            self._sync.session, agent_id, contact_id, session_id, tenant=tenant
        )

    async def job(
        self, agent_id: str, contact_id: str, job_id: str, *, tenant: str | None = None
    ) -> Job:
        """One of a contact's jobs, in its present state.

        See ``Memory.job``.
        """
        return await self._threads.run(self._sync.job, agent_id, contact_id, job_id, tenant=tenant)

    async def jobs(
        self,
        agent_id: str | None = None,
        contact_id: str | None = None,
        *,
        state: JobState | str | None = None,
        tenant: str | None = None,
        limit: int = 50,
    ) -> list[Job]:
        """Jobs, newest first.

        See ``Memory.jobs``.
        """
        return await self._threads.run(
            self._sync.jobs, agent_id, contact_id, state=state, tenant=tenant, limit=limit
        )

    async def retry(
        self, agent_id: str, contact_id: str, job_id: str, *, tenant: str | None = None
    ) -> Job:
        """Retry a dead or waiting job now.

        See ``Memory.retry``.
        """
        return await self._threads.run(
            self._sync.retry, agent_id, contact_id, job_id, tenant=tenant
        )

    async def queue(self) -> QueueReport:
        """All jobs of the store in numbers.

        See ``Memory.queue``.
        """
        return await self._threads.run(self._sync.queue)

    async def drain(self, on_progress: Callable[[Job], None] = lambda _: None) -> list[Job]:
        """Process all jobs in this thread until each is done or dead; returns those of this call.

        See ``Memory.drain``.
        """
        return await self._threads.run(self._sync.drain, on_progress)

    async def worker(self, on_stage: Callable[[Stage], None] = lambda _: None) -> ExtractionWorker:
        """A worker that the caller runs, and stops.

        See ``Memory.worker``.
        """
        return await self._threads.run(self._sync.worker, on_stage)

    async def start_worker(self, on_job: Callable[[Job], None] = lambda _: None) -> WorkerThread:
        """A worker in a thread of this process, until it is stopped or the memory is closed.

        See ``Memory.start_worker``.
        """
        return await self._threads.run(self._sync.start_worker, on_job)

    async def interrupt_extraction(self) -> None:
        """End the extractor's running calls in this memory; it may be called repeatedly.

        See ``Memory.interrupt_extraction``.
        """
        await self._threads.run(self._sync.interrupt_extraction)

    async def stop_workers(self) -> None:
        """Stop the workers of ``start_worker``; their jobs go back to the queue.

        See ``Memory.stop_workers``.
        """
        await self._threads.run(self._sync.stop_workers)
