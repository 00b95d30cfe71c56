"""What an agent may hold: tools of one contact and one session, that take what a model is told."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory, MemoryToolset
from reconciler.errors import InvalidNoteError
from reconciler.testing import HashingEmbedder
from tests.engines import embedded_engine

HEDGED = "I guess I prefer window seats"
BUILDERS_OWN = [
    *("tenant", "agent_id", "contact_id", "session_id", "proposed_by", "category"),
    *("idempotency_key", "said_at", "confirmed_by", "scope"),
]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """An open memory without anything in it."""
    arguments = embedded_engine(tmp_path).settings_arguments
    with Memory.open(embedder=HashingEmbedder(), **arguments) as opened:
        yield opened


def taken(toolset: MemoryToolset) -> dict[str, inspect.Parameter]:
    given = inspect.signature(toolset.add_contact_note).parameters
    return {name: each for name, each in given.items() if each.kind is not each.VAR_KEYWORD}


def test_the_tool_takes_exactly_what_its_schema_lists(memory: Memory) -> None:
    toolset = memory.toolset("crm", "alice")
    schema = toolset.tool_definition()["input_schema"]
    assert set(taken(toolset)) == set(schema["properties"])


def test_what_the_schema_requires_has_no_default(memory: Memory) -> None:
    toolset = memory.toolset("crm", "alice")
    required = toolset.tool_definition()["input_schema"]["required"]
    without = [name for name, each in taken(toolset).items() if each.default is each.empty]
    assert without == required == ["text", "source_kind"]


@pytest.mark.parametrize("name", BUILDERS_OWN)
def test_what_is_the_builders_to_say_is_refused(memory: Memory, name: str) -> None:
    toolset = memory.toolset("crm", "alice")
    made_up: dict[str, Any] = {name: "bob"}
    with pytest.raises(InvalidNoteError, match=f"takes no {name}; it takes text"):
        toolset.add_contact_note("Lives in Pune", source_kind="user_explicit", **made_up)
    assert memory.contacts("crm") == []


def test_a_note_is_of_the_contact_and_session_that_the_builder_named(memory: Memory) -> None:
    toolset = memory.toolset("crm", "alice", session_id="call-7", tenant="acme")
    made = toolset.add_contact_note("Lives in Pune", source_kind="user_explicit")
    whose = (
        made.scope.tenant,
        made.scope.agent_id,
        made.scope.contact_id,
        made.note.session_id,
        made.proposal.proposed_by,
    )
    assert whose == ("acme", "crm", "alice", "call-7", "agent:crm")


@pytest.mark.parametrize("session_id", [None, "call-7"])
def test_a_hundred_repetitions_do_not_lift_an_agents_own_hold(
    memory: Memory, session_id: str | None
) -> None:
    toolset = memory.toolset("crm", "alice", session_id=session_id)
    sources = ("user_explicit", "user_explicit", "tool_output", "model_guess")
    slots = ((None, None), ("seat", None), ("seat", "window"), ("seat_wish", "window"))
    varied = itertools.product(sources, slots, (None, True, False))
    for source, (attribute, value), single in itertools.islice(itertools.cycle(varied), 100):
        made = toolset.add_contact_note(
            HEDGED,
            source_kind=source,
            attribute=attribute,
            value=value,
            single_valued=single if attribute else None,
        )
        assert not made.action.is_reconciled
    assert memory.recall("crm", "alice") == []


def test_without_a_session_all_notes_of_an_agent_are_of_one(memory: Memory) -> None:
    said = ("Lives in Pune", "Has a cat", "Plays the cello")
    toolsets = [memory.toolset("crm", "alice") for _ in said]
    made = [
        each.add_contact_note(text, source_kind="user_explicit")
        for each, text in zip(toolsets, said, strict=True)
    ]
    assert {each.note.session_id for each in made} == {"agent"}


def test_a_memory_is_no_toolset(memory: Memory) -> None:
    assert not isinstance(memory, MemoryToolset)
