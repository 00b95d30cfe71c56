"""What becomes of a fact past its lifetime, and how long each kind of thing lives."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reconciler import Action, Decision, Memory, SourceKind
from reconciler.domain.recalling.prompting import as_prompt
from reconciler.errors import InvalidNoteError
from reconciler.testing import HashingEmbedder
from tests.clocks import Clock
from tests.engines import EngineUnderTest
from tests.tables import every

NOON = datetime(2025, 3, 9, 12, tzinfo=UTC)
DAY = timedelta(days=1)
STAND = "Their stand is in hall 7."


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


def opened(clock: Clock, folder: Path, **life: Any) -> Memory:
    return Memory.open(
        graph="embedded",
        embedded_path=folder / "memory.lbug",
        embedder=HashingEmbedder(),
        clock=clock,
        life=life,
    )


def say(memory: Memory, text: str, **given: Any) -> Decision:
    return memory.add_contact_note("crm", "alice", text, **given)


def told(memory: Memory, **asked: Any) -> dict[str, bool]:
    """What is recalled, and whether it may be outdated."""
    found = memory.contact("crm", "alice").recall(limit=100, **asked)
    return {hit.fact.text: hit.fact.may_be_outdated for hit in found}


# Marked, not hidden


def test_a_fact_past_its_lifetime_is_told_and_marked(clock: Clock, memory: Memory) -> None:
    say(memory, STAND)
    clock.pass_days(366)
    assert told(memory) == {STAND: True}
    prompt = as_prompt(memory.contact("crm", "alice").recall())
    assert "last said on 2025-03-09, may have changed" in prompt


def test_it_is_told_behind_what_is_in_its_lifetime(clock: Clock, memory: Memory) -> None:
    say(memory, STAND, lifetime_days=30)
    say(memory, "Their stand is in hall 9.", said_at=NOON - DAY)
    clock.pass_days(31)
    assert list(told(memory)) == ["Their stand is in hall 9.", STAND]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Only for today, use the back gate.", 1),
        ("Asked not to be disturbed tonight.", 1),
        ("No visits this afternoon.", 1),
        ("Is in the workshop today.", 1),
        ("Nur heute am Hintereingang klingeln.", 1),
        ("A wet parcel came today.", 7),
        ("Since today the gate is open.", 7),
        ("Use the back gate for this order.", 7),
    ],
)
def test_what_holds_only_today_ends_at_midnight(memory: Memory, text: str, days: int) -> None:
    say(memory, text, category="volatile")
    (hit,) = memory.contact("crm", "alice").recall()
    midnight = NOON + DAY / 2
    assert hit.fact.expires_at == (midnight if days == 1 else NOON + days * DAY)


def test_words_only_for_today_are_volatile(memory: Memory) -> None:
    say(memory, "Only for today, call my mobile.")
    (hit,) = memory.contact("crm", "alice").recall()
    assert hit.fact.expires_at == NOON + DAY / 2


@pytest.mark.parametrize(
    "text",
    [
        "Thanks for today, we agreed on 40k EUR.",
        "The invoice for today is number 5512.",
        "The main contact for today and the future is Omar.",
        "Good for today and for the whole year: 10 percent discount.",
    ],
)
def test_words_that_only_mention_today_last(clock: Clock, memory: Memory, text: str) -> None:
    say(memory, text)
    clock.pass_days(8)
    assert list(told(memory)) == [text]


def test_a_lifetime_that_is_given_goes_before_the_end_of_today(
    clock: Clock, memory: Memory
) -> None:
    say(memory, "Only for today, use the gate.", category="volatile", lifetime_days=3)
    clock.pass_days(2)
    assert len(told(memory)) == 1


def test_what_is_said_again_lives_as_long_as_before_from_then_on(
    clock: Clock, memory: Memory
) -> None:
    say(memory, STAND, lifetime_days=700)
    clock.pass_days(600)
    say(memory, STAND.rstrip("."), category="volatile")
    clock.pass_days(699)
    assert list(told(memory).values()) == [False]
    clock.pass_days(2)
    assert list(told(memory).values()) == [True]


def test_what_is_said_again_renews_it_among_any_number_of_live_facts(
    clock: Clock, memory: Memory
) -> None:
    say(memory, STAND)
    clock.pass_days(400)
    for number in range(8):
        say(memory, f"Owns a boat with the number {number}.")
    assert say(memory, STAND).action is Action.UPDATE
    assert told(memory)[STAND] is False


def test_what_a_model_says_to_repeat_another_renews_it(clock: Clock, memory: Memory) -> None:
    hall = say(memory, STAND, lifetime_days=700)
    clock.pass_days(600)
    other = say(memory, "In hall 7 they have a stand.", lifetime_days=30)
    memory.contact("crm", "alice").relate(str(hall.fact_id), repeats=str(other.fact_id))
    clock.pass_days(650)
    assert list(told(memory).values()) == [False]


def test_what_came_with_its_own_end_leaves_recall_then(clock: Clock, memory: Memory) -> None:
    say(memory, STAND, valid_to=NOON + 400 * DAY)
    clock.pass_days(399)
    assert told(memory) == {STAND: False}
    clock.pass_days(2)
    assert told(memory) == {}
    assert told(memory, valid_at=NOON + 399 * DAY) == {STAND: False}


def test_the_past_carries_the_mark_of_then(clock: Clock, memory: Memory) -> None:
    say(memory, STAND)
    clock.pass_days(400)
    say(memory, STAND)
    assert told(memory, as_of=NOON + 366 * DAY) == {STAND: True}
    assert told(memory, as_of=NOON + 364 * DAY) == {STAND: False}
    assert told(memory, valid_at=NOON + 364 * DAY) == {STAND: False}


def test_a_profile_and_a_value_carry_the_mark(clock: Clock, memory: Memory) -> None:
    say(memory, "Her budget is 40k EUR.", attribute="budget", value="40k EUR")
    clock.pass_days(366)
    [budget] = memory.contact("crm", "alice").profile()
    assert (budget.value, budget.may_be_outdated) == ("40k EUR", True)
    assert memory.contact("crm", "alice").value("budget") == [budget]


def test_a_name_finds_it_with_its_mark(clock: Clock, memory: Memory) -> None:
    say(memory, "Their stand is beside Globex.")
    clock.pass_days(366)
    [found] = memory.contact("crm", "alice").recall_about("Globex")
    assert found.fact.may_be_outdated
    [found] = memory.agent("crm").find("Their stand is beside Globex.")
    assert found.fact.may_be_outdated


def test_a_question_to_renew_it_waits_for_the_next_conversation(
    clock: Clock, memory: Memory
) -> None:
    say(memory, STAND)
    assert memory.contact("crm", "alice").briefing().questions == ()
    clock.pass_days(366)
    [asked] = memory.contact("crm", "alice").briefing().questions
    assert (
        asked == f"On 2025-03-09 I noted “{STAND[:-1]}”: is that still true (no is just as good)?"
    )
    [expiring] = memory.contact("crm", "alice").expiring(days=1)
    assert (expiring.question, expiring.fact.may_be_outdated) == (asked, True)
    say(memory, STAND)
    assert memory.contact("crm", "alice").briefing().questions == ()


def talk(memory: Memory, clock: Clock, session_id: str) -> str:
    """The briefing of a conversation on another day, in which something else is noted."""
    clock.pass_days(1)
    tools = memory.agent_tools("crm", "alice", session_id=session_id)
    briefing = tools.call("recall_contact", {}).text
    text = f"Wrote the poem {session_id}."
    tools.call("add_contact_note", {"text": text, "source_kind": "contact", "importance": 0.8})
    return briefing


def test_what_a_reply_asked_is_asked_in_one_more_conversation(clock: Clock, memory: Memory) -> None:
    tools = memory.agent_tools("crm", "alice", session_id="first")
    reply = tools.call("add_contact_note", {"text": "Has diabetes.", "source_kind": "contact"})
    assert "“Has diabetes”" in reply.text
    asked = ["“Has diabetes”" in talk(memory, clock, each) for each in ("second", "third")]
    assert asked == [True, False]
    assert len(memory.contact("crm", "alice").pending()) == 1
    [waiting] = memory.contact("crm", "alice").briefing().pending
    memory.contact("crm", "alice").confirm(waiting.decision_id, "contact")
    assert "Has diabetes" in talk(memory, clock, "fourth")


def test_a_conversation_that_keeps_nothing_takes_no_question_away(
    clock: Clock, memory: Memory
) -> None:
    tools = memory.agent_tools("crm", "alice", session_id="first")
    tools.call("add_contact_note", {"text": "Has diabetes.", "source_kind": "contact"})
    for number in range(5):
        clock.pass_days(1)
        later = memory.agent_tools("crm", "alice", session_id=f"silent-{number}")
        assert "“Has diabetes”" in later.call("recall_contact", {}).text


def test_an_agent_without_sessions_asks_no_longer_than_others(clock: Clock, memory: Memory) -> None:
    tools = memory.agent_tools("crm", "alice")
    tools.call("add_contact_note", {"text": "Has diabetes.", "source_kind": "contact"})
    clock.pass_days(2)
    assert "“Has diabetes”" in tools.call("recall_contact", {}).text
    tools.call("add_contact_note", {"text": "Rents a flat.", "source_kind": "contact"})
    clock.pass_days(2)
    assert "“Has diabetes”" not in tools.call("recall_contact", {}).text


def test_a_renewal_is_asked_in_two_conversations(clock: Clock, memory: Memory) -> None:
    say(memory, STAND)
    clock.pass_days(400)
    briefings = [talk(memory, clock, each) for each in ("second", "third", "fourth")]
    assert [STAND[:-1] + "”: is that" in each for each in briefings] == [True, True, False]


def test_of_many_that_may_have_changed_the_two_that_matter_most_are_asked_about(
    clock: Clock, memory: Memory
) -> None:
    halls = {"1": 0.3, "2": 0.8, "3": 0.5, "4": 0.7}
    for hall, importance in halls.items():
        say(memory, f"Invoice 10{hall} is due in hall {hall}.", importance=importance)
    clock.pass_days(366)
    asked = memory.contact("crm", "alice").briefing().renewals
    assert [expiring.fact.importance for expiring in asked] == [0.8, 0.7]


def test_hidden_leaves_out_what_is_past_its_lifetime(clock: Clock, tmp_path: Path) -> None:
    with opened(clock, tmp_path, expired="hidden") as memory:
        say(memory, "Her budget is 40k EUR.", attribute="budget", value="40k EUR")
        clock.pass_days(366)
        assert told(memory) == {}
        assert memory.contact("crm", "alice").profile() == []
        assert memory.contact("crm", "alice").recall_about("budget") == []
        assert memory.contact("crm", "alice").expiring(days=30) == []
        assert memory.contact("crm", "alice").briefing().questions == ()


def test_every_engine_lists_what_is_over_before_what_ends_next(
    one_of_each: EngineUnderTest, clock: Clock
) -> None:
    given = {"embedder": HashingEmbedder(), **one_of_each.settings_arguments}
    with Memory.open(clock=clock, **given) as memory:
        say(memory, STAND, lifetime_days=30)
        say(memory, "The fair is in Milan.", lifetime_days=40)
        say(memory, "The lift is broken right now", category="volatile")
        say(memory, "The booth is rented.", valid_to=NOON + 20 * DAY)
        clock.pass_days(31)
        found = memory.contact("crm", "alice").expiring(days=10)
        assert [expiring.fact.text for expiring in found] == [STAND, "The fair is in Milan."]


# How long each kind of thing lives


LASTING: list[tuple[str, dict[str, Any]]] = [
    ("Has a severe allergy to peanuts.", {"importance": 1.0}),
    ("Is severely allergic to peanuts.", {"attribute": "allergy", "value": "peanuts"}),
    ("Lives in Pune.", {"attribute": "city", "value": "Pune"}),
    ("Works at Globex.", {"attribute": "employer", "value": "Globex"}),
    ("Never call before ten.", {}),
    ("Her daughter is called Mia.", {}),
    ("We decided to renew for three years.", {}),
]


@every(("text", "given"), LASTING)
def test_what_lasts_is_there_unmarked_after_years(
    clock: Clock, memory: Memory, text: str, given: dict[str, Any]
) -> None:
    memory.add_contact_note("crm", text, text, **given)
    clock.pass_days(366 * 5)
    [hit] = memory.contact("crm", text).recall()
    assert not hit.fact.may_be_outdated


@every(
    ("text", "given"),
    [
        (STAND, {}),
        ("Her budget is 40k EUR.", {"attribute": "budget", "value": "40k EUR"}),
        ("They use 40 seats.", {"attribute": "seat_count", "value": "40"}),
    ],
)
def test_a_circumstance_lives_for_a_year(
    clock: Clock, memory: Memory, text: str, given: dict[str, Any]
) -> None:
    memory.add_contact_note("crm", text, text, **given)
    clock.pass_days(364)
    assert not memory.contact("crm", text).recall()[0].fact.may_be_outdated
    clock.pass_days(2)
    assert memory.contact("crm", text).recall()[0].fact.may_be_outdated


def test_a_note_may_bring_its_own_lifetime(clock: Clock, memory: Memory) -> None:
    say(memory, "Lives in Pune.", attribute="city", value="Pune", lifetime_days=30)
    clock.pass_days(31)
    assert told(memory) == {"Lives in Pune.": True}


@every("day", ["9999-12-31", "9999-06-01", "9990-01-01"])
def test_a_lifetime_may_reach_beyond_the_latest_time(memory: Memory, day: str) -> None:
    begins = datetime.fromisoformat(day).replace(tzinfo=UTC)
    contact = memory.contact("crm", day)
    for _ in range(2):
        contact.note(STAND, valid_from=begins, lifetime_days=3_650)
    [hit] = contact.recall()
    assert hit.fact.expires_at == max(begins, datetime(9999, 12, 30, tzinfo=UTC))


def test_a_note_that_is_held_keeps_its_own_lifetime(clock: Clock, memory: Memory) -> None:
    held = say(memory, STAND, source_kind=SourceKind.TOOL_OUTPUT, lifetime_days=30)
    memory.contact("crm", "alice").confirm(held.decision_id, by="dana")
    clock.pass_days(31)
    assert told(memory) == {STAND: True}


@every("days", [0, -1, 3_651, 10_000, 1.5, True, "30"])
def test_a_lifetime_that_cannot_be_meant_is_refused(memory: Memory, days: Any) -> None:
    with pytest.raises(InvalidNoteError, match="from 1 to 3,650"):
        say(memory, STAND, lifetime_days=days)


@every(
    ("given", "words"),
    [
        ({"valid_to": NOON - DAY}, "in the past; give also a valid_from"),
        ({"valid_to": datetime(2025, 4, 1)}, "has no time zone"),
        ({"valid_from": datetime(2025, 3, 1)}, "has no time zone"),
        ({"valid_from": NOON - DAY, "valid_to": NOON - 2 * DAY}, "is not after valid_from"),
    ],
)
def test_times_that_cannot_be_meant_are_refused(
    memory: Memory, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidNoteError, match=words):
        say(memory, STAND, **given)
