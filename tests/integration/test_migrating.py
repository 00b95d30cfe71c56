"""A store is brought up to a newer schema, killed in the middle of it or not, and no further."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from reconciler import Memory
from reconciler.errors import SchemaError
from reconciler.testing import HashingEmbedder
from tests import raw_store, second_schema
from tests.conftest import cases_of_each
from tests.engines import EngineUnderTest, embedded_engine, wipe_schema
from tests.job_crasher import Victim, migrate

TEXTS = ("Lives in Pune.", "Likes tea.", "Has two cats.", "Plays the cello.", "Drives a lorry.")
SHIPPED, NEXT = second_schema.SHIPPED, second_schema.NEXT
OLDER = rf"version {SHIPPED}.*needs version {NEXT}.*run `reconciler init`"
NEWER = rf"version {NEXT}.*needs version {SHIPPED}.*newer version of this pack"


@pytest.fixture
def cypher(tmp_path: Path) -> Path:
    """The queries of a release with a further step."""
    second_schema.write(tmp_path / "cypher")
    return tmp_path / "cypher"


@pytest.fixture
def filled(one_of_each: EngineUnderTest) -> Iterator[EngineUnderTest]:
    """A store of this version that holds some facts; no trace of a newer one is left behind."""
    fill(one_of_each)
    yield one_of_each
    wipe_schema(one_of_each)


def fill(engine: EngineUnderTest) -> None:
    with opened(engine) as memory:
        for text in TEXTS:
            memory.add_contact_note("crm", "alice", text)


def opened(engine: EngineUnderTest, **how: Any) -> Memory:
    return Memory.open(embedder=HashingEmbedder(16), **engine.settings_arguments, **how)


def moods(engine: EngineUnderTest) -> list[str]:
    rows = raw_store.query(engine, "MATCH (fact:Fact) RETURN fact.mood")
    return [mood for [mood] in rows]


@pytest.mark.new_schema
@pytest.mark.parametrize(
    ("one_of_each", "place"),
    cases_of_each(range(second_schema.STATEMENTS + 1), {1}),
    indirect=["one_of_each"],
)
def test_an_upgrade_that_is_killed_midway_is_done_by_the_next_one(
    place: int, filled: EngineUnderTest, cypher: Path
) -> None:
    with closing(Victim(migrate, filled.settings_arguments, cypher, place)) as victim:
        assert victim.told() == "midway"
        victim.kill()
    with second_schema.used(cypher):
        with pytest.raises(SchemaError, match=OLDER):
            opened(filled)
        with opened(filled, migrate=True) as memory:
            assert {each.fact.text for each in memory.contact("crm", "alice").recall()} == set(
                TEXTS
            )
            assert len(memory.contact("crm", "alice").decisions()) == len(TEXTS)
            assert moods(filled) == ["calm"] * len(TEXTS)
            memory.add_contact_note("crm", "alice", "Has moved to Goa.")
            memory.contact("crm", "alice").forget(by="dana", reason="Asked for it.")
        opened(filled).close()
    with pytest.raises(SchemaError, match=NEWER):
        opened(filled)


@pytest.mark.new_schema
def test_those_who_upgrade_a_store_at_once_all_get_through(
    neo4j_engine: EngineUnderTest, cypher: Path
) -> None:
    fill(neo4j_engine)
    start = Barrier(8)

    def upgraded(_: int) -> int:
        start.wait(60)
        with opened(neo4j_engine, migrate=True) as memory:
            return len(memory.contact("crm", "alice").decisions())

    try:
        with second_schema.used(cypher), ThreadPoolExecutor(8) as threads:
            assert set(threads.map(upgraded, range(8))) == {len(TEXTS)}
    finally:
        wipe_schema(neo4j_engine)


def test_an_embedded_store_of_the_first_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    """That of a Neo4j is in test_contact_pages.py: only there the second step changes anything."""
    engine = embedded_engine(tmp_path)
    fill(engine)
    raw_store.query(engine, "MATCH (store:Store) SET store.schema_version = 1")
    with pytest.raises(SchemaError, match="version 1"):
        opened(engine)
    with opened(engine, migrate=True) as memory:
        assert len(memory.contact("crm", "alice").history()) == len(TEXTS)
