"""On Neo4j facts and decisions name their contact, and a page of a contact is read by an index."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import neo4j
import pytest

from reconciler import Memory, ops
from reconciler.adapters.neo4j_graph import _in_one_row, _of_one_map
from reconciler.entrypoints.doctor import DoctorCheck, checkup
from reconciler.errors import SchemaError
from reconciler.queries import load_queries
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.engines import EngineUnderTest

AGENT, KEY = "crm", "default/crm/zoe"
FAR = datetime(9000, 1, 1, tzinfo=UTC)
MANY, FEW = 200, 20
INDEXES = (
    "fact_order",
    "decision_action",
    "decision_door",
    "supersedes_contact",
    "conflict_contact",
)
ASKED: dict[str, dict[str, Any]] = {
    "list_newest_facts": {
        **{"contact_key": KEY, "confirmed_before": FAR, "recorded_before": FAR},
        **{"after_id": "", "limit": 5},
    },
    "list_pending_ids": {"contact_keys": [KEY], "now": FAR},
    "list_revocation_ids": {"contact_key": KEY, "door": "operator"},
    **{
        name: {"contact_key": KEY}
        for name in ("list_supersessions", "list_conflicts", "list_conflict_links")
    },
}
NAMELESS = """
MATCH (contact:Contact)<-[:ABOUT|`FOR`]-(own)
WHERE coalesce(own.contact_key, '') <> contact.contact_key
RETURN labels(own) AS named
UNION ALL
MATCH (contact:Contact)<-[:ABOUT]-(:Fact)-[link:SUPERSEDES|CONFLICTS_WITH]->(:Fact)
WHERE coalesce(link.contact_key, '') <> contact.contact_key
RETURN type(link) AS named"""
DAMAGE = "MATCH (own:{}) WITH own LIMIT 1 SET own.text = 7, own.reason = 7, own.record = '{{'"


@contextmanager
def opened(engine: EngineUnderTest, **how: Any) -> Iterator[Memory]:
    with Memory.open(embedder=HashingEmbedder(16), **engine.settings_arguments, **how) as memory:
        yield memory


def word(number: int) -> str:
    """No number, and no name: two of those would be in dispute."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number + 1000))


def fill(memory: Memory, count: int) -> None:
    """One contact with much in it, and a little of all that its pages tell."""
    memory.import_notes(
        json.dumps({"agent_id": AGENT, "contact_id": "zoe", "text": f"Likes {word(number)}."})
        for number in range(count)
    )
    zoe = memory.contact(AGENT, "zoe")
    for text in ("Has diabetes.", "Plays the cello.", "Lives in Pune.", "Lives in Goa."):
        memory.add_contact_note(AGENT, "zoe", text)
    for city in ("Lisbon", "Porto"):
        memory.add_contact_note(
            AGENT, "zoe", f"Rents a flat in {city}.", attribute="flat", value=city
        )
    [cello] = [each.facts[0] for each in zoe.history() if "cello" in each.facts[0].text]
    zoe.revoke(cello.fact_id, by="dana", reason="Never did.")


def pages(memory: Memory) -> list[object]:
    zoe = memory.contact(AGENT, "zoe")
    first = zoe.history(limit=5)
    rest = zoe.history(limit=5, after=first[-1].facts[0].fact_id)
    return [first, rest, zoe.pending(), zoe.history(limit=3)]


def rows_read(engine: EngineUnderTest, name: str) -> list[int]:
    """How many rows each step of a query's plan gave that reads nodes or links."""
    query, server = load_queries("neo4j")[name], engine.settings_arguments["neo4j"]
    text = _in_one_row(_of_one_map(query.statements[0].text, query.loop), query.returns)
    account = (server["username"], server["password"])
    with (
        neo4j.GraphDatabase.driver(server["uri"], auth=account) as driver,
        driver.session(database=server["database"]) as session,
    ):
        # The tests' servers plan by a sample of a nearly empty store; others sample as it grows.
        session.run("CALL db.prepareForReplanning(60)").consume()
        plan = session.run(f"PROFILE {text}", given=ASKED[name]).consume().profile
    return list(_reads(plan))


