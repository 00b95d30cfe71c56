"""What is said again and again: one link a turn, and all of it is shown wherever evidence is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler import Decision, Memory, ops
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.engines import EngineUnderTest, embedded_engine

PRIYA = ("crm", "priya")
TIMES = 6
LINKS = (
    "MATCH (fact:Fact)-[:EVIDENCED_BY]->(episode:Episode) RETURN fact.fact_id, episode.episode_id"
)


@pytest.fixture
def memory(kept_engine: EngineUnderTest) -> Iterator[Memory]:
    with Memory.open(embedder=HashingEmbedder(16), **kept_engine.settings_arguments) as memory:
        yield memory


@pytest.fixture
def made(memory: Memory) -> list[Decision]:
    """One thing, said six times; the first time it takes the place of another."""
    memory.add_contact_note(*PRIYA, "Lives in Goa.", attribute="city", value="Goa")
    slot = {"attribute": "city", "value": "Pune"}
    return [
        memory.add_contact_note(*PRIYA, f"Lives in Pune{'!' * n}", **slot) for n in range(TIMES)
    ]


def links(engine: EngineUnderTest) -> set[tuple[str, str]]:
    return {(fact_id, episode_id) for fact_id, episode_id in raw_store.query(engine, LINKS)}


def own(made: list[Decision]) -> set[tuple[str, str]]:
    return {(str(each.fact_id), each.episode_id) for each in made}


def resting(memory: Memory, of: Decision) -> list[str]:
    return [turn.episode_id for turn in memory.contact(*PRIYA).evidence(str(of.fact_id)).turns]


@pytest.mark.on_neo4j_too
def test_each_turn_has_one_link_and_is_evidence_of_all_that_say_it_again(
    memory: Memory, made: list[Decision], kept_engine: EngineUnderTest
) -> None:
    assert len(links(kept_engine)) == 1 + TIMES
    for place, each in enumerate(made, start=1):
        assert set(resting(memory, each)) == {one.episode_id for one in made[:place]}


def test_pages_show_every_turn_where_the_newest_is_and_none_three_times(
    memory: Memory, made: list[Decision], tmp_path: Path
) -> None:
    page = ops.contact_page(memory.contact(*PRIYA))
    known, _, before = page.partition("Former facts")
    turns = before.partition("Decisions, newest")[0].count("<blockquote>")
    assert (known.count("<blockquote>"), turns) == (TIMES, TIMES)
    report = ops.report(memory.contact(*PRIYA))
    assert report.count(f"{TIMES} turns of evidence") == 1
    assert report.count("1 turn of evidence") == TIMES


def test_an_export_has_a_line_for_each_turn_and_restores_all_of_it(
    memory: Memory, made: list[Decision], tmp_path: Path
) -> None:
    report = ops.export(memory, tmp_path / "all.jsonl", vectors=True)
    assert report.links["EVIDENCED_BY"] == 1 + TIMES
    target = embedded_engine(tmp_path / "target").settings_arguments
    ops.restore(tmp_path / "all.jsonl", embedder=HashingEmbedder(16), **target)
    with Memory.open(embedder=HashingEmbedder(16), **target) as restored:
        assert resting(restored, made[-1]) == resting(memory, made[-1])
