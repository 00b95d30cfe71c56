"""The usual commit on Neo4j leaves out most of the statement: its first plan takes long."""

from __future__ import annotations

from reconciler.queries import load_queries


def test_a_dispute_waits_for_no_plan_of_the_whole_commit() -> None:
    usual, whole = load_queries("neo4j")["commit_decisions"].statements
    assert len(usual.text) < len(whole.text) / 2
    assert usual.applies({"contacts": [{"commits": [{"conflicting_ids": ["one"]}]}]})
