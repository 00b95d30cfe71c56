"""Values told with their starts, and some with their ends, in any order: one value at each time."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from itertools import chain, permutations

import pytest

from reconciler import Memory
from reconciler.domain.records.candidates import Turn
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction
from reconciler.reading.kinds import Category
from reconciler.testing import HashingEmbedder, ScriptedExtractor
from tests.engines import EngineUnderTest

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
Move = tuple[str, int, int | None]  # where, from which month, until which one
Tell = Callable[[Memory, str, Move], None]

MOVES: list[tuple[list[Move], dict[int, str]]] = [
    (
        [("Berlin", 1, None), ("London", 3, None), ("Oslo", 6, None)],
        {2: "Berlin", 4: "London", 7: "Oslo"},
    ),
    ([("Berlin", 1, None), ("London", 3, 6), ("Oslo", 6, None)], {4: "London", 7: "Oslo"}),
    (
        [("Berlin", 1, None), ("London", 3, 5), ("Oslo", 6, None)],
        {4: "London", 5: "Berlin", 7: "Oslo"},
    ),
    ([("Berlin", 1, 3), ("London", 3, None), ("Oslo", 6, None)], {2: "Berlin", 4: "London"}),
    ([("Berlin", 1, 3), ("London", 3, 6), ("Oslo", 6, None)], {2: "Berlin", 4: "London"}),
]


def noted(memory: Memory, contact: str, move: Move) -> None:
    city, begins, ends = move
    memory.contact("crm", contact).note(
        f"Lives in {city}.",
        attribute="city",
        value=city,
        valid_from=datetime(2026, begins, 1, tzinfo=UTC),
        valid_to=datetime(2026, ends, 1, tzinfo=UTC) if ends else None,
    )


def imported(memory: Memory, contact: str, move: Move) -> None:
    city, begins, ends = move
    line = {
        "agent_id": "crm",
        "contact_id": contact,
        "text": f"Lives in {city}.",
        "attribute": "city",
        "value": city,
        "valid_from": datetime(2026, begins, 1, tzinfo=UTC).isoformat(),
        "valid_to": datetime(2026, ends, 1, tzinfo=UTC).isoformat() if ends else None,
    }
    memory.import_notes([json.dumps(line)])


def handed_over(memory: Memory, contact: str, move: Move) -> None:
    turn = Turn(role="contact", text=said(move), said_at=NOW)
    memory.contact("crm", contact).submit_session(None, [turn])
    memory.drain()


def said(move: Move) -> str:
    city, begins, ends = move
    until = f" until 1 {date(2026, ends, 1):%B} 2026" if ends else ""
    return f"From 1 {date(2026, begins, 1):%B} 2026{until} my city is {city}."


def claim(move: Move) -> Extracted:
    city, begins, ends = move
    return Extracted(
        text=f"Lives in {city}.",
        category=Category.FACT,
        importance=0.6,
        confidence=0.95,
        citations=(Citation(episode=1, span=said(move)),),
        attribute="city",
        value=city,
        valid_from=date(2026, begins, 1),
        valid_to=date(2026, ends, 1) if ends else None,
    )


@pytest.mark.on_neo4j_too
@pytest.mark.parametrize(
    ("tell", "moves", "then"),
    [
        *((noted, *told) for told in MOVES),
        *((imported, *told) for told in MOVES),
        # A session's words with an end in the past are in dispute with a lasting value.
        *((handed_over, *told) for told in (MOVES[0], *MOVES[3:])),
    ],
)
def test_values_told_in_any_order_hold_one_at_a_time(
    tell: Tell, any_engine: EngineUnderTest, moves: list[Move], then: dict[int, str]
) -> None:
    orders = list(permutations(moves))
    answers = [Extraction(candidates=(claim(move),), summary="") for move in chain(*orders)]
    with Memory.open(
        **any_engine.settings_arguments,
        embedder=HashingEmbedder(),
        extractor=ScriptedExtractor(answers),
        clock=lambda: NOW,
    ) as memory:
        for number, order in enumerate(orders):
            ana = memory.contact("crm", f"ana {number}")
            for move in order:
                tell(memory, f"ana {number}", move)
            for month, city in then.items():
                recalled = ana.recall(valid_at=datetime(2026, month, 15, tzinfo=UTC))
                assert [hit.fact.text for hit in recalled] == [f"Lives in {city}."], order
            assert [value.value for value in ana.value("city")] == ["Oslo"], order
