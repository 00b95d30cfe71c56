"""The asynchronous memory: the same calls, awaited, while the event loop goes on."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from reconciler import AsyncMemory, Memory
from reconciler.errors import (
    ConfigurationError,
    EmbeddingError,
    GraphUnavailableError,
    InvalidScopeError,
)
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest, embedded_engine

LIVES = {"text": "Lives in Pune.", "source_kind": "user_explicit"}
T = TypeVar("T")
WHO: contextvars.ContextVar[str] = contextvars.ContextVar("WHO", default="nobody")


class SlowEmbedder(HashingEmbedder):
    """Embeds as the other one does, once it is let go; says when it has begun."""

    def __init__(self) -> None:
        super().__init__()
        self.has_begun = threading.Event()
        self.may_end = threading.Event()
        self.asked_by: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked_by.append(f"{WHO.get()} in {threading.current_thread().name}")
        self.has_begun.set()
        assert self.may_end.wait(60)
        return super().embed(texts)


@pytest.fixture
def slow() -> Iterator[SlowEmbedder]:
    """Let go in the end, so that no thread waits for it."""
    embedder = SlowEmbedder()
    yield embedder
    embedder.may_end.set()


@pytest.fixture
def arguments(tmp_path: Path) -> dict[str, Any]:
    """What opens an embedded memory."""
    return embedded_engine(tmp_path).settings_arguments


def told(arguments: dict[str, Any]) -> list[str]:
    """What is kept about Alice, once everything is closed."""
    with Memory.open(embedder=HashingEmbedder(), **arguments) as memory:
        return sorted(each.fact.text for each in memory.contact("crm", "alice").recall())


async def begun(slow: SlowEmbedder) -> None:
    assert await asyncio.to_thread(slow.has_begun.wait, 60)


def running(work: Callable[[], Awaitable[T]]) -> T:
    async def run() -> T:
        return await work()

    return asyncio.run(run())


def test_everything_is_called_as_it_is_on_a_memory(any_engine: EngineUnderTest) -> None:
    async def work() -> None:
        opening = AsyncMemory.open(embedder=HashingEmbedder(), **any_engine.settings_arguments)
        async with opening as memory:
            made = await memory.add_contact_note("crm", "alice", "Lives in Pune.")
            alice = memory.contact("crm", "alice")
            await alice.note("Plays the cello.")
            found = await memory.contact("crm", "alice").recall("Where does she live?")
            assert found[0].fact.fact_id == made.fact_id
            assert len(await alice.history()) == 2
            assert [each.action async for each in memory.agent("crm").all_decisions()] == [
                "ADD",
                "ADD",
            ]
            task = await alice.task("t1", goal="Deliver the cello")
            await task.observed()
            await task.log_episode({"role": "user", "content": "Remember my flat has no lift."})
            await task.task_memory.mark_done("ask")
            assert (await task.succeed(), task.state) == (None, "success")
            assert await task.propose_durable(await task.episodes())
            job_id = await memory.contact("crm", "alice").submit_session(
                "s1", [{"role": "user", "content": "I live in Pune."}]
            )
            assert [each.job_id for each in await memory.drain()] == [job_id]
            session = await memory.contact("crm", "alice").session("s1")
            assert session.session_id == "s1"
            with pytest.raises(InvalidScopeError):
                await memory.contact("crm", "").recall()

    running(work)


def test_every_decision_of_many_is_streamed_in_order(arguments: dict[str, Any]) -> None:
    async def work() -> None:
        async with AsyncMemory.open(embedder=HashingEmbedder(), **arguments) as memory:
            lines = [f'{{"text": "Owns invoice {n}."}}' for n in range(230)]
            seen: list[str] = []
            await memory.import_notes(
                lines,
                agent_id="crm",
                contact_id="alice",
                on_progress=lambda _: seen.append(threading.current_thread().name),
            )
            assert {each.partition("_")[0] for each in seen} == {"reconciler-async"}
            streamed = [
                each.decision_id async for each in memory.contact("crm", "alice").all_decisions()
            ]
            listed = await memory.contact("crm", "alice").decisions(limit=1000)
            assert streamed == [each.decision_id for each in listed]
            assert len(streamed) == 230

    running(work)


def test_writers_of_one_note_leave_one_fact(any_engine: EngineUnderTest) -> None:
    async def work() -> None:
        opening = AsyncMemory.open(embedder=HashingEmbedder(), **any_engine.settings_arguments)
        async with opening as memory:
            notes = (memory.add_contact_note("crm", "alice", "Lives in Pune.") for _ in range(40))
            made = await asyncio.gather(*notes)
            assert sum(each.action == "ADD" for each in made) == 1
            [recalled] = await memory.contact("crm", "alice").recall()
            assert recalled.fact.observations == 40

    running(work)


def test_the_event_loop_goes_on_while_a_call_waits(
    slow: SlowEmbedder, arguments: dict[str, Any]
) -> None:
    async def work() -> int:
        async with AsyncMemory.open(embedder=slow, warm_up=False, **arguments) as memory:
            writing = asyncio.create_task(memory.add_contact_note("crm", "alice", "Has a cat."))
            await begun(slow)
            ticks = 0
            while ticks < 20:
                await asyncio.sleep(0.001)
                ticks += 1
            assert not writing.done()
            slow.may_end.set()
            await writing
            return ticks

    assert running(work) == 20


def test_a_call_sees_the_callers_context_variables(
    slow: SlowEmbedder, arguments: dict[str, Any]
) -> None:
    async def work() -> None:
        slow.may_end.set()
        async with AsyncMemory.open(embedder=slow, warm_up=False, **arguments) as memory:
            WHO.set("request 7")
            await memory.add_contact_note("crm", "alice", "Has a cat.")

    running(work)
    [asked_by] = slow.asked_by
    assert asked_by.startswith("request 7 in reconciler-async_")


# Warm at opening


class LoadCountingEmbedder(HashingEmbedder):
    """Counts how often it was asked to load, and by whom."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.error = error
        self.loaded = 0

    def warm_up(self) -> float:
        self.loaded += 1
        if self.error:
            raise self.error
        return 0.0


