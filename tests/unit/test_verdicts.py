"""A verdict as the rule makes it and as a decision keeps it."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime

from reconciler.domain.records.decisions import Decision, Verdict
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, DecidedBy, SourceKind
from reconciler.domain.records.notes import Scope
from reconciler.service.stores.commits import record_of
from reconciler.service.stores.rows import adapter_of
from tests.commits import committed
from tests.tables import every

OLD, OTHER, RIVAL = (
    Neighbour(
        fact_id=fact_id,
        text=f"Text of {fact_id}",
        cosine=0.9,
        valid_from=datetime(2026, 3, 9, tzinfo=UTC),
        trust=SourceKind.OPERATOR,
    )
    for fact_id in ("old", "other", "rival")
)
MADE = Verdict(
    action=Action.UPDATE,
    decided_by=DecidedBy.SLOT,
    reason="because",
    targets=(OLD, OTHER),
    conflicts=(RIVAL,),
    is_restatement=True,
    settled=(RIVAL,),
    voided=(OTHER,),
    can_be_arbitrated=True,
)


def test_a_decision_keeps_a_verdict_whole_with_the_ids_of_its_facts() -> None:
    kept = MADE.by_id()
    assert (kept.targets, kept.conflicts) == (("old", "other"), ("rival",))
    assert (kept.settled, kept.voided) == (("rival",), ("other",))
    for each in fields(Verdict):
        if each.name not in ("targets", "conflicts", "settled", "voided"):
            assert getattr(kept, each.name) == getattr(MADE, each.name)


def test_a_decision_is_read_as_it_was_kept() -> None:
    decision = committed(Scope("acme", "crm", "alice"), 0, verdict=MADE.by_id()).decision
    assert adapter_of(Decision).validate_json(record_of(decision)) == decision


@every("action", Action)
def test_targets_end_only_by_what_takes_their_place_takes_them_back_or_resolves(
    action: Action,
) -> None:
    verdict = Verdict(action=action, decided_by=DecidedBy.SLOT, reason="r", targets=(OLD,))
    ends = action in (Action.UPDATE, Action.REVOKE, Action.RESOLVE)
    assert verdict.ended == ((OLD,) if ends else ())
