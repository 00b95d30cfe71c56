from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import SourceKind
from reconciler.service.stores.rows import SLOT_COLUMNS
from reconciler.service.stores.stored_facts import StoredFacts, facts_in

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)


def stored(*told: dict[str, Any]) -> StoredFacts:
    names = [field.name for field in fields(Fact) if field.name != "slot"]
    usual = dict.fromkeys([*names, *SLOT_COLUMNS]) | {
        "fact_id": "a",
        "text": "Likes tea",
        "trust": SourceKind.USER_EXPLICIT,
        "observations": 1,
        "recorded_at": NOW,
        "valid_from": NOW,
        "last_confirmed_at": NOW,
    }
    rows = [usual | each for each in told]
    return facts_in({name: [row[name] for row in rows] for name in usual})


def test_facts_are_made_only_when_they_are_asked_for() -> None:
    facts = stored(
        {"fact_id": "a"},
        {
            "fact_id": "b",
            "subject": "wife",
            "is_single_valued": True,
            "is_known": True,
            "is_personal": False,
        },
    )
    slot = facts.slot_at(1)
    assert facts.slot_at(0) is None
    assert slot is not None
    assert slot.subject == "wife"
    assert not facts._made
    assert facts[1].slot == slot
