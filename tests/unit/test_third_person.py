"""What the contact said of themselves, told about the contact; in doubt as it was said."""

from __future__ import annotations

import time

from hypothesis import given, strategies as st

from reconciler.reading.question_words import about_the_contact, as_told
from tests.tables import every

TOLD = {
    "I prefer e-mail over phone calls.": "The contact prefers e-mail over phone calls.",
    "My time zone is CET.": "The contact's time zone is CET.",
    "I work at Brightwave now": "The contact works at Brightwave now.",
    "I'm allergic to walnuts.": "The contact is allergic to walnuts.",
    "I’ve moved to Pune.": "The contact has moved to Pune.",
    "I have two dogs.": "The contact has two dogs.",
    "I do not eat meat.": "The contact does not eat meat.",
    "I don't drink coffee.": "The contact doesn't drink coffee.",
    "I haven't renewed my plan.": "The contact hasn't renewed their plan.",
    "I am a nurse.": "The contact is a nurse.",
    "I was born in Oslo.": "The contact was born in Oslo.",
    "I moved from Paris to Porto.": "The contact moved from Paris to Porto.",
    "I left Globex.": "The contact left Globex.",
    "I used to live in Rome.": "The contact used to live in Rome.",
    "I can't take calls on Mondays.": "The contact can't take calls on Mondays.",
    "I'd prefer to be called Sam.": "The contact would prefer to be called Sam.",
    "I'll be in Oslo.": "The contact will be in Oslo.",
    "I no longer work at Globex.": "The contact no longer works at Globex.",
    "I never fly.": "The contact never flies.",
    "I also teach chess.": "The contact also teaches chess.",
    "I always go by train.": "The contact always goes by train.",
    "I play the cello.": "The contact plays the cello.",
    "I need an invoice.": "The contact needs an invoice.",
    "i live in Leeds": "The contact lives in Leeds.",
    "My wife's name is Ana.": "The contact's wife's name is Ana.",
    "I live in the US.": "The contact lives in the US.",
    "I live with my wife, who taught me chess.": (
        "The contact lives with their wife, who taught them chess."
    ),
    "My wife taught me chess.": "The contact's wife taught the contact chess.",
    "My boss knows I travel.": "The contact's boss knows the contact travels.",
    "The flat I live in is old.": "The flat the contact lives in is old.",
    "Call me Sam.": "Call the contact Sam.",
    "Don't e-mail me.": "Don't e-mail the contact.",
    "Never ring me before noon!": "Never ring the contact before noon!",
    "From now on, write to me in Spanish.": "From now on, write to the contact in Spanish.",
    "always reply in French": "Always reply in French.",
    "Our budget is 40,000 EUR.": "The contact's budget is 40,000 EUR.",
    "We bill in dollars.": "The contact and others bill in dollars.",
    "We've decided to move.": "The contact and others have decided to move.",
    "Ship it to us.": "Ship it to the contact and others.",
    "The depot closes at four.": "The depot closes at four.",
}


@every(("said", "told"), TOLD.items())
def test_the_first_person_is_told_in_the_third(said: str, told: str) -> None:
    assert about_the_contact(said) == told


@every(
    "said",
    [
        "I quit my job.",
        "I don't smoke or drink.",
        "I put my savings into bonds.",
        "I yodel.",
        "I fly when I can.",
        "I live in Leeds and I work in York.",
        "I live in Leeds and work in York.",
        "I cook, travel and sing.",
        "My wife and I live in Leeds.",
        "Neither am I a lawyer.",
        "I'd better go by train.",
        "We'd gone by then.",
        "Let's meet on Mondays.",
        "It was I.",
        "A friend of mine works there.",
        "I'm retired and live in Leeds.",
        "I moved to Leeds and work there.",
        "My favourite song is I Will Survive.",
        "My favourite film is My Fair Lady.",
        "The battles of World War I are my hobby.",
        'My favourite line is "I am he".',
        'My "plan is free.',
        'My favourite book is "Emma".',
        "I do it myself, and Myself it is.",
        "We paid for it ourselves.",
    ],
)
def test_where_a_form_is_not_sure_the_words_stay_as_they_were_said(said: str) -> None:
    assert about_the_contact(said) == said


def test_what_is_told_already_stays_as_it_is() -> None:
    for told in TOLD.values():
        assert about_the_contact(told) == told


@given(st.text(max_size=400))
def test_any_text_is_told(text: str) -> None:
    assert about_the_contact(text).endswith((".", "!", "?", "…"))


@every("piece", ["I ", "a-", "and I work, ", "'", "my my "])
def test_a_long_text_is_told_in_no_time(piece: str) -> None:
    started = time.process_time()
    about_the_contact(piece * 5000)
    assert time.process_time() - started < 2


CALLED = ("Ada Hall", "ada")
ONE = [
    ("My brother is a pilot.", "The contact's brother is a pilot"),
    ("My brother is a pilot.", "Ada's brother is a pilot."),
    ("I love olives.", "The contact loves olives."),
    ("I love olives.", "Ada Hall loves olives."),
    ("I love olives.", "Loves olives."),
    ("I'm allergic to walnuts.", "Is allergic to walnuts."),
    ("I live with my wife.", "The contact lives with their wife."),
    ("Call me Sam.", "Call the contact Sam."),
]
TWO = [
    ("I love olives.", "She loves olives."),
    ("I love olives.", "My brother loves olives."),
    ("I love olives.", "The contact does not love olives."),
    ("I lived in Leeds.", "The contact lives in Leeds."),
    ("I have worked at Acme.", "The contact works at Acme."),
    ("My sister says I smoke.", "My sister says she smokes."),
    ("I live in Leeds.", "Does the contact live in Leeds?"),
    ("We bill in dollars.", "The contact bills in dollars."),
    ("My brother is a pilot.", "Bob's brother is a pilot."),
    ("My brother is a pilot.", "The customer's brother is a pilot."),
    ("My mother is Ada.", "My mother is Hall."),
    ("I like Hall.", "I like Ada."),
    ("I bill Client 7 in dollars.", "I bill Customer 7 in dollars."),
    ("My client number is 778.", "My customer number is 778."),
    ("I work in customer success.", "I work in client success."),
    ("The client wants a discount.", "I want a discount."),
    ("I report to the customer.", "The customer reports to me."),
    ("I pay the customer weekly.", "The customer pays me weekly."),
    ("I ship to the US.", "I ship to the EU."),
]


@every(("said", "told"), ONE)
def test_the_same_words_are_one_statement_in_every_person(said: str, told: str) -> None:
    assert as_told(said, CALLED) == as_told(told, CALLED)


@every(("said", "told"), TWO)
def test_another_subject_time_or_denial_is_another_statement(said: str, told: str) -> None:
    assert as_told(said, CALLED) != as_told(told, CALLED)
