"""A check before an act: go, ask or stop, with what speaks against it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reconciler import Memory
from reconciler.bound_memory import ContactMemory
from reconciler.domain.recalling.checking import ActCheck
from reconciler.errors import InvalidRequestError, UnknownFactError
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)


class Clock:
    now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def priya(kept_engine: EngineUnderTest, clock: Clock) -> Iterator[ContactMemory]:
    arguments = {"embedder": HashingEmbedder(64), **kept_engine.settings_arguments}
    with Memory.open(clock=clock, **arguments) as memory:
        yield memory.contact("crm", "priya")


def lives_in(contact: ContactMemory, city: str, **given: Any) -> str:
    decision = contact.note(f"Lives in {city}.", attribute="city", value=city, **given)
    assert decision.fact_id is not None
    return decision.fact_id


def told(checked: ActCheck) -> tuple[str, list[tuple[str, str]]]:
    return checked.advice.value, [(each.about, each.reason) for each in checked.reasons]


def test_a_plain_fact_of_the_contact_is_a_go(priya: ContactMemory) -> None:
    fact_id = lives_in(priya, "Pune")
    checked = priya.check("home city")
    assert told(checked) == ("go", [])
    assert [fact.fact_id for fact in checked.facts] == [fact_id]
    assert told(priya.check([fact_id])) == told(priya.check(checked.facts[0].handle)) == ("go", [])


def test_a_no_in_words_that_deny_is_known(priya: ContactMemory) -> None:
    priya.note("Does not want marketing emails.", attribute="marketing_consent", value="no")
    assert [each.value for each in priya.value("marketing_consent")] == ["no"]
    assert told(priya.check("marketing_consent")) == ("go", [])


def test_what_is_not_known_is_asked(priya: ContactMemory) -> None:
    assert told(priya.check("city")) == ("ask", [("city", "nothing is known of it")])


def test_a_held_note_and_a_tools_word_are_asked_about(priya: ContactMemory) -> None:
    priya.note("Lives in Goa.", source_kind="tool_output", attribute="city", value="Goa")
    reasons = [("city", "nothing is known of it"), ("city", "a note about it waits for an answer")]
    assert told(priya.check("city")) == ("ask", reasons)


def test_an_old_fact_is_asked_about_only_if_its_age_matters(
    priya: ContactMemory, clock: Clock
) -> None:
    lives_in(priya, "Pune")
    clock.now = NOON + timedelta(days=40)
    assert told(priya.check("city")) == ("go", [])
    aged = ("ask", [("city", "it was last said 40 days ago")])
    assert told(priya.check("city", max_age_days=30)) == aged
    assert told(priya.check("city", max_age_days=41)) == ("go", [])


def test_a_change_of_the_last_week_is_asked_about(priya: ContactMemory, clock: Clock) -> None:
    lives_in(priya, "Pune")
    clock.now = NOON + timedelta(days=30)
    lives_in(priya, "Goa")
    assert told(priya.check("city")) == ("ask", [("city", "it changed on 2026-04-08")])
    clock.now += timedelta(days=7)
    assert told(priya.check("city")) == ("go", [])


def test_a_fact_that_has_ended_stops_and_names_what_holds_now(
    priya: ContactMemory, clock: Clock
) -> None:
    old = lives_in(priya, "Pune")
    clock.now += timedelta(days=1)
    lives_in(priya, "Goa")
    clock.now += timedelta(days=1)
    lives_in(priya, "Delhi")
    now = 'it has ended; now "Lives in Delhi."'
    assert told(priya.check([old])) == ("stop", [(old, now)])


def test_both_sides_of_a_dispute_are_asked_about(priya: ContactMemory, clock: Clock) -> None:
    lives_in(priya, "Pune")
    lives_in(priya, "Goa", source_kind="approved_doc", source_reference="contract 7")
    facts = [fact for dispute in priya.disputes() for fact in dispute.facts]
    assert facts, "the document's word is in dispute with the contact's"
    for fact in facts:
        assert (fact.fact_id, "it is in dispute") in told(priya.check(fact.fact_id))[1]


def test_a_standing_limit_that_touches_the_act_stops(priya: ContactMemory) -> None:
    lives_in(priya, "Pune")
    priya.note("Never call before nine.")
    stop = priya.check(act="Call before nine.")
    assert told(stop) == (
        "stop", [("act", 'a limit applies: "Never call before nine."')]
    )  # fmt: skip
    assert told(priya.check("city", act="Send flowers to Pune.")) == ("go", [])


def test_a_limit_that_waits_for_an_answer_is_asked_about(priya: ContactMemory) -> None:
    waits = ("ask", [("act", "a note about it waits for an answer")])
    held = priya.note("Never call before nine.", source_kind="tool_output")
    assert told(priya.check(act="Call before nine.")) == waits
    assert told(priya.check(act="Send flowers.")) == ("go", [])
    priya.confirm(held.decision_id, "contact")
    assert told(priya.check(act="Call before nine."))[0] == "stop"


def test_a_withdrawal_that_waits_for_an_answer_is_asked_about(priya: ContactMemory) -> None:
    may = priya.note("May be called on her mobile in the evening.").fact_id
    assert may is not None
    assert told(priya.check(may, act="Call her mobile.")) == ("go", [])
    held = priya.note("Not to be called in the evening any more.", source_kind="tool_output")
    waits = ("ask", [("act", "a note about it waits for an answer")])
    assert told(priya.check(act="Call her mobile in the evening.")) == waits
    assert told(priya.check(may)) == waits
    priya.reject(held.decision_id, "contact")
    assert told(priya.check(may)) == ("go", [])


def test_a_held_note_that_shares_only_the_contacts_name_is_about_something_else(
    priya: ContactMemory,
) -> None:
    priya.note("Priya moves to Goa.", source_kind="tool_output")
    assert told(priya.check(act="Email Priya.")) == ("go", [])


def test_a_dispute_that_touches_the_act_is_asked_about(priya: ContactMemory) -> None:
    lives_in(priya, "Pune")
    lives_in(priya, "Goa", source_kind="approved_doc", source_reference="contract 7")
    advice, reasons = told(priya.check(act="Send flowers to Pune."))
    assert (advice, set(reasons)) == ("ask", {("act", "it is in dispute")})


@pytest.mark.parametrize("named", [False, True])
def test_an_allergy_and_a_limit_that_is_named_itself_stop_an_act(
    priya: ContactMemory, named: bool
) -> None:
    priya.note("Allergic to peanuts.")
    call = priya.note("Never call before nine.").fact_id
    priya.note("Asked to be called on Monday at eight about the invoice.")
    acts = ("Serve her peanuts.", "Call before nine on Monday about the invoice.")
    for act in acts:
        stop = priya.check([call] if named and call else (), act=act)
        assert told(stop)[0] == "stop", act


@pytest.mark.parametrize(
    ("fact", "act", "advice"),
    [
        ("Is allergic to nuts.", "Give her nuts", "stop"),
        ("Is allergic to eggs.", "Send an egg sandwich", "stop"),
        ("Is allergic to celery.", "Serve celery soup", "stop"),
        ("Is allergic to nuts.", "Send her the invoice", "go"),
        ("No longer wants the newsletter.", "Send the newsletter", "ask"),
        ("I don't want your newsletters any more.", "Send the newsletter", "ask"),
        ("Should not be called at work.", "Call her at work", "ask"),
        ("Can't have anything with gluten.", "Send gluten biscuits", "ask"),
        ("Doesn't accept part deliveries.", "Send a part delivery", "ask"),
        ("I don't want your newsletters any more.", "Send more samples", "go"),
        ("Can't have anything with gluten.", "Send the invoice", "go"),
        ("Wants the newsletter.", "Send the newsletter", "go"),
    ],
)
def test_a_shared_word_of_an_allergy_or_a_denial_touches_the_act(
    priya: ContactMemory, fact: str, act: str, advice: str
) -> None:
    fact_id = priya.note(fact).fact_id
    checked = priya.check(act=act)
    named = [each.fact_id for each in checked.reasons]
    assert (checked.advice, named) == (advice, [] if advice == "go" else [fact_id])


def test_a_held_note_is_asked_about_if_the_fact_is_named_by_its_id(priya: ContactMemory) -> None:
    fact_id = lives_in(priya, "Pune")
    priya.note("Lives in Goa.", source_kind="tool_output", attribute="city", value="Goa")
    assert told(priya.check(fact_id)) == (
        "ask", [(fact_id, "a note about it waits for an answer")]
    )  # fmt: skip


def test_a_suspended_value_is_asked_about(priya: ContactMemory, clock: Clock) -> None:
    fact_id = lives_in(priya, "Pune")
    clock.now += timedelta(days=10)
    lives_in(priya, "Goa", valid_to=clock.now + timedelta(days=5))
    reason = (fact_id, "another value holds in its place for now")
    assert reason in told(priya.check(fact_id))[1]


def test_a_fact_that_was_said_again_is_the_same_fact(priya: ContactMemory, clock: Clock) -> None:
    fact_id = lives_in(priya, "Pune")
    clock.now += timedelta(days=1)
    priya.note("Her city is Pune.", attribute="city", value="Pune")
    assert told(priya.check(fact_id)) == ("go", [])


def test_several_people_of_one_name_are_asked_about(priya: ContactMemory) -> None:
    for person, city in (("colleague Anna", "Oslo"), ("friend Anna", "Bergen")):
        priya.note(f"Her {person} lives in {city}.", subject=person, attribute="city", value=city)
    assert ("city", "more than one known person fits") in told(priya.check("city", subject="Anna"))[
        1
    ]


def test_what_may_be_outdated_and_a_limit_of_a_later_day_are_told_apart(
    priya: ContactMemory, clock: Clock
) -> None:
    priya.note("Tom prefers email.", subject="Tom", attribute="preferred_channel", value="email")
    clock.now += timedelta(days=1)
    priya.note("Tom has left the company.")
    checked = priya.check("preferred_channel", subject="Tom")
    assert ("preferred_channel", "it may be outdated") in told(checked)[1]
    priya.note("Never call before nine.", valid_from=clock.now + timedelta(days=30))
    assert told(priya.check(act="Call before nine.")) == ("go", [])


def test_a_subject_of_ones_own_is_asked_about(priya: ContactMemory) -> None:
    priya.note("Her wife lives in Goa.", subject="wife", attribute="city", value="Goa")
    assert told(priya.check("city", subject="wife"))[0] == "go"
    assert told(priya.check("city"))[0] == "ask"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "say what the act rests on"),
        ({"about": ["city", ""]}, "about"),
        ({"about": "???"}, "blank"),
        ({"about": "city", "max_age_days": 0}, "max_age_days must be a number above 0"),
        ({"about": "city", "act": 7}, "act"),
        ({"about": 7}, "about must be"),
        ({"about": ["city"] * 51}, "more than 50"),
    ],
)
def test_what_cannot_be_checked_is_said(
    priya: ContactMemory, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidRequestError, match=said):
        priya.check(**given)


def test_another_contacts_fact_is_unknown(priya: ContactMemory, kept_engine: object) -> None:
    with pytest.raises(UnknownFactError):
        priya.check("#zzzz")


def test_an_agent_checks_with_a_tool_of_its_own_if_its_builder_says_so(
    priya: ContactMemory,
) -> None:
    asked = {"about": ["city"], "act": "Send flowers."}
    assert "no such tool" in priya.tools().call("check_before_acting", asked).text
    tools = priya.tools(can_check=True)
    assert tools.call("check_before_acting", asked).text.startswith("Ask the contact first.")
    lives_in(priya, "Pune")
    handle = tools.call("recall_contact", {"attribute": "city"}).text.split("#")[1][:4]
    go = tools.call("check_before_acting", {"about": f"#{handle}", "act": "Send flowers."})
    assert go.text == "Go: nothing speaks against it."
    lives_in(priya, "Goa")
    stop = tools.call("check_before_acting", {"about": f"#{handle}", "act": "Send flowers."})
    assert stop.text == (
        "Stop: do not do it as planned.\n<recalled_facts>\n"
        f'- #{handle}: it has ended; now "Lives in Goa."\n</recalled_facts>'
    )
    wrong = tools.call("check_before_acting", {"about": ["#zzzz"], "act": "Send flowers."})
    assert wrong.is_error
