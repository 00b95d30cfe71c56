"""The asynchronous facade: ``Memory``, for programs with an event loop. Decides nothing.

Each call is that of ``Memory``, made in a thread: it keeps its name, arguments, documentation
and its errors. A test holds each class here to the one that it stands for. A call that began is
finished even if no caller awaits it any more, so that no lock is left behind and no write is half
done.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from datetime import datetime
from functools import partial, wraps
from itertools import islice
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    NoReturn,
    ParamSpec,
    Protocol,
    Self,
    TypeVar,
    Unpack,
)

from reconciler.bound_memory import AgentMemory, BoundMemory, ContactMemory
from reconciler.domain.records.notes import Scope
from reconciler.domain.tasks.tasks import TaskState, WorkingMemory
from reconciler.errors import ConfigurationError, GraphClosedError, ReconcilerError
from reconciler.forks import Maker
from reconciler.memory import Memory, class_call
from reconciler.service.tasks.memory_context import MemoryContext
from reconciler.service.tasks.task_memory import TaskMemory
from reconciler.service.tools.agent_tools import AgentTools

if TYPE_CHECKING:
    from reconciler.ports.arbiter import Arbiter
    from reconciler.ports.embedder import Embedder
    from reconciler.ports.extractor import Extractor
    from reconciler.settings import OpenFields, Settings


R = TypeVar("R")
P = ParamSpec("P")
S = TypeVar("S")
A = TypeVar("A")
Call = Callable[Concatenate[Any, P], R]
"""A call of an object, which is its first argument."""

Awaited = Call[P, Coroutine[Any, Any, R]]


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
    call: Call[P, R],
) -> Awaited[P, R]:
    """An asynchronous form of a call: it is made in a thread."""

    @wraps(call)
    async def made(self: AsyncPart[Any], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._threads.run(call, self._sync, *args, **kwargs)

    return made


def streamed(
    call: Call[P, Iterator[R]],
) -> Call[P, AsyncIterator[R]]:
    """An asynchronous form of a call that returns an iterator: both run in a thread."""

    @wraps(call)
    def made(self: AsyncPart[Any], /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[R]:
        return self._threads.stream(call, self._sync, *args, **kwargs)

    return made


def at_once(call: Call[P, R]) -> Call[P, R]:
    """A call that never blocks, made as it is."""

    @wraps(call)
    def made(self: AsyncPart[Any], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return call(self._sync, *args, **kwargs)

    return made


def bound(kind: Callable[[Threads, S], A], call: Call[P, S]) -> Call[P, A]:
    """A call that never blocks and returns a part of the memory: the part is asynchronous."""

    @wraps(call)
    def made(self: AsyncPart[Any], /, *args: P.args, **kwargs: P.kwargs) -> A:
        return kind(self._threads, call(self._sync, *args, **kwargs))

    return made


def handed_out(kind: Callable[[Threads, S], A], call: Call[P, S]) -> Awaited[P, A]:
    """A call, made in a thread, that returns a part of the memory: the part is asynchronous."""

    @wraps(call)
    async def made(self: AsyncPart[Any], /, *args: P.args, **kwargs: P.kwargs) -> A:
        return kind(self._threads, await self._threads.run(call, self._sync, *args, **kwargs))

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


class AsyncView(AsyncPart[S]):
    """A memory, or a part of it that is bound to an agent or a contact."""

    async def run(
        self, call: Callable[Concatenate[S, P], R], /, *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """A function over the synchronous part, such as one of ``reconciler.ops``, in a thread."""
        return await self._threads.run(call, self._sync, *args, **kwargs)


class AsyncBoundMemory(AsyncView[S]):
    """The calls of ``BoundMemory``, awaited."""

    recall_about = awaited(BoundMemory.recall_about)
    decisions = awaited(BoundMemory.decisions)
    all_decisions = streamed(BoundMemory.all_decisions)
    refusals = awaited(BoundMemory.refusals)
    pending = awaited(BoundMemory.pending)
    disputes = awaited(BoundMemory.disputes)
    expiring = awaited(BoundMemory.expiring)
    rejudge = streamed(BoundMemory.rejudge)
    archive = awaited(BoundMemory.archive)
    erasures = awaited(BoundMemory.erasures)
    tasks = awaited(BoundMemory.tasks)
    jobs = awaited(BoundMemory.jobs)
    check_known = awaited(BoundMemory.check_known)


class AsyncContactMemory(AsyncBoundMemory[ContactMemory]):
    """The calls of ``ContactMemory``, awaited; ``tools`` waits for nothing."""

    version = awaited(ContactMemory.version)
    note = awaited(ContactMemory.note)
    recall = awaited(ContactMemory.recall)
    briefing = awaited(ContactMemory.briefing)
    context = awaited(ContactMemory.context)
    check = awaited(ContactMemory.check)
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


THREADS_MAX = 16
"""Calls at the same time; more wait."""

CLOSING_SECONDS_MAX = 30.0
_PAGE = 100
_STARTING_SECONDS = 60.0
_CLOSED = "the memory is closed; open it again"


class Threads:
    """A bounded number of threads for calls.

    Args:
        count: how many calls run at the same time, from 1.

    Raises:
        ConfigurationError: the count is not a whole number from 1.
    """

    def __init__(self, count: int = THREADS_MAX) -> None:
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ConfigurationError(f"threads must be a whole number from 1, not {count!r}")
        self._count = count
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="reconciler-async")
        self._under_way: set[Future[object]] = set()
        self._lock = threading.Lock()
        self._is_closed = False
        self._maker = Maker()

    def start(self) -> None:
        """Start all threads; called in one of them, before any other call.

        Starting a thread blocks until it runs. An event loop that started threads with its first
        calls would stand still while those calls keep the interpreter busy.
        """
        together = threading.Barrier(self._count)
        meet = partial(together.wait, _STARTING_SECONDS)
        others = [self.submit(meet) for _ in range(self._count - 1)]
        meet()
        wait(others)

    async def run(self, call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Make the call in a thread, and return its result.

        If it is cancelled, a call that has not begun is never made. One that has begun is finished
        in the background, and its result is lost.

        Raises:
            GraphClosedError: the threads were closed, before the call or before it began.
        """
        made = self.submit(partial(call, *args, **kwargs))
        try:
            return await asyncio.wrap_future(made)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if made.cancelled() and task and not task.cancelling():  # by ``close`` alone
                raise GraphClosedError(_CLOSED) from None
            raise

    def submit(self, call: Callable[[], R]) -> Future[R]:
        """Queue the call for the next free thread, with the caller's context variables.

        Raises:
            GraphClosedError: the threads were closed, or stayed with the parent of a fork.
        """
        self._maker.check()
        with self._lock:
            if self._is_closed:
                raise GraphClosedError(_CLOSED)
            made: Future[R] = self._pool.submit(contextvars.copy_context().run, call)
            self._under_way.add(made)  # type: ignore[arg-type]  # futures of any result
        made.add_done_callback(self._finished)
        return made

    async def stream(
        self, call: Callable[P, Iterator[R]], /, *args: P.args, **kwargs: P.kwargs
    ) -> AsyncIterator[R]:
        """Iterate over the call's result, a page at a time, in a thread."""
        iterator = await self.run(call, *args, **kwargs)
        while page := await self.run(_page_of, iterator):
            for item in page:
                yield item

    def close(self, then: Callable[[], None], seconds_max: float = CLOSING_SECONDS_MAX) -> None:
        """Take no more calls, wait for those under way, then call ``then``.

        Args:
            then: closes the resources of the calls; called once, even if some calls did not end.
            seconds_max: the longest wait. Calls that have not begun by then are never made.
        """
        if not self._maker.is_here:
            return
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            under_way = set(self._under_way)
        wait(under_way, seconds_max)
        self._pool.shutdown(wait=False, cancel_futures=True)
        then()

    def _finished(self, made: Future[R]) -> None:
        with self._lock:
            self._under_way.discard(made)


