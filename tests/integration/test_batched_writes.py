"""Notes that are written together are decided as one after the other would have been."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory
from reconciler.adapters.embedded_graph import EmbeddedGraph
from reconciler.errors import GraphConflictError, GraphError, GraphUnavailableError
from reconciler.ports.graph import Row
from reconciler.service.stores.commits import Commit
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest, embedded_engine

Note = dict[str, Any]


def lives(value: str, **given: Any) -> Note:
    slot = {"attribute": "city", "value": value, "single_valued": True}
    return {"text": f"Lives in {value}.", **slot, **given}


CONVERSATIONS: dict[str, list[Note]] = {
    "to and fro": [lives("Pune"), lives("Goa"), lives("Pune"), lives("Goa")],
    "to and fro by way of a restatement": [
        lives("Pune"),
        lives("Goa"),
        lives("Goa", text="Goa is home."),
        lives("Pune", text="Home is Pune."),
    ],
    "said again": [{"text": "Prefers email"}] * 5,
    "less trusted": [
        lives("Pune"),
        lives("Goa", source_kind="approved_doc"),
        lives("Pune", source_kind="approved_doc", text="Pune is home."),
        lives("Goa", source_kind="operator"),
        lives("Goa"),
    ],
    "in any order of time": [
        lives("Pune", said_at="2025-03-09T12:00:00+00:00"),
        lives("Goa", said_at="2025-03-07T12:00:00+00:00"),
        lives("Pune", said_at="2025-03-08T12:00:00+00:00"),
        {"text": "Prefers email", "said_at": "2025-03-09T12:00:00+00:00"},
        {"text": "Prefers email", "said_at": "2025-03-08T12:00:00+00:00"},
    ],
    "refused and held in between": [
        lives("Pune"),
        {"text": "thanks a lot"},
        {"text": "Prefers tea", "source_kind": "tool_output"},
        lives("Goa"),
        {"text": "Prefers email"},
    ],
}


@pytest.mark.parametrize("said", CONVERSATIONS.values(), ids=CONVERSATIONS)
def test_an_import_leaves_what_its_notes_one_by_one_would(
    one_of_each: EngineUnderTest, said: list[Note]
) -> None:
    with Memory.open(embedder=HashingEmbedder(), **one_of_each.settings_arguments) as memory:
        for note in said:
            at = note.get("said_at")
            dated = {"said_at": datetime.fromisoformat(at)} if at else {}
            memory.add_contact_note("crm", "singly", **note | dated)
        lines = map(json.dumps, said)
        memory.import_notes(lines, agent_id="crm", contact_id="together")
        assert left(memory, "together") == left(memory, "singly")


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Of every commit, the contacts of its decisions."""
    made: list[list[str]] = []
    commit_decisions = DecisionStore.commit_decisions

    def recorded(store: DecisionStore, commits: Sequence[Commit]) -> set[str]:
        made.append([commit.decision.scope.contact_id for commit in commits])
        return commit_decisions(store, commits)

    monkeypatch.setattr(DecisionStore, "commit_decisions", recorded)
    return made


def imported(folder: Path, notes: Iterable[Note]) -> None:
    settings = {"graph": "embedded", "embedded_path": folder / "memory.lbug"}
    with Memory.open(embedder=HashingEmbedder(), **settings) as memory:
        report = memory.import_notes(map(json.dumps, notes), agent_id="crm")
    assert not report.errors


def test_notes_of_one_contact_are_written_together_however_they_are_mixed(
    tmp_path: Path, commits: list[list[str]]
) -> None:
    imported(
        tmp_path,
        ({"contact_id": f"c{n % 10}", "text": f"Owns boat {n}"} for n in range(100)),
    )
    looks = [contact for commit in commits for contact in set(commit)]
    assert sorted(looks) == sorted(f"c{n}" for n in range(10))


def test_a_note_that_is_only_recorded_leaves_the_others_together(
    tmp_path: Path, commits: list[list[str]]
) -> None:
    said = [
        {"text": "Prefers tea"},
        {"text": "Owns a boat", "source_kind": "tool_output"},
        {"text": "Lives in Pune"},
    ]
    imported(tmp_path, ({"contact_id": f"c{n}", **note} for n in range(20) for note in said))
    assert sorted(map(len, commits)) == [*[1] * 20, 20, 20]


def test_contacts_that_are_mixed_are_told_in_their_own_order(tmp_path: Path) -> None:
    values = ("Pune", "Goa", "Delhi", "Agra")
    notes = [{"contact_id": f"c{n}", **lives(value)} for value in values for n in range(10)]
    settings = {"graph": "embedded", "embedded_path": tmp_path / "memory.lbug"}
    with Memory.open(embedder=HashingEmbedder(), **settings) as memory:
        memory.import_notes(map(json.dumps, notes), agent_id="crm")
        for n in range(10):
            [chain] = memory.contact("crm", f"c{n}").history()
            said = [fact.slot.value for fact in chain.facts if fact.slot]
            assert sorted((said, said[::-1])) == sorted((list(values), list(values)[::-1]))
            assert [fact.text for fact in chain.facts if fact.is_live] == ["Lives in Agra."]


def left(memory: Memory, contact_id: str) -> dict[str, Any]:
    """All that is kept about a contact, by its words instead of its ids."""
    decisions = memory.contact("crm", contact_id).decisions(limit=99)
    histories = memory.contact("crm", contact_id).history()
    texts = {fact.fact_id: fact.text for chain in histories for fact in chain.facts}
    return {
        "decisions": sorted(
            [
                each.text,
                each.action,
                each.decided_by,
                each.verdict.is_contested,
                sorted(texts[fact_id] for fact_id in each.superseded_ids),
                sorted(texts[fact_id] for fact_id in each.conflicting_ids),
            ]
            for each in decisions
        ),
        "histories": sorted(
            (
                [
                    (fact.text, fact.observations, fact.is_live, fact.is_contested)
                    for fact in chain.facts
                ],
                len(chain.conflicts),
            )
            for chain in histories
        ),
    }


@pytest.mark.parametrize("error", [GraphUnavailableError("away"), GraphConflictError("a deadlock")])
def test_an_import_goes_on_after_a_look_that_failed_for_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: GraphError
) -> None:
    run, errors = EmbeddedGraph.run, [error]

    def disturbed(graph: EmbeddedGraph, name: str, parameters: Mapping[str, Any]) -> list[Row]:
        if name == "list_neighbourhood" and errors:
            raise errors.pop()
        return run(graph, name, parameters)

    monkeypatch.setattr(EmbeddedGraph, "run", disturbed)
    arguments = embedded_engine(tmp_path).settings_arguments
    line = json.dumps(lives("Pune") | {"agent_id": "crm", "contact_id": "alice"})
    with Memory.open(embedder=HashingEmbedder(), **arguments) as memory:
        assert not memory.import_notes([line]).errors
        assert [each.fact.text for each in memory.contact("crm", "alice").recall()] == [
            "Lives in Pune."
        ]
    assert not errors
