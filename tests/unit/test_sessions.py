"""Sessions, their turns, and the windows that they are read in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, strategies as st

from reconciler.domain.records.candidates import EVIDENCE_LENGTH_MAX, Role, Turn
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import Scope
from reconciler.domain.records.sessions import Episode, Session, time_of_saying
from reconciler.domain.sessions.extraction import windows
from reconciler.errors import InvalidSessionError
from tests.tables import every

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
ALICE = Scope("acme", "crm", "alice")
HELLO = Turn(role="contact", text="Hello.")


def episodes(lengths: Sequence[int]) -> list[Episode]:
    return [
        Episode(
            episode_id=str(place),
            session_id="chat",
            role=Role.CONTACT,
            text="x" * length,
            said_at=NOON,
            position=place,
        )
        for place, length in enumerate(lengths)
    ]


def session(**changed: Any) -> Session:
    return Session(**{"scope": ALICE, "session_id": "chat", "turns": (HELLO,)} | changed)


@every(
    ("changed", "said"),
    [
        ({"role": "robot"}, "role 'robot' is not one of"),
        ({"text": ""}, "blank"),
        ({"text": " \n"}, "blank"),
        ({"text": None}, "must be a string"),
        ({"text": "x" * (EVIDENCE_LENGTH_MAX + 1)}, "20,001 characters, but at most 20,000"),
        ({"text": "null\0byte"}, "null byte"),
        ({"said_at": datetime(2026, 3, 9, 12)}, "no time zone"),
        ({"reference": " "}, "empty"),
    ],
)
def test_a_turn_that_cannot_be_kept_says_why(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidSessionError, match=said):
        Turn(**{"role": "contact", "text": "Hello."} | changed)


@every(
    ("changed", "said"),
    [
        ({"turns": ()}, "empty"),
        ({"turns": None}, "empty"),
        ({"turns": ["Hello."]}, "a list of Turn"),
        ({"session_id": ""}, "session_id is empty"),
        ({"session_id": "a\n"}, "white space"),
        ({"channel": ""}, "channel is empty"),
        ({"scope": None}, "needs a scope"),
        ({"scope": "crm/alice"}, "needs a scope"),
        ({"started_at": datetime(2026, 3, 9, 12)}, "no time zone"),
    ],
)
def test_a_session_that_cannot_be_kept_says_why(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidSessionError, match=said):
        session(**changed)


@every(("name", "role"), [("user", Role.CONTACT), ("assistant", Role.AGENT)])
def test_the_names_of_chat_apis_are_understood(name: str, role: Role) -> None:
    assert Turn(role=name, text="Hello.").role is role


def test_a_turns_time_is_kept_in_utc() -> None:
    there = datetime(2026, 3, 9, 17, 30, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    assert Turn(role="contact", text="Hello.", said_at=there).said_at == NOON


@every(
    ("role", "source", "is_evidence"),
    [
        (Role.CONTACT, SourceKind.USER_EXPLICIT, True),
        (Role.OPERATOR, SourceKind.OPERATOR, True),
        (Role.TOOL, SourceKind.TOOL_OUTPUT, True),
        (Role.AGENT, SourceKind.MODEL_GUESS, False),
        (Role.SYSTEM, SourceKind.MODEL_GUESS, False),
    ],
)
def test_each_role_has_a_word_of_its_own_and_the_agents_is_none(
    role: Role, source: SourceKind, is_evidence: bool
) -> None:
    assert (role.source_kind, role.is_evidence) == (source, is_evidence)


def test_an_episode_is_evidence_in_the_word_of_who_spoke() -> None:
    [episode] = episodes([5])
    evidence = episode.evidence(ALICE, ["xx"])
    assert (evidence.text, evidence.spans) == ("xxxxx", ("xx",))
    assert evidence.source_kind is SourceKind.USER_EXPLICIT


@every(
    ("lengths", "characters_max", "overlap", "wanted"),
    [
        ([], 10, 2, []),
        ([3, 3, 3], 9, 1, [[0, 1, 2]]),
        ([3, 3, 3], 8, 0, [[0, 1], [2]]),
        ([3, 3, 3], 8, 1, [[0, 1], [1, 2]]),
        ([3, 3, 3], 6, 1, [[0, 1], [1, 2]]),
        ([50, 3], 10, 1, [[0], [1]]),  # too long for a window, and too long to be shown again
        ([3, 50, 3], 10, 1, [[0], [0, 1], [2]]),
        ([2, 2, 2, 2, 2], 6, 1, [[0, 1, 2], [2, 3, 4]]),
    ],
)
def test_windows_begin_with_the_end_of_the_one_before(
    lengths: list[int], characters_max: int, overlap: int, wanted: list[list[int]]
) -> None:
    found = windows(episodes(lengths), characters_max, overlap)
    assert [[each.position for each in part] for part in found] == wanted


@given(st.lists(st.integers(1, 40), max_size=30), st.integers(5, 60), st.integers(0, 6))
def test_windows_show_everything_in_order_and_always_something_new(
    lengths: list[int], characters_max: int, overlap: int
) -> None:
    given_episodes = episodes(lengths)
    seen: set[int] = set()
    for part in windows(given_episodes, characters_max, overlap):
        places = [each.position for each in part]
        assert places == list(range(places[0], places[-1] + 1))
        assert set(places) - seen
        assert len(set(places) & seen) <= overlap
        seen |= set(places)
    assert seen == set(range(len(lengths)))


# When it was said, if no turn says when

MOMENT = timedelta(microseconds=1)


@every(
    ("heard_at", "expected"),
    [
        (None, NOON),
        (NOON - timedelta(days=1), NOON),
        (NOON - MOMENT, NOON),
        (NOON, NOON + MOMENT),
        (NOON + timedelta(hours=1), NOON + timedelta(hours=1) + MOMENT),
    ],
)
def test_what_nobody_dated_was_said_now_and_after_all_that_was_heard_before(
    heard_at: datetime | None, expected: datetime
) -> None:
    assert time_of_saying(NOON, heard_at) == expected


@every(
    ("changed", "is_dated"),
    [
        ({}, False),
        ({"started_at": NOON}, True),
        ({"turns": (HELLO, Turn(role="contact", text="Hi.", said_at=NOON))}, True),
    ],
)
def test_a_session_is_dated_where_somebody_said_when_any_of_it_was(
    changed: dict[str, Any], is_dated: bool
) -> None:
    assert session(**changed).is_dated is is_dated


@every("role", [role for role in Role if role is not Role.CONTACT])
@every("sign", ["\0", "\ud835"])
def test_a_sign_that_no_engine_stores_is_replaced_in_others_words(role: Role, sign: str) -> None:
    assert Turn(role=role, text=f"scraped{sign}text").text == "scraped\ufffdtext"
    with pytest.raises(InvalidSessionError, match=r"null byte|surrogate"):
        Turn(role="contact", text=f"I live{sign} here.")
