"""Parameters that are maps, or lists of maps: written out, checked, the same on every engine."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from reconciler.errors import QueryFileError
from reconciler.ports.graph import Graph, Row
from reconciler.queries import QueryBook, parse_query
from tests.kept_stores import KeptStore

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
HEADER = """// Write facts of contacts that are still at the version they were seen at.
// mode: write
"""
WRITES = {
    "embedded": """// script for each: commit of commits
MERGE (contact:Contact {contact_key: $commit.contact_key})
  ON CREATE SET contact.version = 0;
MATCH (contact:Contact {contact_key: $commit.contact_key})
WHERE contact.version = $commit.version
SET contact.version = $commit.version + 1
RETURN contact.version AS version;
// for each session of commit.sessions
MERGE (session:Session {session_key: $session.session_key})
  ON CREATE SET session.channel = $session.channel;
// only when commit.fact is not empty
// all of them in one
MATCH (contact:Contact {contact_key: $commit.contact_key})
CREATE (fact:Fact $commit.fact)-[:ABOUT]->(contact);
MATCH (contact:Contact {contact_key: $commit.contact_key})
RETURN $commit.fact.fact_id AS fact_id
""",
    "neo4j": """UNWIND $commits AS commit
CALL (commit) {
  MERGE (contact:Contact {contact_key: commit.contact_key})
    ON CREATE SET contact.version = 0
  WITH commit, contact WHERE contact.version = commit.version
  SET contact.version = commit.version + 1
  FOREACH (session IN commit.sessions |
    MERGE (kept:Session {session_key: session.session_key})
      ON CREATE SET kept.channel = session.channel)
  FOREACH (new IN CASE WHEN commit.fact IS NULL THEN [] ELSE [commit.fact] END |
    CREATE (fact:Fact)-[:ABOUT]->(contact) SET fact = new)
  RETURN commit.fact.fact_id AS fact_id
}
RETURN fact_id
""",
}
CHANGES = """// Change some properties of a fact.
// mode: write
MATCH (fact:Fact {fact_id: $fact_id})
SET fact += $changes
RETURN fact.fact_id AS fact_id
"""
READS = """// A fact as it stands.
// mode: read
MATCH (fact:Fact {fact_id: $fact_id})
RETURN fact.text AS text, fact.observations AS observations, fact.confidence AS confidence,
       fact.tags AS tags, fact.recorded_at AS recorded_at, fact.topic AS topic
