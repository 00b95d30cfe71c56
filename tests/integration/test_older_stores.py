"""Stores of every older schema version, made by the code of their time, brought up to date."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory
from reconciler.domain.records.archives import RestoreReport
from reconciler.errors import SchemaError
from reconciler.testing import HashingEmbedder
from tests import faults
from tests.conftest import CHOICE, params_of
from tests.engines import EngineUnderTest, embedded_engine
from tests.job_crasher import Victim, migrate
from tests.old_stores import HASH_KEY, LAST_COMMITS, put_store

EMBEDDER = HashingEmbedder(16)
CALLS = {version: {"I only take calls after 5 pm."} for version in (4, 5, 6)} | {
    version: {"The contact only takes calls after 5 pm."} for version in (7, 8, 9)
}
CITIES = {1: {"lives in Pune"}}
"""What they are remembered by; from the second version on cities are in a slot, and in dispute."""

LATEST_KILL_SECONDS = {True: 0.3, False: 1.0}
"""About as long as a migration takes, on the embedded engine and on a server."""


ON_A_SERVER = {1, 4, 9}
"""The versions that ``make test`` brings up to date on Neo4j too; ``make faults`` does with all."""


def _pairs() -> Iterator[Any]:
    for engine in params_of(CHOICE.one_of_each):
        for version in LAST_COMMITS:
            is_for_faults = engine.values != ("embedded",) and version not in ON_A_SERVER
            rare = [pytest.mark.faults(only=True)] if is_for_faults else []
            yield pytest.param(*engine.values, version, marks=[*engine.marks, *rare])


pytestmark = pytest.mark.parametrize(("one_of_each", "version"), list(_pairs()), indirect=True)


@pytest.fixture
def version(request: pytest.FixtureRequest) -> int:
    """Each older version."""
    return int(request.param)


@pytest.fixture
def older(
    one_of_each: EngineUnderTest, version: int, monkeypatch: pytest.MonkeyPatch
) -> EngineUnderTest:
    """An engine with a store of that version, and its key of hashes at hand."""
    [(name, key)] = HASH_KEY.items()
    monkeypatch.setenv(name, key)
    put_store(one_of_each, version)
    return one_of_each


@pytest.fixture
def migrated(older: EngineUnderTest) -> Iterator[Memory]:
    """That store, brought up to date as ``reconciler init`` does it."""
    with pytest.raises(SchemaError, match="run `reconciler init`"):
        Memory.open(embedder=EMBEDDER, **older.settings_arguments)
    with Memory.open(embedder=EMBEDDER, migrate=True, **older.settings_arguments) as memory:
        yield memory


def test_an_older_store_reads_as_it_did_and_is_written_on(
    migrated: Memory, version: int, tmp_path: Path
) -> None:
    _check_facts(migrated, version)
    _check_decisions(migrated, version)
    _check_chains(migrated, version)
    _check_evidence(migrated, version)
    _check_what_waits(migrated, version)
    _check_writes(migrated, version)
    _check_leaves(migrated, tmp_path)


def _check_facts(memory: Memory, version: int) -> None:
    live = {each.fact.text for each in memory.recall("crm", "alice", limit=20)}
    gated = {"Is diabetic."} if version > 2 else set()
    cities = CITIES.get(version, {"Lives in Goa.", "Lives in Mumbai."})
    repeated = {"Plays the cello."} if version > 8 else set()
    assert live == {"Keeps two cats.", *cities, *gated, *CALLS.get(version, set()), *repeated}
    [near, *_] = memory.recall("crm", "alice", "Keeps two cats.")
    assert (near.fact.text, round(near.similarity or 0, 3)) == ("Keeps two cats.", 1.0)
    assert [e.fact.text for e in memory.recall("crm", "bob")][-1] == "Likes tea."


def _check_decisions(memory: Memory, version: int) -> None:
    made = memory.decisions("crm", "alice")
    said = {(str(each.action), each.text) for each in made}
    assert {("ADD", "Keeps two cats."), ("UPDATE", "lives in Pune")} <= said
    if version > 2:
        gate = {
            ("REJECT", "Thanks a lot!"),
            ("HOLD", "Was bankrupt once."),
            ("HOLD", "Is diabetic."),
        }
        assert gate <= said
        assert ("REVOKE", "A mix-up.") in said
    for each in made:
        assert memory.explain("crm", "alice", each.decision_id).to_dict()


def _check_chains(memory: Memory, version: int) -> None:
    chains = {tuple(fact.text for fact in each.facts) for each in memory.history("crm", "alice")}
    city = ("lives in Pune", "Lives in Pune.")
    assert (city if version == 1 else ("Lives in Goa.", *city)) in chains
    assert (("Drives a lorry.",) in chains) is (version > 2)
    for chain in memory.history("crm", "alice"):
        assert len(chain.supersessions) == len(chain.facts) - 1
        cosines = [link.cosine for link in chain.supersessions if link.cosine is not None]
        assert cosines == [round(cosine, 4) for cosine in cosines]
        if chain.facts[0].text == "Drives a lorry.":
            assert (str(chain.facts[0].state), len(chain.events)) == ("revoked", 1)


def _check_evidence(memory: Memory, version: int) -> None:
    """Said five times, the last of which was undone and stands in no chain: it keeps its links."""
    for chain in memory.history("crm", "alice"):
        own = memory._services.store._graph.run(
            "list_fact_evidence", {"fact_ids": [fact.fact_id for fact in chain.facts]}
        )
        if chain.facts[0].text == "Plays the cello." and chain.facts[0].is_live:
            assert len(own) == len(chain.facts) == 4
        elif chain.facts[0].text == "Plays the cello.":
            assert len(own) == 5
    cello = {e.fact.is_live: len(e.turns) for e in memory.evidence_about("crm", "alice", "cello")}
    assert cello == ({True: 4, False: 5} if version > 8 else {})
    cities = [e for e in memory.evidence_about("crm", "alice", "Pune") if not e.fact.is_live]
    assert [len(e.turns) for e in cities] == ([] if version == 1 else [2])


def _check_what_waits(memory: Memory, version: int) -> None:
    pending = {getattr(each, "text", "") for each in memory.pending("crm", "alice")}
    assert ("Was bankrupt once." in pending) is (version > 2)
    disputes = [{fact.text for fact in each.facts} for each in memory.disputes("crm", "alice")]
    assert disputes == ([{"Lives in Goa.", "Lives in Mumbai."}] if version > 1 else [])
    if version > 3:
        [job] = memory.drain()
        assert (job.session_id, job.state) == ("chat-bob", "done")
        assert "Rex" in " ".join(e.fact.text for e in memory.recall("crm", "bob"))


def _check_writes(memory: Memory, version: int) -> None:
    again = memory.add_contact_note("crm", "alice", "keeps two cats", idempotency_key="k1")
    assert again.replayed is (version >= 5) or again.action == "UPDATE"
    moved = memory.add_contact_note(
        "crm", "alice", "Lives in Oslo.", attribute="city", value="Oslo"
    )
    assert (moved.action, bool(moved.superseded_ids)) == ("UPDATE", True)
    assert "Lives in Oslo." in {e.fact.text for e in memory.recall("crm", "alice")}


def _check_leaves(memory: Memory, folder: Path) -> None:
    report = memory.export(folder / "all.jsonl", vectors=True)
    assert not report.left_out
    assert report.nodes["Fact"] <= report.links["EVIDENCED_BY"]
    assert report.nodes["Decision"] <= report.links["JUDGED"]
    target = embedded_engine(folder / "target").settings_arguments
    found = Memory.restore(folder / "all.jsonl", embedder=EMBEDDER, **target)
    assert isinstance(found, RestoreReport)
    assert (found.nodes, found.links) == (report.nodes, report.links)


@pytest.mark.slow
@pytest.mark.faults(only=True)
def test_a_move_to_this_schema_that_is_killed_again_and_again_ends_as_if_it_was_not(
    older: EngineUnderTest, version: int, tmp_path: Path
) -> None:
    chance = faults.moments(f"a migration of {version}")
    for _ in range(faults.times(1)):
        with contextlib.closing(Victim(migrate, older.settings_arguments)) as victim:
            assert victim.told() == "migrating"
            time.sleep(chance.uniform(0, LATEST_KILL_SECONDS[older.name == "embedded"]))
            victim.kill_or_find_ended()
    with Memory.open(embedder=EMBEDDER, migrate=True, **older.settings_arguments) as memory:
        _check_facts(memory, version)
        _check_decisions(memory, version)
        _check_chains(memory, version)
        _check_evidence(memory, version)
        _check_what_waits(memory, version)
        _check_writes(memory, version)
        _check_leaves(memory, tmp_path)
