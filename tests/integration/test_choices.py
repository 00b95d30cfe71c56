"""What is chosen by a flag or a word: nothing else is taken for it, and a refusal stays short."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from reconciler import AgentMemory, ContactMemory, Memory
from reconciler.errors import InvalidNoteError, InvalidRequestError
from tests.engines import EngineUnderTest
from tests.ops_calls import call_of, ops_of
from tests.tables import every

USUAL: Mapping[str, Any] = {
    "agent_id": "crm",
    "contact_id": "alice",
    "name": "tea",
    "by": "olga",
    "keep": "alice",
    "absorbed": "bob",
    "reason": "It has ended.",
    "out": "unused",
    "path": "unused",
    "model": "minilm",
    **dict.fromkeys(("decision_id", "fact_id", "task_id"), "an-id"),
}
"""What the methods take beside flags, where it is right."""

VIEWS: Mapping[type, Callable[[Memory], Any]] = {
    Memory: lambda memory: memory,
    AgentMemory: lambda memory: memory.agent("crm"),
    ContactMemory: lambda memory: memory.contact("crm", "alice"),
}

FLAGS = [
    (kind, name, flag.name)
    for kind in VIEWS
    for name, method in {**dict(inspect.getmembers(kind, callable)), **ops_of(kind)}.items()
    if not name.startswith("_")
    for flag in inspect.signature(method).parameters.values()
    if flag.annotation == "bool"
]
LONG = "x" * 500


@pytest.fixture
def memory(kept_engine: EngineUnderTest) -> Iterator[Memory]:
    with Memory.open(**kept_engine.settings_arguments) as opened:
        yield opened


def test_there_are_flags() -> None:
    assert {kind for kind, _, _ in FLAGS} == VIEWS.keys()
    assert len(FLAGS) > 24


@every("value", ["false", 0, None])
def test_nothing_but_true_or_false_is_taken_for_a_flag(memory: Memory, value: object) -> None:
    """The text "false" would count as true."""
    for kind, name, flag in FLAGS:
        is_of_class = name == "open"  # which no memory that is open takes
        method = Memory.open if is_of_class else call_of(VIEWS[kind](memory), name)
        wanted = inspect.signature(method).parameters.values()
        given = {each.name: USUAL[each.name] for each in wanted if each.name in USUAL}
        with pytest.raises(InvalidRequestError, match=f"{flag} must be True or False, not"):
            method(**{**given, flag: value})


REFUSED = [
    ("jobs", {"state": LONG}),
    ("tasks", {"state": LONG}),
    ("recall", {"query": "tea", "category": LONG}),
    ("recall", {"query": "tea", "trust": LONG}),
    ("note", {"text": "Lives in Pune.", "source_kind": LONG}),
    ("note", {"text": "Lives in Pune.", "category": LONG}),
    ("correct", {"decision_id": "an-id", "relation": LONG}),
]


@every(("name", "given"), REFUSED)
def test_a_word_that_is_no_choice_is_repeated_in_part(
    memory: Memory, name: str, given: dict[str, Any]
) -> None:
    with pytest.raises((InvalidRequestError, InvalidNoteError), match="is not one of") as told:
        getattr(memory.contact("crm", "alice"), name)(**given)
    assert len(str(told.value)) < 250
    assert "x" * 60 in str(told.value)
    assert "x" * 61 not in str(told.value)


def test_a_question_that_is_too_long_is_not_taken_for_a_note(memory: Memory) -> None:
    with pytest.raises(InvalidNoteError) as told:
        memory.contact("crm", "alice").recall("x" * 9000)
    assert str(told.value) == "query has 9,000 characters, but at most 2,000 are allowed"
    with pytest.raises(InvalidNoteError, match="split it into one note for each fact"):
        memory.add_contact_note("crm", "alice", "x" * 9000)
