"""The background door: a session goes in, decisions come out, once."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from reconciler import Dispute, Memory
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.domain.recalling.prompting import as_prompt
from reconciler.domain.records.candidates import Turn
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Relations
from reconciler.domain.records.kinds import Action, DecidedBy, JobState
from reconciler.domain.records.sessions import Job, Outcomes, Stage
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction, Window
from reconciler.errors import (
    ErasedError,
    ExtractionAnswerError,
    ExtractionError,
    ExtractionUnavailableError,
    InvalidAnswerError,
    InvalidSessionError,
    UnknownJobError,
)
from reconciler.reading.kinds import Category, Speech
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder, ScriptedExtractor
from tests.engines import EngineUnderTest

TEA = "I only drink green tea."
PUNE = "My city is Pune."
FAST = {"backoff_seconds": 0.01, "poll_seconds": 0.02, "lease_seconds": 5.0, "attempts_max": 3}
OFFLINE = {"mode": "explicit"}
Open = Callable[..., Memory]


@pytest.fixture
def engine(kept_engine: EngineUnderTest) -> EngineUnderTest:
    """Engines cannot differ here: what they could is in the store's contract."""
    return kept_engine


@pytest.fixture
def opened(engine: EngineUnderTest) -> Iterator[Open]:
    opened: list[Memory] = []

    def open_memory(*answers: Extraction | ExtractionError, **changed: Any) -> Memory:
        settings = load_settings(**engine.settings_arguments | {"jobs": FAST} | changed)
        extractor = None if changed.get("extractor") == OFFLINE else ScriptedExtractor(answers)
        memory = Memory.open(settings, embedder=HashingEmbedder(), extractor=extractor)
        opened.append(memory)
        return memory

    yield open_memory
    for memory in opened:
        memory.close()


def said(*texts: str, role: str = "contact") -> list[Turn]:
    return [Turn(role=role, text=text) for text in texts]


def claim(text: str, *cited: tuple[int, str], **changed: Any) -> Extracted:
    given = {
        "text": text,
        "category": Category.FACT,
        "importance": 0.6,
        "confidence": 0.95,
        "citations": tuple(Citation(episode=number, span=span) for number, span in cited),
    }
    return Extracted(**given | changed)


def city(value: str, turn: int = 1, span: str | None = None) -> Extracted:
    cited = (turn, span or f"My city is {value}")
    return claim(f"Lives in {value}.", cited, attribute="city", value=value)


def answer(*candidates: Extracted, summary: str = "") -> Extraction:
    return Extraction(candidates=candidates, summary=summary)


def worked_off(memory: Memory, turns: list[Turn], session_id: str = "chat") -> Job:
    job_id = memory.contact("crm", "alice").submit_session(session_id, turns)
    memory.drain()
    return memory.contact("crm", "alice").job(job_id)


def known(memory: Memory) -> list[str]:
    return [each.fact.text for each in memory.contact("crm", "alice").recall()]


# without a model


def test_what_the_contact_asked_to_have_remembered_in_march_is_known_in_november(
    opened: Open,
) -> None:
    asked = "Remember that I prefer e-mail over phone calls."
    memory = opened(extractor=OFFLINE)
    long_ago = datetime.now(UTC) - timedelta(days=240)
    job = worked_off(memory, [Turn(role="contact", text=asked, said_at=long_ago)])
    assert job.outcomes == Outcomes(added=1)
    assert len(known(memory)) == 1


NINE = (
    *("My name is Ana.", "I live in Leeds.", "I work at Brightwave.", "My time zone is CET."),
    *("I'm allergic to walnuts.", "I'm a vegetarian.", "My budget is 40,000 EUR."),
    *("Remember that I bill in euros.", "My birthday is 3 May."),
)


def test_nine_explicit_statements_in_one_turn_are_nine_candidates(opened: Open) -> None:
    turn = " ".join(f"Please note that {each}" for each in NINE)
    outcomes = worked_off(opened(extractor=OFFLINE), said(turn)).outcomes
    assert (outcomes.candidates, outcomes.left_out) == (9, 0)


def test_a_city_that_is_told_again_in_a_session_without_an_id_holds_again(opened: Open) -> None:
    memory = opened(extractor=OFFLINE)
    for city_now in ("Oslo", "Bergen", "Oslo", "Oslo"):
        memory.contact("crm", "alice").submit_session(None, said(f"I live in {city_now} now."))
        memory.drain()
        assert [each.value for each in memory.contact("crm", "alice").value("city")] == [city_now]
    assert len(memory.agent("crm").jobs()) == 3  # the last one was a retry


def test_what_was_noted_since_makes_the_same_few_words_another_occasion(opened: Open) -> None:
    memory = opened(extractor=OFFLINE)
    for _ in range(2):
        memory.contact("crm", "alice").submit_session(None, said("I live in Oslo now."))
        memory.drain()
        assert [each.value for each in memory.contact("crm", "alice").value("city")] == ["Oslo"]
        memory.add_contact_note("crm", "alice", "Lives in Bergen.")


CHAT = ("Hello.", "I need a seat on Friday.", "I guess a window seat, as always.", "Thanks.")
SINCE = datetime(2026, 3, 9, 12, tzinfo=UTC)


@pytest.mark.parametrize("said_at", [None, SINCE], ids=["undated", "dated"])
def test_a_transcript_with_two_more_turns_is_no_second_witness(
    opened: Open, said_at: datetime | None
) -> None:
    seat = claim(
        "Prefers window seats.", (3, "a window seat, as always"), category=Category.PREFERENCE
    )
    memory = opened(answer(seat), answer(), answer(seat))
    turns = [Turn(role="contact", text=text, said_at=said_at) for text in (*CHAT, "Bye.", "Bye!")]
    ids = [memory.contact("crm", "alice").submit_session(None, turns[:4])]
    memory.drain()
    memory.contact("crm", "alice").submit_session(None, said("Is it Monday?"))
    memory.drain()
    ids.append(memory.contact("crm", "alice").submit_session(None, turns))
    memory.drain()
    assert len({memory.contact("crm", "alice").job(job_id).session_id for job_id in ids}) == 1
    assert len(memory.agent("crm").pending(with_silent=True)) == 1
    assert known(memory) == []


