"""What was held and what was true at an instant, worked out from facts and decisions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from reconciler import Action, Decision
from reconciler.domain.recalling.history import HeldFacts, held_at, made_by, true_at
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import DecidedBy, FactState, SourceKind
from reconciler.domain.records.notes import Scope
from reconciler.reading.kinds import Category
from tests.records import decision_of
from tests.tables import every

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def fact(**given: Any) -> Fact:
    usual: dict[str, Any] = {"fact_id": "a", "text": "Likes tea", "observations": 1}
    times = dict.fromkeys(("recorded_at", "valid_from", "last_confirmed_at"), NOON)
    return Fact(**usual | times | {"trust": SourceKind.OPERATOR} | given)


def made(version: int, at: datetime, **given: Any) -> Decision:
    usual: dict[str, Any] = {
        **{"decision_id": f"d{version}", "scope": Scope("acme", "crm", "alice"), "text": "Tea"},
        **{"said_at": at, "at": at, "version": version, "door": "live", "episode_id": "e"},
        **{"action": Action.ADD, "decided_by": DecidedBy.THRESHOLD, "reason": "because"},
        **{"profile": "seed", "cosine_update_min": 0.95, "cosine_add_max": 0.8, "cosine_cut": 0.9},
        **{"guard": True, "embedding_model": "m"},
    }
    return decision_of(**usual | given)


def test_a_decision_was_made_by_its_own_instant() -> None:
    decisions = [made(2, NOON + DAY), made(1, NOON)]
    assert [each.version for each in made_by(NOON, decisions)] == [1]
    assert made_by(NOON - DAY, decisions) == []


def test_a_decision_of_a_clock_that_was_ahead_was_made_no_later_than_what_followed_it() -> None:
    decisions = [made(1, NOON + 900 * DAY), made(2, NOON)]
    assert [each.version for each in made_by(NOON, decisions)] == [1, 2]


def test_a_decision_that_came_in_while_the_facts_were_read_changes_nothing() -> None:
    known = HeldFacts(facts=(fact(),), links=())
    late = made(2, NOON + DAY, fact_id="not read", action=Action.UPDATE, targets=("gone",))
    assert held_at(NOON, known, [late]) == known


def test_what_has_ended_since_was_true_until_then() -> None:
    ended = fact(state=FactState.SUPERSEDED, valid_to=NOON + DAY)
    assert true_at(NOON, [ended]) == [ended]
    assert true_at(NOON + DAY, [ended]) == []
    assert true_at(NOON - DAY, [ended]) == []


@every(
    ("given", "is_true"),
    [({}, True), ({"category": Category.VOLATILE}, False), ({"valid_to": NOON + DAY}, False)],
)
def test_what_is_past_its_lifetime_may_be_true_but_for_what_passes(
    given: dict[str, Any], is_true: bool
) -> None:
    void = fact(is_void=True, valid_to=NOON, state=FactState.REVOKED)
    expired = fact(expires_at=NOON + DAY, **given)
    assert true_at(NOON, [void, expired]) == [expired]
    assert true_at(NOON + DAY, [void, expired]) == [expired][:is_true]
