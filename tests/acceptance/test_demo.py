"""The demo: told day by day, judged by recorded answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from reconciler import Decision, Memory
from reconciler.adapters.model_arbiter import RecordedArbiter
from reconciler.domain.records.decisions import Judgement
from reconciler.entrypoints.demo import DEMO_AGENT, _lines_of, first_day, run_demo

NEVER_LEFT_BESIDE = (
    ("Needs SSO", "Needs single sign-on"),
    ("head of procurement at Lusitania", "head of procurement at Atlântico"),
    ("two competitors", "one competitor"),
    ("two children", "three children"),
    ("Would like a demo of the reporting", "Has seen the demo of the reporting"),
)


class Shown:
    """A run of the demo: what it printed, its decisions, and its judge's answers."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answered: list[Judgement] = []
        judge = RecordedArbiter.judge

        def watched(given: RecordedArbiter, *asked: Any) -> Judgement:
            self.answered.append(judge(given, *asked))
            return self.answered[-1]

        monkeypatch.setattr(RecordedArbiter, "judge", watched)
        console = Console(width=200, record=True, file=StringIO())
        self.decisions: list[Decision] = run_demo(console, path)
        self.text = console.export_text()
        self.path = path


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    with pytest.MonkeyPatch.context() as patch:
        path = tmp_path_factory.mktemp("demo") / "memory.lbug"
        yield Shown(path, patch)


def live_texts(path: Path) -> str:
    with Memory.open(embedded_path=path) as memory:
        return "\n".join(
            hit.fact.text
            for contact in memory.agent(DEMO_AGENT).contacts()
            for hit in memory.contact(DEMO_AGENT, contact.contact_id).recall(limit=100)
        )


def test_every_question_has_a_recorded_answer_and_every_answer_its_question(judged: Shown) -> None:
    assert not any(decision.opinion.error for decision in judged.decisions)
    recorded = {json.loads(line)["answer"]["reasoning"] for line in _lines_of("demo_answers.jsonl")}
    assert {answer.reasoning for answer in judged.answered} == recorded
    assert "recorded: a language model gave them once" in judged.text


def test_the_last_screen_holds_no_two_facts_that_a_reader_would_reconcile(judged: Shown) -> None:
    live = live_texts(judged.path)
    for one, other in NEVER_LEFT_BESIDE:
        assert (one in live) != (other in live)


def test_a_dispute_is_shown_once_with_both_sides_and_its_question(judged: Shown) -> None:
    shown = judged.text.partition("both facts stay until a person answers")[2]
    assert shown.count("Which one holds:") == 1
    for side in ("raised to 55,000 euros", "is 60,000 euros"):
        assert side in shown
    with Memory.open(embedded_path=judged.path) as memory:
        assert len(memory.agent(DEMO_AGENT).disputes()) == 1


def test_each_note_is_told_at_its_own_time(judged: Shown) -> None:
    days = [decision.at.date() for decision in judged.decisions]
    assert days == sorted(days)
    assert days[0] == first_day() + timedelta(days=1)
    assert days[-1] == first_day() + timedelta(days=38)
    moved = next(each for each in judged.decisions if each.text.startswith("Moved from Pune"))
    with Memory.open(embedded_path=judged.path) as memory:
        priya = memory.contact(DEMO_AGENT, "priya")
        before = [chain.facts[0].text for chain in priya.history(at=moved.at - timedelta(days=1))]
        assert "She lives in Pune" in before