TALK = (
    *("I live in Oslo now.", "Noted.", "I moved.", "Where to?", "I live in Bergen now.", "Noted."),
    *("And then?", "Yes.", "I work at Brightwave.", "Since when?", "Yes.", "I see."),
)


def a_talk(dated: bool) -> list[Turn]:
    return [
        Turn(
            role="agent" if at % 2 else "contact",
            text=text,
            said_at=SINCE + timedelta(minutes=at) if dated else None,
        )
        for at, text in enumerate(TALK)
    ]


def kept_of(memory: Memory) -> list[list[str]]:
    store, scope = memory._services.session_store, memory.contact("crm", "alice").scope
    ids = {job.session_id for job in memory.agent("crm").jobs()}
    return [[each.text for each in store.list_episodes(scope, one)] for one in sorted(ids)]


@pytest.mark.parametrize(
    ("size", "step", "session_id", "dated"),
    [
        (3, 1, "chat", False),
        (4, 2, None, False),
        (6, 2, None, True),
    ],
)
def test_a_window_of_turns_that_slides_is_one_conversation_said_once(
    opened: Open, session_id: str | None, dated: bool, size: int, step: int
) -> None:
    memory, turns = opened(extractor=OFFLINE), a_talk(dated)
    for count in range(step, len(turns) + 1, step):
        memory.contact("crm", "alice").submit_session(
            session_id, turns[max(0, count - size) : count]
        )
        memory.drain()
    assert kept_of(memory) == [list(TALK)]
    assert [each.value for each in memory.contact("crm", "alice").value("city")] == ["Bergen"]
    assert {ranked.fact.observations for ranked in memory.contact("crm", "alice").recall()} == {1}


def test_a_window_that_comes_again_ends_nothing_that_was_noted_since(opened: Open) -> None:
    memory, turns = opened(extractor=OFFLINE), a_talk(dated=False)
    memory.contact("crm", "alice").submit_session("chat", turns[:6])
    memory.drain()
    memory.add_contact_note("crm", "alice", "Lives in Rome.", attribute="city", value="Rome")
    memory.contact("crm", "alice").submit_session("chat", turns[4:8])
    memory.drain()
    assert [each.value for each in memory.contact("crm", "alice").value("city")] == ["Rome"]


@pytest.mark.parametrize("started_at", [None, SINCE])
def test_what_is_said_again_is_a_turn_though_only_new_turns_are_handed_over(
    opened: Open, started_at: datetime | None
) -> None:
    memory = opened(extractor=OFFLINE)
    told = [f"I live in {city_now} now." for city_now in ("Oslo", "Bergen", "Oslo")]
    for text in (*told, told[-1]):  # the last one is a retry
        memory.contact("crm", "alice").submit_session("chat", said(text), started_at=started_at)
        memory.drain()
    assert kept_of(memory) == [told]


def test_an_answer_that_was_edited_says_nothing_else_again(opened: Open) -> None:
    memory, turns = opened(extractor=OFFLINE), a_talk(dated=False)
    edited = [*turns[:3], *said("Which city?", role="agent"), *turns[4:]]
    for each in (turns[:8], edited):
        memory.contact("crm", "alice").submit_session("chat", each)
        memory.drain()
    assert sorted(kept_of(memory)[0]) == sorted([*TALK, "Which city?"])


def test_two_conversations_that_begin_alike_are_two(opened: Open) -> None:
    memory = opened(extractor=OFFLINE)
    for text in (TEA, PUNE):
        memory.contact("crm", "alice").submit_session(None, said("Hello.", text))
    assert len({job.session_id for job in memory.agent("crm").jobs()}) == 2


@pytest.mark.on_neo4j_too
def test_an_unnamed_session_that_was_erased_takes_no_turn_again(opened: Open) -> None:
    memory = opened(extractor=OFFLINE)
    job_id = memory.contact("crm", "alice").submit_session(None, said(PUNE))
    session_id = memory.contact("crm", "alice").job(job_id).session_id
    memory.contact("crm", "alice").forget(session_id=session_id, by="contact", reason="She asked.")
    with pytest.raises(ErasedError):
        memory.contact("crm", "alice").submit_session(None, said(PUNE))


def test_of_two_people_in_a_session_only_the_named_one_is_remembered(opened: Open) -> None:
    memory = opened(extractor=OFFLINE)
    messages = [
        {"role": "user", "content": "[Alice]: I live in Oslo."},
        {"role": "user", "content": "[Bob]: I live in Rome. I'm allergic to nuts."},
    ]
    with pytest.raises(InvalidSessionError, match="'Alice', 'Bob' speak as users"):
        memory.contact("crm", "alice").submit_session("chat", messages)
    assert memory.agent("crm").jobs() == []
    for _ in range(2):
        memory.contact("crm", "alice").submit_session(None, messages, contact_name="Alice")
        memory.drain()
    assert len(memory.agent("crm").jobs()) == 1
    assert [(each.attribute, each.value) for each in memory.contact("crm", "alice").profile()] == [
        ("city", "Oslo")
    ]


def test_what_is_labelled_with_an_attribute_is_the_contacts(opened: Open) -> None:
    memory = opened(extractor=OFFLINE)
    texts = ("Hobby: I paint.", "Employer: I left Acme.", "Hobby: I swim, and you?")
    for name in (None, "Alice"):
        memory.contact("crm", "alice").submit_session(
            f"chat-{name}", said(*texts), contact_name=name
        )
        kept = memory._services.session_store.list_episodes(
            memory.contact("crm", "alice").scope, f"chat-{name}"
        )
        assert [(each.role, each.text) for each in kept] == [("contact", text) for text in texts]


def test_a_turn_without_a_letter_is_kept_and_says_nothing(opened: Open) -> None:
    memory = opened(extractor=OFFLINE)
    marks = ["👍", "…", "?", "!!", "-", "👍🏽", "🇩🇪", "€", "\u3002"]
    messages = [{"role": "user", "content": text} for text in [*marks, PUNE, " \u200b"]]
    job_id = memory.contact("crm", "alice").submit_session("chat", messages)
    memory.drain()
    assert memory.contact("crm", "alice").job(job_id).outcomes == Outcomes(added=1)
    kept = memory._services.session_store.list_episodes(
        memory.contact("crm", "alice").scope, "chat"
    )
    assert [episode.text for episode in kept] == [*marks, PUNE]


