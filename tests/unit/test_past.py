"""What becomes of a note about something that is over, case by case."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from reconciler import Fact
from reconciler.domain.reconciling.ahead import as_past, over
from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, DecidedBy, FactState, SourceKind
from tests.tables import every

END = datetime(2025, 6, 2, tzinfo=UTC)
DAY = timedelta(days=1)
KNOWN = Fact(
    fact_id="known",
    text="Lives in Pune",
    trust=SourceKind.OPERATOR,
    observations=1,
    recorded_at=END,
    valid_from=END - 9 * DAY,
    last_confirmed_at=END - 9 * DAY,
)
NEIGHBOUR = Neighbour(
    fact_id="known", text="Lives in Pune", cosine=1.0, valid_from=KNOWN.valid_from
)


def verdict(action: Action, **told: Any) -> Verdict:
    usual = {"decided_by": DecidedBy.THRESHOLD, "reason": "as before", "targets": (NEIGHBOUR,)}
    return Verdict(action=action, can_be_arbitrated=True, **usual | told)


def test_what_lies_beneath_something_newer_stays_there() -> None:
    found = as_past(verdict(Action.ADD, is_history=True), END, KNOWN)
    assert (found.targets, found.is_history) == ((NEIGHBOUR,), True)


@every("since", [timedelta(0), -DAY])
def test_what_says_again_a_fact_that_nobody_said_since_ends_it(since: timedelta) -> None:
    found = as_past(verdict(Action.UPDATE, is_restatement=True), END, _said_last(END + since))
    assert (found.action, found.targets) == (Action.UPDATE, (NEIGHBOUR,))


def test_a_fact_that_was_said_since_the_end_lives_on() -> None:
    known = _said_last(END + timedelta(microseconds=1))
    found = as_past(verdict(Action.UPDATE, is_restatement=True), END, known)
    assert (found.action, found.targets, found.is_restatement) == (Action.ADD, (), False)


@every(
    "told",
    [
        verdict(Action.UPDATE),
        verdict(Action.SKIP),
        verdict(Action.ADD, targets=(), conflicts=(NEIGHBOUR,)),
        verdict(Action.UPDATE, voided=(NEIGHBOUR,)),
    ],
)
def test_anything_else_stands_for_itself(told: Verdict) -> None:
    found = as_past(told, END, KNOWN)
    assert (found.action, found.targets, found.conflicts, found.voided) == (Action.ADD, (), (), ())
    assert found.decided_by is DecidedBy.ORDER
    assert found.reason == "it held until 2025-06-02, so it is kept as history (as before)"


@every("action", [Action.ADD, Action.UPDATE, Action.SKIP])
def test_no_arbiter_is_asked_about_what_is_over(action: Action) -> None:
    for told in (verdict(action), verdict(action, is_restatement=True)):
        assert not as_past(told, END, KNOWN).can_be_arbitrated


def test_what_is_over_is_history_from_the_start() -> None:
    found = over(KNOWN, END)
    assert (found.state, found.valid_to, found.expires_at) == (FactState.SUPERSEDED, END, None)


def _said_last(at: datetime) -> Fact:
    return replace(KNOWN, last_confirmed_at=at)
