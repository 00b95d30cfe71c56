"""Explicit statements and the extractor that reads nothing else: what is one, and what is none."""

from __future__ import annotations

import time
import tomllib
from datetime import UTC, datetime

from hypothesis import given, strategies as st

from reconciler.adapters.explicit_extractor import ExplicitExtractor
from reconciler.domain.records.candidates import Role
from reconciler.domain.records.sessions import Episode
from reconciler.domain.sessions.explicit_statements import ExplicitStatement, find_statements
from reconciler.domain.sessions.extraction import Extracted, Window, merged
from reconciler.domain.values.attributes import AttributeBook
from reconciler.reading.kinds import Category, Speech
from reconciler.resources import resource_path
from tests.tables import every

BOOK = AttributeBook.from_mapping(
    tomllib.loads((resource_path("config") / "attributes.toml").read_text(encoding="utf-8"))
)


def statements(text: str) -> list[ExplicitStatement]:
    return list(find_statements(text, BOOK))


def only(text: str) -> ExplicitStatement:
    (found,) = statements(text)
    return found


def window(*said: str | tuple[Role, str], new: frozenset[str] | None = None) -> Window:
    turns = [each if isinstance(each, tuple) else (Role.CONTACT, each) for each in said]
    episodes = tuple(
        Episode(
            episode_id=f"e{at}",
            session_id="s",
            role=role,
            text=text,
            said_at=datetime(2026, 3, 1, tzinfo=UTC),
            position=at,
        )
        for at, (role, text) in enumerate(turns)
    )
    return Window(episodes=episodes, new_ids=new or frozenset(e.episode_id for e in episodes))


def candidates(*said: str | tuple[Role, str]) -> tuple[Extracted, ...]:
    return ExplicitExtractor(BOOK).extract(window(*said)).candidates


# Requests


@every(
    ("said", "kept"),
    [
        ("Remember that I bill in dollars.", "The contact bills in dollars."),
        ("Hi, please note that our year ends in June.", "The contact's year ends in June."),
        ("Keep in mind that the depot closes at four.", "The depot closes at four."),
        ("Don't forget that I fly on Sundays.", "The contact flies on Sundays."),
        ("Can you remember that my dog is called Max?", "The contact's dog is called Max."),
        ("Please remember my shoe size is 42.", "The contact's shoe size is 42."),
        ("Don't forget to copy Lena.", "Don't forget to copy Lena."),
        ("From now on, write to me in Spanish.", "From now on, write to the contact in Spanish."),
        ("Going forward, use metric units.", "Going forward, use metric units."),
        ("Please use metric units from now on.", "Please use metric units from now on."),
        ("Never ring me before noon.", "Never ring the contact before noon."),
        ("always reply in French", "Always reply in French."),
        ("You can call me Sam.", "You can call the contact Sam."),
        ("Don't e-mail me.", "Don't e-mail the contact."),
        ("Do not call me before noon.", "Do not call the contact before noon."),
        ("Only text me.", "Only text the contact."),
    ],
)
def test_a_request_is_kept_in_words_that_stand_alone(said: str, kept: str) -> None:
    found = only(said)
    assert (found.text, found.is_request) == (kept, True)


@every(
    "said",
    [
        "Remember that the server is down on Sundays.",
        'Remember that Ana said "I will pay".',
        "Remember this: I bill in dollars.",
        f"Remember that I bill in dollars, euros{' and pounds' * 60}.",
    ],
)
def test_a_request_is_not_left_alone_for_what_it_holds(said: str) -> None:
    assert only(said).is_request


