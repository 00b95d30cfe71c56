from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from reconciler.domain.records.facts import ActionCount, LiveFact
from reconciler.domain.records.kinds import Action
from reconciler.domain.records.notes import Slot
from reconciler.ops.review import health
from reconciler.ops.review.health import (
    ContactHealth,
    Waiting,
    decided_rates,
    near_pairs,
    slots_with_rivals,
    waiting,
)
from tests.tables import every

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
TWINS = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)


def fact(fact_id: str, slot: Slot | None = None) -> LiveFact:
    names = ("subject", "attribute", "value_key", "is_single_valued")
    filed = {name: getattr(slot, name, None) for name in names}
    return LiveFact(fact_id=fact_id, is_live=True, embedding_bytes=None, **filed)


def slot(attribute: str, value: str, *, is_single_valued: bool = True) -> Slot:
    return Slot(
        subject="contact",
        attribute=attribute,
        value=value,
        value_key=value,
        is_single_valued=is_single_valued,
    )


def pairs(*facts: LiveFact, linked: tuple[str, str] | None = None) -> list[tuple[str, str]]:
    joined = [frozenset(linked)] if linked else []
    return list(near_pairs(facts, TWINS[: len(facts)], joined, 0.95))


def test_two_facts_as_near_as_restatements_are_a_pair() -> None:
    assert pairs(fact("a"), fact("b"), fact("c")) == [("a", "b")]


def test_a_pair_that_a_link_joins_is_none() -> None:
    assert pairs(fact("a"), fact("b"), linked=("b", "a")) == []


@every(
    "other",
    [
        slot("allergy", "nuts"),
        slot("diet", "peanuts"),
        Slot(subject="wife", is_single_valued=False),
    ],
)
def test_answers_that_differ_are_no_pair_however_near_they_are(other: Slot) -> None:
    assert pairs(fact("a", slot("allergy", "peanuts")), fact("b", other)) == []


@pytest.mark.parametrize("alone_max", [5, 10])  # too little for a block of its own; two rows
def test_pairs_are_found_across_blocks(monkeypatch: pytest.MonkeyPatch, alone_max: int) -> None:
    monkeypatch.setattr(health, "_BLOCK_ROWS", 2)
    monkeypatch.setattr(health, "_ALONE_MAX", alone_max)
    facts = [fact(str(number)) for number in range(5)]
    vectors = np.ones((5, 1), dtype=np.float32)
    assert len(list(near_pairs(facts, vectors, [], 0.95))) == 10


def test_a_question_of_one_value_has_as_many_rivals_as_values() -> None:
    told = [slot("city", "pune"), slot("city", "pune"), slot("city", "goa"), slot("name", "anna")]
    told.append(slot("allergy", "nuts", is_single_valued=False))
    found = slots_with_rivals([fact("a", each) for each in (*told, None)])
    assert found == {("contact", "city"): 2, ("contact", "name"): 1}


def test_what_waits_is_counted_by_age() -> None:
    ages = [timedelta(days=days) for days in (0, 1, 2, 7, 8, 30, 31)]
    found = waiting([NOW - age for age in ages], NOW)
    assert found == Waiting(day=2, week=2, month=2, longer=1, oldest_at=NOW - ages[-1])


def test_an_admitted_proposal_counts_once_and_its_commit_is_no_answer() -> None:
    told = [
        (Action.ADMIT, False),
        (Action.ADD, False),
        (Action.REJECT, False),
        (Action.HOLD, False),
    ]
    answers = [(Action.ADD, True), (Action.DECLINE, True), (Action.WITHDRAW, True)]
    counted = [ActionCount(action=a, is_answer=b, decisions=1) for a, b in told + answers]
    assert decided_rates(counted) == {
        "decisions": 7,
        "attempts": 3,
        "refusals": 1,
        "answers": 2,
        "confirmations": 1,
    }


def test_contacts_together_are_summed_and_their_oldest_question_kept() -> None:
    one = ContactHealth(contact_id="a", live=4, duplicated=2, questions=waiting([NOW], NOW))
    earlier = NOW - timedelta(days=3)
    both = one.with_more(replace(one, contact_id="b", questions=waiting([earlier], NOW)))
    assert (both.contact_id, both.live, both.duplicate_rate) == (None, 8, 0.5)
    assert (both.questions.count, both.questions.oldest_at) == (2, earlier)


def test_a_rate_of_nothing_is_none() -> None:
    empty = ContactHealth()
    rates = (empty.duplicate_rate, empty.stale_rate, empty.confirm_rate, empty.refusal_rate)
    assert rates == (None, None, None, None)
