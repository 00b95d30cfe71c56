from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from reconciler.domain.records.candidates import EarlierDecision, Precedents, precedents_of
from reconciler.domain.records.kinds import Action, GateReason, SourceKind
from tests.tables import every

NOON = datetime(2025, 3, 9, 12, tzinfo=UTC)
MOMENT = timedelta(microseconds=1)
HELD = EarlierDecision(
    decision_id="held",
    action=Action.HOLD,
    reason=GateReason.THIN_EVIDENCE,
    trust=SourceKind.EXTRACTOR,
    held_id=None,
    lapses_at=NOON + MOMENT,
    answer_id=None,
    episode_id="episode",
    session_id="session",
)


def test_what_nobody_inferred_before_has_no_precedent() -> None:
    assert precedents_of([], NOON) == Precedents()


@every(
    ("changes", "is_pending"),
    [
        ({}, True),
        ({"lapses_at": NOON}, False),
        ({"lapses_at": NOON - MOMENT}, False),
        ({"lapses_at": None}, True),
        ({"answer_id": "answer"}, False),
        ({"is_answered_since": True}, False),
        ({"held_id": "another"}, False),
        ({"action": Action.REJECT}, False),
        ({"action": Action.ADMIT}, False),
    ],
)
def test_a_question_is_pending_until_it_is_answered_or_lapses(
    changes: dict[str, Any], is_pending: bool
) -> None:
    found = precedents_of([replace(HELD, **changes)], NOON)
    assert found.pending_id == ("held" if is_pending else None)


@every(
    ("changes", "is_counted"),
    [
        ({}, True),
        ({"action": Action.REJECT, "reason": GateReason.BELOW_FLOOR}, True),
        ({"answer_id": "answer", "lapses_at": NOON}, True),
        ({"trust": SourceKind.USER_EXPLICIT}, True),
        ({"trust": SourceKind.TOOL_OUTPUT}, False),
        ({"reason": GateReason.DIRECTIVE}, False),
        ({"reason": GateReason.NEEDS_APPROVAL}, False),
        ({"reason": None}, False),
        ({"action": Action.ADMIT}, False),
        ({"action": Action.DECLINE}, False),
    ],
)
def test_only_episodes_of_what_had_too_little_support_count_again(
    changes: dict[str, Any], is_counted: bool
) -> None:
    found = precedents_of([replace(HELD, **changes)], NOON)
    assert found.episode_ids == ({"episode"} if is_counted else set())
    assert found.sessions == ({"session"} if is_counted else set())


def test_the_oldest_no_and_the_oldest_open_question_are_named() -> None:
    told = [
        replace(HELD, decision_id=name, action=action, episode_id=name)
        for name, action in [
            ("no", Action.DECLINE),
            ("asked", Action.HOLD),
            ("no again", Action.DECLINE),
            ("asked again", Action.HOLD),
        ]
    ]
    found = precedents_of(told, NOON)
    assert (found.declined_id, found.pending_id) == ("no", "asked")
    assert found.episode_ids == {"asked", "asked again"}


def test_what_was_withdrawn_and_its_mentions_in_that_session_support_nothing() -> None:
    told = [
        replace(HELD, answer_id="taken back"),
        replace(HELD, decision_id="mention", held_id="held", episode_id="mention"),
        replace(HELD, decision_id="taken back", action=Action.WITHDRAW),
        replace(HELD, decision_id="later", session_id="later"),
    ]
    assert precedents_of(told[:3], NOON).sessions == frozenset()
    assert precedents_of(told, NOON).sessions == {"later"}