def test_a_session_of_nothing_but_marks_is_done_without_an_outcome(opened: Open) -> None:
    job = worked_off(opened(extractor=OFFLINE), said("👍", "…"))
    assert (job.state, job.outcomes) == (JobState.DONE, Outcomes())


# through the gate and the reconciler


def test_a_session_becomes_facts_with_its_turns_as_evidence(opened: Open) -> None:
    memory = opened(answer(city("Pune")))
    job = worked_off(memory, said(PUNE))
    assert (job.state, job.outcomes, job.extractor) == (
        JobState.DONE,
        Outcomes(added=1),
        ScriptedExtractor.name,
    )
    [ranked] = memory.contact("crm", "alice").recall()
    assert (ranked.fact.text, str(ranked.fact.trust)) == ("Lives in Pune.", "user_explicit")
    [proposal] = memory.contact("crm", "alice").decisions(
        disposal="admit", door="extractor", limit=1
    )
    assert proposal.note.session_id == "chat"


def test_a_new_value_supersedes_the_old_one_and_both_are_counted(opened: Open) -> None:
    memory = opened(answer(city("Pune")), answer(city("Goa")))
    worked_off(memory, said(PUNE), "first")
    job = worked_off(memory, said("My city is Goa."), "second")
    assert job.outcomes == Outcomes(superseding=1)
    assert known(memory) == ["Lives in Goa."]


def test_what_the_agent_said_is_no_evidence(opened: Open) -> None:
    memory = opened(answer(city("Pune", turn=2)))
    job = worked_off(memory, [*said("Thanks."), *said(PUNE, role="agent")])
    assert job.outcomes == Outcomes(refused=1)
    assert known(memory) == []


def test_a_fact_that_was_recalled_into_a_turn_is_not_extracted_anew(opened: Open) -> None:
    memory = opened(answer(city("Pune")), answer(city("Pune", span="Lives in Pune")))
    worked_off(memory, said(PUNE))
    recalled = as_prompt(memory.contact("crm", "alice").recall())
    job = worked_off(memory, said(f"{recalled}\nWhat is my order's status?"), "second")
    assert job.outcomes == Outcomes(refused=1)
    [ranked] = memory.contact("crm", "alice").recall()
    assert ranked.fact.observations == 1


def test_a_turn_that_is_nothing_but_recalled_is_none(opened: Open) -> None:
    memory = opened()
    with pytest.raises(InvalidSessionError, match="empty"):
        memory.contact("crm", "alice").submit_session("chat", said(as_prompt([])))


def test_what_is_of_no_importance_is_not_even_proposed(opened: Open) -> None:
    memory = opened(answer(claim("Is tired.", (1, TEA), importance=0.19)))
    assert worked_off(memory, said(TEA)).outcomes == Outcomes(left_out=1)
    assert memory.contact("crm", "alice").decisions() == []


def test_what_the_contact_asked_to_have_remembered_is_proposed_at_any_importance(
    opened: Open,
) -> None:
    asked = claim("Only drinks tea.", (1, "I only drink tea"), importance=0.1)
    outcomes = worked_off(opened(answer(asked)), said("Remember that I only drink tea.")).outcomes
    assert outcomes == Outcomes(added=1)


