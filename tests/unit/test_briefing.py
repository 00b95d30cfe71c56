"""What a briefing asks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from reconciler.domain.recalling.briefing import Briefing, asked_together, opens_conversations
from reconciler.domain.recalling.recallable import Recallable, Recalling
from reconciler.domain.recalling.recalled import Recalled
from reconciler.domain.records.facts import Dispute, Fact, RankedFact
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import Scope
from reconciler.domain.records.policies import RankingPolicy
from reconciler.reading.kinds import RecallSemantics
from tests.tables import every

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


def test_only_what_is_asked_alike_is_asked_together() -> None:
    asked = ["May I keep “A” (yes)?", "Is “B” so?", "May I keep “C” (yes)?", "Which one holds?"]
    together = ("May I keep “A”, “C” (yes)?", "Is “B” so?", "Which one holds?")
    assert asked_together(asked, 400) == together


def test_a_question_about_several_notes_stays_short() -> None:
    asked = [f"May I keep “{n * 100}”?" for n in "ABCDEFG"]
    assert asked_together(asked, 400) == (
        "May I keep “{}”, “{}”, “{}”?".format("A" * 100, "B" * 100, "C" * 100),
    )
    assert asked_together(asked, 300) == ("May I keep “{}”, “{}”?".format("A" * 100, "B" * 100),)


def recalled(text: str, importance: float, *, stands: bool = False) -> RankedFact:
    fact = Fact(
        fact_id=text,
        text=text,
        importance=importance,
        trust=SourceKind.USER_EXPLICIT,
        observations=1,
        recorded_at=NOON,
        valid_from=NOON,
        last_confirmed_at=NOON,
        recall_semantics=RecallSemantics.CONSTRAINT if stands else RecallSemantics.DEFAULT,
    )
    return RankedFact(
        fact=fact, score=0.5, similarity=None, recency=1.0, strength=1.0, is_standing=stands
    )


KNOWN = Recalled(
    [
        recalled("Has a dog.", 0.2),
        recalled("Signs up to 2,500.", 0.85),
        recalled("Buys no latex.", 0.95),
        recalled("Brings a PO.", 0.7, stands=True),
        recalled("Likes tea.", 0.5),
    ]
)


def most_important_first(recalled: Recalled, limit: int) -> Recalled:
    facts, how = [hit.fact for hit in recalled], Recalling(ranking=RankingPolicy())
    opens = opens_conversations(facts, (), NOON)
    return Recallable(facts).everything(how, NOON, opens, (), limit)


def test_minor_facts_are_cut_from_a_briefing_first_and_counted() -> None:
    found = most_important_first(KNOWN, 1)
    assert [hit.fact.text for hit in found] == [
        "Buys no latex.",
        "Signs up to 2,500.",
        "Brings a PO.",
    ]
    assert found.left_out == 2


def test_a_limit_that_matters_most_holds_whatever_is_asked() -> None:
    prompt = Briefing(facts=most_important_first(KNOWN, 5), pending=()).as_prompt()
    texts = ["Always holds", "Buys no latex.", "Brings a PO.", "Known:", "Signs", "tea", "dog"]
    places = [prompt.index(text) for text in texts]
    assert places == sorted(places)


def test_a_fact_that_is_never_cut_takes_no_room_from_what_stands() -> None:
    prompt = Briefing(facts=most_important_first(KNOWN, 5), pending=()).as_prompt(budget_tokens=80)
    assert "Buys no latex." in prompt
    assert "Brings a PO." in prompt


def test_a_briefing_as_plain_values_says_what_is_unconfirmed_and_what_was_put_by() -> None:
    old, new = (
        Dispute(scope=SCOPE, facts=(), question=text, reasons=(), opened_at=NOON)
        for text in ("Pune or Goa?", "Tea or coffee?")
    )
    briefing = Briefing(
        facts=Recalled(), pending=(old, new), put_by=(old,), unconfirmed=("job_title",)
    )
    told = briefing.to_dict()
    assert told["unconfirmed"] == ["job_title"]
    assert [each["is_put_by"] for each in told["questions"]] == [True, False]


def test_what_is_due_is_in_a_briefing_whatever_its_limit() -> None:
    due = recalled(f"The audit is on {NOON + timedelta(days=9):%d %B %Y}.", 0.1)
    late = recalled(f"The lease ends on {NOON + timedelta(days=90):%d %B %Y}.", 0.1)
    found = most_important_first(Recalled([*KNOWN, due, late]), 1)
    assert found[0].fact == due.fact
    assert late.fact not in [hit.fact for hit in found]


@every(
    "text",
    [
        "Born on 29 February; the audit is on 18 March.",
        "The audit is on 18 MARCH.",
        "The audit is tomorrow.",
        "Das Audit ist nächste Woche.",
        "The audit is at the end of the month.",
    ],
)
def test_a_day_is_due_however_it_is_named(text: str) -> None:
    due = recalled(text, 0.1)
    assert most_important_first(Recalled([*KNOWN, due]), 1)[0].fact == due.fact