"""
UNWOUND = """// What the maps of a list hold.
// mode: read
UNWIND $rows AS row
RETURN row.one AS one, row.other AS other, row.kept.near AS near, row.kept.far AS far
"""

Run = Callable[..., list[Row]]


@pytest.fixture
def graph(kept: KeptStore, monkeypatch: pytest.MonkeyPatch) -> Graph:
    """An empty store with the queries above."""
    texts = {
        "write_facts": HEADER + WRITES[kept.graph.engine],
        "change_fact": CHANGES,
        "read_fact": READS,
        "unwind": UNWOUND,
    }
    own = QueryBook({name: parse_query(name, text) for name, text in texts.items()})
    monkeypatch.setattr(kept.graph, "_queries", own)
    return kept.graph


def commit(fact_id: str, *, contact: str = "crm/alice", version: int = 0, **changes: Any) -> Row:
    fact = {
        "fact_id": fact_id,
        "text": f"Text of {fact_id}",
        "observations": 300,
        "confidence": 0.5,
        "tags": ["a", "b"],
        "recorded_at": NOON,
        "topic": None,
    }
    sessions = [{"session_key": f"{contact}/{name}", "channel": None} for name in ("one", "two")]
    return {
        "contact_key": contact,
        "version": version,
        "fact": fact | changes,
        "sessions": sessions,
    }


def write(graph: Graph, *commits: Row) -> list[str]:
    return [row["fact_id"] for row in graph.run("write_facts", {"commits": list(commits)})]


def read(graph: Graph, fact_id: str) -> Row:
    [row] = graph.run("read_fact", {"fact_id": fact_id})
    return row


def test_a_map_is_written_as_the_properties_of_a_node(graph: Graph) -> None:
    assert write(graph, commit("f1")) == ["f1"]
    assert read(graph, "f1") == {
        "text": "Text of f1",
        "observations": 300,
        "confidence": 0.5,
        "tags": ["a", "b"],
        "recorded_at": NOON,
        "topic": None,
    }


def test_a_list_is_written_in_its_order_and_what_came_too_late_is_left_out(graph: Graph) -> None:
    versions = {"f1": 0, "f2": 1, "f3": 1, "f4": 2}
    given = [commit(fact_id, version=version) for fact_id, version in versions.items()]
    assert write(graph, *given) == ["f1", "f2", "f4"]
    assert graph.run("read_fact", {"fact_id": "f3"}) == []


def test_a_list_of_which_nothing_can_be_written_leaves_the_store_as_it_was(graph: Graph) -> None:
    write(graph, commit("f1"))
    assert write(graph, commit("f2"), commit("f3")) == []


def test_a_map_may_be_null_and_a_list_empty(graph: Graph) -> None:
    assert write(graph, commit("f1") | {"fact": None, "sessions": []}) == [None]


def test_the_same_text_takes_maps_with_other_nulls(graph: Graph) -> None:
    write(graph, commit("f1", topic="billing"), commit("f2", version=1, tags=None))
    assert read(graph, "f1")["topic"] == "billing"
    assert (read(graph, "f2")["topic"], read(graph, "f2")["tags"]) == (None, None)


def test_what_is_written_together_keeps_what_each_one_lacks(graph: Graph) -> None:
    whole = {"topic": "billing", "tags": ["a"], "recorded_at": NOON, "confidence": 0.25}
    bare = dict.fromkeys(("text", *whole))
    given = [{}, bare, whole, {"tags": ["a", "b", "c"]}]
    write(graph, *(commit(f"f{place}", version=place, **own) for place, own in enumerate(given)))
    assert read(graph, "f1") == bare | {"observations": 300}
    assert {name: read(graph, "f2")[name] for name in whole} == whole
    assert [read(graph, f"f{place}")["tags"] for place in (0, 3)] == [["a", "b"], ["a", "b", "c"]]


def test_an_integer_of_any_width_is_kept_as_it_is(graph: Graph) -> None:
    widths = [0, 127, 128, 255, 256, 40_000, 70_000, 5 << 32, -1, -200]
    for number, observations in enumerate(widths):
        contact, fact_id = f"crm/{number}", f"f{number}"
        beside = commit(f"{fact_id} beside", contact=contact)
        write(graph, beside, commit(fact_id, contact=contact, version=1, observations=observations))
        assert read(graph, fact_id)["observations"] == observations


def test_a_null_among_changes_leaves_the_property_as_it_is(graph: Graph) -> None:
    write(graph, commit("f1", topic="billing"))
    for changes in ({"observations": 2, "topic": None}, {"observations": None, "topic": None}):
        assert graph.run("change_fact", {"fact_id": "f1", "changes": changes})
        assert (read(graph, "f1")["observations"], read(graph, "f1")["topic"]) == (2, "billing")


def told(number: int, *names: str) -> Row:
    """A map with its names in this order; each value tells its name."""
    kept = {name: f"{name} {number}" for name in names if name in ("near", "far")}
    own = {name: f"{name} {number}" for name in names if name in ("one", "other", "more")}
    return own | {"kept": kept} if names[0] in own else {"kept": kept} | own


ORDERS = [
    ("one", "other", "near", "far"),
    ("far", "near", "other", "one"),
    ("other", "one", "far", "near"),
]


def test_a_value_keeps_its_name_whatever_the_order_of_the_names_in_a_map(graph: Graph) -> None:
    alone = [graph.run("unwind", {"rows": [told(0, *names)]}) for names in ORDERS]
    assert alone == [[{name: f"{name} 0" for name in ORDERS[0]}]] * len(ORDERS)
    rows = [told(number, *names) for number, names in enumerate(ORDERS)]
    assert graph.run("unwind", {"rows": rows}) == [
        {name: f"{name} {number}" for name in ORDERS[0]} for number in range(len(ORDERS))
    ]


@pytest.mark.parametrize("engine", ["embedded"], indirect=True)
def test_a_value_keeps_its_name_where_another_call_s_maps_had_other_names(graph: Graph) -> None:
    for more in ([], ["more"], []):
        [row] = graph.run("unwind", {"rows": [told(1, *more, *ORDERS[0])]})
        assert row == {name: f"{name} 1" for name in ORDERS[0]}


@pytest.mark.parametrize("engine", ["embedded"], indirect=True)
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([told(1, *ORDERS[0]), told(2, *ORDERS[0][:3])], "the same names"),
        ([told(1, *ORDERS[0]), told(2, "one", "more", "near", "far")], "the same names"),
        ([told(1, *ORDERS[0]) | {"one": [told(2, *ORDERS[0])]}], "must not hold a list of maps"),
        ([[told(2, *ORDERS[0])]], "must not hold a list of maps"),
    ],
)
def test_maps_that_would_be_read_under_wrong_names_are_refused(
    graph: Graph, rows: list[Row], expected: str
) -> None:
    with pytest.raises(QueryFileError, match=expected):
        graph.run("unwind", {"rows": rows})


@pytest.mark.parametrize("engine", ["embedded"], indirect=True)
@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lambda given: given.pop("version"), r"\$commit\.version: there is no version"),
        (lambda given: given["sessions"][1].pop("channel"), r"\$session\.channel: there is no"),
        (lambda given: given.update(fact="f1"), r"\$commit\.fact must be a map"),
        (lambda given: given["fact"].update({"a b": 1}), "'a b' is not the name of a property"),
    ],
)
def test_nothing_is_written_where_a_map_lacks_what_the_text_names(
    graph: Graph, spoil: Callable[[Row], Any], expected: str
) -> None:
    spoilt = commit("f2", version=1)
    spoil(spoilt)
    with pytest.raises(QueryFileError, match=expected):
        write(graph, commit("f1"), spoilt)
    assert graph.run("read_fact", {"fact_id": "f1"}) == []
