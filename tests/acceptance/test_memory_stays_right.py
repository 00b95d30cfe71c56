"""How a memory rots, one row at a time, with the real model: each row went wrong once.

A row tells notes as a builder would, a few at a time, and looks at what is live afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reconciler import Decision, Memory, SourceKind, Turn
from reconciler.bootstrap.chosen_models import build_embedder
from reconciler.domain.recalling.prompting import as_prompt
from reconciler.ports.embedder import Embedder
from reconciler.settings import load_settings
from tests.engines import EngineUnderTest

AGENT, ANNA = "crm", "anna"
DAY = timedelta(days=1)
START = datetime(2026, 3, 9, 12, tzinfo=UTC)

Open = Callable[..., Memory]


class Calendar:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def let_pass(self, days: int) -> None:
        self.now += days * DAY


@pytest.fixture
def engine(kept_engine: EngineUnderTest) -> EngineUnderTest:
    """In the place of every engine: these are told through the facade."""
    return kept_engine


@pytest.fixture(scope="module")
def real_embedder() -> Embedder:
    """The packaged model, loaded once."""
    return build_embedder(load_settings())


@pytest.fixture
def calendar() -> Calendar:
    return Calendar()


@pytest.fixture
def open_memory(
    engine: EngineUnderTest, calendar: Calendar, real_embedder: Embedder
) -> Iterator[Open]:
    """Opens the engine's store with the packaged model; what a test opened is closed after it."""
    with ExitStack() as stack:

        def open_(**given: Any) -> Memory:
            arguments = engine.settings_arguments | {"embedder": real_embedder} | given
            memory = Memory.open(clock=calendar, **arguments)
            stack.callback(memory.close)
            return memory

        yield open_


@pytest.fixture
def memory(open_memory: Open) -> Memory:
    return open_memory()


def live(memory: Memory) -> list[str]:
    """The texts that recall gives, in their order."""
    return [each.fact.text for each in memory.contact(AGENT, ANNA).recall(limit=100)]


def chain(memory: Memory) -> list[str]:
    """The one history's texts, newest first."""
    [history] = memory.contact(AGENT, ANNA).history()
    return [fact.text for fact in history.facts]


def tell(memory: Memory, *texts: str, **fields: Any) -> list[Decision]:
    return [memory.add_contact_note(AGENT, ANNA, text, **fields) for text in texts]


FOUR_WORDINGS = (
    "Prefers email.",
    "Likes being emailed.",
    "Wants email follow-ups.",
    "Asked to be contacted by email.",
)


@pytest.mark.parametrize("profile", ["seed", "minilm"])
def test_a_changed_channel_ends_four_wordings_of_the_old_one(
    open_memory: Open, profile: str
) -> None:
    memory = open_memory(reconcile={"profile": profile})
    tell(memory, *FOUR_WORDINGS, "Now wants a phone call instead of email.")
    assert live(memory) == ["Now wants a phone call instead of email."]


def test_a_move_that_is_told_plainly_ends_where_she_lived(memory: Memory) -> None:
    tell(memory, "Lives in Pune.", "She relocated to Mumbai last month.")
    assert chain(memory) == ["She relocated to Mumbai last month.", "Lives in Pune."]


def test_an_employer_that_the_contact_names_in_sessions_ends_the_one_from_the_live_door(
    memory: Memory, calendar: Calendar
) -> None:
    tell(memory, "Works at Nordlys.", attribute="employer", value="Nordlys")
    for number in range(4):
        calendar.let_pass(3)
        said = Turn(role="contact", text="I work at Brightwave now.")
        memory.contact(AGENT, ANNA).submit_session(f"call-{number}", [said])
        memory.drain()
    [only] = memory.contact(AGENT, ANNA).recall()
    assert only.fact.slot is not None
    assert only.fact.slot.value == "Brightwave"
    assert only.fact.observations == 4


def test_a_tools_other_value_is_one_question_however_often_it_comes(memory: Memory) -> None:
    tell(memory, "Lives in Pune.", attribute="city", value="Pune")
    for _ in range(3):
        tell(
            memory,
            "City of record: Mumbai.",
            attribute="city",
            value="Mumbai",
            source_kind=SourceKind.APPROVED_DOC,
        )
    [dispute] = memory.contact(AGENT, ANNA).disputes()
    assert "Pune" in dispute.question
    assert "Mumbai" in dispute.question


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("Prefers Teams calls.", "Never call before nine."),
        ("Never call before nine.", "Prefers Teams calls."),
        ("Prefers phone calls.", "No calls on Sundays."),
        ("Prefers email.", "Wants no other emails."),
        ("Allergic to peanuts.", "Not allergic to other nuts."),
    ],
)
def test_what_is_denied_at_some_hour_or_of_others_is_in_no_dispute(
    memory: Memory, known: str, said: str
) -> None:
    assert [each.action for each in tell(memory, known, said)] == ["ADD", "ADD"]
    assert memory.contact(AGENT, ANNA).disputes() == []


def test_a_new_credit_limit_is_in_no_dispute_with_payment_terms(memory: Memory) -> None:
    known = "Pays at 45 days instead of 60; he has signed our letter with the new terms."
    said = "The credit limit goes up to 20,000 with the new terms, which he has signed."
    tell(memory, known, attribute="payment_terms", value="45 days", single_valued=True)
    tell(memory, said, attribute="credit_limit", value="20,000", single_valued=True)
    assert memory.contact(AGENT, ANNA).disputes() == []


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("Call only after nine.", "Never call after nine."),
        ("Call before nine.", "Never call before nine."),
        ("Prefers calls on Sundays.", "No calls on Sundays."),
        ("Prefers email.", "Never email."),
    ],
)
def test_what_is_denied_at_the_same_hour_is_in_dispute(
    memory: Memory, known: str, said: str
) -> None:
    tell(memory, known, said)
    assert len(memory.contact(AGENT, ANNA).disputes()) == 1


