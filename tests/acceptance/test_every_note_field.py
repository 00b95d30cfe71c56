"""What comes with a note arrives whole, whichever door it takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from reconciler import Memory, Scope
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.config_files import load_attribute_book
from reconciler.domain.records.notes import Remembered
from reconciler.service.writing.doors import (
    AgentFields,
    EffectFields,
    NoteFields,
    SlotFields,
    note_of,
)
from reconciler.testing import HashingEmbedder
from tests.command_line import Run, environment_of, json_of
from tests.engines import EngineUnderTest, embedded_engine
from tests.tables import every

SCOPE = Scope("default", "crm", "alice")
TEXT = "My wife sits on the aisle."
NOON = datetime(2025, 3, 9, 12, tzinfo=UTC)
FIELDS: Mapping[str, Any] = {
    "subject": "wife",
    "attribute": "seat_side",
    "value": "aisle",
    "single_valued": True,
    "source_kind": "operator",
    "contact_name": "Priya",
    "source_reference": "ticket-7",
    "said_at": NOON,
    "valid_from": datetime(2025, 3, 1, 12, tzinfo=UTC),
    "importance": 0.9,
    "category": "fact",
    "topic": "travel",
    "lifetime_days": 30,
    "tags": ["vip"],
    "artefact": "s3://quotes/7.pdf",
    "session_id": "chat-17",
    "idempotency_key": "once",
    "proposed_by": "dana",
}
WORDS = {
    name: value.isoformat() if isinstance(value, datetime) else value
    for name, value in FIELDS.items()
}


def _by_call() -> None:
    with Memory.open() as memory:
        memory.add_contact_note("crm", "by_call", TEXT, **FIELDS)


def _by_command(run: Run) -> None:
    given = {**WORDS, "session": WORDS["session_id"], "tag": "vip", "single_valued": None}
    options = [
        f"--{name.replace('_', '-')}={value}"
        for name, value in given.items()
        if name not in {"session_id", "tags", "single_valued"}
    ]
    scope = ("--agent", "crm", "--contact", "by_command")
    json_of(run, "add", *scope, TEXT, *options, "--single-valued")


def _by_line() -> None:
    line = {name: value for name, value in WORDS.items() if name != "proposed_by"}
    with Memory.open() as memory:
        report = memory.import_notes(
            [json.dumps({"text": TEXT, **line})], agent_id="crm", contact_id="by_line"
        )
    assert report.errors == []


def test_the_fields_tried_are_all_there_are() -> None:
    """What a note does to facts is no part of it; ``test_relating`` has that."""
    tried = NoteFields.__annotations__.keys() - EffectFields.__annotations__.keys()
    assert set(FIELDS) == tried


def test_a_note_arrives_the_same_by_call_by_command_and_by_line(
    command_line: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECONCILER_EMBEDDER__MODEL", "noop")
    for name, value in environment_of(embedded_engine(tmp_path)).items():
        monkeypatch.setenv(name, value)
    _by_call()
    _by_command(command_line)
    _by_line()
    with Memory.open() as memory:
        called, commanded, imported = (
            decision
            for contact in ("by_call", "by_command", "by_line")
            for decision in memory.contact("crm", contact).decisions()
        )
    for each in (commanded, imported):
        assert replace(each.note, scope=called.scope) == called.note
    assert (called.proposal.proposed_by, commanded.proposal.proposed_by) == ("dana", "dana")


def test_what_an_agent_sends_arrives_as_by_a_builders_call(tmp_path: Path) -> None:
    sent = {name: FIELDS[name] for name in get_type_hints(AgentFields)}
    sent["source_kind"] = "user_explicit"
    words = sent | {"valid_from": WORDS["valid_from"]}
    arguments = embedded_engine(tmp_path).settings_arguments
    with Memory.open(embedder=NoopEmbedder(), clock=lambda: NOON, **arguments) as memory:
        tools = memory.agent_tools("crm", "alice", session_id="chat")
        by_tool = tools.call("add_contact_note", {"text": TEXT, **words}).decision
        by_call = memory.add_contact_note("crm", "alice", TEXT, session_id="chat", **sent)
    assert by_tool is not None
    assert replace(by_tool.note, idempotency_key=None) == by_call.note


def test_what_a_note_does_to_facts_arrives_by_command(
    command_line: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECONCILER_EMBEDDER__MODEL", "noop")
    for name, value in environment_of(embedded_engine(tmp_path)).items():
        monkeypatch.setenv(name, value)
    scope = ("--agent", "crm", "--contact", "ann")
    until = datetime.now(UTC) + timedelta(days=2)
    known = json_of(command_line, "add", *scope, TEXT, f"--valid-to={until.isoformat()}")
    with Memory.open() as memory:
        [hit] = memory.contact("crm", "ann").recall()
    assert hit.fact.expires_at == until
    for option in ("--replaces", "--repeats", "--ends"):
        _, told, complaint = command_line(
            "add", *scope, "Has a cat.", f"{option}={known['fact_id']}"
        )
        assert "no model to compare" in " ".join((told + complaint).split())


def test_what_a_note_brings_is_recalled_kept_in_its_history_and_taken_over(
    one_of_each: EngineUnderTest,
) -> None:
    brought = {each.name: each.default for each in fields(Remembered)}
    with Memory.open(embedder=HashingEmbedder(), **one_of_each.settings_arguments) as memory:
        alice = memory.contact("crm", "alice")
        note = alice.note(TEXT, **FIELDS).note
        [first] = alice.recall("aisle")
        slot = {name: FIELDS[name] for name in SlotFields.__annotations__}
        assert alice.note(TEXT, source_kind="operator", **slot).action == "UPDATE"
        [chain] = alice.history()
    for name, default in brought.items():
        assert getattr(first.fact, name) == getattr(note, name) != default, name
        assert getattr(chain.facts[1], name) == getattr(note, name), name
        if default is None:
            assert getattr(chain.facts[0], name) == getattr(note, name), name


@every("name", sorted(FIELDS.keys() - {"proposed_by", "value", "single_valued"}))
def test_no_field_is_taken_and_forgotten(name: str) -> None:
    now = datetime(2025, 4, 1, tzinfo=UTC)
    beside = {"attribute": "seat_side"} if name == "subject" else {}
    book = load_attribute_book(None)
    without = note_of(SCOPE, TEXT, beside, book, now)
    assert note_of(SCOPE, TEXT, {**beside, name: FIELDS[name]}, book, now) != without


@every("name", ["scope", "slot", "is_dated", "is_cleaned", "colour"])
def test_what_is_not_on_the_list_makes_no_note(name: str) -> None:
    with pytest.raises(TypeError, match=f"takes no {name}"):
        note_of(SCOPE, TEXT, {name: None}, load_attribute_book(None), NOON)


def test_a_call_with_what_is_not_on_the_list_writes_nothing(tmp_path: Path) -> None:
    arguments = embedded_engine(tmp_path).settings_arguments
    unlisted: dict[str, Any] = {"is_cleaned": True}
    with Memory.open(embedder=NoopEmbedder(), **arguments) as memory:
        with pytest.raises(TypeError, match="takes no is_cleaned"):
            memory.add_contact_note("crm", "alice", TEXT, **unlisted)
        assert memory.agent("crm").contacts() == []