def test_what_is_beyond_the_five_of_a_turn_is_counted_and_logged(
    opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    eight = [claim(f"Fact {number}.", (1, TEA)) for number in range(8)]
    light = claim("Is tired.", (2, PUNE), importance=0.1)
    memory = opened(Extraction(candidates=(*eight, light), left_out=2))
    outcomes = worked_off(memory, said(TEA, PUNE)).outcomes
    assert (outcomes.left_out, outcomes.candidates) == (3 + 1 + 2, 5 + 6)
    assert "3 candidates of session chat were left out" in caplog.text


def test_importance_at_the_bound_is_proposed_and_kept(opened: Open) -> None:
    memory = opened(answer(claim("Only drinks green tea.", (1, TEA), importance=0.2)))
    worked_off(memory, said(TEA))
    assert memory.contact("crm", "alice").recall()[0].fact.importance == 0.2


def test_mentions_in_several_windows_are_counted_together(opened: Open) -> None:
    window = {"window_characters": 1000, "window_overlap_turns": 0}
    filler = "We talked about the weather for a while. " * 15
    memory = opened(
        answer(claim("Only drinks green tea.", (1, TEA))),
        answer(claim("Only drinks green tea.", (2, TEA))),
        extractor=window,
    )
    worked_off(memory, said(TEA, filler, filler, TEA))
    [ranked] = memory.contact("crm", "alice").recall()
    [decision] = [
        each for each in memory.contact("crm", "alice").decisions() if each.action == "ADMIT"
    ]
    assert decision.gate is not None
    assert not any("one observation" in each.name for each in decision.gate.parts)
    assert ranked.fact.text == "Only drinks green tea."


def test_the_summary_is_kept_on_the_session_and_never_recalled(opened: Open) -> None:
    memory = opened(answer(summary="They talked about marmalade."))
    worked_off(memory, said(TEA))
    assert memory.contact("crm", "alice").session("chat").summary == "They talked about marmalade."
    assert memory.contact("crm", "alice").recall("marmalade") == []


def test_secrets_are_out_of_the_turns_before_an_extractor_sees_them(opened: Open) -> None:
    memory = opened(answer())
    worked_off(memory, said("My password is tr0ub4dor&3x, mail me at ana@example.com."))
    extractor = memory._services.extractor
    assert isinstance(extractor, ScriptedExtractor)
    [window] = extractor.windows
    assert "tr0ub4dor" not in window.episodes[0].text
    assert "ana@example.com" in window.episodes[0].text  # the value of an attribute, or lost
    stored = memory._services.session_store.list_episodes(
        memory.contact("crm", "alice").scope, "chat"
    )
    assert "tr0ub4dor" not in stored[0].text
    assert "ana@example.com" not in stored[0].text


def test_what_only_a_slot_gives_away_is_out_of_turns_and_of_what_was_kept(opened: Open) -> None:
    number = "tango-7741"
    said_so = f"My locker opens with {number}, and my city is Pune."
    text = f"The door code is {number}."
    code = claim(text, (1, number), attribute="door_code", value=number)
    memory = opened(answer(code, city("Pune", span="my city is Pune")))
    job = worked_off(memory, said(said_so))
    assert job.outcomes == Outcomes(added=1, refused=1)
    reasons = {each.gate.reason for each in memory.contact("crm", "alice").decisions() if each.gate}
    assert "secret" in reasons
    services = memory._services
    read = services.session_store.find_read(job.job_id)
    [episode] = services.session_store.list_episodes(memory.contact("crm", "alice").scope, "chat")
    assert number not in f"{read}{episode.text}{memory.contact('crm', 'alice').decisions()}"


def test_what_a_slot_gives_away_is_out_of_the_agents_echo_and_the_summary_too(
    opened: Open,
) -> None:
    number = "tango-77412"
    text = f"The door code is {number}."
    code = claim(text, (1, number), attribute="door_code", value=number)
    memory = opened(answer(code, summary="They gave tango-77412 for the door."))
    turns = [*said("It opens with tango-77412."), *said("tango-77412, noted.", role="agent")]
    job_id = memory.contact("crm", "alice").submit_session("chat", turns)
    memory.drain()
    store, scope = memory._services.session_store, memory.contact("crm", "alice").scope
    kept = f"{store.list_episodes(scope, 'chat')}{store.get_session(scope, 'chat')}"
    assert "tango-77412" not in f"{kept}{store.find_read(job_id)}"


def test_a_reference_is_kept_without_personal_data(opened: Open) -> None:
    memory = opened(answer())
    turn = Turn(role="contact", text=TEA, reference="mailto:ana@example.com")
    worked_off(memory, [turn])
    store, scope = memory._services.session_store, memory.contact("crm", "alice").scope
    assert "ana@example.com" not in str(store.list_episodes(scope, "chat"))


def test_sarcasm_told_by_the_extractor_stays_barely_believed_however_often_it_is_said(
    opened: Open,
) -> None:
    text = "I run the whole warehouse."
    joke = claim("Runs the whole warehouse.", (1, text), speech=Speech.SARCASTIC)
    memory = opened(*[answer(joke)] * 4)
    for number in range(4):
        worked_off(memory, said(text), f"chat-{number}")
    assert {each.action for each in memory.contact("crm", "alice").decisions()} <= {
        "HOLD",
        "REJECT",
    }
    assert known(memory) == []


def test_a_part_that_was_played_supports_no_plain_statement(opened: Open) -> None:
    plain = claim("Is a doctor.", (1, "I am a doctor"), confidence=0.8)
    played = claim("Is a doctor.", (2, "I am a doctor"), speech=Speech.ROLEPLAY)
    memory = opened(answer(plain, played))
    worked_off(memory, said("I think I am a doctor.", "Let us say that I am a doctor."))
    assert known(memory) == []


@pytest.mark.parametrize("is_dated", [True, False])
def test_of_two_values_in_one_session_the_later_one_holds(opened: Open, is_dated: bool) -> None:
    memory = opened(answer(city("Goa", turn=2), city("Pune")))
    at = datetime(2026, 1, 5, tzinfo=UTC) if is_dated else None
    worked_off(
        memory,
        [
            Turn(role="contact", text=PUNE, said_at=at),
            Turn(role="contact", text="Correction: My city is Goa."),
        ],
    )
    assert known(memory) == ["Lives in Goa."]


@pytest.mark.parametrize("bad", [{"text": "x" * 2001}, {"text": " "}], ids=["long", "blank"])
def test_a_claim_that_cannot_be_used_takes_no_other_with_it(
    opened: Open, bad: dict[str, str]
) -> None:
    memory = opened(answer(claim(bad["text"], (1, PUNE)), city("Pune")))
    assert worked_off(memory, said(PUNE)).outcomes == Outcomes(added=1, refused=1)


def test_a_long_turn_may_grow_by_what_stands_for_personal_data(opened: Open) -> None:
    long = f"{PUNE} Mail me at a@b.co. ".ljust(19_990, "x") + " And so on"
    memory = opened(answer(city("Pune")))
    assert worked_off(memory, said(long)).outcomes.added == 1


def test_two_values_of_one_sentence_are_two_facts(opened: Open) -> None:
    text = "I am allergic to nuts and shellfish."
    both = [
        claim("Is allergic to nuts and shellfish.", (1, text), attribute="allergy", value=value)
        for value in ("nuts", "shellfish")
    ]
    memory = opened(answer(*both))
    worked_off(memory, said(text))
    values = {
        each.note.slot.value
        for each in memory.contact("crm", "alice").decisions()
        if each.note.slot is not None
    }
    assert values == {"nuts", "shellfish"}


def test_what_an_earlier_window_showed_as_new_is_context_in_the_next(opened: Open) -> None:
    filler = "We talked about the weather for a while. " * 12
    window = {"window_characters": 1200, "window_overlap_turns": 2}
    memory = opened(answer(), answer(), answer(), extractor=window)
    worked_off(memory, said(filler, filler, TEA, filler, PUNE))
    extractor = memory._services.extractor
    assert isinstance(extractor, ScriptedExtractor)
    fresh = [each for window in extractor.windows for each in window.new_ids]
    assert len(fresh) == len(set(fresh)) == 5


# handing over


def test_a_session_that_went_on_gives_only_what_is_new(opened: Open) -> None:
    memory = opened(
        answer(city("Pune")),
        answer(city("Pune"), claim("Only drinks green tea.", (2, TEA))),
    )
    worked_off(memory, said(PUNE))
    job = worked_off(memory, said(PUNE, TEA))
    assert job.outcomes == Outcomes(added=1)
    assert memory.contact("crm", "alice").session("chat").outcomes == Outcomes(added=2)


def test_the_same_words_twice_are_two_turns(opened: Open) -> None:
    memory = opened(answer())
    worked_off(memory, said("Yes, please do.", "Yes, please do."))
    extractor = memory._services.extractor
    assert isinstance(extractor, ScriptedExtractor)
    assert len(extractor.windows[0].episodes) == 2


@pytest.mark.parametrize(
    ("turns", "settings", "text"),
    [
        ([], {}, "empty"),
        (said("a", "b", "c"), {"session_turns_max": 2}, "3 turns, but at most 2"),
        (
            said("x" * 60, "y" * 60),
            {"session_characters_max": 100},
            "120 characters, but at most 100",
        ),
        (
            [Turn(role="contact", text="a", said_at=datetime.now(UTC) + timedelta(days=1))],
            {},
            "is in the future",
        ),
    ],
    ids=["empty", "turns", "characters", "future"],
)
def test_a_session_that_cannot_be_read_is_refused_and_nothing_is_stored(
    opened: Open, turns: list[Turn], settings: dict[str, Any], text: str
) -> None:
    memory = opened(extractor=settings)
    with pytest.raises(InvalidSessionError, match=text):
        memory.contact("crm", "alice").submit_session("chat", turns)
    assert memory.jobs() == []
    assert memory.agent("crm").contacts() == []


def test_a_hand_over_does_not_wait_for_the_extractor(opened: Open) -> None:
    memory = opened(answer(city("Pune")))
    release = threading.Event()
    worker = memory.worker(lambda stage: release.wait(60) and None if stage == 3 else None)
    memory.contact("crm", "alice").submit_session("first", said(PUNE))
    thread = threading.Thread(target=worker.work_once)
    thread.start()
    started = time.monotonic()
    memory.contact("crm", "alice").submit_session("second", said(TEA))
    assert time.monotonic() - started < 20
    assert thread.is_alive()
    release.set()
    thread.join(60)


def test_an_unknown_job_is_an_error(opened: Open) -> None:
    memory = opened()
    with pytest.raises(UnknownJobError, match="no job 7"):
        memory.contact("crm", "alice").job("7")
    with pytest.raises(UnknownJobError):
        memory.contact("crm", "alice").retry("7")


# when the extractor fails


def test_a_job_is_tried_again_until_the_extractor_answers(opened: Open) -> None:
    memory = opened(
        ExtractionUnavailableError("too many calls"),
        ExtractionAnswerError("not what was asked for"),
        answer(city("Pune")),
    )
    job = worked_off(memory, said(PUNE))
    assert (job.state, job.attempts, job.outcomes.added) == (JobState.DONE, 3, 1)


def test_a_job_that_nobody_can_read_is_dead_with_its_evidence_safe(opened: Open) -> None:
    memory = opened()
    job = worked_off(memory, said(PUNE))
    assert (job.state, job.attempts) == (JobState.DEAD, 3)
    assert job.last_error == "the script has no further answer"
    whose = "--agent crm --contact alice --tenant default"
    assert job.advice == f"reconciler retry {job.job_id} {whose}"
    scope = memory.contact("crm", "alice").scope
    assert [e.text for e in memory._services.session_store.list_episodes(scope, "chat")] == [PUNE]


def test_a_server_that_asks_for_patience_gets_it(opened: Open) -> None:
    memory = opened(ExtractionUnavailableError("later", retry_after_seconds=3600), answer())
    job_id = memory.contact("crm", "alice").submit_session("chat", said(PUNE))
    before = datetime.now(UTC)
    memory.worker().work_once()
    job = memory.contact("crm", "alice").job(job_id)
    assert job.state is JobState.WAITING
    assert job.due_at - before > timedelta(minutes=59)


def test_a_bug_in_an_extractor_ends_on_its_job_not_in_the_worker(opened: Open) -> None:
    memory = opened()
    extractor = memory._services.extractor

    def broken(_: Window) -> Extraction:
        raise ZeroDivisionError("by zero")

    extractor.extract = broken  # type: ignore[method-assign]
    job = worked_off(memory, said(PUNE))
    assert job.last_error == "ZeroDivisionError"


# workers


def test_a_stopped_worker_gives_its_job_back_uncounted(opened: Open) -> None:
    memory = opened(answer(city("Pune")))
    job_id = memory.contact("crm", "alice").submit_session("chat", said(PUNE))
    worker = memory.worker(lambda stage: worker.stop() if stage is Stage.KEPT else None)
    worker.run()
    job = memory.contact("crm", "alice").job(job_id)
    assert (job.state, job.attempts) == (JobState.WAITING, 0)
    memory.drain()
    assert memory.contact("crm", "alice").job(job_id).outcomes == Outcomes(added=1)


def test_a_job_is_begun_only_so_often_where_its_workers_never_return(opened: Open) -> None:
    memory = opened(jobs=FAST | {"lease_seconds": 0.01})
    job_id = memory.contact("crm", "alice").submit_session("chat", said(PUNE))
    store, now = memory._services.session_store, datetime.now(UTC)
    for number in range(3):
        assert store.lease_job(job_id, f"silent-{number}", now, now)
    memory.drain()
    job = memory.contact("crm", "alice").job(job_id)
    assert job.state is JobState.DEAD
    assert "without a report" in (job.last_error or "")


def test_a_heart_beat_keeps_a_slow_job(opened: Open) -> None:
    memory = opened(answer(city("Pune")), jobs=FAST | {"lease_seconds": 2.0})
    job_id = memory.contact("crm", "alice").submit_session("chat", said(PUNE))
    begun, release = threading.Event(), threading.Event()

    def wait(stage: Stage) -> None:
        if stage == 1:
            begun.set()
            release.wait(60)

    worker = memory.worker(wait)
    thread = threading.Thread(target=worker.work_once)
    thread.start()
    assert begun.wait(60)
    time.sleep(2.3)
    assert memory._services.session_store.list_due_jobs(datetime.now(UTC)) == []
    assert thread.is_alive()
    release.set()
    thread.join(60)
    job = memory.contact("crm", "alice").job(job_id)
    assert (job.state, job.attempts) == (JobState.DONE, 1)


def test_a_worker_that_lost_its_job_leaves_it_to_the_other(opened: Open) -> None:
    memory = opened(answer(city("Pune")), answer(city("Pune")))
    job_id = memory.contact("crm", "alice").submit_session("chat", said(PUNE))
    store = memory._services.session_store

    def steal(stage: Stage) -> None:
        if stage is Stage.CLEANED:
            later = datetime.now(UTC) + timedelta(hours=1)
            assert store.lease_job(job_id, "thief", later, later)

    memory.worker(steal).work_once()
    job = memory.contact("crm", "alice").job(job_id)
    assert (job.state, job.attempts, job.last_error) == (JobState.RUNNING, 2, None)
    assert known(memory) == []


def test_a_worker_in_a_thread_works_until_the_memory_is_closed(opened: Open) -> None:
    memory = opened(answer(city("Pune")))
    thread = memory.start_worker()
    job_id = memory.contact("crm", "alice").submit_session("chat", said(PUNE))
    deadline = time.monotonic() + 60
    while (
        memory.contact("crm", "alice").job(job_id).state is not JobState.DONE
        and time.monotonic() < deadline
    ):
        time.sleep(0.02)
    assert known(memory) == ["Lives in Pune."]
    memory.close()
    assert not thread.is_alive


def test_an_outage_is_logged_once_however_long_it_is(
    opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    memory = opened(jobs=FAST | {"poll_seconds": 0.001}, reconcile={"unavailable_seconds_max": 0.0})
    worker = memory.worker()
    memory._services.closing.close()  # the engine goes away, and the memory stays open
    working = threading.Thread(target=worker.run)
    with caplog.at_level("INFO", "reconciler"):
        working.start()
        while not caplog.records:
            time.sleep(0.02)
        time.sleep(0.5)
        worker.stop()
        working.join(60)
    assert [each.getMessage()[:22] for each in caplog.records] == ["no job could be taken:"]


def test_closing_a_memory_stops_its_workers(opened: Open) -> None:
    memory = opened()
    working = threading.Thread(target=memory.worker().run, daemon=True)
    working.start()
    memory.close()
    working.join(60)
    assert not working.is_alive()


# what is known is shown


def shown(memory: Memory, number: int = 0) -> list[str]:
    """The texts of the facts that the extractor was shown with a window."""
    extractor = memory._services.extractor
    assert isinstance(extractor, ScriptedExtractor)
    return [fact.text for fact in extractor.windows[number].known]


def test_the_nearest_facts_of_the_same_contact_are_shown_and_no_others(opened: Open) -> None:
    memory = opened(answer())
    for contact, text in (("alice", "Lives in Pune."), ("bob", "Lives in Oslo.")):
        memory.add_contact_note("crm", contact, text)
    ended = memory.add_contact_note("crm", "alice", "Lives with her aunt in Pune since May.")
    memory.contact("crm", "alice").revoke(ended.fact_id, by="anna", reason="Wrong.")
    forgotten = memory.add_contact_note("crm", "alice", "Lives near a lake.")
    memory.contact("crm", "alice").forget(fact_id=forgotten.fact_id, by="contact", reason="Asked.")
    worked_off(memory, [*said("Who lives there?", role="agent"), *said("She lives in Pune.")])
    assert shown(memory) == ["Lives in Pune."]


def test_each_turn_has_its_nearest_fact_before_another_has_its_second(opened: Open) -> None:
    memory = opened(answer())
    cats = [f"Has a cat that is called Mia number {number}." for number in range(25)]
    noted = [
        {"text": text, "attribute": text[:40], "value": text} for text in (*cats, "Lives in Pune.")
    ]
    memory.import_notes(map(json.dumps, noted), agent_id="crm", contact_id="alice")
    worked_off(memory, said("My cat Mia has a cat friend that is called Mo.", "I live in Pune."))
    assert "Lives in Pune." in shown(memory)[:20]
    assert len(shown(memory)) == 26  # behind the nearest 20 stand those with a name in common


def test_without_a_model_words_alone_find_what_is_known(engine: EngineUnderTest) -> None:
    settings = load_settings(**engine.settings_arguments | {"jobs": FAST})
    reader = ScriptedExtractor([answer()])
    with Memory.open(settings, embedder=NoopEmbedder(), extractor=reader) as memory:
        memory.add_contact_note("crm", "alice", "Lives in Pune.")
        memory.add_contact_note("crm", "alice", "Is a nurse.")
        worked_off(memory, said("What is Pune like?"))
        assert shown(memory) == ["Lives in Pune."]


def test_a_second_attempt_names_the_facts_that_the_first_was_shown(opened: Open) -> None:
    """Killed once what was read is kept, the job asks no model again, whatever is known by then."""
    told = claim("Lives in Oslo.", (1, "I live in Oslo"), replaces=(1, 7))
    memory = opened(answer(told))
    lives = memory.add_contact_note("crm", "alice", "Lives in Pune.")
    job_id = memory.contact("crm", "alice").submit_session("chat", said("I live in Oslo now."))
    worker = memory.worker(lambda stage: worker.stop() if stage is Stage.KEPT else None)
    worker.drain()
    kept = memory._services.session_store.find_read(job_id)
    assert kept is not None
    assert kept.shown == ((lives.fact_id,),)
    [proposal] = kept.proposals
    assert proposal.relations == Relations(replaces=(lives.fact_id,))
    memory.add_contact_note("crm", "alice", "I live with a dog.")
    memory.drain()
    assert len(memory._services.extractor.windows) == 1  # type: ignore[attr-defined]
    made = memory.contact("crm", "alice").decisions()[0]
    assert (made.decided_by, made.superseded_ids) == (DecidedBy.EXTRACTOR, (lives.fact_id,))


def test_a_claim_that_says_another_live_fact_again_is_one_fact_with_it(opened: Open) -> None:
    flat, house = "Rents a flat in Pune.", "Has bought a house in Pune."
    memory = opened(answer(claim(house, (1, "bought a house in Pune"), replaces=(2,))))
    for text in (flat, house):
        memory.add_contact_note("crm", "alice", text)
    worked_off(memory, said("Yes, I have bought a house in Pune."))
    assert shown(memory) == [house, flat]
    [hit] = memory.contact("crm", "alice").recall()
    assert (hit.fact.text, hit.fact.observations) == (house, 2)
    [chain] = memory.contact("crm", "alice").history()
    assert flat in [fact.text for fact in chain.facts]


def test_an_extractor_that_reads_no_facts_costs_no_embedding(
    engine: EngineUnderTest,
) -> None:
    settings = load_settings(**engine.settings_arguments | {"jobs": FAST, "extractor": OFFLINE})
    with Memory.open(settings, embedder=HashingEmbedder()) as memory:
        memory.add_contact_note("crm", "alice", "Lives in Pune.")
        job = worked_off(memory, said(TEA))
        kept = memory._services.session_store.find_read(job.job_id)
        assert kept is not None
        assert kept.shown == ((),)


# few questions


def wish(number: int, importance: float, **changed: Any) -> Extracted:
    """A wish that one mention is too little for, cited from the turn of that number."""
    drink = DRINKS[number - 1]
    usual: dict[str, Any] = {"category": Category.PREFERENCE, "importance": importance}
    # The value was not said, and a surer extractor would be believed.
    usual |= {"attribute": f"taste_{number}", "value": "something hot", "confidence": 0.85}
    return claim(f"Prefers {drink}.", (number, f"like {drink} best"), **usual | changed)


DRINKS = ("tea", "mocha", "cider", "juice", "milk")


def best(*numbers: int) -> list[Turn]:
    return said(*(f"I like {DRINKS[number - 1]} best." for number in numbers))


def asked(memory: Memory) -> set[str]:
    return {
        each.text
        for each in memory.contact("crm", "alice").pending()
        if not isinstance(each, Dispute) and each.question
    }


def listed(memory: Memory) -> set[str]:
    """What waits for an operator, without a question."""
    waiting = memory.contact("crm", "alice").pending()
    return {each.text for each in waiting if not isinstance(each, Dispute) and not each.question}


def test_a_session_asks_the_two_most_important_questions(opened: Open) -> None:
    weights = (0.8, 0.95, 0.3, 0.9)
    wishes = [wish(number, weight) for number, weight in enumerate(weights, start=1)]
    memory = opened(answer(*wishes))
    job = worked_off(memory, best(1, 2, 3, 4))
    assert (job.outcomes.held, asked(memory)) == (4, {"Prefers mocha.", "Prefers juice."})
    assert listed(memory) == {"Prefers tea."}
    assert len(memory.contact("crm", "alice").pending(with_silent=True)) == 4


def test_a_session_that_goes_on_asks_no_more_than_two(opened: Open) -> None:
    memory = opened(answer(wish(1, 0.8), wish(2, 0.8)), answer(wish(3, 0.95)))
    worked_off(memory, best(1, 2))
    first = asked(memory)
    worked_off(memory, best(1, 2, 3))
    assert asked(memory) == first == {"Prefers tea.", "Prefers mocha."}


def test_what_only_an_operator_may_answer_takes_no_room(opened: Open) -> None:
    steps = replace(wish(3, 0.9), category=Category.PROCEDURE, text="Before a visit, call twice.")
    memory = opened(answer(wish(1, 0.8), wish(2, 0.8), steps))
    worked_off(memory, best(1, 2, 3))
    assert len(asked(memory)) == 3


@pytest.mark.parametrize("stage", [Stage.KEPT, Stage.PROPOSED])
def test_a_second_attempt_asks_the_same_questions(opened: Open, stage: Stage) -> None:
    wishes = [wish(number, 0.75 + number / 20) for number in range(1, 5)]
    memory = opened(answer(*wishes))
    memory.contact("crm", "alice").submit_session("chat", best(1, 2, 3, 4))
    worker = memory.worker(lambda each: worker.stop() if each is stage else None)
    worker.drain()
    memory.drain()
    assert asked(memory) == {"Prefers cider.", "Prefers juice."}


HEALTH = "I take insulin. I had a stroke in May. I go to the choir."
INSULIN = claim("The contact takes insulin.", (1, "I take insulin"), importance=0.9)
STROKE = claim("The contact had a stroke in May.", (1, "I had a stroke in May"))


def test_of_one_topic_only_the_most_important_note_is_asked_about(opened: Open) -> None:
    memory = opened(answer(replace(STROKE, importance=0.7), replace(INSULIN, importance=0.9)))
    worked_off(memory, said("I had a stroke in May. I take insulin."))
    assert (asked(memory), listed(memory)) == ({INSULIN.text}, {STROKE.text})


def test_a_note_that_already_waits_leaves_room_for_another_of_its_topic(opened: Open) -> None:
    memory = opened(answer(INSULIN), answer(INSULIN, replace(STROKE, importance=0.6)))
    worked_off(memory, said("I take insulin."))
    worked_off(memory, said("I take insulin. I had a stroke in May."), session_id="chat-2")
    assert asked(memory) == {INSULIN.text, STROKE.text}


def test_two_topics_are_two_questions(opened: Open) -> None:
    theft = claim("The contact has a conviction for theft.", (1, "convicted of theft"))
    memory = opened(answer(INSULIN, theft))
    worked_off(memory, said("I take insulin. I was convicted of theft."))
    assert asked(memory) == {INSULIN.text, theft.text}


OTHERS = [
    claim("The contact's son takes insulin.", (1, "my son takes insulin")),
    claim("Takes insulin.", (1, "takes insulin"), subject="son", attribute="drug", value="insulin"),
    claim("The contact is a Catholic.", (1, "I am a Catholic")),
    claim("The contact is in debt.", (1, "I am in debt")),
    replace(INSULIN, importance=0.4),
]


@pytest.mark.parametrize("told", OTHERS, ids=lambda told: told.text)
def test_a_session_asks_nobody_about_what_a_service_has_no_use_for(
    opened: Open, told: Extracted
) -> None:
    memory = opened(answer(told))
    turn = "I take insulin, my son takes insulin. I am a Catholic. I am in debt."
    worked_off(memory, said(turn))
    assert (asked(memory), listed(memory), known(memory)) == (set(), {told.text}, [])


def test_what_the_contact_asked_to_have_remembered_is_asked_about(opened: Open) -> None:
    faith = claim("The contact is a Catholic.", (1, "I am a Catholic"))
    memory = opened(answer(faith))
    worked_off(memory, said("Remember that I am a Catholic."))
    assert (asked(memory), known(memory)) == ({faith.text}, [])


def test_a_listed_note_waits_until_an_operator_settles_it(opened: Open) -> None:
    memory = opened(answer(replace(INSULIN, importance=0.4)))
    worked_off(memory, said(HEALTH))
    alice = memory.contact("crm", "alice")
    [held] = alice.pending()
    assert isinstance(held, Decision)
    assert held.judged.lapses_at is None
    with pytest.raises(InvalidAnswerError, match="only the contact may consent"):
        alice.confirm(held.decision_id, "ines")
    alice.confirm(held.decision_id, "contact", told_to="ines")
    assert (known(memory), alice.pending()) == ([INSULIN.text], [])


def test_a_listed_note_that_was_erased_waits_no_more(opened: Open) -> None:
    memory = opened(answer(replace(INSULIN, importance=0.4)))
    worked_off(memory, said(HEALTH))
    alice = memory.contact("crm", "alice")
    alice.forget(session_id="chat", by="contact", reason="She asked.")
    assert alice.pending(with_silent=True) == []


def test_a_later_value_of_the_same_thing_makes_a_held_one_old(opened: Open) -> None:
    def dose(value: str, span: str) -> Extracted:
        text = f"The contact's dose is {value}."
        given = {"attribute": "dose", "value": value, "importance": 0.4}
        return claim(text, (1, span), single_valued=True, **given)

    memory = opened(answer(dose("insulin twice", "insulin twice")), answer(dose("once", "once")))
    at = datetime(2026, 3, 1, 9, tzinfo=UTC)
    first = [Turn(role="contact", text="My dose is insulin twice.", said_at=at)]
    worked_off(memory, first, "one")
    assert listed(memory) == {"The contact's dose is insulin twice."}
    later = [Turn(role="contact", text="My dose is once.", said_at=at + timedelta(days=1))]
    worked_off(memory, later, "two")
    assert (listed(memory), known(memory)) == (set(), ["The contact's dose is once."])


def test_a_doubt_between_what_one_conversation_says_is_no_question(opened: Open) -> None:
    moving = claim("The contact wants the line moved to the new address.", (1, "line moved to the"))
    where = claim("The contact's new address is the old mill.", (1, "address is the old mill"))
    turn = "My new address is the old mill. I want the line moved to the new address."
    memory = opened(answer(where, moving), answer(where), answer(moving))
    worked_off(memory, said(turn))
    alice = memory.contact("crm", "alice")
    assert (len(known(memory)), alice.pending()) == (2, [])
    [settled] = [each for each in alice.decisions() if each.decided_by is DecidedBy.EXTRACTOR]
    assert settled.action is Action.RESOLVE

    bob = memory.contact("crm", "bob")
    for session_id in ("one", "two"):  # in two conversations it may be a change
        bob.submit_session(session_id, said(turn))
        memory.drain()
    assert [isinstance(each, Dispute) for each in bob.pending()] == [True]


def test_what_an_extractor_calls_a_decision_is_no_question_by_that(opened: Open) -> None:
    memory = opened(answer(wish(1, 0.5, category=Category.DECISION)))
    worked_off(memory, best(1))
    assert (asked(memory), listed(memory)) == (set(), set())
    assert len(memory.contact("crm", "alice").pending(with_silent=True)) == 1


# days, ends and values that the policy keeps


def test_what_is_announced_holds_from_its_day_and_suspends_nothing_until_then(
    opened: Open,
) -> None:
    moving = city("Oslo", span="From August my city is Oslo")
    memory = opened(answer(city("Pune")), answer(replace(moving, valid_from=date(2199, 8, 1))))
    worked_off(memory, said("My city is Pune."), "one")
    worked_off(memory, said("From August my city is Oslo."), "two")
    alice = memory.contact("crm", "alice")
    assert [each.value for each in alice.value("city")] == ["Pune"]
    [moved] = [each for each in alice.decisions() if each.text == "Lives in Oslo." and each.fact_id]
    assert moved.note.holds_from == datetime(2199, 8, 1, tzinfo=UTC)


def test_an_end_ends_the_fact_that_has_its_value(opened: Open) -> None:
    pet = {"attribute": "pet", "value": "Odin"}
    has = claim("Has a tortoise, Odin.", (1, "We have a tortoise, Odin"), **pet)
    gone = claim("Has no tortoise Odin any more.", (1, "no tortoise Odin any more"), **pet)
    memory = opened(answer(has), answer(replace(gone, is_ended=True)))
    worked_off(memory, said("We have a tortoise, Odin."), "one")
    worked_off(memory, said("We have no tortoise Odin any more."), "two")
    assert known(memory) == ["Has no tortoise Odin any more."]


def test_a_phone_number_is_a_value_and_stands_in_no_text(opened: Open) -> None:
    number = "020 7946 0018"
    phone = claim(f"The phone is {number}.", (1, f"Ring {number}"), attribute="phone", value=number)
    made_up = replace(phone, text="The fax is 020 7946 0999.", attribute="fax", value="02079460999")
    memory = opened(answer(phone, made_up))
    job = worked_off(memory, said(f"Ring {number}, that is my phone."))
    alice, services = memory.contact("crm", "alice"), memory._services
    [episode] = services.session_store.list_episodes(alice.scope, "chat")
    kept = [hit.fact for hit in alice.recall() if hit.fact.slot and hit.fact.slot.value]
    assert [fact.slot.value for fact in kept if fact.slot] == [number]
    assert number not in f"{episode.text}{kept[0].text}"
    assert [each.outcome for each in job.told].count("added") >= 1


def test_a_finished_job_says_what_became_of_each_thing(opened: Open) -> None:
    unsure = claim("Drives a van.", (1, "I think I drive a van"))
    small = claim("Had tea.", (1, "had tea"), importance=0.1)
    memory = opened(answer(city("Pune"), unsure, small))
    job = worked_off(memory, said("My city is Pune. I think I drive a van, and I had tea."))
    told = {each.text: (each.outcome, bool(each.fact_id)) for each in job.told}
    assert told == {
        "Lives in Pune.": ("added", True),
        "Drives a van.": ("held", False),
        "Had tea.": ("left_out", False),
    }
    assert sum(job.held_because.values()) == 1


def test_of_two_held_values_the_later_one_is_asked_about_beside_what_is_known(
    opened: Open,
) -> None:
    def budget(value: str) -> Extracted:
        text = f"Can pay {value} pounds."
        given = {"attribute": "budget", "value": value, "category": Category.PREFERENCE}
        return claim(text, (1, "we agreed on the sum"), single_valued=True, **given)

    memory = opened(answer(budget("1300"), budget("1450")))
    memory.add_contact_note("crm", "alice", "Can pay 900.", attribute="budget", value="900")
    worked_off(memory, said("Yes, we agreed on the sum."))
    [held] = [each for each in memory.contact("crm", "alice").pending() if each.question]
    assert "1450" in str(held.question)
    assert "Can pay 900" in str(held.question)
