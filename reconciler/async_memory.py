"""The asynchronous facade: ``Memory``, for programs with an event loop. Decides nothing.

Each call is that of ``Memory``, made in a thread: it keeps its name, arguments, documentation
and its errors. The calls are made here from those of the synchronous classes; type checkers read
them in ``async_parts.pyi``, which ``tools/export_async.py`` writes. A call that began is finished
even if no caller awaits it any more, so that no lock is left behind and no write is half done.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
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

from reconciler.bound_memory import AgentMemory, ContactMemory
from reconciler.errors import ConfigurationError, GraphClosedError, ReconcilerError
from reconciler.forks import Maker
from reconciler.memory import Memory
from reconciler.service.tasks.memory_context import MemoryContext
from reconciler.service.tasks.task_memory import TaskMemory
from reconciler.service.tools.agent_tools import AgentTools

if TYPE_CHECKING:
    from pydantic import BaseModel

    from reconciler.ports.arbiter import Arbiter
    from reconciler.ports.embedder import Embedder
    from reconciler.ports.extractor import Extractor
    from reconciler.settings import OpenFields, Settings


R = TypeVar("R")
P = ParamSpec("P")
S = TypeVar("S")

AT_ONCE = {"account", "contact", "agent", "tools", "agent_tools", "definitions"}
"""Calls that never block, because they only bind, or make something up: they are not awaited."""


class AsyncPart(Generic[S]):
    """An asynchronous part of a memory.

    Args:
        threads: the threads in which its calls are made.
        sync: the synchronous part.
    """

    def __init_subclass__(cls, of: type | None = None) -> None:
        """Give a class the public calls and properties of a synchronous one, if it is of one."""
        if of is None:
            return
        _FORMS[of] = cls
        for name, held in inspect.getmembers_static(of):
            is_call = inspect.isfunction(held) or isinstance(held, property)
            if is_call and not name.startswith("_"):
                setattr(cls, name, _form_of(held))

    def __init__(self, threads: Threads, sync: S) -> None:
        self._threads = threads
        self._sync = sync

    async def run(
        self, call: Callable[Concatenate[S, P], R], /, *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Run a function on the synchronous part, such as one of ``reconciler.ops``."""
        return await self._threads.run(call, self._sync, *args, **kwargs)

    def _given_out(self, value: Any) -> Any:
        """What a call returns; a part of the memory is asynchronous, too."""
        form = _FORMS.get(type(value))
        return form(self._threads, value) if form else value


_FORMS: dict[type, type[AsyncPart[Any]]] = {}


def _form_of(held: Any) -> Any:
    """Asynchronous form of a call or a property, with its documentation."""
    if isinstance(held, property):
        read: Any = held.fget
        return property(lambda part: part._given_out(read(part._sync)), doc=held.__doc__)

    def at_once(self: AsyncPart[Any], /, *args: Any, **kwargs: Any) -> Any:
        return self._given_out(held(self._sync, *args, **kwargs))

    def streamed(self: AsyncPart[Any], /, *args: Any, **kwargs: Any) -> Any:
        return self._threads.stream(held, self._sync, *args, **kwargs)

    async def awaited(self: AsyncPart[Any], /, *args: Any, **kwargs: Any) -> Any:
        return self._given_out(await self._threads.run(held, self._sync, *args, **kwargs))

    if held.__name__ in AT_ONCE:
        return wraps(held)(at_once)
    return wraps(held)(streamed if is_streamed(held.__annotations__["return"]) else awaited)


def is_streamed(returned: str) -> bool:
    """True if a call returns an iterator, by its annotation: it is iterated in a thread."""
    return returned.startswith("Iterator[")


if TYPE_CHECKING:  # what a type checker sees, written by tools/export_async.py
    from reconciler.async_parts import (
        AsyncAgentMemory as AsyncAgentMemory,
        AsyncAgentTools as AsyncAgentTools,
        AsyncContactMemory as AsyncContactMemory,
        AsyncMemoryContext as AsyncMemoryContext,
        AsyncTaskMemory as AsyncTaskMemory,
        AwaitedMemory,
    )
else:

    class AsyncTaskMemory(AsyncPart, of=TaskMemory):
        """The calls of ``TaskMemory``, awaited."""

    class AsyncMemoryContext(AsyncPart, of=MemoryContext):
        """The calls of ``MemoryContext``, awaited."""

    class AsyncAgentTools(AsyncPart, of=AgentTools):
        """The calls of ``AgentTools``, awaited; ``definitions`` waits for nothing."""

    class AsyncContactMemory(AsyncPart, of=ContactMemory):
        """The calls of ``ContactMemory``, awaited; ``tools`` waits for nothing."""

    class AsyncAgentMemory(AsyncPart, of=AgentMemory):
        """The calls of ``AgentMemory``, awaited; ``contact`` waits for nothing."""

    class AwaitedMemory(AsyncPart, of=Memory):
        """The calls of ``Memory``, awaited; ``AsyncMemory`` opens and closes it."""


THREADS_MAX = 16
"""Calls at the same time; further calls wait."""

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

        Starting a thread blocks until it runs. If an event loop started threads with its first
        calls, it would stop while those calls keep the interpreter busy.
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
        while page := await self.run(list[R], islice(iterator, _PAGE)):
            for item in page:
                yield item

    def close(self, then: Callable[[], None], seconds_max: float = CLOSING_SECONDS_MAX) -> None:
        """Accept no more calls, wait for the running calls, then call ``then``.

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
        give_back: closes the memory if its caller no longer waits.
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
                f"the memory is not open yet, so it has no {name!r}: use `async with "
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
        """Close a memory that no caller awaits any more, so that its store does not stay locked."""
        if made.cancelled():
            return
        with suppress(ReconcilerError):
            self._give_back(made.result())


class AsyncMemory(AwaitedMemory):
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
        closing_seconds_max: how long ``close`` waits for running calls.
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

    @classmethod
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
        attributes: Mapping[str, type[BaseModel]] | None = None,
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
                attributes=attributes,
                **arguments,
            )
            try:
                if warm_up:
                    memory.warm_up()
            except BaseException:
                memory.close()
                raise
            return memory

        return Opening(
            pool,
            lambda: cls(opened(), threads=pool, closing_seconds_max=closing_seconds_max),
            lambda made: made._sync.close(),
        )

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
