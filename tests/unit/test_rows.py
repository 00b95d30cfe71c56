"""Rows: the order of what was compared."""

from __future__ import annotations

from datetime import UTC, datetime

from reconciler.domain.records.decisions import Comparison
from reconciler.domain.records.kinds import Action, DecidedBy, SourceKind
from reconciler.service.stores.rows import with_comparisons
from tests.records import decision_of

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)


def compared(rank: int) -> Comparison:
    return Comparison(
        fact_id=f"fact#{rank}", text="Likes tea", cosine=0.5, rank=rank, valid_from=NOON
    )


def test_what_was_compared_comes_nearest_first() -> None:
    decision = decision_of(
        decision_id="d",
        tenant="default",
        agent_id="crm",
        contact_id="priya",
        text="Likes tea",
        said_at=NOON,
        trust=SourceKind.USER_EXPLICIT,
        action=Action.ADD,
        decided_by=DecidedBy.THRESHOLD,
        reason="near",
        door="live",
        at=NOON,
        episode_id="e",
        profile="seed",
        cosine_update_min=0.95,
        cosine_add_max=0.8,
        cosine_cut=0.875,
        guard=True,
        embedding_model="model",
    )
    made = with_comparisons(decision, map(compared, (3, 1, 2)))
    assert [fact.rank for fact in made.compared_with] == [1, 2, 3]
