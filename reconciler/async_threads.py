"""The threads of an asynchronous memory: blocking calls are made there, and awaited.

Never here: knowledge of the calls. A call that began is finished even if no caller awaits it any
more, so that no lock is left behind and no write is half done.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Generic, NoReturn, ParamSpec, Protocol, TypeVar

from reconciler.errors import ConfigurationError, GraphClosedError, ReconcilerError
from reconciler.forks import Maker

THREADS_MAX = 16
"""Calls at the same time; more wait."""

CLOSING_SECONDS_MAX = 30.0
_PAGE = 100
_STARTING_SECONDS = 60.0
_CLOSED = "the memory is closed; open it again"

P = ParamSpec("P")
R = TypeVar("R")


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
