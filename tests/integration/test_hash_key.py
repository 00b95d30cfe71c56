"""Hosts that share a store hash with one key: another one is refused before it writes anything."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from reconciler import Memory, ops
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.bootstrap.chosen_models import accept_hash_key, open_graph
from reconciler.entrypoints.doctor import checkup
from reconciler.errors import ConfigurationError
from reconciler.service.stores.binding_store import BindingStore
from reconciler.settings import Settings, load_settings
from tests import raw_store
from tests.engines import EngineUnderTest

ONE, OTHER = ("the key of one host", "the key of the other host")
CARD = "Pays with 4111 1111 1111 1111"
STORE = "MATCH (store:Store) RETURN store.claimed_at, store.hash_key_check"
NO_HOSTS = "this host has no hash key"
ANOTHERS = "this host has another hash key"


def host(engine: EngineUnderTest, **gate: Any) -> Memory:
    return Memory.open(embedder=NoopEmbedder(), **engine.settings_arguments, gate=gate)


def settings_of(engine: EngineUnderTest, **gate: Any) -> Settings:
    embedder = {"model": "noop"}
    return load_settings(**engine.settings_arguments, embedder=embedder, gate=gate)


def bind(engine: EngineUnderTest, key: str = ONE) -> None:
    with host(engine, hash_key=key) as memory:
        memory.add_contact_note("crm", "alice", CARD)


def finding(engine: EngineUnderTest, **gate: Any) -> tuple[bool, str]:
    [found] = [e for e in checkup(settings_of(engine, **gate)) if e.name == "hash key"]
    return found.is_ok, found.finding


def test_the_key_that_hashed_first_is_the_stores(any_engine: EngineUnderTest) -> None:
    bind(any_engine)
    with pytest.raises(ConfigurationError, match=ANOTHERS):
        host(any_engine, hash_key=OTHER)
    with host(any_engine, hash_key=ONE) as memory:
        memory.add_contact_note("crm", "alice", CARD)
        assert len(memory.contact("crm", "alice").decisions()) == 2


def test_who_hashes_again_changes_nothing_of_the_store(any_engine: EngineUnderTest) -> None:
    bind(any_engine)
    before = raw_store.query(any_engine, STORE)
    bind(any_engine)
    assert raw_store.query(any_engine, STORE) == before


def test_a_host_without_the_key_is_refused_and_makes_none(
    any_engine: EngineUnderTest, tmp_path: Path
) -> None:
    bind(any_engine)
    path = tmp_path / "elsewhere" / "hash.key"
    with pytest.raises(ConfigurationError, match=NO_HOSTS):
        host(any_engine, hash_key_file=path)
    assert not path.exists()


def test_a_store_in_which_nothing_was_hashed_takes_any_key(any_engine: EngineUnderTest) -> None:
    for key in (ONE, OTHER):
        with host(any_engine, hash_key=key) as memory:
            memory.add_contact_note("crm", "alice", "Likes tea")
    assert finding(any_engine, hash_key=ONE) == (True, "none needed so far")


def test_of_two_hosts_that_were_there_before_the_first_hash_the_second_writes_nothing(
    neo4j_engine: EngineUnderTest,
) -> None:
    with host(neo4j_engine, hash_key=ONE) as one, host(neo4j_engine, hash_key=OTHER) as other:
        one.add_contact_note("crm", "alice", CARD)
        before = raw_store.everything(neo4j_engine)
        with pytest.raises(ConfigurationError, match=ANOTHERS):
            other.add_contact_note("crm", "bob", CARD)
        assert raw_store.everything(neo4j_engine) == before
        assert other.add_contact_note("crm", "bob", "Likes tea").fact_id


def test_of_those_who_hash_at_once_one_binds_the_store(neo4j_engine: EngineUnderTest) -> None:
    host(neo4j_engine).close()
    start = Barrier(8)
    with closing(open_graph(settings_of(neo4j_engine))) as graph:
        store = BindingStore(graph)

        def claimed(number: int) -> str:
            start.wait(60)
            return store.claim_hash_key(f"check {number}", datetime.now(UTC))

        with ThreadPoolExecutor(8) as threads:
            bound = set(threads.map(claimed, range(8)))
        assert bound == {store.hash_key_check()}


def test_whoever_only_reads_needs_no_key(any_engine: EngineUnderTest) -> None:
    bind(any_engine)
    arguments = any_engine.settings_arguments
    with Memory.open(
        embedder=NoopEmbedder(), must_exist=True, gate={"hash_key": OTHER}, **arguments
    ) as memory:
        assert len(memory.contact("crm", "alice").recall()) == 1
        with pytest.raises(ConfigurationError, match=ANOTHERS):
            memory.contact("crm", "alice").forget(by="olga", reason="asked")
        assert len(memory.contact("crm", "alice").recall()) == 1


def test_a_lost_key_is_replaced_by_who_accepts_that(one_of_each: EngineUnderTest) -> None:
    bind(one_of_each)
    accept_hash_key(settings_of(one_of_each, hash_key=OTHER))
    bind(one_of_each, OTHER)
    with pytest.raises(ConfigurationError, match="--accept-other-hash-key"):
        host(one_of_each, hash_key=ONE)


def test_the_doctor_says_whether_a_host_has_the_key(any_engine: EngineUnderTest) -> None:
    bind(any_engine)
    assert finding(any_engine, hash_key=ONE)[0]
    is_ok, said = finding(any_engine, hash_key=OTHER)
    assert (is_ok, said.startswith(ANOTHERS)) == (False, True)


def test_an_export_is_restored_by_no_host_without_the_stores_key(
    any_engine: EngineUnderTest, tmp_path: Path
) -> None:
    bind(any_engine)
    with host(any_engine, hash_key=ONE) as memory, (tmp_path / "all.jsonl").open("wb") as file:
        ops.export(memory, file)
    before = raw_store.everything(any_engine)
    settings = settings_of(any_engine, hash_key=OTHER)
    with pytest.raises(ConfigurationError, match=ANOTHERS):
        ops.restore(tmp_path / "all.jsonl", settings=settings)
    assert raw_store.everything(any_engine) == before
