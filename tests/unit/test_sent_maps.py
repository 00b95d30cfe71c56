"""The maps that the stores send are those that the queries read, in both dialects.

One engine answers a key that is missing with null: what was to be written is lost without a word.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from reconciler.queries import Query, load_migrations, load_queries, parse_query
from reconciler.resources import engine_names, resource_path
from tests.commit_maps import contacts, decision, skip, update
from tests.sent_maps import paths_of, read_by, sent_trees, tree_of
from tests.tables import every

ENGINES = engine_names()
MAPPED = sorted(
    name
    for name, query in load_queries("embedded").items()
    if any("." in path for path in read_by(query)[0]) or read_by(query)[1]
)


OF_ANY_AGE = ("rows.node.", "nodes.node.", "links.link.")
"""Below these are the properties of whole nodes and links; which ones, their label says."""

OF_NEO4J_ALONE = {
    f"contacts.known_sessions.{name}" for name in ("session_id", "channel", "started_at")
}
"""There a known session that is gone meanwhile is made again; the embedded engine looks again."""


def lacking(query: Query, sent: set[str]) -> set[str]:
    """What a text reads that is not sent."""
    return {path for path in read_by(query)[0] - sent if not path.startswith(OF_ANY_AGE)}


def unread(query: Query, sent: set[str]) -> set[str]:
    """What is sent, and is neither read nor a part of a map that is written whole."""
    read, whole = read_by(query)
    return {
        path for path in sent - read if not path.startswith(tuple(f"{each}." for each in whole))
    }


def test_every_query_with_a_map_is_looked_at() -> None:
    assert sorted(sent_trees()) == MAPPED
    assert len(MAPPED) > 8


@every("engine", ENGINES)
@every("name", MAPPED)
def test_what_a_query_reads_of_a_map_is_sent(engine: str, name: str) -> None:
    sent = paths_of(sent_trees()[name])
    assert lacking(load_queries(engine)[name], sent) == set()


@every("engine", ENGINES)
@every("name", MAPPED)
def test_what_is_sent_in_a_map_is_read(engine: str, name: str) -> None:
    left = unread(load_queries(engine)[name], paths_of(sent_trees()[name]))
    assert left == (left & OF_NEO4J_ALONE if engine == "embedded" else set())


BESIDE_OTHERS = ("ended_so_far_ids", "fact_id", "said")
"""Only parts that are run for another value's sake read these values of a commit."""


def test_a_usual_commit_on_neo4j_leaves_nothing_out_that_is_sent() -> None:
    query = load_queries("neo4j")["commit_decisions"]
    usual, whole = (read_by(replace(query, statements=(each,)))[0] for each in query.statements)
    for path in sorted(whole - usual):
        name = path.removeprefix("contacts.").removeprefix("commits.").split(".")[0]
        given: dict[str, Any] = {name: ["x"]}
        if path.startswith("contacts.commits."):
            given = {"commits": [given]}
        is_seen = not query.statements[0].applies({"contacts": [given]})
        assert is_seen == (name not in BESIDE_OTHERS), path


def columns_of(label: str) -> set[str]:
    """The columns of a table of the embedded engine."""
    steps = load_migrations("embedded")
    [table] = [
        each.text
        for step in steps
        for each in step.statements
        if f"TABLE IF NOT EXISTS {label}(" in each.text
    ]
    added = re.compile(rf"ALTER TABLE {label} ADD IF NOT EXISTS (\w+) ")
    later = {
        name for step in steps for each in step.statements for name in added.findall(each.text)
    }
    return set(re.findall(r"[(,]\s*`?(\w+)`? [A-Z]", table)) | later


@every(
    ("label", "path", "later"),
    [
        ("Decision", ("commits", "decision"), {"correction", "corrected_at", "place"}),
        (
            "Fact",
            ("commits", "fact"),
            {"embedding", "next_embedding", "next_embedding_bytes", "next_embedding_model"},
        ),
    ],
)
def test_a_new_node_has_every_column_but_what_comes_later(
    label: str, path: tuple[str, ...], later: set[str]
) -> None:
    sent: Any = sent_trees()["commit_decisions"]["contacts"]
    for name in path:
        sent = sent[name]
    assert set(sent) == columns_of(label) - later


def test_what_is_written_of_a_fact_is_what_is_read() -> None:
    sent = set(sent_trees()["commit_decisions"]["contacts"]["commits"]["fact"])
    assert sent - set(load_queries("embedded")["list_facts"].returns) == {
        "slot_key",
        "embedding_model",
        "embedding_bytes",
    }


def test_the_maps_that_other_tests_write_have_the_same_names() -> None:
    first = decision(is_new=True, knows=["call-1"])
    more = [{"episode_id": "turn-2", "session_id": "call-2"}]
    told = contacts(first, skip(first, version=1), update(first, version=2, evidence=more))
    assert paths_of(tree_of(told)) <= paths_of(sent_trees()["commit_decisions"]["contacts"])


READS = """// mode: write
UNWIND $contacts AS each
CALL (each) {
  UNWIND each.old + each.new AS told
  MATCH (fact:Fact {text: told.text}) WHERE NOT fact.id IN each.ended AND $at > told.at
  SET fact = each.fact, fact.name = left(each.fact.text, 3), fact.kind = 'told.kind'
}
RETURN 1 AS n
"""


def test_the_paths_in_a_text_are_read() -> None:
    told = {f"contacts.{name}.{key}" for name in ("old", "new") for key in ("text", "at")}
    own = {"contacts.old", "contacts.new", "contacts.ended", "contacts.fact", "contacts.fact.text"}
    assert read_by(parse_query("reads", READS)) == (
        told | own | {"contacts", "at"},
        {"contacts.fact"},
    )


@every("engine", ENGINES)
def test_a_name_that_a_text_misspells_is_seen(engine: str) -> None:
    path = resource_path("cypher") / engine / "commit_decisions.cypher"
    text = path.read_text(encoding="utf-8").replace("commit.said.reason", "commit.said.raeson")
    sent = paths_of(sent_trees()["commit_decisions"])
    misspelt = parse_query("commit_decisions", text)
    assert "contacts.commits.said.raeson" in lacking(misspelt, sent)
