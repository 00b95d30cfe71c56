"""What a write costs the embedded engine: its statements, and the columns of what it creates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory
from reconciler.adapters import embedded_graph
from reconciler.adapters.embedded_graph import EmbeddedGraph
from reconciler.adapters.embedded_plans import PlanningConnection
from reconciler.errors import QueryError
from reconciler.ports.graph import Row
from reconciler.queries import load_migrations, newest_schema_version, parse_query
from reconciler.resources import resource_path
from reconciler.testing import HashingEmbedder

SAID_LATER = {"correction", "corrected_at"}
BROKEN = "// mode: write\n// params:\n// returns:\nCREATE (:NoSuchTable)"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that the engine is sent."""
    texts: list[str] = []
    rows = PlanningConnection.rows

    def noted(
        self: PlanningConnection, text: str, given: Mapping[str, Any] | None = None
    ) -> list[Row]:
        texts.append(text)
        return rows(self, text, given)

    monkeypatch.setattr(PlanningConnection, "rows", noted)
    return texts


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[EmbeddedGraph]:
    """A store without a schema."""
    with closing(EmbeddedGraph(tmp_path / "memory.lbug")) as graph:
        yield graph


def columns(graph: EmbeddedGraph, table: str) -> set[str]:
    with graph._writer() as connection:
        rows = connection.rows(f"CALL table_info('{table}') RETURN name")
    return {row["name"] for row in rows}


def tables(graph: EmbeddedGraph) -> list[Row]:
    with graph._writer() as connection:
        return connection.rows("CALL show_tables() RETURN name")


def test_a_note_in_a_known_session_is_six_statements_however_many_it_is_compared_with(
    sent: list[str], tmp_path: Path
) -> None:
    embedder = HashingEmbedder()
    with Memory.open(embedder=embedder, graph="embedded", embedded_path=tmp_path / "m") as memory:
        for number in range(6):
            memory.add_contact_note("crm", "priya", f"Invoice {number} was paid by {number + 7}")
        sent.clear()
        decision = memory.add_contact_note("crm", "priya", "Lives in Pune")
        [kept] = memory.decisions("crm", "priya", limit=1)
    assert kept.compared_with == decision.compared_with
    assert [each.rank for each in kept.compared_with] == [1, 2, 3, 4, 5]
    written = sent[: sent.index("COMMIT") + 1]
    assert [text.split()[0] for text in written] == ["BEGIN", *["MATCH"] * 4, "COMMIT"]


def test_a_decision_has_no_column_that_nothing_writes(graph: EmbeddedGraph) -> None:
    graph.migrate(8)
    written = (resource_path("cypher") / "fields" / "decision.txt").read_text().split()
    assert columns(graph, "Decision") == {*written, *SAID_LATER}


def test_a_migration_that_fails_leaves_the_store_as_it_was(
    graph: EmbeddedGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    *earlier, last = load_migrations("embedded")
    broken = replace(last, statements=(*last.statements, *parse_query("broken", BROKEN).statements))
    with monkeypatch.context() as patched:
        patched.setattr(embedded_graph, "load_migrations", lambda _: (*earlier, broken))
        with pytest.raises(QueryError, match="NoSuchTable"):
            graph.migrate(8)
    assert (graph.schema_version(), tables(graph)) == (0, [])
    assert graph.migrate(8) == newest_schema_version("embedded")
