"""The calls of a memory, awaited: each is made in a thread. Decides nothing.

A call keeps its name, its arguments, its documentation and its errors. A test holds each class here
to the one that it stands for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from reconciler.agent_memory import AgentMemory
from reconciler.async_threads import Threads
from reconciler.bound_memory import BoundMemory
from reconciler.contact_memory import ContactMemory
from reconciler.domain.records.scope import Scope
from reconciler.domain.tasks.task_states import TaskState
from reconciler.domain.tasks.tasks import WorkingMemory
from reconciler.service.tasks.memory_context import MemoryContext
from reconciler.service.tasks.task_memory import TaskMemory
from reconciler.service.tools.agent_tools import AgentTools

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
A = TypeVar("A")


class AsyncPart(Generic[S]):
    """An asynchronous part of a memory.

    Args:
        threads: the threads in which its calls are made.
        sync: the synchronous part.
    """

    def __init__(self, threads: Threads, sync: S) -> None:
        self._threads = threads
        self._sync = sync


def awaited(
    call: Callable[Concatenate[Any, P], R],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]:
    """An asynchronous form of a call: it is made in a thread."""

    @wraps(call)
    async def made(self: AsyncPart[Any], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._threads.run(call, self._sync, *args, **kwargs)

    return made


def streamed(
    call: Callable[Concatenate[Any, P], Iterator[R]],
) -> Callable[Concatenate[Any, P], AsyncIterator[R]]:
    """An asynchronous form of a call that returns an iterator: both run in a thread."""

    @wraps(call)
    def made(self: AsyncPart[Any], /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[R]:
        return self._threads.stream(call, self._sync, *args, **kwargs)

    return made


def at_once(call: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A call that never blocks, made as it is."""

    @wraps(call)
    def made(self: AsyncPart[Any], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return call(self._sync, *args, **kwargs)

    return made


def bound(
    kind: Callable[[Threads, S], A], call: Callable[Concatenate[Any, P], S]
) -> Callable[Concatenate[Any, P], A]:
    """A call that never blocks and returns a part of the memory: the part is asynchronous."""

    @wraps(call)
    def made(self: AsyncPart[Any], /, *args: P.args, **kwargs: P.kwargs) -> A:
        return kind(self._threads, call(self._sync, *args, **kwargs))

    return made


def handed_out(
    kind: Callable[[Threads, S], A], call: Callable[Concatenate[Any, P], S]
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, A]]:
    """A call, made in a thread, that returns a part of the memory: the part is asynchronous."""

    @wraps(call)
    async def made(self: AsyncPart[Any], /, *args: P.args, **kwargs: P.kwargs) -> A:
        return kind(self._threads, await self._threads.run(call, self._sync, *args, **kwargs))

    return made


