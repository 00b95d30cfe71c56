"""What Neo4j Browser captions nodes by, and colours them by: readable, and as things stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import neo4j
import pytest

from reconciler import Memory, Turn, ops
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest, embedded_engine

AGENT, PRIYA = "crm", "priya"
UNREADABLE = re.compile(r"user_ex|^seed$|^true$|^false$|^[0-9a-f-]{20,}$")
"""Bad captions of a node: a word of the code, or an id."""

CAPTIONED = ["Agent", "Contact", "Session", "Episode", "Fact", "Decision", "Job"]
ENDS = {"expired", "archived", "superseded", "revoked", "erased"}
LONG = "Her office is on the fourth floor of the old mill by the river, behind the second gate."

Nodes = dict[str, list[tuple[set[str], dict[str, Any]]]]


@pytest.fixture
def memory(one_neo4j: EngineUnderTest) -> Iterator[Memory]:
    with Memory.open(embedder=HashingEmbedder(), **one_neo4j.settings_arguments) as memory:
        yield memory


@contextmanager
def session_of(engine: EngineUnderTest) -> Iterator[neo4j.Session]:
    server = engine.settings_arguments["neo4j"]
    with (
        neo4j.GraphDatabase.driver(
            server["uri"], auth=(server["username"], server["password"])
        ) as driver,
        driver.session(database=server["database"]) as session,
    ):
        yield session


def nodes(engine: EngineUnderTest) -> Nodes:
    found: Nodes = {label: [] for label in CAPTIONED}
    with session_of(engine) as session:
        for [node] in session.run("MATCH (node) RETURN node").values():
            for label in node.labels & set(CAPTIONED):
                found[label].append((set(node.labels), dict(node)))
    return found


def cosines(engine: EngineUnderTest) -> list[tuple[str, Any, Any]]:
    """Each relationship that has a cosine: its type, that cosine, and what it is captioned by."""
    with session_of(engine) as session:
        asked = "MATCH ()-[r]->() WHERE r.cosine IS NOT NULL RETURN type(r), r.cosine, r.title"
        return sorted(tuple(row) for row in session.run(asked).values())


def check_cosines(found: list[tuple[str, Any, Any]]) -> None:
    """Four digits are shown; what a decision was compared with keeps the exact one for a replay."""
    compared = [(exact, title) for kind, exact, title in found if kind == "COMPARED_WITH"]
    superseded = [cosine for kind, cosine, _ in found if kind == "SUPERSEDES"]
    assert [title for _, title in compared] == [str(round(exact, 4)) for exact, _ in compared]
    assert any(exact != round(exact, 4) for exact, _ in compared)
    assert superseded == [round(cosine, 4) for cosine in superseded] != []


def lives_in(memory: Memory, city: str, **given: Any) -> str:
    decision = memory.add_contact_note(
        AGENT, PRIYA, f"Lives in {city}.", attribute="city", value=city, **given
    )
    assert decision.fact_id
    return decision.fact_id


def fill(memory: Memory) -> None:
    """A fact of each state that a Browser may show, and all that hangs on them."""
    lives_in(memory, "Pune", contact_name="Priya Rao")
    lives_in(memory, "Delhi")
    memory.add_contact_note(AGENT, PRIYA, LONG)
    memory.add_contact_note(AGENT, PRIYA, "ok thanks")
    tea = memory.add_contact_note(AGENT, PRIYA, "Likes green tea.").fact_id
    memory.contact(AGENT, PRIYA).revoke(tea, by="anna", reason="She never said so.")
    rowing = memory.add_contact_note(AGENT, PRIYA, "Rows on the river every Sunday.").fact_id
    memory.contact(AGENT, PRIYA).forget(fact_id=rowing, by="contact", reason="I asked for it.")
    turns = [Turn(role="contact", text="Remember that I only take calls after 5 pm. " + LONG)]
    memory.contact(AGENT, PRIYA).submit_session("chat-17", turns)
    memory.drain()


def test_every_node_has_a_caption_that_can_be_read(
    memory: Memory, one_neo4j: EngineUnderTest
) -> None:
    fill(memory)
    check_captions(nodes(one_neo4j))
    check_cosines(cosines(one_neo4j))


def check_captions(found: Nodes) -> None:
    for label, held in found.items():
        assert held, label
        for _, node in held:
            caption = node.get("name") or node.get("title")
            assert caption, (label, node)
            assert not UNREADABLE.search(caption), (label, caption)
            assert len(caption) <= 60, (label, caption)
    names = {node["name"] for _, node in found["Fact"]}
    assert {"Lives in Delhi.", "[erased]", LONG[:59] + "…"} <= names
    assert any(node["title"].startswith("UPDATE by slot ") for _, node in found["Decision"])
    assert "chat-17" in {node["title"] for _, node in found["Session"]}


def test_a_fact_wears_the_label_of_how_it_ended(memory: Memory, one_neo4j: EngineUnderTest) -> None:
    fill(memory)
    before = {node["fact_id"]: node["state"] for _, node in nodes(one_neo4j)["Fact"]}
    assert set(before.values()) == {"live", "superseded", "revoked", "erased"}
    check_labels(one_neo4j)


def test_what_holds_again_wears_no_label_of_an_end(
    memory: Memory, one_neo4j: EngineUnderTest
) -> None:
    pune = lives_in(memory, "Pune")
    memory.add_contact_note(AGENT, PRIYA, "Likes green tea.")
    moved = memory.add_contact_note(
        AGENT, PRIYA, "Lives in Delhi.", attribute="city", value="Delhi"
    )
    memory.contact(AGENT, PRIYA).revert(
        moved.decision_id, by="operator:anna", reason="Wrong contact."
    )
    assert {pune: "live"}.items() <= {
        node["fact_id"]: node["state"] for _, node in nodes(one_neo4j)["Fact"]
    }.items()
    check_labels(one_neo4j)


def check_labels(engine: EngineUnderTest) -> None:
    for labels, node in nodes(engine)["Fact"]:
        ended = {label.lower() for label in labels} & ENDS
        assert ended == {node["state"]} - {"live"}, node


def test_a_restored_memory_has_them_too(
    memory: Memory, one_neo4j: EngineUnderTest, tmp_path: Path
) -> None:
    memory.close()
    embedded = embedded_engine(tmp_path).settings_arguments
    with Memory.open(embedder=HashingEmbedder(), **embedded) as source:
        fill(source)
        ops.export(source, tmp_path / "out.jsonl", vectors=True)
    ops.restore(tmp_path / "out.jsonl", embedder=HashingEmbedder(), **one_neo4j.settings_arguments)
    check_captions(nodes(one_neo4j))
    check_labels(one_neo4j)
    check_cosines(cosines(one_neo4j))
