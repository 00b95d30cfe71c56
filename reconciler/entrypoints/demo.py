"""The demo: six weeks of notes about five contacts, added one by one, and their decisions.

Each note is added at its own time, so that the memory has a past. The judge's answers are
recordings: a language model once gave them to exactly these questions.
"""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

from rich.console import Console

from reconciler import ops
from reconciler.bootstrap.chosen_models import build_embedder, build_recorded_arbiter
from reconciler.domain.records.decisions import Decision
from reconciler.entrypoints.rendering import (
    contact_line,
    decision_line,
    history_tree,
    listed,
    panel,
    ranked_facts,
    waiting_panel,
)
from reconciler.memory import Memory
from reconciler.settings import load_settings

DEMO_AGENT = "demo"
_QUERY = "Does she prefer phone or email?"
_LAST_DAY = 38

_CLOSING_WORDS = (
    "The write gate came first: it refused small talk and a password, put a keyed hash in a "
    "card number's place, and held back a joke, an illness and a tool's order until a person "
    "says yes (see `reconciler pending --agent demo --with-silent`). The other notes were "
    "reconciled. "
    "Where an agent said which attribute a note is about (city, budget, renewal date), a new "
    "value superseded the old one however differently it was worded, and an equal one was a "
    "restatement. Without an attribute, the words decide: the guard reads numbers and names, "
    "and keeps two notes that sound alike and differ in them. Only a judge can say whether "
    "such a note replaces, repeats or completes the other: connect one as docs/judges.md says, "
    "for example by the extra claude and ANTHROPIC_API_KEY."
)


class _Clock:
    """A clock that shows the time at which a note is added; after the last note, the present."""

    told_at: datetime | None = None

    def __call__(self) -> datetime:
        return self.told_at or datetime.now(UTC)


def first_day() -> date:
    """Return day 0 of the notes; the last notes are from yesterday."""
    return datetime.now(UTC).date() - timedelta(days=_LAST_DAY + 1)


def run_demo(console: Console, path: Path | None) -> list[Decision]:
    """Add the notes, then show the memory, one chain, one recall and one dispute.

    Args:
        console: the console that shows the demo.
        path: the file of the store; None for the store that the settings name.

    Returns:
        The decisions in the order of the notes, for ``--json``.
    """
    where: dict[str, Any] = {} if path is None else {"graph": "embedded", "embedded_path": path}
    settings, clock = load_settings(**where), _Clock()
    morning = datetime.combine(first_day(), time(9), UTC)
    judge = build_recorded_arbiter(_lines_of("demo_answers.jsonl"))
    notes = [json.loads(line) for line in _lines_of("demo_notes.jsonl")]
    contact_ids = list(dict.fromkeys(note["contact_id"] for note in notes))
    with (
        closing(build_embedder(settings)) as embedder,
        Memory.open(settings, embedder=embedder, arbiter=judge, clock=clock) as memory,
    ):
        with console.status(f"Loading the model {ops.model_move(memory).model} …"):
            seconds = memory.warm_up()
        console.print(
            f"Model ready in {seconds:.1f} s. {len(notes)} notes about {len(contact_ids)} contacts "
            "follow, each told at its own time. The judge's answers are recorded: a language model "
            "gave them once to these very questions, and none is called now.\n"
        )
        console.print("action cosine  decided by note")
        decisions = []
        for number, note in enumerate(notes, start=1):
            clock.told_at = morning + timedelta(days=note["day"], minutes=number)
            fields = {name: note[name] for name in note.keys() - {"day", "contact_id"}}
            about = memory.contact(DEMO_AGENT, note["contact_id"])
            decision = about.note(**fields, said_at=clock(), idempotency_key=f"demo-{number}")
            day = f"day {note['day']:>2} {note['contact_id']:<7}"
            console.print(day, decision_line(decision))
            decisions.append(decision)
        clock.told_at = None
        contacts = memory.agent(DEMO_AGENT).contacts(contact_ids=contact_ids)
        console.print("", *map(contact_line, contacts), sep="\n")
        console.print(
            f"\n{len(notes)} notes were told; nothing was overwritten, and every refusal is on "
            "record.\n"
        )
        priya = memory.contact(DEMO_AGENT, "priya")
        longest = max(priya.history(), key=lambda chain: len(chain.facts))
        console.print("The longest chain: what superseded what, and why")
        console.print(history_tree(priya.scope.contact_id, [longest]), "")
        console.print(ranked_facts(f"{_QUERY} (priya)", priya.recall(_QUERY)), "")
        console.print("Two sources differ: both facts stay until a person answers")
        console.print(listed(waiting_panel, memory.agent(DEMO_AGENT).disputes(), ""))
    console.print(panel(_CLOSING_WORDS, title="What to make of it"))
    return decisions


def _lines_of(name: str) -> list[str]:
    return files("reconciler.entrypoints").joinpath(name).read_text(encoding="utf-8").splitlines()
