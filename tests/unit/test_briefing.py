"""What a briefing asks."""

from __future__ import annotations

from datetime import UTC, datetime

from reconciler.domain.recalling.briefing import Briefing
from reconciler.domain.recalling.recalled import Recalled
from reconciler.domain.records.facts import Dispute
from reconciler.domain.records.scope import Scope

SCOPE, NOON = Scope("acme", "crm", "priya"), datetime(2026, 3, 9, 12, tzinfo=UTC)


def test_of_200_open_questions_two_are_asked_and_all_are_kept() -> None:
    pending = tuple(
        Dispute(scope=SCOPE, facts=(), question=f"{n} or more?", reasons=(), opened_at=NOON)
        for n in range(200)
    )
    briefing = Briefing(facts=Recalled(), pending=pending)
    assert briefing.questions == ("0 or more?", "1 or more?")
    assert briefing.as_prompt().count("or more?") == 2
    assert len(briefing.to_dict()["questions"]) == 200


def test_a_question_that_no_person_can_answer_is_not_put_to_one() -> None:
    long, short = (
        Dispute(scope=SCOPE, facts=(), question=text, reasons=(), opened_at=NOON)
        for text in ("Or " * 400, "Pune or Goa?")
    )
    briefing = Briefing(facts=Recalled(), pending=(long, short))
    assert briefing.questions == ("Pune or Goa?",)
    assert len(briefing.to_dict()["questions"]) == 2
