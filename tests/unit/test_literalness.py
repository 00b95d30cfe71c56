from __future__ import annotations

import time

import pytest
from hypothesis import given, strategies as st

from reconciler.reading.cues.classification import Literalness, classify_literalness, find_hedge
from tests.tables import every

NOT_LITERAL = {
    Literalness.SARCASTIC: """
        Sure, because I adore calls at six in the morning
        Oh great, another meeting
        Great, another password to remember
        Oh great. Now I can do it all again.
        Yeah right
        Yeah, right, and pigs fly.
        As if I had the time
        Just what I needed.
        I just LOVE waiting
        I love being put on hold
        Like I have nothing better to do
        Thanks for nothing
        How nice of them to tell us a week late
        What a surprise, the server is down
        That's just great, the order is lost
        Lucky me
        Oh wonderful, the printer is broken again
        I am a huge fan of Mondays, just kidding
        Best service ever, said no one ever
        What could possibly go wrong
        Of course, because that worked so well last time
        Oh sure, I'll just work all weekend
    """,
    Literalness.HYPOTHETICAL: """
        What if I were a doctor?
        If I had bought the larger plan, I would have saved money
        I wish it had a dark theme
        Wish the onboarding was shorter
        I should have taken the earlier train
        The move would have been cheaper in March
        Would’ve ordered twenty seats
        She could have signed last year
        Imagine I worked at Globex
        Suppose I lived in Oslo
        Had we known, we would have waited
        If the office were in Pune she would commute
        I'd buy ten more if they were cheaper
        If only the demo worked
        Hypothetically, we have a budget of a million
        In an ideal world we would pay monthly
        Say I am a lawyer, what would I need?
    """,
    Literalness.ROLEPLAY: """
        Pretend to be my landlord
        Let's pretend I'm the CEO
        Let's say I'm a pilot
        Act as a travel agent
        You are now a pirate
        I'm basically a lawyer
        I'm actually a pilot, so go into every detail
        I am actually a pilot, so you can skip the basics
        Please act like a lawyer
        In this story I am a spy
        My character is a baker from Lyon
        Pretending to be an accountant
    """,
    Literalness.QUOTED: """
        My brother said he hates flying
        A friend of mine says she earns twice as much
        She says: "I own three houses"
        "I am the king of the world" - the man in the film
        "I never pay on time," said the neighbour
        As the song goes, I want to break free
        The hero says he lives in Rome
        In the words of the poet, I contain multitudes
    """,
    Literalness.CONDITIONAL: """
        If the price drops I'd switch
        If we move to Berlin, we will need another plan
        We will cancel unless the bug is fixed
        In case we move, we'd end the contract
        They might renew if their budget is approved
        Unless we hear from you, we're leaving
        Will sign if the CFO agrees
    """,
}

LITERAL = """
    I work outside. I love it when it's warm
    I enjoy working on vintage cars
    I love early mornings
    Her assistant is a real genius
    I really, really want a demo
    I LOVE hiking
    Would like a call on Monday
    Would prefer email
    Would rather meet in person
    Asked whether we ship to Norway
    Asked if we had an office in Oslo and could deliver
    If unavailable, call her assistant
    If he is travelling, write to his deputy
    Call her back if the invoice is late
    Wishes to be called Bob
    Wishes her invoices to be sent by post
    Wish her a happy birthday on 4 May
    We wish you all the best
    Should be invoiced quarterly
    Should have three licences by June
    Would have to ask the board
    Priya said she prefers email
    Her assistant said she is away until May
    He told me he moved to Lyon
    Her doctor says she must avoid salt
    Lives in Pune
    Never offer discounts
    Great contact, knows the market
    Sure about the date: 4 June
    Right now lives in Lisbon
    Acts as the point of contact for billing
    Will act as interim director
    Is actually a vegetarian
    I'm actually a vegetarian, and my wife is too
    Loves early trains
    I love hiking
    Loves waiting for nobody
    Read the book "Deep Work"
    Likes the song "Imagine"
    Could not attend the webinar
    Had lunch with the CFO and would like an offer
    Supposed to renew in June
    As if by habit he pays early
    Would like to be called if the price changes
    Would appreciate it if we could call after six
    Unless urgent, write instead of calling
    Plays the role of a mentor
    The team will move to Berlin in May
    Not interested
    Könnte sich einen Vertrag vorstellen
    Habite à Lyon
    note 17
"""

HEDGED = {
    "I think she lives in Pune": "I think",
    "Maybe moves to Berlin": "Maybe",
    "Probably renews in June": "Probably",
    "I'm not sure he is still there": "not sure",
    "Might switch to Rust": "Might",
    "She may have two dogs": "may have",
    "Seems to prefer email": "Seems to",
    "As far as I know they use Linux": "As far as I know",
    "Is considering a move": "Is considering",
    "I don't think he eats meat": "I don't think",
}

UNHEDGED = [
    "Lives in Pune",
    "The contract renews on 4 May",
    "Thinks fast",
    "Mighty tall",
    "tea",
    "",
]


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


@every(
    ("kind", "text"), [(kind, text) for kind, table in NOT_LITERAL.items() for text in lines(table)]
)
def test_a_text_not_meant_literally_is_told_by_its_kind(kind: Literalness, text: str) -> None:
    assert classify_literalness(text).kind is kind


@every("text", lines(LITERAL))
def test_an_ordinary_note_is_literal(text: str) -> None:
    assert classify_literalness(text).kind is Literalness.LITERAL


@pytest.mark.parametrize("table", NOT_LITERAL.values(), ids=NOT_LITERAL)
def test_a_cue_stands_in_the_text(table: str) -> None:
    for text in lines(table):
        plain = text.replace("’", "'").replace("“", '"')
        cue = classify_literalness(text).cue
        assert cue
        assert cue in plain


def test_a_literal_text_has_no_cue() -> None:
    assert classify_literalness("Lives in Pune").cue == ""


def test_curly_marks_and_wide_spaces_change_nothing() -> None:
    found = classify_literalness("I’m   actually\ta pilot, so go into every detail")
    assert found.kind is Literalness.ROLEPLAY


def test_a_later_sentence_can_give_the_text_away() -> None:
    found = classify_literalness("Lives in Pune. I wish it was Oslo.")
    assert found.kind is Literalness.HYPOTHETICAL


def test_a_condition_does_not_reach_into_the_next_sentence() -> None:
    found = classify_literalness("If she was out, leave word. Would like a call.")
    assert found.kind is Literalness.LITERAL


@every(("text", "cue"), HEDGED.items())
def test_a_hedge_is_found(text: str, cue: str) -> None:
    assert find_hedge(text) == cue


@every("text", UNHEDGED)
def test_a_plain_text_has_no_hedge(text: str) -> None:
    assert find_hedge(text) is None


@given(st.text(max_size=200))
def test_any_text_gets_the_same_answer_twice(text: str) -> None:
    assert classify_literalness(text) == classify_literalness(text)


@every(
    "unit", ["a ", "if ", "if had would ", "I wish ", "oh great ", '"', ". ", "pretend", "had we "]
)
def test_a_long_text_of_cue_words_takes_no_time(unit: str) -> None:
    text = (unit * 2000)[:2000]
    started = time.process_time()
    classify_literalness(text)
    find_hedge(text)
    assert time.process_time() - started < 0.5


@every(
    "text",
    [
        "I don't like sushi and I do not eat fish",
        "I do not like phone calls",
        "I don't want newsletters",
        "She does not think much of the old plan",
    ],
)
def test_a_dislike_is_not_hedged(text: str) -> None:
    assert find_hedge(text) is None
