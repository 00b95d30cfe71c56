"""What a cluster of Neo4j needs of us, seen in what is sent to a single server as to a cluster.

Community has no clustering, so no follower answers here. That a read carries the bookmark of the
write before it, and says that it only reads, is what makes a follower answer it, and answer right.
"""

from __future__ import annotations

import ast
import base64
import logging
import re
from contextlib import closing
from typing import Any

import pytest

from reconciler import Memory
from reconciler.adapters.neo4j_graph import Neo4jGraph, open_graph
from reconciler.errors import GraphUnavailableError
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest

VALUE = r"(?:'[^']*'|\[[^]]*\]|\{[^}]*\}|\d+)"
RUN = re.compile(rf"C: RUN .* (\{{(?:'[a-z_]+': {VALUE}(?:, )?)+\}})$", re.DOTALL)
BOOKMARK = re.compile(r"S: SUCCESS \{.*'bookmark': '([^']+)'", re.DOTALL)


class Wire:
    """What the driver says that it sent and was sent."""

    def __init__(self, log: pytest.LogCaptureFixture) -> None:
        self._log = log
        log.set_level(logging.DEBUG, "neo4j")

    def forget(self) -> None:
        self._log.clear()

    def ran(self) -> list[dict[str, Any]]:
        """What came with each statement: bookmarks, access mode, database."""
        found = (RUN.search(text) for text in self._log.messages)
        return [ast.literal_eval(each[1]) for each in found if each]

    def given(self) -> list[str]:
        """The bookmarks that the server gave."""
        found = (BOOKMARK.search(text) for text in self._log.messages)
        return [each[1] for each in found if each]

    def asked_for_routes(self) -> bool:
        return any("C: ROUTE" in text for text in self._log.messages)


@pytest.fixture
def wire(caplog: pytest.LogCaptureFixture) -> Wire:
    return Wire(caplog)


def opened(engine: EngineUnderTest) -> Memory:
    return Memory.open(embedder=HashingEmbedder(), **engine.settings_arguments)


def test_a_recall_waits_for_the_write_before_it(one_neo4j: EngineUnderTest, wire: Wire) -> None:
    with opened(one_neo4j) as memory:
        memory.add_contact_note("crm", "priya", "Lives in Pune.")
        written = wire.given()[-1]
        wire.forget()
        memory.contact("crm", "priya").recall("Where does she live?")
        assert wire.ran()[0]["bookmarks"] == [written]


def test_a_recall_may_be_answered_by_a_follower(one_neo4j: EngineUnderTest, wire: Wire) -> None:
    with opened(one_neo4j) as memory:
        memory.add_contact_note("crm", "priya", "Lives in Pune.")
        wire.forget()
        memory.contact("crm", "priya").recall("Where does she live?")
        assert wire.ran()[0]["mode"] == "r"


def test_a_write_goes_to_the_leader(one_neo4j: EngineUnderTest, wire: Wire) -> None:
    with opened(one_neo4j) as memory:
        wire.forget()
        memory.add_contact_note("crm", "priya", "Lives in Pune.")
        assert "mode" not in wire.ran()[-1]  # what says nothing writes


def test_who_came_second_looks_no_further_back_than_what_stood_in_the_way(
    one_neo4j: EngineUnderTest, wire: Wire
) -> None:
    with opened(one_neo4j) as first, opened(one_neo4j) as second:
        second.add_contact_note("crm", "priya", "Lives in Pune.")
        first.add_contact_note("crm", "priya", "Has a dog.")
        stood_in_the_way = wire.given()[-1]
        wire.forget()
        second.add_contact_note("crm", "priya", "Plays chess.")
        lost_at = next(i for i, each in enumerate(wire.ran()) if "mode" not in each)
        looked_again = wire.ran()[lost_at + 1]
    assert looked_again["mode"] == "r"
    assert _transaction(looked_again["bookmarks"][0]) >= _transaction(stood_in_the_way)


def test_a_database_of_the_routing_scheme_is_found_by_its_routing_table(
    one_neo4j: EngineUnderTest, wire: Wire
) -> None:
    uri = one_neo4j.settings_arguments["neo4j"]["uri"].replace("bolt", "neo4j")
    with closing(_graph(one_neo4j, uri=uri)) as graph:
        graph.schema_version()
    assert wire.asked_for_routes()


@pytest.mark.faults(only=True)
def test_a_follower_that_lags_behind_counts_as_away_and_not_as_another_writer(
    one_neo4j: EngineUnderTest, wire: Wire
) -> None:
    with closing(_graph(one_neo4j, query_timeout_seconds=180.0)) as graph:
        graph.schema_version()
        graph._bookmarks.update_bookmarks([], [_of_the_future(wire.given()[-1])])
        with pytest.raises(GraphUnavailableError, match="does not have the last writes"):
            graph.schema_version()


def _graph(engine: EngineUnderTest, **instead: object) -> Neo4jGraph:
    given = engine.settings_arguments
    return open_graph(load_settings(**given | {"neo4j": given["neo4j"] | instead}))


def _raw(bookmark: str) -> bytes:
    return base64.b64decode(bookmark.partition(":")[2] + "==")


_KNOWN_PART = 19
"""Bytes before the number of the transaction, of one database: a list, the database's id."""


def _transaction(bookmark: str) -> int:
    """The number of the transaction, a PackStream integer of any length."""
    number = _raw(bookmark)[_KNOWN_PART:-1]
    return int.from_bytes(number if len(number) == 1 else number[1:])


def _of_the_future(bookmark: str) -> str:
    forged = _raw(bookmark)[:_KNOWN_PART] + b"\xca\x7f\xff\xff\xff\x90"
    return f"FB:{base64.b64encode(forged).decode()}"
