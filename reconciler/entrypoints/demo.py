"""The demo: six weeks of notes about five contacts, told one by one, and what became of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.kinds import SourceKind
from reconciler.entrypoints.rendering import (
    decision_line,
    facts_table,
    history_tree,
    panel,
    recall_table,
)
from reconciler.memory import Memory

__all__ = ["DEMO_AGENT", "run_demo"]

DEMO_AGENT = "demo"
_QUERY = ("priya", "Does she prefer phone or email?")


def run_demo(memory: Memory, console: Console) -> list[Decision]:
    """Tell the notes, then show what is known, one chain and one recall.

    Returns:
        The decisions in the order of the notes, for ``--json``.
    """
    notes = _notes()
    with console.status(f"Loading the model {memory.model_move().model} …"):
        seconds = memory.warm_up()
    console.print(f"Model ready in {seconds:.1f} s. {len(notes)} notes about 5 contacts follow.\n")
    console.print(Text("action cosine  decided by note", style="dim"))
    decisions = list(_add_notes(memory, notes, console))
    contact_ids = dict.fromkeys(note["contact_id"] for note in notes)
    _show_facts(memory, list(contact_ids), len(notes), console)
    _show_longest_chain(memory, list(contact_ids), console)
    contact_id, query = _QUERY
    console.print(
        recall_table(
            f"{query} ({contact_id})", memory.contact(DEMO_AGENT, contact_id).recall(query)
        )
    )
    console.print(_closing_words())
    return decisions


def _notes() -> list[dict[str, Any]]:
    text = files("reconciler.entrypoints").joinpath("demo_notes.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _add_notes(memory: Memory, notes: list[dict[str, Any]], console: Console) -> Iterator[Decision]:
    first_day = datetime.now(UTC).replace(microsecond=0) - timedelta(days=notes[-1]["day"])
    for number, note in enumerate(notes, start=1):
        decision = memory.add_contact_note(
            DEMO_AGENT,
            note["contact_id"],
            note["text"],
            attribute=note.get("attribute"),
            value=note.get("value"),
            contact_name=note["contact_name"],
            source_kind=note.get("source_kind", SourceKind.USER_EXPLICIT),
            importance=note["importance"],
            said_at=first_day + timedelta(days=note["day"]),
            idempotency_key=f"demo-{number}",
        )
        console.print(Text(f"day {note['day']:>2} {note['contact_id']:<7}", style="dim"), end=" ")
        console.print(decision_line(decision))
        yield decision


def _show_facts(memory: Memory, contact_ids: list[str], told: int, console: Console) -> None:
    live = 0
    for contact in memory.agent(DEMO_AGENT).contacts():
        if contact.contact_id not in contact_ids:
            continue
        facts = [
            hit.fact for hit in memory.contact(DEMO_AGENT, contact.contact_id).recall(limit=100)
        ]
        live += len(facts)
        console.print()
        console.print(facts_table(f"{contact.name}: {len(facts)} live facts", facts))
    console.print(
        f"\n{told} notes were told, {live} facts are live; nothing was overwritten, and every "
        "refusal is on record.\n"
    )


def _show_longest_chain(memory: Memory, contact_ids: list[str], console: Console) -> None:
    histories = [
        (contact_id, history)
        for contact_id in contact_ids
        for history in memory.contact(DEMO_AGENT, contact_id).history()
    ]
    contact_id, longest = max(histories, key=lambda pair: len(pair[1].facts))
    console.print(Text("The longest chain: what superseded what, and why", style="bold"))
    console.print(history_tree(contact_id, [longest]))
    console.print()


def _closing_words() -> Panel:
    return panel(
        "The write gate came first: it refused small talk and a password, put a keyed hash in a "
        "card number's place, and held back a joke, an illness and a tool's order until somebody "
        "says yes (see `reconciler pending --agent demo`). What it let through was reconciled. "
        "Where an agent said which attribute a note is about (city, budget, renewal date), a new "
        "value superseded the old one however differently it was worded, and an equal one was a "
        "restatement. Where two notes sounded alike and differed in a number or a name, the guard "
        "kept both, marked as a conflict. Notes that say the same in other words without a slot "
        "stay side by side: with the extra claude and ANTHROPIC_API_KEY, an arbiter judges those.",
        title="What to make of it",
    )