@pytest.mark.parametrize("warm_up", [True, False])
def test_the_model_is_loaded_when_the_memory_is_open(
    arguments: dict[str, Any], warm_up: bool
) -> None:
    embedder = LoadCountingEmbedder()

    async def work() -> None:
        async with AsyncMemory.open(embedder=embedder, warm_up=warm_up, **arguments):
            assert bool(embedder.loaded) is warm_up

    running(work)


def test_a_model_that_cannot_be_loaded_leaves_no_memory_open(arguments: dict[str, Any]) -> None:
    async def work() -> None:
        embedder = LoadCountingEmbedder(EmbeddingError("no such model"))
        with pytest.raises(EmbeddingError, match="no such model"):
            await AsyncMemory.open(embedder=embedder, **arguments)

    running(work)
    assert told(arguments) == []


@pytest.mark.parametrize("threads", [0, -1, True, "4"])
def test_a_number_of_threads_that_is_none_is_refused(threads: Any) -> None:
    with pytest.raises(ConfigurationError, match="threads must be a whole number from 1"):
        AsyncMemory.open(threads=threads)


def test_a_call_on_a_memory_that_is_not_open_yet_says_how_to_open_it(
    arguments: dict[str, Any],
) -> None:
    opening: Any = AsyncMemory.open(**arguments)
    with pytest.raises(AttributeError, match=r"use `async with AsyncMemory.open\(\) as memory:`"):
        opening.recall("crm", "alice")


def test_what_is_awaited_is_closed_by_hand(arguments: dict[str, Any]) -> None:
    async def work() -> None:
        memory = await AsyncMemory.open(embedder=HashingEmbedder(), **arguments)
        await memory.add_contact_note("crm", "alice", "Has a cat.")
        await memory.close()
        await memory.close()
        with pytest.raises(GraphUnavailableError, match="closed"):
            await memory.contact("crm", "alice").recall()

    running(work)
    assert told(arguments) == ["Has a cat."]


# Cancelling


def test_a_cancelled_call_that_had_begun_is_finished_behind(
    slow: SlowEmbedder, arguments: dict[str, Any]
) -> None:
    async def work() -> None:
        async with AsyncMemory.open(embedder=slow, warm_up=False, **arguments) as memory:
            writing = asyncio.create_task(memory.add_contact_note("crm", "alice", "Has a cat."))
            await begun(slow)
            writing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await writing
            slow.may_end.set()
            # The next writer about the same contact waits for no lock that was left behind.
            async with asyncio.timeout(30):
                await memory.add_contact_note("crm", "alice", "Plays the cello.")

    running(work)
    assert told(arguments) == ["Has a cat.", "Plays the cello."]


def test_a_cancelled_call_that_had_not_begun_is_never_made(
    slow: SlowEmbedder, arguments: dict[str, Any]
) -> None:
    async def work() -> None:
        opening = AsyncMemory.open(embedder=slow, warm_up=False, threads=1, **arguments)
        async with opening as memory:
            first = asyncio.create_task(memory.add_contact_note("crm", "alice", "Has a cat."))
            await begun(slow)
            second = asyncio.create_task(memory.add_contact_note("crm", "alice", "Has a dog."))
            await asyncio.sleep(0)
            second.cancel()
            with pytest.raises(asyncio.CancelledError):
                await second
            slow.may_end.set()
            await first

    running(work)
    assert told(arguments) == ["Has a cat."]


