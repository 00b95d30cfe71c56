"""Ids are checked at every door: what is none is a clear error that names it, on every engine."""

from __future__ import annotations

import inspect
import io
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from reconciler import (
    AgentMemory,
    Candidate,
    ContactMemory,
    Decision,
    Evidence,
    Memory,
    Note,
    Scope,
    Turn,
)
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.domain.records.sessions import Episode, Session
from reconciler.errors import InvalidRequestError
from reconciler.service.writing.doors import NoteFields
from tests.engines import EngineUnderTest

WRONG: Mapping[str, Any] = {
    "nothing": None,
    "a number": 5,
    "bytes": b"alice",
    "a list": ["alice"],
    "a dictionary": {"alice": 1},
    "empty": "",
    "blank": "  ",
    "with space around it": " alice",
    "too long": "a" * 201,
    "with a line break": "al\nice",
    "with a null byte": "al\0ice",
    "with half a surrogate pair": "al\ud800ice",
}
ALSO_IDS = {"tenant", "idempotency_key", "door", "channel"}
NAMES = {"by"}
MAY_BE_NOTHING = {("submit_session", "session_id")}
"""Required, and None is an answer: the session's id is then made of its turns."""
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
ALICE = Scope("default", "crm", "alice")
TURN = Turn(role="contact", text="I live in Pune.")
USUAL: Mapping[str, Any] = {
    "agent_id": "crm",
    "contact_id": "alice",
    "text": "Lives in Pune",
    "turns": [replace(TURN, name="Bea")],
    "speakers": {"Bea": "contact:bea"},
    "lines": [],
    "system": "mem0",
    "source": Path(__file__).parents[1] / "peer_exports" / "mem0.json",
    "profile": "seed",
    "relation": "same",
    "reason": "It has ended.",
    "by": "olga",
    "keep": "an-id",
    "fact": "an-id",
    **dict.fromkeys(("account", "absorb", "absorbed", "old", "new"), "an-id"),
    **dict.fromkeys(("recall_id", "reference"), "an-id"),
    "used": ["an-id"],
    **dict.fromkeys(("name", "query", "about"), "tea"),
    "attribute": "city",
    "out": io.BytesIO(),
    **dict.fromkeys(("decision_id", "job_id", "fact_id", "session_id", "task_id"), "an-id"),
}
"""What the methods take, where it is right."""


class Name(str):
    """A string of a class of another library."""

    __slots__ = ()


@pytest.fixture
def memory(any_engine: EngineUnderTest) -> Iterator[Memory]:
    """An open memory without anything in it."""
    with Memory.open(embedder=NoopEmbedder(), **any_engine.settings_arguments) as opened:
        yield opened


VIEWS: Mapping[type, Callable[[Memory], Any]] = {
    Memory: lambda memory: memory,
    AgentMemory: lambda memory: memory.agent("crm"),
    ContactMemory: lambda memory: memory.contact("crm", "alice"),
}


def doors() -> list[tuple[type, str, str, bool]]:
    """Every public method of a memory and of its views, with each id that it takes, and whether
    None is one."""
    return [
        (view, name, each, default is None or (name, each) in MAY_BE_NOTHING)
        for view in VIEWS
        for name, method in inspect.getmembers(view, inspect.isfunction)
        if not name.startswith("_")
        for each, default in defaults(method).items()
        if each.endswith("_id") or each in ALSO_IDS | NAMES
    ]


def defaults(method: Callable[..., Any]) -> dict[str, Any]:
    """The parameters of a method with their defaults; the fields of a note each by its name."""
    parameters = inspect.signature(method).parameters.values()
    named = [each for each in parameters if each.kind is not each.VAR_KEYWORD]
    fields = NoteFields.__annotations__ if len(named) < len(parameters) else {}
    return {each.name: each.default for each in named} | dict.fromkeys(fields)


def call(memory: Memory, view: type, name: str, changed: Mapping[str, Any]) -> None:
    method = getattr(VIEWS[view](memory), name)
    required = [
        each for each, given in defaults(method).items() if given is inspect.Signature.empty
    ]
    usual = {each: USUAL[each] for each in required}
    found = method(**usual | changed)
    if inspect.isgenerator(found):
        list(found)