class _Closable(Protocol):
    async def close(self) -> None: ...


M = TypeVar("M", bound=_Closable)


class Opening(Generic[M]):
    """A memory that is being opened: ``await`` it and close it, or use it with ``async with``.

    Args:
        threads: the threads in which it is opened.
        open_it: opens it.
        give_back: closes it, if its caller is gone by then.
    """

    def __init__(
        self, threads: Threads, open_it: Callable[[], M], give_back: Callable[[M], None]
    ) -> None:
        self._threads = threads
        self._open_it = open_it
        self._give_back = give_back
        self._opened: M | None = None

    def __await__(self) -> Generator[object, None, M]:
        return self._open().__await__()

    async def __aenter__(self) -> M:
        self._opened = await self._open()
        return self._opened

    async def __aexit__(self, *_: object) -> None:
        if self._opened is not None:
            await self._opened.close()

    if not TYPE_CHECKING:  # a type checker must see no other attributes

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(
                f"{name!r} was asked of a memory that is not open yet: use `async with "
                "AsyncMemory.open() as memory:`, or `memory = await AsyncMemory.open()`"
            )

    async def _open(self) -> M:
        made = self._threads.submit(self._open_it)
        try:
            return await asyncio.wrap_future(made)
        except asyncio.CancelledError:
            made.add_done_callback(self._close_again)
            raise

    def _close_again(self, made: Future[M]) -> None:
        """Close a memory that no caller awaits any more: its store would stay locked for good."""
        if made.cancelled():
            return
        with suppress(ReconcilerError):
            self._give_back(made.result())