@every(
    "said",
    [
        # What only sounds like a request is none.
        "Remember that it is late.",
        "Remember that she left.",
        "From now on, it goes there.",
        "Remember when we met in Oslo.",
        "Remember that!",
        "I remember that my old phone was blue.",
        "Don't call me today.",
        "Don't call me Shirley.",
        "Please forget that I live in Leeds.",
        "Please call me tomorrow.",
        "Call me Monday.",
        "Never mind.",
        "Always happy to help.",
        "Never do that again.",
        "I will try these tips going forward.",
        # What is fleeting asked or anothers is none.
        "Thanks, that helps a lot!",
        "Is my name Ana?",
        "Do you know whether my order is late",
        "What if I were a doctor?",
        "My question is whether this works.",
        "My phone is dead.",
        "My email is broken.",
        "My wife is sick.",
        "My knee is healing well.",
        "My flight is delayed.",
        "I prefer the second option.",
        "I used to live in Rome.",
        "She works at Globex.",
        "She works at Globex, and I like tea.",
        "Lives in Rome.",
        '"I work at Globex" is what she said.',
        "My boss says I work at Globex too much.",
        "I might move to Paris.",
        "I'm thinking of joining Globex.",
        "If I join Globex, you will hear of it.",
        "I wish I lived in Paris.",
        "You live in Rome, don't you?",
        "I live in Rome, do I?",
        "I just started the app.",
        "I've been waiting for two weeks.",
        "I've tried it three times.",
        "I got three mails every day.",
        "I just bought one in May.",
        "I recently joined your list.",
        "The server is down right now.",
        'She said "My name is Eve. I live in Rome."',
        "> My name is Eve.",
        "```\nMy name is Eve.\n```",
        # A plain sentence without a slot needs a model.
        "I prefer tea over coffee.",
        "My favourite tea is green.",
        "The contact is off for a cup of tea.",
        "I have a pottery class on Fridays.",
        "I've had my cat since May.",
        "I recently switched to tea.",
    ],
)
def test_what_needs_a_model_is_left_to_it(said: str) -> None:
    assert statements(said) == []


# Statements and their slots


@every(
    ("said", "subject", "attribute", "value"),
    [
        ("My name is Ana.", None, "name", "Ana"),
        ("By the way, my job title is Head of Sales.", None, "title", "Head of Sales"),
        ("My wife's name is Ana.", None, "spouse", "Ana"),
        ("My wife’s birthday is 3 May", "wife", "birthday", "3 May"),
        ("Our budget is 40,000 EUR, but it may grow.", None, "budget", "40,000 EUR"),
        ("My new email is ana@acme.test, and it works.", None, "email", "ana@acme.test"),
        ("My date of birth is 1 May 1980.", None, "birthday", "1 May 1980"),
        ("My address is 12 High Street, Leeds.", None, "address", "12 High Street, Leeds"),
        ("I live in Berlin now.", None, "city", "Berlin"),
        ("I live in Norway.", None, "country", "Norway"),
        ("I live in Ohio.", None, "region", "Ohio"),
        ("I've switched to the Enterprise plan.", None, "plan", "Enterprise"),
        ("I was promoted to VP of Sales last week.", None, "title", "VP of Sales"),
        ("WhatsApp works best for me.", None, "preferred_channel", "WhatsApp"),
        ("I'm allergic to walnuts.", None, "allergy", "walnuts"),
        ("I'm a vegetarian.", None, "diet", "vegetarian"),
        ("Call me Sam.", None, "preferred_name", "Sam"),
    ],
)
def test_a_statement_fills_the_slot_it_names(
    said: str, subject: str | None, attribute: str | None, value: str | None
) -> None:
    found = only(said)
    assert (found.subject, found.attribute, found.value) == (subject, attribute, value)


@every(
    ("said", "category"),
    [
        ("I live in Leeds.", Category.FACT),
        ("Remember that I prefer tea over coffee.", Category.PREFERENCE),
        ("Remember that we have chosen the annual plan.", Category.DECISION),
        ("Never call me before noon.", Category.DECISION),
    ],
)
def test_the_words_give_away_the_category(said: str, category: Category) -> None:
    assert only(said).category is category


@every(
    ("said", "speech"),
    [("From now on you are a pirate.", Speech.ROLEPLAY), ("I live in Leeds.", Speech.LITERAL)],
)
def test_it_says_how_the_words_are_meant(said: str, speech: Speech) -> None:
    assert {each.speech for each in statements(said)} == {speech}


def test_what_stands_before_a_question_is_read() -> None:
    found = only("I live in Leeds, can you ship there?")
    assert (found.text, found.span) == ("The contact lives in Leeds.", "I live in Leeds")


@every("said", ["I no longer work at Globex.", "I don't live in Paris."])
def test_what_has_ended_says_so_in_words_and_fills_no_slot(said: str) -> None:
    found = only(said)
    assert found.attribute is None
    assert found.text.startswith(("The contact no longer", "The contact doesn't"))


def test_two_statements_in_a_sentence_are_two_each_in_its_own_words() -> None:
    found = statements("My name is Ana and I live in Berlin.")
    assert [each.text for each in found] == [
        "The contact's name is Ana.",
        "The contact lives in Berlin.",
    ]


