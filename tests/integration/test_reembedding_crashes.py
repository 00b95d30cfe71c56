"""A move to another model that is killed at any moment, and one that others write under."""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reconciler import Memory, ops
from reconciler.domain.records.sessions import MoveState
from reconciler.errors import InvalidRequestError, SchemaError
from reconciler.ops.store_moves import opened_reembedding
from reconciler.settings import load_settings
from tests import faults, raw_store
from tests.engines import EngineUnderTest
from tests.job_crasher import Victim
from tests.reembedding_processes import NEW, OLD, SEED, move_on, write_and_recall, write_on
from tests.storage_crasher import StorageCrasher, StorageFault

KILLS = faults.times(4, 6)
CALLS_SAMPLED = 4
FACTS = 60
WRITERS = 3
pytestmark = [pytest.mark.faults, pytest.mark.kills]
LATEST_KILL_SECONDS = {True: 0.4, False: 1.0}
"""About as long as a move takes, on the embedded engine and on a server."""
VECTORS = """
    MATCH (fact:Fact) RETURN fact.text, fact.embedding_model, fact.embedding_bytes,
    fact.embedding, fact.next_embedding_model, fact.next_embedding_bytes"""


@pytest.fixture
def engine(one_of_each: EngineUnderTest) -> EngineUnderTest:
    """One Neo4j; ``make faults`` has them all."""
    return one_of_each


def plant(engine: EngineUnderTest, count: int = FACTS) -> set[str]:
    """So many facts of three contacts; their texts."""
    texts = {f"Owns thing{number}." for number in range(count)}
    with Memory.open(embedder=OLD, **SEED, **engine.settings_arguments) as memory:
        for place, text in enumerate(sorted(texts)):
            memory.add_contact_note("crm", f"contact-{place % 3}", text)
    return texts


def check_store(engine: EngineUnderTest, texts: set[str]) -> str:
    """The store opens with one of the models alone, and all facts are compared by it; which."""
    opening = []
    for embedder in (OLD, NEW):
        with (
            contextlib.suppress(SchemaError),
            Memory.open(embedder=embedder, **SEED, **engine.settings_arguments) as memory,
        ):
            opening.append(embedder.model_id)
            found = memory.agent("crm").find("thing", limit=1000)
            assert {each.fact.text for each in found} >= texts
            model = ops.model_move(memory).model
    assert opening == [model]
    return model


def check_moved(engine: EngineUnderTest) -> dict[str, str]:
    """Every fact has a vector of the new model, and of no other; text by fact."""
    for text, model, held, listed, *of_next in raw_store.query(engine, VECTORS):
        wanted = NEW.embed([text])[0]
        assert (model, of_next) == (NEW.model_id, [None, None]), text
        assert np.allclose(np.frombuffer(held, dtype=np.float32), wanted, atol=1e-6)
        assert np.allclose(np.asarray(listed, dtype=np.float32), wanted, atol=1e-6)
    rows = raw_store.query(engine, "MATCH (fact:Fact) RETURN fact.fact_id, fact.text")
    return dict(map(tuple, rows))


def finish(engine: EngineUnderTest) -> None:
    """Take the move to its end, wherever it stands."""
    with opened_reembedding(load_settings(**engine.settings_arguments)) as reembedding:
        if reembedding.status().next_model == OLD.model_id:  # on its way back already
            reembedding.run(OLD)
        try:
            reembedding.run(NEW)
        except InvalidRequestError as error:
            assert "already bound to hashing-24@test" in str(error)  # noqa: PT017
        assert reembedding.status().state is MoveState.NONE


@pytest.mark.slow
def test_a_move_that_is_killed_at_random_moments_loses_nothing(engine: EngineUnderTest) -> None:
    texts, moments = plant(engine), faults.moments("a move")
    seen: Counter[MoveState] = Counter()
    seconds = LATEST_KILL_SECONDS[engine.name == "embedded"]
    for number in range(KILLS):
        victim = Victim(move_on, engine.settings_arguments)
        with contextlib.closing(victim):
            assert victim.told() == "moving"
            if number % 2:  # among the first batches, however busy the machine is
                victim.told()
                time.sleep(moments.uniform(0, seconds / 10))
            else:
                time.sleep(moments.uniform(0, seconds))
            victim.kill_or_find_ended()
        with opened_reembedding(load_settings(**engine.settings_arguments)) as reembedding:
            seen[reembedding.status().state] += 1
        check_store(engine, texts)
    assert seen[MoveState.EMBEDDING]
    finish(engine)
    assert check_store(engine, texts) == NEW.model_id
    assert set(check_moved(engine).values()) == texts


@pytest.mark.slow
def test_a_kill_at_any_write_or_sync_of_a_move_leaves_it_to_be_finished(
    crasher: StorageCrasher, tmp_path: Path
) -> None:
    def copied(name: str) -> EngineUnderTest:
        path = tmp_path / name / "memory.lbug"
        if name != "source":
            shutil.copytree(tmp_path / "source", path.parent)
        return EngineUnderTest("embedded", {"graph": "embedded", "embedded_path": path})

    texts = plant(copied("source"), 9)
    whole = copied("whole")
    calls = crasher.run("reembed", whole.settings_arguments["embedded_path"]).calls
    assert check_store(whole, texts) == NEW.model_id
    chosen = range(1, len(calls) + 1)
    if not faults.EVERY_CALL:
        chosen = faults.moments("a call of a move").sample(chosen, CALLS_SAMPLED)
    for at_call in sorted(chosen):
        engine = copied(f"killed-{at_call}")
        path = engine.settings_arguments["embedded_path"]
        crasher.run("reembed", path, StorageFault.KILL_BEFORE, at_call)
        check_store(engine, texts)
        finish(engine)
        assert set(check_moved(engine).values()) == texts, f"killed at call {at_call}"
        shutil.rmtree(path.parent)


def told_by_threads(memory: Memory) -> tuple[list[threading.Thread], list[Any]]:
    """Writers that share a memory; what they say."""
    said: list[Any] = []
    writers = [
        threading.Thread(target=write_and_recall, args=(memory, number, said.append))
        for number in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    return writers, said


@pytest.mark.slow
def test_writers_go_on_until_the_switch_and_none_of_what_they_wrote_is_lost(
    engine: EngineUnderTest,
) -> None:
    texts = plant(engine)
    with contextlib.ExitStack() as stack:
        if engine.name == "embedded":
            memory = stack.enter_context(
                Memory.open(embedder=OLD, **SEED, **engine.settings_arguments)
            )
            writers, said = told_by_threads(memory)
            while len(said) < 10 * WRITERS:
                time.sleep(0.01)
            ops.reembed(memory, NEW, batch_size=2, uncalibrated=True)
            for writer in writers:
                writer.join(60)
        else:
            processes = [Victim(write_on, engine.settings_arguments, n) for n in range(WRITERS)]
            for process in processes:
                stack.callback(process.close)
            said = [process.told() for process in processes for _ in range(10)]
            with opened_reembedding(load_settings(**engine.settings_arguments)) as reembedding:
                reembedding.run(NEW, batch_size=2)
            said += [each for process in processes for each in process.all_told()]
    kept = {fact_id: text for kind, fact_id, text in said if kind == "kept" and fact_id}
    refused = [text for kind, text, _ in said if kind == "refused"]
    assert len(refused) == WRITERS
    assert all(f"holds vectors of {NEW.model_id}" in text for text in refused)
    assert [each for each in said if each[0] == "missed"] == []
    assert len(kept) > 10 * WRITERS
    stored = check_moved(engine)
    assert texts <= set(stored.values())
    assert set(kept) <= set(stored)
