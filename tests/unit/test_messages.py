"""Messages as chat APIs have them: dictionaries are taken wherever turns are."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from anthropic.types import TextBlock, ToolUseBlock

from reconciler import Scope, Turn
from reconciler.domain.records.candidates import Role
from reconciler.domain.records.messages import turns_of
from reconciler.domain.records.sessions import Session
from reconciler.errors import InvalidSessionError
from tests.tables import every

SAID_AT = datetime(2026, 3, 9, 12, tzinfo=UTC)
ANTHROPIC: list[Any] = [
    {"role": "user", "content": "I live in Pune."},
    {
        "role": "assistant",
        "content": [
            TextBlock(type="text", text="Let me look."),
            ToolUseBlock(type="tool_use", id="t1", name="look", input={"city": "Pune"}),
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "Pune: 31 degrees."},
            {"type": "text", "text": "Hot, is it?"},
        ],
    },
]
OPENAI: list[Any] = [
    {"role": "developer", "content": "Be kind."},
    {"role": "user", "content": [{"type": "input_text", "text": "I live in Pune."}], "id": "m1"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function"}]},
    {"role": "tool", "tool_call_id": "c1", "content": "Pune: 31 degrees."},
]


def said(given: Any) -> list[tuple[str, str]]:
    return [(str(each.role), each.text) for each in turns_of(given)]


def test_anthropics_messages_are_what_was_said_in_them() -> None:
    assert said(ANTHROPIC) == [
        ("contact", "I live in Pune."),
        ("agent", "Let me look."),
        ("tool", "Pune: 31 degrees."),
        ("contact", "Hot, is it?"),
    ]


def test_openais_messages_are_what_was_said_in_them() -> None:
    assert said(OPENAI) == [
        ("system", "Be kind."),
        ("contact", "I live in Pune."),
        ("tool", "Pune: 31 degrees."),
    ]
    assert [each.reference for each in turns_of(OPENAI)] == [None, "m1", None]


def test_turns_and_messages_may_stand_beside_each_other() -> None:
    turn = Turn(role="contact", text="I live in Pune.", said_at=SAID_AT, reference="m1")
    same = {"role": "user", "text": turn.text, "said_at": SAID_AT, "reference": "m1"}
    session = Session(scope=Scope("t", "crm", "a"), session_id="s", turns=[turn, same])  # type: ignore[list-item]
    assert session.turns == (turn, turn)
    assert session.turns[1].role is Role.CONTACT


def test_a_value_too_long_to_be_a_time_is_ignored() -> None:
    [turn] = turns_of([{"role": "user", "content": "Hello.", "seed": 10**5000}])
    assert turn.said_at is None


@every(
    ("given", "complaint"),
    [
        ("Hello.", "turns must be a list"),
        ({"role": "user", "content": "Hello."}, "turns must be a list"),
        (["Hello."], "turns must be a list"),
        ([{"content": "Hello."}], "message 1: role is missing"),
        (
            [ANTHROPIC[0], {"role": "robot", "content": "Hi."}],
            "message 2: role 'robot' is not one of",
        ),
        (7, "turns must be a list"),
        ([{"role": "user"}], "message 1: the message has neither"),
        ([{"role": "user", "content": 5}], "message 1: content must be a string or a list"),
        ([{"role": "user", "content": [5]}], "message 1: a block of content must be an object"),
        ([{"role": "user", "content": "a\0b"}], "message 1: .*null byte"),
        ([{"role": "user", "content": "Hi.", "time": datetime(2026, 1, 1)}], "1: time .*time zone"),
    ],
)
def test_what_is_no_message_says_where_it_stands(given: Any, complaint: str) -> None:
    with pytest.raises(InvalidSessionError, match=complaint):
        list(turns_of(given))
