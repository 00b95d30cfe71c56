"""What a language model's recorded answers to the shipped prompt make of pairs of notes.

The pairs and the whole answers stand in ``tests/recordings``. A prompt, a schema or a question that
changes has no recording, and says so here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.kinds import Action
from tests.recordings import FOLDER, RecordedJudge, read_answers

BEGAN = datetime(2026, 1, 1, 9, tzinfo=UTC)
ANSWERS = FOLDER / "judge.jsonl"
PAIRS = [
    json.loads(line) for line in (FOLDER / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.fixture(scope="module")
def judge() -> RecordedJudge:
    return RecordedJudge(ANSWERS)


@pytest.fixture(scope="module")
def memory(judge: RecordedJudge, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path: Path = tmp_path_factory.mktemp("judged") / "memory.lbug"
    with Memory.open(embedded_path=path, arbiter=judge, clock=lambda: BEGAN) as memory:
        yield memory


def told(memory: Memory, pair: dict[str, Any]) -> Decision:
    contact = ("crm", f"contact-{PAIRS.index(pair)}")
    memory.add_contact_note(*contact, pair["fact"], said_at=BEGAN - timedelta(days=2))
    return memory.add_contact_note(*contact, pair["note"], said_at=BEGAN - timedelta(days=1))


def became(decision: Decision) -> str:
    if decision.superseded_ids and decision.action is Action.UPDATE:
        says_same = decision.opinion.relation in ("same", "refines")
        return "said again" if says_same or "says again" in decision.reason else "ended"
    return "said again" if decision.action is Action.SKIP else "kept"


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["note"][:40])
def test_what_a_model_read_of_two_notes_becomes_of_them(
    memory: Memory, judge: RecordedJudge, pair: dict[str, Any]
) -> None:
    decision = told(memory, pair)
    assert judge.missing == {}, "a question has no recorded answer: record it again"
    assert became(decision) == pair["became"], decision.reason


def test_every_recording_answers_the_prompt_of_today(judge: RecordedJudge, memory: Memory) -> None:
    for pair in PAIRS:
        if not memory.contact("crm", f"contact-{PAIRS.index(pair)}").recall():
            told(memory, pair)
    assert read_answers(ANSWERS).keys() <= judge.used
