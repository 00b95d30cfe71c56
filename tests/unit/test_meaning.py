from __future__ import annotations

import time

import pytest
from hypothesis import given, strategies as st

from reconciler.reading.cues.meaning import Meaning, classify_meaning
from tests.tables import every, grouped

REFUSED = {
    Meaning.FILLER: """
        Thanks!
        thaaanks!!!
        THANK YOU SO MUCH
        Thanks for the update, Priya
        Hi Priya, thanks for your help!
        hello
        Good morning, everyone
        Bye, see you later. Bye!
        Sounds good
        ok
        K.
        haha
        hahahaha
        no worries
        👍
        🙏🙏
        :-)
        You're welcome
        That makes sense, thank you
        Great, thanks. Have a good weekend!
        Got it, will do
        merci beaucoup
        Danke schön
        I appreciate your patience
        ¡Gracias!
        ありがとう
        gooood mooorning
        yesss
        That's a great idea!
        I'm tired today
        feeling great
        User seemed to be having a good day
        In a bad mood
        I am SO happy right now!
        I'm having a rough day
        Had a terrible morning
        She is tired today
        not feeling well today
        I'm in a rush today
        brb
        One sec
        Gotta go
        Running ten minutes late
        Let me think about it
        Can you help me?
        Any ideas?
        Go on
        this is so slow!
        ugh, this app
        Argh!!!
        I hate this
        why is everything so complicated
        so annoying
        so slow again
        The app is so slow again
        Everything is so complicated
    """,
    Meaning.QUESTION: """
        What time is it?
        Hi, how do I export a report?
        Is there a dark theme? Where is it?
        Thanks! Could you send the link?
        Does Globex have an office in Oslo?
    """,
    Meaning.REQUEST: """
        Write me a poem
        Tell me more
        make it shorter
        Please translate this into French
        Explain how it works
        Thanks, now summarise the article
        Give me three examples
        Can you rewrite it please
    """,
    Meaning.RAW_OUTPUT: """
        {"status": "ok", "items": [1, 2, 3]}
        [{"id": 4, "name": "x"}]
        2026-01-05T10:22:31Z ERROR worker failed
        [INFO] started in 3 s
        <div class="note"><p>Hello</p></div>
        ValueError: invalid literal for int()
        127.0.0.1 - - "GET /index HTTP/1.1" 200 512
        aGVsbG8gd29ybGQgdGhpcyBpcyBhIGxvbmcgYmFzZTY0IHN0cmluZyB3aXRoIDEyMyBpbnNpZGU=
    """,
}

REMARKS = """
    just having lunch
    I'll be back in five minutes
    it's raining here right now
    On the train at the moment
    Sorry, I'm in a meeting right now
    Currently stuck in traffic
    my battery is dying
    It's Tuesday.
    I had a sandwich for lunch.
    I'm looking for a new pair of sandals. Can you recommend some?
    The train was crowded
    The weather was lovely
    He is stuck in a lift
    I'm on hold with the bank
    The printer is jammed again.
    I watched some TV last night.
    That sounds like a plan for the whole family
    It's raining money at Globex
    I went to bed early; I was thinking about it
    I'm looking for tips, my boots are from Leeds. Any ideas?
    I think I'll drop by on Friday. Any ideas?
    They came last Friday and left. Do you know why?
    Thanks, the tea with the two biscuits is hot
    The train was crowded, thanks.
    The oboe is a fine thing, thanks for the idea.
"""