def test_a_colleague_who_left_ends_no_job_of_the_contacts(memory: Memory) -> None:
    tell(memory, "Works at Nordlys.", "Bob has left Nordlys.")
    [value] = memory.contact(AGENT, ANNA).profile()
    assert (value.attribute, value.value) == ("employer", "Nordlys")


def test_an_operator_can_amend_what_the_contact_said(memory: Memory) -> None:
    tell(memory, "Lives in Pune.", attribute="city", value="Pune")
    [wrong] = memory.contact(AGENT, ANNA).recall()
    memory.contact(AGENT, ANNA).amend(
        "Lives in Mumbai.",
        fact_id=wrong.fact.fact_id,
        value="Mumbai",
        by="operator:mira",
        reason="the signed contract says so",
    )
    assert chain(memory) == ["Lives in Mumbai.", "Lives in Pune."]


def test_what_comes_after_an_expired_value_continues_its_chain(
    memory: Memory, calendar: Calendar
) -> None:
    tell(memory, "Lives in Pune.", attribute="city", value="Pune", lifetime_days=30)
    calendar.let_pass(40)
    assert [each.fact.may_be_outdated for each in memory.contact(AGENT, ANNA).recall()] == [True]
    tell(memory, "Lives in Goa.", attribute="city", value="Goa")
    assert chain(memory) == ["Lives in Goa.", "Lives in Pune."]


def test_what_is_said_again_after_it_expired_is_live_again(
    memory: Memory, calendar: Calendar
) -> None:
    tell(memory, "Lives in Pune.", attribute="city", value="Pune", lifetime_days=30)
    calendar.let_pass(40)
    tell(memory, "Lives in Pune.", attribute="city", value="Pune")
    assert live(memory) == ["Lives in Pune."]


def test_a_lesser_source_fills_the_empty_slot_of_what_it_confirms(memory: Memory) -> None:
    said = "Met her at the Chatter convention; her employer is Brightwave."
    tell(memory, said)
    tell(
        memory, said, attribute="employer", value="Brightwave", source_kind=SourceKind.APPROVED_DOC
    )
    tell(memory, "Moved on to Nordlys.", attribute="employer", value="Nordlys")
    assert chain(memory) == ["Moved on to Nordlys.", said]


def test_what_never_was_has_no_interval(memory: Memory, calendar: Calendar) -> None:
    tell(memory, "She works at Globex.", attribute="employer", value="Globex")
    calendar.let_pass(30)
    tell(memory, "She never worked at Globex.", attribute="employer", value="Globex")
    [history] = memory.contact(AGENT, ANNA).history()
    denied = history.facts[-1]
    assert denied.valid_to == denied.valid_from


@pytest.mark.on_neo4j_too
def test_a_reverted_decision_gives_back_what_it_ended(memory: Memory) -> None:
    tell(memory, "Works at Initech.", attribute="employer", value="Initech")
    [wrong] = tell(memory, "Works at Globex.", attribute="employer", value="Globex")
    memory.contact(AGENT, ANNA).revert(
        wrong.decision_id, by="operator:mira", reason="never worked there"
    )
    assert live(memory) == ["Works at Initech."]


def test_a_vaguer_wording_with_the_slot_keeps_the_severity(memory: Memory) -> None:
    slot = {"attribute": "allergy", "value": "peanuts"}
    tell(memory, "Is severely allergic to peanuts.", **slot)
    tell(memory, "She is allergic to peanuts.", **slot)
    assert live(memory) == ["Is severely allergic to peanuts."]


def test_a_number_that_looks_like_a_year_is_an_invoice_s(memory: Memory) -> None:
    tell(
        memory,
        *(f"Invoice {number} about the servers is due on 23 May 2018" for number in (1500, 2022)),
    )
    assert len(live(memory)) == 2


def test_recall_and_prompt_say_that_two_counts_contradict(memory: Memory) -> None:
    tell(memory, "The household has three young children", "The household has two young children")
    prompt = as_prompt(memory.contact(AGENT, ANNA).recall())
    assert prompt.count("disputed") >= 2


def test_a_request_in_an_old_transcript_is_remembered(memory: Memory, calendar: Calendar) -> None:
    said = "Remember that I prefer e-mail over phone calls."
    calendar.let_pass(240)
    turn = Turn(role="contact", text=said, said_at=START)
    memory.contact(AGENT, ANNA).submit_session("march", [turn])
    memory.drain()
    [text] = live(memory)
    assert "e-mail over phone" in text


def test_a_guess_does_not_end_what_was_confirmed(memory: Memory) -> None:
    [held] = tell(
        memory,
        "Prefers e-mail.",
        attribute="preferred_channel",
        value="e-mail",
        source_kind=SourceKind.TOOL_OUTPUT,
    )
    memory.contact(AGENT, ANNA).confirm(held.decision_id, "contact")
    tell(
        memory,
        "Perhaps she'd be fine with phone, not sure.",
        attribute="preferred_channel",
        value="phone",
    )
    assert "Prefers e-mail." in live(memory)
    assert len(memory.contact(AGENT, ANNA).disputes()) == 1