def in_a_thread(
    call: Callable[P, R],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]:
    """An asynchronous form of a call of the class: it is made in a thread of its own."""

    @wraps(getattr(call, "__func__", call))
    async def made(_: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(call, *args, **kwargs)

    return made


class AsyncTaskMemory(AsyncPart[TaskMemory]):
    """The calls of ``TaskMemory``, awaited."""

    load = awaited(TaskMemory.load)
    mark_done = awaited(TaskMemory.mark_done)
    set_blocker = awaited(TaskMemory.set_blocker)
    checkpoint = awaited(TaskMemory.checkpoint)
    resume = awaited(TaskMemory.resume)


class AsyncMemoryContext(AsyncPart[MemoryContext]):
    """The calls of ``MemoryContext``, awaited."""

    deciding = awaited(MemoryContext.deciding)
    tool_returned = awaited(MemoryContext.tool_returned)
    observed = awaited(MemoryContext.observed)
    succeed = awaited(MemoryContext.succeed)
    fail = awaited(MemoryContext.fail)
    interrupt = awaited(MemoryContext.interrupt)
    resume = awaited(MemoryContext.resume)
    recall = awaited(MemoryContext.recall)
    recall_about = awaited(MemoryContext.recall_about)
    procedures = awaited(MemoryContext.procedures)
    episodes = awaited(MemoryContext.episodes)
    log_episode = awaited(MemoryContext.log_episode)
    propose_durable = awaited(MemoryContext.propose_durable)
    propose_procedure = awaited(MemoryContext.propose_procedure)
    propose_reflection = awaited(MemoryContext.propose_reflection)
    commit = awaited(MemoryContext.commit)

    @property
    def state(self) -> TaskState:
        """Where the task stands in this process."""
        return self._sync.state

    @property
    def working(self) -> WorkingMemory:
        """The task's working memory in this process."""
        return self._sync.working

    @property
    def task_memory(self) -> AsyncTaskMemory:
        """The task's own record."""
        return AsyncTaskMemory(self._threads, self._sync.task_memory)


class AsyncAgentTools(AsyncPart[AgentTools]):
    """The calls of ``AgentTools``, awaited; ``definitions`` waits for nothing."""

    definitions = at_once(AgentTools.definitions)
    call = awaited(AgentTools.call)

    @property
    def scope(self) -> Scope:
        """Tenant, agent and contact that the tools are bound to."""
        return self._sync.scope


class AsyncBoundMemory(AsyncPart[S]):
    """The calls of ``BoundMemory``, awaited."""

    recall_about = awaited(BoundMemory.recall_about)
    decisions = awaited(BoundMemory.decisions)
    all_decisions = streamed(BoundMemory.all_decisions)
    refusals = awaited(BoundMemory.refusals)
    pending = awaited(BoundMemory.pending)
    disputes = awaited(BoundMemory.disputes)
    expiring = awaited(BoundMemory.expiring)
    health = awaited(BoundMemory.health)
    rejudge = streamed(BoundMemory.rejudge)
    replay = awaited(BoundMemory.replay)
    archive = awaited(BoundMemory.archive)
    erasures = awaited(BoundMemory.erasures)
    tasks = awaited(BoundMemory.tasks)
    jobs = awaited(BoundMemory.jobs)
    report = awaited(BoundMemory.report)
    export = awaited(BoundMemory.export)
    import_from = awaited(BoundMemory.import_from)
    check_known = awaited(BoundMemory.check_known)


class AsyncContactMemory(AsyncBoundMemory[ContactMemory]):
    """The calls of ``ContactMemory``, awaited; ``tools`` waits for nothing."""

    version = awaited(ContactMemory.version)
    note = awaited(ContactMemory.note)
    recall = awaited(ContactMemory.recall)
    briefing = awaited(ContactMemory.briefing)
    context = awaited(ContactMemory.context)
    value = awaited(ContactMemory.value)
    profile = awaited(ContactMemory.profile)
    history = awaited(ContactMemory.history)
    evidence = awaited(ContactMemory.evidence)
    evidence_about = awaited(ContactMemory.evidence_about)
    relate = awaited(ContactMemory.relate)
    tools = bound(AsyncAgentTools, ContactMemory.tools)
    submit_session = awaited(ContactMemory.submit_session)
    session = awaited(ContactMemory.session)
    task = handed_out(AsyncMemoryContext, ContactMemory.task)
    job = awaited(ContactMemory.job)
    retry = awaited(ContactMemory.retry)
    confirm = awaited(ContactMemory.confirm)
    reject = awaited(ContactMemory.reject)
    withdraw = awaited(ContactMemory.withdraw)
    resolve = awaited(ContactMemory.resolve)
    amend = awaited(ContactMemory.amend)
    revoke = awaited(ContactMemory.revoke)
    revert = awaited(ContactMemory.revert)
    unarchive = awaited(ContactMemory.unarchive)
    forget = awaited(ContactMemory.forget)
    propose = awaited(ContactMemory.propose)
    commit = awaited(ContactMemory.commit)
    decision = awaited(ContactMemory.decision)
    explain = awaited(ContactMemory.explain)
    correct = awaited(ContactMemory.correct)
    digest = awaited(ContactMemory.digest)
    export_page = awaited(ContactMemory.export_page)

    @property
    def scope(self) -> Scope:
        """Tenant, agent and contact that every call is bound to."""
        return self._sync.scope


class AsyncAgentMemory(AsyncBoundMemory[AgentMemory]):
    """The calls of ``AgentMemory``, awaited; ``contact`` waits for nothing."""

    contact = bound(AsyncContactMemory, AgentMemory.contact)
    contacts = awaited(AgentMemory.contacts)
    find = awaited(AgentMemory.find)
    submit_session = awaited(AgentMemory.submit_session)
    check_policy = awaited(AgentMemory.check_policy)

    @property
    def agent_id(self) -> str:
        """The agent that every call is bound to."""
        return self._sync.agent_id

    @property
    def tenant(self) -> str:
        """The tenant that every call is bound to."""
        return self._sync.tenant
