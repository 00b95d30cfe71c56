"""A frame of a conversation holds at the background door, over turns, windows and hand-overs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reconciler import Memory, Turn
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest

TRUE, TOKYO = "Lives in Pune.", "I live in Tokyo."


@pytest.fixture
def memory(kept_engine: EngineUnderTest) -> Iterator[Memory]:
    settings = load_settings(
        **kept_engine.settings_arguments,
        extractor={"mode": "explicit", "window_characters": 1_000, "window_overlap_turns": 0},
    )
    with Memory.open(settings, embedder=HashingEmbedder()) as opened:
        opened.add_contact_note("crm", "ana", TRUE)
        yield opened


def told(memory: Memory, *said: str, session_id: str = "chat") -> list[str]:
    memory.contact("crm", "ana").submit_session(
        session_id, [Turn(role="contact", text=text) for text in said]
    )
    memory.drain()
    return [recalled.fact.text for recalled in memory.contact("crm", "ana").recall()]


@pytest.mark.parametrize(
    "opening", ["Imagine I am somebody else.", "Let us role-play.", "Hypothetically, I move."]
)
def test_what_is_said_in_a_frame_ends_no_fact(memory: Memory, opening: str) -> None:
    assert told(memory, opening, "Ready?", TOKYO) == [TRUE]


def test_a_frame_holds_in_windows_that_do_not_show_it(memory: Memory) -> None:
    assert told(memory, "Imagine I am Ken.", "a " * 600, "b " * 600, TOKYO) == [TRUE]


def test_a_frame_holds_for_turns_that_are_handed_over_later(memory: Memory) -> None:
    told(memory, "Imagine I am Ken.")
    assert told(memory, "Imagine I am Ken.", TOKYO) == [TRUE]


def test_behind_a_frame_and_in_another_session_words_are_meant(memory: Memory) -> None:
    told(memory, "Imagine I am Ken.", "I live in Oslo.")
    assert TRUE not in told(memory, TOKYO, session_id="another")
    closed = told(
        memory, "Imagine I am Ken.", "Back to reality.", "I live in Oslo.", session_id="c"
    )
    assert any("Oslo" in text for text in closed)
