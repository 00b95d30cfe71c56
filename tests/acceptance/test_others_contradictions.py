"""The contradiction test of the agent-memory-atlas: six shapes, six columns, default settings.

Source: neoneye/agent-memory-atlas, content/benchmarks.md, section 7. The sentences are our own, and
were not changed after the first run. What each column means and what does not hold is in
``docs/others_tests.md``: its table is what is expected here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory, Turn, as_prompt, ops
from reconciler.settings import load_settings
from tests.clocks import Clock
from tests.documents import ROOT
from tests.engines import embedded_engine
from tests.portable_checks import ADA

FIRST = datetime(2026, 3, 1, 9, tzinfo=UTC)
COLUMNS = ("answer", "prompt", "later", "re-entry", "history", "derived")
DISPUTED = re.compile(r"^- \[[^\]]*disputed: see ")
QUALIFIED = re.compile(r"^- \[[^\]]*(disputed: see|may have changed)| until ")
ASKS = ("- Which one holds: ", "- On ")
"""How a line begins that asks the contact, and says nothing as a fact."""


@dataclass(frozen=True)
class Shape:
    """A contradiction.

    Attributes:
        first, then: what is said on day 1, and later.
        question: what is asked.
        old, new: the words of a line that says the one or the other; no new words if nothing is
            said in the place of the old.
        asked_at: when the old value held, if that is not what was believed on day 2.
        told: other fields of both notes.
    """

    first: str
    then: str
    question: str
    old: str
    new: str
    asked_at: datetime | None = None
    told: tuple[tuple[str, Any], ...] = ()


SHAPES = {
    "replacement": Shape(
        "I live in Leeds.", "I moved to Porto.", "Where do I live?", "Leeds", "Porto"
    ),
    "polarity": Shape(
        "I love olives.",
        "I can't stand olives any more.",
        "Do I like olives?",
        "love",
        "can't stand",
    ),
    "retraction": Shape(
        "My brother is a pilot.",
        "I misspoke, I don't have a brother.",
        "What does my brother do?",
        "pilot",
        "",
    ),
    "part": Shape(
        "I'm a nurse at Mercy Hospital.",
        "I got promoted to ward manager.",
        "What is my job?",
        "nurse",
        "ward manager",
    ),
    "bounded time": Shape(
        "I sang in a choir for ten years.",
        "I left the choir in 2024.",
        "Do I sing in a choir?",
        "sang in a choir",
        "left the choir",
        asked_at=datetime(2022, 6, 1, tzinfo=UTC),
    ),
    "equal weight": Shape(
        "I live in Leeds.",
        "I live in Porto.",
        "Where do I live?",
        "Leeds",
        "Porto",
        told=(("source_kind", "approved_doc"), ("said_at", FIRST)),
    ),
}
GAPS_DAYS = (2, 200)


def expected() -> dict[str, list[str]]:
    """The rows of the page's table, by shape."""
    page = (ROOT / "docs" / "others_tests.md").read_text("utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()]
    return {row[0]: row[1:] for row in rows if row[0].partition(",")[0] in SHAPES}


@pytest.mark.parametrize("days", GAPS_DAYS)
@pytest.mark.parametrize("name", SHAPES)
def test_a_contradiction_is_settled_as_the_page_says(name: str, days: int, tmp_path: Path) -> None:
    shape, clock = SHAPES[name], Clock(FIRST)
    with opened(tmp_path / "first", clock) as memory:
        ada = memory.contact(**ADA)
        ada.note(shape.first, **dict(shape.told))
        assert shape.old in str(given(memory, shape))
        clock.pass_days(days)
        ada.note(shape.then, **dict(shape.told))
        clock.pass_days(days)
        answer, prompt = marks(given(memory, shape), name)
        memory.drain()
        list(ada.rejudge())
        memory.agent("crm").archive()
        ops.export(memory, tmp_path / "all.jsonl")
    ops.restore(tmp_path / "all.jsonl", settings=settings(tmp_path / "again"))
    with opened(tmp_path / "again", clock) as memory:
        ada = memory.contact(**ADA)
        later = marks(given(memory, shape), name)
        opening = ada.context([Turn(role="contact", text=shape.question)], budget_tokens=5000)
        refeed(memory, shape)
        again = marks(given(memory, shape), name)
        found = (
            answer,
            prompt,
            *("right" if each == (answer, prompt) else worst(each) for each in (later, again)),
            "right" if shape.old in str(past(memory, shape)) else "wrong",
            marks(facts(opening.text), name)[1],
        )
    rows = expected()
    row = rows.get(f"{name}, {days} days", rows[name])
    assert dict(zip(COLUMNS, found, strict=True)) == dict(zip(COLUMNS, row, strict=True))


def settings(path: Path) -> Any:
    """The defaults, the packaged judge included."""
    return load_settings(
        **embedded_engine(path).settings_arguments, arbiter={"provider": "packaged"}
    )


def opened(path: Path, clock: Clock) -> Memory:
    return Memory.open(settings(path), clock=clock)


def facts(prompt: str) -> list[str]:
    """The lines of a prompt that give a fact."""
    lines = [line for line in prompt.splitlines() if line.startswith("- ")]
    return [line for line in lines if not line.startswith(ASKS)]


def given(memory: Memory, shape: Shape) -> list[str]:
    return facts(as_prompt(memory.contact(**ADA).recall(shape.question, limit=100)))


def past(memory: Memory, shape: Shape) -> list[str]:
    """What is recalled about the time when the old value held."""
    at: dict[str, Any] = {"as_of": FIRST + timedelta(days=1)}
    if shape.asked_at:
        at = {"valid_at": shape.asked_at}
    return facts(as_prompt(memory.contact(**ADA).recall(shape.question, limit=100, **at)))


def marks(lines: Sequence[str], name: str) -> tuple[str, str]:
    """Whether the new value is told, and whether the old one is told as if it held."""
    shape = SHAPES[name]
    old = [line for line in lines if shape.old in line]
    new = [line for line in lines if shape.new in line] if shape.new else old
    doubted = list(filter(DISPUTED.search, new))
    if name == "equal weight":
        both = bool(old and new) and all(map(DISPUTED.search, (*old, *new)))
        return ("right", "right") if both else ("wrong", "wrong")
    if shape.new:
        answer = "wrong" if not new else "doubt" if new == doubted else "right"
    else:
        answer = "right" if not old else "doubt" if new == doubted else "wrong"
    told = "doubt" if all(map(QUALIFIED.search, old)) else "wrong"
    return answer, told if old else "right"


def worst(both: tuple[str, str]) -> str:
    return max(both, key=("right", "doubt", "wrong").index)


def refeed(memory: Memory, shape: Shape) -> None:
    """What was said on day 1 comes again by two other doors, dated as it was."""
    line = (
        ADA
        | {"text": shape.first, "said_at": FIRST.isoformat()}
        | {key: value for key, value in shape.told if key != "said_at"}
    )
    memory.import_notes([json.dumps(line)])
    if shape.told:
        return  # a document's word is no turn of the contact
    told = Turn(role="contact", text=f"Please remember that {shape.first}", said_at=FIRST)
    memory.contact(**ADA).submit_session("an old transcript", [told])
    memory.drain()
