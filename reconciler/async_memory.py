"""The asynchronous facade: ``Memory``, for programs with an event loop. Decides nothing.

Each call is that of ``Memory``, made in a thread (``reconciler.async_calls``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Self, Unpack

from reconciler.async_calls import (
    AsyncAgentMemory,
    AsyncAgentTools,
    AsyncContactMemory,
    AsyncPart,
    awaited,
    bound,
    in_a_thread,
)
from reconciler.async_threads import CLOSING_SECONDS_MAX, THREADS_MAX, Opening, Threads
from reconciler.memory import Memory, class_call

if TYPE_CHECKING:
    from reconciler.ports.arbiter import Arbiter
    from reconciler.ports.embedder import Embedder
    from reconciler.ports.extractor import Extractor
    from reconciler.settings import OpenFields, Settings


class AsyncMemory(AsyncPart[Memory]):
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
    export = awaited(Memory.export)
    backup = awaited(Memory.backup)
    reembed = awaited(Memory.reembed)
    model_move = awaited(Memory.model_move)
    cancel_reembed = awaited(Memory.cancel_reembed)
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

    restore = class_call(in_a_thread(Memory.restore))

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