def test_the_span_is_the_sentence_as_it_stands() -> None:
    assert only("Hello!\n- by the way,  my name is  Ana .").span == "by the way,  my name is  Ana ."


def test_a_condition_leaves_its_whole_sentence_open() -> None:
    found = statements("I live in Leeds, but once the deal closes, I work at Globex.")
    assert [(each.value, each.speech) for each in found] == [(None, Speech.HYPOTHETICAL)] * 2


@every(
    "said",
    [
        "Remember that I prefer e-mail when I travel.",
        "Remember that once it closes, I work at Globex.",
    ],
)
def test_a_habit_and_a_request_keep_their_words_and_fill_no_slot(said: str) -> None:
    found = only(said)
    assert (found.speech, found.value) == (Speech.LITERAL, None)


# The extractor


def test_a_request_outweighs_a_slot() -> None:
    found = candidates("I live in Leeds.", "Remember that I bill in dollars.")
    assert [(each.importance, each.confidence) for each in found] == [(0.6, 0.9), (0.8, 0.95)]


def test_what_is_played_is_hardly_believed() -> None:
    (found,) = candidates("From now on you are a pirate.")
    assert found.confidence <= 0.3


def test_what_is_hedged_is_believed_less() -> None:
    (found,) = candidates("Remember that my budget is probably 900 EUR.", "Thanks!")
    assert found.confidence == 0.5


def test_the_same_in_two_episodes_is_one_claim_with_both_citations() -> None:
    shown = window("I live in Leeds.", (Role.AGENT, "Noted."), "Well, I live in Leeds now!")
    (claim,) = merged([(shown, ExplicitExtractor(BOOK).extract(shown))])
    assert claim.spans == {"e0": ("I live in Leeds.",), "e2": ("Well, I live in Leeds now!",)}


@every("role", [each for each in Role if each is not Role.CONTACT])
def test_nobody_but_the_contact_is_read(role: Role) -> None:
    assert candidates((role, "Remember that I live in Leeds.")) == ()


def test_what_was_read_before_is_not_read_again() -> None:
    seen_before = window("I live in Leeds.", "My name is Ana.", new=frozenset({"e1"}))
    (found,) = ExplicitExtractor(BOOK).extract(seen_before).candidates
    assert found.citations[0].episode == 2


def test_of_many_statements_all_are_given_in_their_order() -> None:
    found = candidates(*(f"Remember that my locker is {number}." for number in range(9)))
    assert [each.text for each in found] == [f"The contact's locker is {n}." for n in range(9)]


def test_a_pleasantry_gives_nothing_not_even_a_summary() -> None:
    extraction = ExplicitExtractor().extract(window("Thank you so much!"))
    assert (extraction.candidates, extraction.summary) == ((), "")


@every("said", ["Call me Sam.", "Remember that my favourite tea is green."])
def test_without_a_book_the_grammar_still_reads(said: str) -> None:
    assert ExplicitExtractor().extract(window(said)).candidates


PIECES = st.sampled_from(
    ["my", "I", "name", "is", "live in", "remember that", '"', ".", "?", "\n", ",", "Ana", "'s"]
)


@given(st.text() | st.lists(PIECES).map(" ".join))
def test_any_text_is_read_and_every_span_stands_in_it(text: str) -> None:
    for each in statements(text):
        assert each.text.strip()
        assert each.span in text
        BOOK.slot(subject=each.subject, attribute=each.attribute, value=each.value)


@every(
    "piece",
    ["My dog is Max. ", "my ", "please ", ". ", "\n", '"', "a, my b is c and ", "I am a ", "a"],
)
def test_a_long_text_is_read_in_no_time(piece: str) -> None:
    statements("I live in Leeds.")  # the names of countries are read once
    taken = []
    for end in "xyz":  # unlike texts, none read before; Python may pause in one
        text = (piece * 20_000)[:20_000] + end
        started = time.process_time()
        statements(text)
        taken.append(time.process_time() - started)
    assert min(taken) < 0.2


@every("stop", [".", "?!", "…"])
def test_a_long_row_of_stops_is_read_once(stop: str) -> None:
    started = time.process_time()
    statements("I live in Pune " + stop * 20_000 + "x")
    assert time.process_time() - started < 1.0