def _reads(step: Any) -> Iterator[int]:
    if any(word in step["operatorType"] for word in ("Seek", "Scan", "Expand")):
        yield step["args"]["Rows"]
    for child in step.get("children", []):
        yield from _reads(child)


def test_a_page_reads_no_more_than_it_tells(one_neo4j: EngineUnderTest) -> None:
    with opened(one_neo4j) as memory:
        memory.contact(AGENT, "zoe").history(limit=5)
        fill(memory, MANY)
    read = {name: max(rows_read(one_neo4j, name)) for name in ASKED}
    assert 5 <= read.pop("list_newest_facts") < 5 + 2
    assert read == dict.fromkeys(read, 1)


def test_what_is_written_names_its_contact_whatever_becomes_of_it(
    one_neo4j: EngineUnderTest, tmp_path: Path
) -> None:
    with opened(one_neo4j) as memory:
        fill(memory, FEW)
        ops.export(memory, tmp_path / "all.jsonl")
        for label in ("Fact", "Decision"):
            raw_store.query(one_neo4j, DAMAGE.format(label))
        memory.contact(AGENT, "zoe").forget(by="dana", reason="Asked for it.")
        assert raw_store.query(one_neo4j, NAMELESS) == []
    raw_store.query(one_neo4j, "MATCH (node) DETACH DELETE node")
    ops.restore(
        tmp_path / "all.jsonl", embedder=HashingEmbedder(16), **one_neo4j.settings_arguments
    )
    assert raw_store.query(one_neo4j, NAMELESS) == []


@pytest.mark.new_schema
def test_a_store_of_the_first_schema_gets_its_keys_and_tells_the_same_pages(
    one_neo4j: EngineUnderTest,
) -> None:
    with opened(one_neo4j) as memory:
        fill(memory, FEW)
        memory.import_notes(
            json.dumps({"agent_id": AGENT, "contact_id": f"contact {number}", "text": "Is here."})
            for number in range(45)
        )
        told = pages(memory)
    # An upgrade that was cut off did the first page of contacts, and two more; zoe is the last.
    own = "MATCH (own:Fact|Decision) WHERE own.contact_key > 'default/crm/contact 28'"
    link = "MATCH (own)-[link:SUPERSEDES|CONFLICTS_WITH]->(:Fact) REMOVE link.contact_key"
    raw_store.query(one_neo4j, f"{own} WITH own {link}")
    raw_store.query(one_neo4j, f"{own} REMOVE own.contact_key")
    for index in INDEXES:
        raw_store.query(one_neo4j, f"DROP INDEX {index}")
    raw_store.query(one_neo4j, "MATCH (store:Store) SET store.schema_version = 1")
    with pytest.raises(SchemaError, match=r"version 1.*needs version 3"), opened(one_neo4j):
        pass
    with opened(one_neo4j, migrate=True) as memory:
        assert pages(memory) == told
    assert raw_store.query(one_neo4j, NAMELESS) == []


def test_what_an_earlier_version_went_on_to_write_is_counted_and_repaired(
    one_neo4j: EngineUnderTest,
) -> None:
    """A process looks at the schema when it starts, so one that runs on writes without keys."""
    with opened(one_neo4j) as memory:
        fill(memory, FEW)
    raw_store.query(one_neo4j, "MATCH (own:Fact) WITH own LIMIT 2 REMOVE own.contact_key")
    raw_store.query(one_neo4j, "MATCH (own:Decision) WITH own LIMIT 1 REMOVE own.contact_key")
    raw_store.query(one_neo4j, "MATCH ()-[link:CONFLICTS_WITH]->() REMOVE link.contact_key")
    assert len(raw_store.query(one_neo4j, NAMELESS)) > 3
    found = schema_check(one_neo4j)
    assert not found.is_ok
    assert found.finding.startswith("3 facts and decisions")
    assert "stop this process, then run `reconciler init`" in found.finding
    with opened(one_neo4j, migrate=True):
        assert raw_store.query(one_neo4j, NAMELESS) == []
    assert schema_check(one_neo4j).finding == "version 3"


def schema_check(engine: EngineUnderTest) -> DoctorCheck:
    checks = checkup(load_settings(**engine.settings_arguments))
    return next(check for check in checks if check.name == "schema")
