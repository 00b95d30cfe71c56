"""No planted word is left in graph, files or log, however often an erasure is killed in the middle.

There is a contact more for each four kills at random moments.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from reconciler import Memory, ops
from reconciler.domain.records.erasures import ErasureState
from reconciler.testing import HashingEmbedder
from tests import faults, raw_store
from tests.engines import EngineUnderTest
from tests.erasure_planting import AGENT, ASKED, Words, forget_all, opened, plant
from tests.job_crasher import Victim
from tests.storage_crasher import StorageCrasher, StorageFault

KILLS_OF_A_CONTACT = 4
KILLS = faults.times(3)
CONTACTS = 1 + -(-KILLS // KILLS_OF_A_CONTACT)
CALLS_SAMPLED = 4
PLANTED_MIN = 80 * CONTACTS
"""A contact has some ten more, of which some are refused and leave no word."""
BEFORE_THE_MARK = "before the mark"
pytestmark = [pytest.mark.faults, pytest.mark.kills]
VECTORS = """
    MATCH (fact:Fact) WHERE fact.state = 'erased'
    AND (fact.embedding IS NOT NULL OR fact.embedding_bytes IS NOT NULL) RETURN fact.fact_id"""


def stored(engine: EngineUnderTest, words: Words) -> set[str]:
    """Which of the words stand anywhere in the graph."""
    return words.found_in("\n".join(raw_store.everything(engine)))


def left_in_files(engine: EngineUnderTest, words: Words) -> list[str]:
    """Which files of an embedded store hold one of the words."""
    if engine.name != "embedded":
        return []
    folder: Path = engine.settings_arguments["embedded_path"].parent
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if words.found_in(path.read_bytes().decode("latin-1"))]


def stage(engine: EngineUnderTest, contact_id: str) -> str:
    """How far the erasure of a contact got."""
    asked = "MATCH (erasure:Erasure) WHERE erasure.contact_key = $key RETURN erasure.state"
    states = raw_store.query(engine, asked, key=f"default/{AGENT}/{contact_id}")
    assert len(states) <= 1, "each run finishes the one erasure that there is"
    return str(states[0][0]) if states else BEFORE_THE_MARK


def killed(engine: EngineUnderTest, contact_id: str, *, after_seconds: float | None) -> float:
    """Kill a process that forgets a contact: so long after it began, or when it is through.

    Returns:
        For how long it went on.
    """
    with contextlib.closing(Victim(forget_all, engine.settings_arguments, contact_id)) as victim:
        assert victim.told() == "begins"
        began_at = time.monotonic()
        if after_seconds is None:
            assert victim.told() == "through"
        else:
            time.sleep(after_seconds)
        victim.kill()
        return time.monotonic() - began_at


def given_out(memory: Memory, contacts: Sequence[str], folder: Path) -> Iterator[tuple[str, str]]:
    """All that can be exported, by what it is."""
    for vectors in (False, True):
        path = folder / f"vectors-{vectors}.jsonl"
        ops.export(memory, path, vectors=vectors, keys=vectors, overwrite=True)
        yield path.name, path.read_text()
    for contact_id in contacts:
        yield f"page of {contact_id}", ops.contact_page(memory.contact(AGENT, contact_id))


@pytest.mark.slow
def test_no_planted_word_is_left_after_kills_at_random_moments(
    one_of_each: EngineUnderTest,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words, moments, stages = Words(), faults.moments("an erasure"), Counter[str]()
    contacts = [f"ann-{number}" for number in range(CONTACTS)]
    with opened(one_of_each.settings_arguments, words) as memory:
        for contact_id in contacts:
            plant(memory, contact_id, words)
        memory.add_contact_note(AGENT, "bob", "Likes Brightwave.")
        before = "".join(text for _, text in given_out(memory, contacts, tmp_path))
    assert len(stored(one_of_each, words)) >= PLANTED_MIN
    assert len(words.found_in(before)) >= PLANTED_MIN
    caplog.clear()
    caplog.set_level(logging.DEBUG)
    untouched = iter(contacts)
    latest_seconds = killed(one_of_each, next(untouched), after_seconds=None)
    contact_id = next(untouched)
    for number in range(KILLS):
        # Early ones more often: for most of the time the embedded store is written again.
        after_seconds = latest_seconds * moments.random() ** 2
        killed(one_of_each, contact_id, after_seconds=after_seconds)
        stages[reached := stage(one_of_each, contact_id)] += 1
        if reached == ErasureState.DONE or number % KILLS_OF_A_CONTACT:
            contact_id = next(untouched, contact_id)
    with opened(one_of_each.settings_arguments, Words()) as memory:
        for contact_id in contacts:
            if not memory.contact(AGENT, contact_id).erasures():
                memory.contact(AGENT, contact_id).forget(**ASKED)
        memory.finish_erasures()
        done = memory.agent(AGENT).erasures()
        assert sorted(each.scope.contact_id for each in done) == sorted(contacts)
        assert [each.receipt for each in done if not each.receipt.is_clean] == []
        assert memory.erasures(unfinished=True) == []
        assert [each.fact.text for each in memory.contact(AGENT, "bob").recall()] == [
            "Likes Brightwave."
        ]
        exported = {name: text.casefold() for name, text in given_out(memory, contacts, tmp_path)}
    assert "brightwave" in exported["vectors-True.jsonl"]
    assert {name for name, text in exported.items() if words.found_in(text)} == set()
    assert stored(one_of_each, words) == set()
    traces = {trace for each in done for trace in each.receipt.traces}
    assert left_in_files(one_of_each, words) == [], traces
    assert words.found_in(caplog.text) == set()
    assert raw_store.query(one_of_each, VECTORS) == []
    with capsys.disabled():
        print(f"{len(words.given)} words, {KILLS} kills, at: {dict(stages)}")  # noqa: T201


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
    chosen = range(1, len(calls) + 1)
    if not faults.EVERY_CALL:
        chosen = faults.moments("a call of an erasure").sample(beside, CALLS_SAMPLED)
    for at_call in sorted(chosen):
        engine = copied(f"killed-{at_call}")
        path = engine.settings_arguments["embedded_path"]
        crasher.run("forget", path, StorageFault.KILL_BEFORE, at_call)
        with Memory.open(embedder=HashingEmbedder(16), **engine.settings_arguments) as memory:
            memory.finish_erasures()
            if not memory.agent("crm").erasures():
                memory.contact("crm", "priya").forget(**ASKED)
            assert memory.erasures(unfinished=True) == []
            assert [each.fact.text for each in memory.contact("crm", "bob").recall()] == [
                "Likes Brightwave."
            ]
        assert stored(engine, words) == set()
        assert left_in_files(engine, words) == [], f"killed at call {at_call} of {len(calls)}"
        shutil.rmtree(path.parent)