def test_every_write_that_was_acknowledged_among_cancelled_ones_is_there(
    one_of_each: EngineUnderTest,
) -> None:
    acknowledged: list[str] = []

    async def note(memory: AsyncMemory, number: int) -> None:
        text = f"Owns invoice {number}."
        await memory.add_contact_note("crm", f"c{number % 4}", text)
        acknowledged.append(text)

    async def work() -> set[str]:
        opening = AsyncMemory.open(
            embedder=HashingEmbedder(), threads=4, **one_of_each.settings_arguments
        )
        async with opening as memory:
            tasks = [asyncio.create_task(note(memory, number)) for number in range(60)]
            for number, task in enumerate(tasks):
                await asyncio.sleep(0.003)
                if number % 2:
                    tasks[-number].cancel()
                    task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            return {
                fact.text
                for contact in range(4)
                for chain in await memory.contact("crm", f"c{contact}").history()
                for fact in chain.facts
            }

    kept = running(work)
    assert 0 < len(acknowledged) < 60
    assert set(acknowledged) <= kept


def test_a_cancelled_opening_leaves_the_store_to_others(
    arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    has_begun, may_end, is_closed = threading.Event(), threading.Event(), threading.Event()
    opened: list[Memory] = []  # kept, so that nothing but a close gives the store back
    close = Memory.close

    def closed(memory: Memory) -> None:
        opened.append(memory)
        close(memory)
        is_closed.set()

    monkeypatch.setattr(Memory, "close", closed)

    class Loading(HashingEmbedder):
        def warm_up(self) -> float:
            has_begun.set()
            assert may_end.wait(60)
            return 0.0

    async def work() -> None:
        opening = asyncio.ensure_future(_awaited(AsyncMemory.open(embedder=Loading(), **arguments)))
        assert await asyncio.to_thread(has_begun.wait, 60)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        may_end.set()

    running(work)
    assert is_closed.wait(30)  # behind, a moment later
    assert told(arguments) == []


async def _awaited(opening: Awaitable[T]) -> T:
    return await opening


# Closing


def test_closing_waits_for_calls_under_way(slow: SlowEmbedder, arguments: dict[str, Any]) -> None:
    async def work() -> None:
        memory = await AsyncMemory.open(embedder=slow, warm_up=False, threads=1, **arguments)
        names = ("cat", "dog")
        writing = [
            asyncio.create_task(memory.add_contact_note("crm", "alice", f"Has a {name}."))
            for name in names
        ]
        await begun(slow)
        closing = asyncio.create_task(memory.close())
        await asyncio.sleep(0.05)
        assert not closing.done()
        with pytest.raises(GraphUnavailableError):
            await memory.contact("crm", "alice").recall()
        slow.may_end.set()
        await closing
        assert [each.action for each in await asyncio.gather(*writing)] == ["ADD", "ADD"]

    running(work)
    assert told(arguments) == ["Has a cat.", "Has a dog."]


def test_closing_waits_no_longer_than_it_may(slow: SlowEmbedder, arguments: dict[str, Any]) -> None:
    async def work() -> None:
        memory = await AsyncMemory.open(
            embedder=slow, warm_up=False, threads=1, closing_seconds_max=0.2, **arguments
        )
        under_way = asyncio.create_task(memory.add_contact_note("crm", "alice", "Has a cat."))
        await begun(slow)
        waiting = asyncio.create_task(memory.add_contact_note("crm", "alice", "Has a dog."))
        await asyncio.sleep(0)
        started = time.monotonic()
        await memory.close()
        assert 0.2 <= time.monotonic() - started < 50
        slow.may_end.set()
        ended = await asyncio.gather(under_way, waiting, return_exceptions=True)
        assert isinstance(ended[0], GraphUnavailableError)
        assert isinstance(ended[1], GraphUnavailableError)
        assert "closed" in str(ended[1])

    running(work)
    assert told(arguments) == []


def test_a_cancelled_closing_goes_on_behind(slow: SlowEmbedder, arguments: dict[str, Any]) -> None:
    async def work() -> None:
        memory = await AsyncMemory.open(embedder=slow, warm_up=False, **arguments)
        writing = asyncio.create_task(memory.add_contact_note("crm", "alice", "Has a cat."))
        await begun(slow)
        closing = asyncio.create_task(memory.close())
        await asyncio.sleep(0.05)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        slow.may_end.set()
        await writing

    running(work)
    for thread in threading.enumerate():
        if thread.name == "reconciler-closing":
            thread.join(30)
    assert told(arguments) == ["Has a cat."]


# An agent's tools


def test_an_agents_tools_are_called_and_answer_a_mistake(arguments: dict[str, Any]) -> None:
    async def work() -> None:
        async with AsyncMemory.open(embedder=HashingEmbedder(), **arguments) as memory:
            tools = memory.agent_tools("crm", "alice", session_id="chat-1")
            assert (await tools.call("add_contact_note", "{}")).is_error
            sent = {"text": "Lives in Pune.", "source_kind": "user_explicit"}
            assert not (await tools.call("add_contact_note", sent)).is_error

    running(work)
    assert told(arguments) == ["Lives in Pune."]
