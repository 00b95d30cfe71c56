"""Statements that Neo4j plans once, however a store grows: the first plan must fit every size."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import neo4j

from reconciler.adapters.neo4j_graph import _in_one_row, _of_one_map
from reconciler.queries import load_queries
from tests.engines import EngineUnderTest, opened

KEPT = [
    (query, statement.text)
    for query in load_queries("neo4j").values()
    for statement in query.statements
    if "CYPHER replan=skip" in statement.text
]


def test_what_a_write_and_a_first_recall_wait_for_is_planned_once() -> None:
    wanted = {"commit_decisions", "list_neighbourhood", "list_conflicts"}
    assert {query.name for query, _ in KEPT} == wanted
    assert all(text.startswith("CYPHER replan=skip\n") for _, text in KEPT)


def test_a_dispute_waits_for_no_plan_of_the_whole_commit() -> None:
    usual, whole = load_queries("neo4j")["commit_decisions"].statements
    assert len(usual.text) < len(whole.text) / 2
    assert usual.applies({"contacts": [{"commits": [{"conflicting_ids": ["one"]}]}]})


def test_a_kept_plan_made_for_an_empty_store_starts_from_keys(
    neo4j_engine: EngineUnderTest,
) -> None:
    with closing(opened(neo4j_engine)) as graph:
        graph.migrate(16)
    server = neo4j_engine.settings_arguments["neo4j"]
    account = (server["username"], server["password"])
    with (
        neo4j.GraphDatabase.driver(server["uri"], auth=account) as driver,
        driver.session(database=server["database"]) as session,
    ):
        for query, text in KEPT:
            asked = _in_one_row(_of_one_map(text, query.loop), query.returns)
            plan = session.run(f"EXPLAIN {asked}", given={}).consume().plan
            steps = list(_steps(plan))
            assert any("Seek" in step for step in steps)
            assert not [step for step in steps if "Scan" in step], query.name


def _steps(step: Any) -> Iterator[str]:
    yield step["operatorType"]
    for child in step.get("children", []):
        yield from _steps(child)