def _page_of(iterator: Iterator[R]) -> list[R]:
    return list(islice(iterator, _PAGE))


class AsyncMemory(AsyncView[Memory]):
    """An open memory for a program with an event loop: the calls of ``Memory``, awaited.

    Example::

        async with AsyncMemory.open() as memory:
            priya = memory.contact("crm", "priya")
            await priya.note("Lives in Pune.")
            await priya.recall("Where does she live?")

    Open it once and keep it. Each call is made in one of a bounded number of threads; ``contact``,
    ``agent`` and ``agent_tools`` only bind and are not awaited, nor are properties. A cancelled
    call that had begun is finished in the background: what it wrote is complete and stays.
    Callbacks such as ``on_progress`` are called in such a thread.

    Args:
        memory: an open memory; it is closed with this.
        threads: how many calls are made at the same time.
        closing_seconds_max: how long ``close`` waits for calls under way.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        threads: int | Threads = THREADS_MAX,
        closing_seconds_max: float = CLOSING_SECONDS_MAX,
    ) -> None:
        super().__init__(threads if isinstance(threads, Threads) else Threads(threads), memory)
        self._closing_seconds_max = closing_seconds_max

    contact = bound(AsyncContactMemory, Memory.contact)
    agent = bound(AsyncAgentMemory, Memory.agent)
    agent_tools = bound(AsyncAgentTools, Memory.agent_tools)
    add_contact_note = awaited(Memory.add_contact_note)
    warm_up = awaited(Memory.warm_up)
    describe = awaited(Memory.describe)
    import_notes = awaited(Memory.import_notes)
    agents = awaited(Memory.agents)
    erasures = awaited(Memory.erasures)
    finish_erasures = awaited(Memory.finish_erasures)
    jobs = awaited(Memory.jobs)
    queue = awaited(Memory.queue)
    drain = awaited(Memory.drain)
    worker = awaited(Memory.worker)
    start_worker = awaited(Memory.start_worker)
    stop_workers = awaited(Memory.stop_workers)

    @property
    def settings(self) -> Settings:
        """The settings that this memory was opened with."""
        return self._sync.settings

    @class_call
    def open(
        cls,
        settings: Settings | None = None,
        *,
        embedder: Embedder | None = None,
        arbiter: Arbiter | None = None,
        extractor: Extractor | None = None,
        clock: Callable[[], datetime] | None = None,
        migrate: bool = False,
        warm_up: bool = True,
        must_exist: bool = False,
        threads: int = THREADS_MAX,
        closing_seconds_max: float = CLOSING_SECONDS_MAX,
        **arguments: Unpack[OpenFields],
    ) -> Opening[Self]:
        """Open the memory that the settings describe: ``async with`` it, or await it and close it.

        Arguments have the same meaning as in ``Memory.open``, except ``warm_up``: it is True here,
        and opening ends only when the model is loaded, so that no call waits for it. ``threads``
        says how many calls run at the same time, while others wait, and ``closing_seconds_max``
        how long ``close`` waits for running calls.

        Raises:
            As ``Memory.open``; with ``warm_up`` also as ``Memory.warm_up``.
        """
        pool = Threads(threads)

        def opened() -> Memory:
            pool.start()
            memory = Memory.open(
                settings,
                embedder=embedder,
                arbiter=arbiter,
                extractor=extractor,
                clock=clock,
                migrate=migrate,
                warm_up=warm_up,
                must_exist=must_exist,
                **arguments,
            )
            try:
                if warm_up:
                    memory.warm_up()
            except BaseException:
                memory.close()
                raise
            return memory

        made = partial(cls._made, opened, pool, closing_seconds_max)
        return Opening(pool, made, lambda made: made._sync.close())

    @classmethod
    def _made(cls, opened: Callable[[], Memory], pool: Threads, seconds_max: float) -> Self:
        return cls(opened(), threads=pool, closing_seconds_max=seconds_max)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Wait for running calls, within the bound, and close the memory; may be repeated.

        Later calls, and those that had not begun in time, fail.
        """
        close = self._threads.close
        closing = asyncio.to_thread(close, self._sync.close, self._closing_seconds_max)
        await asyncio.shield(closing)  # it goes on even if no caller awaits it any more