STATEMENTS = """
    He is hard of hearing.
    She is slow to reply.
    They are often hard to reach.
    She is not well.
    She's not feeling well.
    He is in pain.
    The problem is solved.
    He was let go.
    They agreed.
    She is back.
    The oboe has stopped, thank you.
    The hammering is over, thanks.
    The gas is back on, thanks a lot!
    The wasps are gone. Thank you so much.
    note 17
    Invoice 1042 is unpaid
    Lives in Pune
    tea
    Vegan
    Morning
    No meat
    Good Friday is a holiday there
    Do not call before noon
    Never offer discounts
    Please always email her
    Please call me in the evening
    Prefers email
    I'm looking for a hotel in Rome; by the way, I'm vegetarian.
    Thanks! I've had my camera for nine months now. Any tips?
    Can you plan around my gym sessions, which I usually do at seven?
    I recently signed with our first client, how exciting!
    Could you help? My cousin Rachel had a baby in March.
    I don't drink.
    My employer doesn't allow video calls.
    I can sign alone up to five thousand.
    We pay after sixty days, that's group policy.
    He does not fly.
    Two of their plants are in Slovakia.
    I would rather pay more than wait.
    I think she lives in Pune
    Is always tired
    Happy customer since 2019
    Thanks for the update, she moved to Oslo
    Hi! I moved to Oslo.
    I live in Pune. Can you help me?
    Can you find a plan for my team, which I lead since May?
    Is there a gym near me? I usually go at seven.
    Hello Kitty collector
    Write to him in French
    Explain everything to her in simple words
    Make all calls after six
    Tell her nothing about the price
    The app is slow on her phone since the update
    Reports that the export is so slow that she cannot work
    Sends JSON such as {"a": 1} by mail
    Error in the invoice of May
    I'm tired of the delays with invoices
    I'm at home on Fridays
    I'm in a meeting every Monday at nine
    Wohnt in Berlin
    Vive en Madrid
    住在北京
    Xk29-qq
    qzxv
    Great Dane owner
    Fine dining critic
    Welcome pack sent
    Sorry for the late invoice, it is 40 euros
    Interested in the pro plan
    Lives in Nice
    Let me know before any price change
    Thanks to her, the deal closed
    I just got married
    I need a wheelchair
    Busy on Mondays
    Yes to the June offer
    I'm curious about lenses. I went to a workshop on photography in Leeds.
    Any idea? I listened to all of the podcasts by Ann Bell.
    I need to be done before the gym, which is usually at six.
    I love the band Heart.
    I'm looking for a card, as my wife retires. Any tips?
    I have moved to a bigger office. Any tips?
    I think my boots are from Leeds
    Quit his job yesterday.
    She gave birth to a boy this morning.
    Prefers drinking tea.
    Signed the contract today.
    Moved to Bergen this week.
    Cancelled the licence this morning.
    Parcels go to the kiosk, by the way.
    Our porter is deaf, just so you know.
    You'll find the workshop behind the station.
    Please leave the crates with the porter, he has the key.
"""


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


@every(("kind", "text"), [(kind, text) for kind, table in REFUSED.items() for text in lines(table)])
def test_a_text_not_worth_recalling_is_told_by_its_kind(kind: Meaning, text: str) -> None:
    assert classify_meaning(text).kind is kind


@every("text", lines(REMARKS))
def test_what_nothing_shows_to_last_is_a_remark(text: str) -> None:
    assert classify_meaning(text).kind is Meaning.REMARK


@every(
    ("text", "kind"),
    grouped(
        {
            Meaning.FILLER: [
                # A short text of nothing but small words is filler.
                "idk",
                "Hmm, who knows...",
                "Will get back to you",
                "So far so good!",
                "He is right.",
                "It was nice.",
                "They are great.",
                "We all agreed.",
                "I'm not well",
                "It is hard to say",
                "That was slow",
            ],
            Meaning.STATEMENT: [
                # A text without words is left alone.
                "",
                " ",
                "...",
                "?",
                "+",
                "0",
                "-",
            ],
        }
    ),
)
def test_a_text_of_small_words_is_filler_and_one_without_words_is_left_alone(
    text: str, kind: Meaning
) -> None:
    assert classify_meaning(text).kind is kind


@every("text", lines(STATEMENTS))
def test_what_is_about_something_that_lasts_is_a_statement(text: str) -> None:
    assert classify_meaning(text).kind is Meaning.STATEMENT


def test_a_stack_trace_is_raw_output() -> None:
    text = 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    f()'
    assert classify_meaning(text).kind is Meaning.RAW_OUTPUT


def test_a_cue_stands_in_the_text() -> None:
    assert classify_meaning("Great. I'm on the bus right now!").cue == "I'm on the bus right now!"


def test_a_statement_has_no_cue() -> None:
    assert classify_meaning("Lives in Pune").cue == ""


@every("text", ["thanks", "brb", "feeling great", "so annoying"])
def test_case_marks_and_emoji_change_nothing(text: str) -> None:
    kind = classify_meaning(text).kind
    for said in (text.upper(), f"{text}!!!", f"🙂 {text} 🎉", f"  {text} :)", f"...{text}..."):
        assert classify_meaning(said).kind is kind


@pytest.mark.parametrize("table", REFUSED.values(), ids=REFUSED)
def test_a_fact_after_it_makes_any_text_a_statement(table: str) -> None:
    for text in lines(table)[:6]:
        if classify_meaning(text).kind is not Meaning.RAW_OUTPUT:
            assert classify_meaning(f"{text}. She owns a bakery.").kind is Meaning.STATEMENT


@given(st.text(max_size=200))
def test_any_text_gets_the_same_answer_twice(text: str) -> None:
    assert classify_meaning(text) == classify_meaning(text)


@every(
    "unit",
    ["a ", "thanks ", "ok. ", "so very ", "haha", "I'm just ", '{"', "<a ", "aA1", "\n", "? "],
)
def test_a_long_text_of_cue_words_takes_no_time(unit: str) -> None:
    text = (unit * 2000)[:2000]
    started = time.process_time()
    classify_meaning(text)
    assert time.process_time() - started < 0.5
