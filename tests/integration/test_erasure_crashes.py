"""No planted word is left in graph, files or log, however often an erasure is killed in the middle.

ERASURE_KILLS=50 kills as often, at random moments, with three times as many words;
STORAGE_FAULTS=all kills at every single write, sync and rename of the embedded engine.
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler import Memory
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.engines import EngineUnderTest
from tests.erasure_planting import AGENT, ASKED, Words, forget_all, opened, plant
from tests.job_crasher import Victim
from tests.storage_crasher import CannotCompileError, Fault, StorageCrasher, compiled

KILLS = int(os.environ.get("ERASURE_KILLS", "3"))
CONTACTS = 1 if KILLS < 10 else 3
ALL = os.environ.get("STORAGE_FAULTS") == "all"
CALLS_SAMPLED = 6
SEED = 20261123
PLANTED_MIN = 90 * CONTACTS
"""Three contacts have more than 270, of which some are refused and leave no word."""
LATEST_KILL_SECONDS = 0.6
VECTORS = """
    MATCH (fact:Fact) WHERE fact.state = 'erased'
    AND (fact.embedding IS NOT NULL OR fact.embedding_bytes IS NOT NULL) RETURN fact.fact_id"""


def stored(engine: EngineUnderTest, words: Words) -> set[str]:
    """Which of the words stand anywhere in the graph."""
    everything = "\n".join(raw_store.everything(engine)).casefold()
    return {word for word in words.given if word in everything}


def left_in_files(engine: EngineUnderTest, words: Words) -> list[str]:
    """Which files of an embedded store hold one of the words."""
    if engine.name != "embedded":
        return []
    folder: Path = engine.settings_arguments["embedded_path"].parent
    files = [path for path in folder.rglob("*") if path.is_file()]
    found = ((path, path.read_bytes().lower()) for path in files)
    return [path.name for path, held in found if any(w.encode() in held for w in words.given)]


@pytest.mark.slow
def test_no_planted_word_is_left_after_kills_at_random_moments(
    one_of_each: EngineUnderTest, caplog: pytest.LogCaptureFixture
) -> None:
    words, moments = Words(), random.Random(SEED)
    contacts = [f"ann-{number}" for number in range(CONTACTS)]
    with opened(one_of_each.settings_arguments, words) as memory:
        for contact_id in contacts:
            plant(memory, contact_id, words)
        memory.add_contact_note(AGENT, "bob", "Likes Brightwave.")
    assert len(stored(one_of_each, words)) >= PLANTED_MIN
    caplog.clear()
    caplog.set_level(logging.DEBUG)
    for number in range(KILLS):
        arguments = one_of_each.settings_arguments, contacts[number % len(contacts)]
        victim = Victim(forget_all, *arguments)
        with contextlib.closing(victim):
            victim.told()
            time.sleep(moments.uniform(0, LATEST_KILL_SECONDS))
            victim.kill()
    with opened(one_of_each.settings_arguments, Words()) as memory:
        memory.finish_erasures()
        for contact_id in contacts:
            assert memory.forget(AGENT, contact_id, **ASKED).receipt.is_clean
        assert memory.erasures(unfinished=True) == []
        assert [each.fact.text for each in memory.recall(AGENT, "bob")] == ["Likes Brightwave."]
    assert stored(one_of_each, words) == set()
    assert left_in_files(one_of_each, words) == []
    assert not [word for word in words.given if word in caplog.text.casefold()]
    assert raw_store.query(one_of_each, VECTORS) == []


@pytest.fixture(scope="module")
def crasher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StorageCrasher]:
    """What forks the processes."""
    try:
        library = compiled(tmp_path_factory.mktemp("library"))
    except CannotCompileError as error:
        pytest.skip(str(error))
    crasher = StorageCrasher(library)
    yield crasher
    crasher.close()


@pytest.mark.slow
def test_a_kill_at_any_write_or_sync_of_an_erasure_leaves_it_to_be_finished(
    crasher: StorageCrasher, tmp_path: Path
) -> None:
    words, source = Words(), tmp_path / "source" / "memory.lbug"
    given = {"graph": "embedded", "embedded_path": source}
    with Memory.open(embedder=HashingEmbedder(16), **given) as memory:
        memory.add_contact_note("crm", "bob", "Likes Brightwave.")
        for _ in range(3):
            memory.add_contact_note("crm", "priya", f"Collects {words()}.")

    def copied(name: str) -> EngineUnderTest:
        folder = shutil.copytree(source.parent, tmp_path / name)
        arguments = {"graph": "embedded", "embedded_path": folder / source.name}
        return EngineUnderTest("embedded", arguments)

    whole = copied("whole").settings_arguments["embedded_path"]
    calls = crasher.run("forget", whole).calls
    beside = [n for n in range(1, len(calls) + 1) if set(calls[max(n - 2, 0) : n + 1]) - {"w"}]
    chosen = range(1, len(calls) + 1) if ALL else random.Random(SEED).sample(beside, CALLS_SAMPLED)
    for at_call in sorted(chosen):
        engine = copied(f"killed-{at_call}")
        path = engine.settings_arguments["embedded_path"]
        crasher.run("forget", path, Fault.KILL_BEFORE, at_call)
        with Memory.open(embedder=HashingEmbedder(16), **engine.settings_arguments) as memory:
            memory.finish_erasures()
            if not memory.erasures("crm"):
                memory.forget("crm", "priya", **ASKED)
            assert memory.erasures(unfinished=True) == []
            assert [each.fact.text for each in memory.recall("crm", "bob")] == ["Likes Brightwave."]
        assert stored(engine, words) == set()
        assert left_in_files(engine, words) == [], f"killed at call {at_call} of {len(calls)}"
        shutil.rmtree(path.parent)