def complaint(attempt: Callable[[], object]) -> str:
    """What it is turned away with; any other error is an error of ours."""
    try:
        attempt()
    except InvalidRequestError as error:
        return str(error)
    return "taken"


def test_what_is_no_id_is_refused_by_every_method_and_named(memory: Memory) -> None:
    found = doors()
    unnamed = [
        (view, name, kind, what)
        for (view, name, kind, optional), (what, value) in itertools.product(found, WRONG.items())
        if not (value is None and optional)
        and kind not in complaint(lambda: call(memory, view, name, {kind: value}))  # noqa: B023
    ]
    assert sorted({(name, kind) for _, name, kind, _ in unnamed}) == []
    assert unnamed == []
    assert len(found) > 60
    assert {view for view, *_ in found} == VIEWS.keys()
    assert memory.agent("crm").contacts() == []


BY_HAND: Mapping[str, tuple[object, tuple[str, ...]]] = {
    "scope": (ALICE, ("tenant", "agent_id", "contact_id")),
    "note": (
        Note(scope=ALICE, text="Lives in Pune", said_at=NOON),
        ("session_id", "idempotency_key", "scope"),
    ),
    "evidence": (
        Evidence(episode_id="1", session_id="1", scope=ALICE, text="Pune!", said_at=NOON),
        ("episode_id", "session_id", "scope"),
    ),
    "turn": (TURN, ("reference",)),
    "session": (
        Session(scope=ALICE, session_id="1", turns=[TURN]),
        ("session_id", "channel", "scope"),
    ),
}


@pytest.mark.parametrize("kind", BY_HAND)
def test_what_is_no_id_is_refused_in_what_is_made_by_hand(kind: str) -> None:
    made, names = BY_HAND[kind]
    optional = {"reference"} if kind == "turn" else set(names) if kind == "note" else set()
    for name, value in itertools.product(names, WRONG.values()):
        if not (value is None and name in optional - {"scope"}):
            changed: Any = {name: value}
            assert name in complaint(lambda: replace(made, **changed))  # type: ignore[type-var]  # noqa: B023


def test_what_is_no_id_is_refused_by_a_task(memory: Memory) -> None:
    task = memory.contact("crm", "alice").task("move", goal="Move")
    task.observed()
    for value in WRONG.values():
        assert "subtask_id" in complaint(lambda: task.task_memory.mark_done(value))  # noqa: B023
    task.succeed()
    for value in WRONG.values():
        named: Any = Mock(spec=Episode, episode_id=value)
        decided: Any = Mock(spec=Decision, decision_id=value)
        candidate: Any = Mock(spec=Candidate)
        assert "episode_id" in complaint(lambda: task.propose_durable([named]))  # noqa: B023
        assert "decision_id" in complaint(lambda: task.commit(candidate, decided))  # noqa: B023


@pytest.mark.on_neo4j_too
def test_a_string_of_another_class_is_an_id_like_any_other(memory: Memory) -> None:
    agent, contact = Name("crm"), Name("alice")
    held = memory.add_contact_note(
        agent, contact, "Prefers tea", source_kind="tool_output", idempotency_key=Name("key")
    )
    yes = memory.contact(agent, contact).confirm(Name(held.decision_id), Name("contact"))
    job_id = memory.contact(agent, contact, tenant=Name("default")).submit_session(
        Name("call"), [TURN]
    )
    assert (
        memory.contact("crm", "alice").decision(yes.decision_id).proposal.settles_id
        == held.decision_id
    )
    assert memory.contact(agent, contact).job(Name(job_id)).session_id == "call"
    assert [each.job_id for each in memory.contact(agent, contact).jobs()] == [job_id]


@pytest.mark.parametrize(
    "key",
    ["req_9fKx81LmQzT4bR7wYc2N", "store-308831041ea4863c3f87d222c31f7594", "V1StGXR8_Z5jdHi6B-myT"],
)
def test_an_id_that_was_drawn_at_random_is_no_secret(tmp_path: Path, key: str) -> None:
    with Memory.open(embedded_path=tmp_path / "memory.lbug", embedder=NoopEmbedder()) as memory:
        contact = memory.contact("crm", "alice")
        assert contact.note("Likes tea.", idempotency_key=key).fact_id
