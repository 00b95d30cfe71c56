"""What the words of a note say of it, as tables of examples."""

from __future__ import annotations

import time

from hypothesis import given, strategies as st

from reconciler.reading.cues.classification import (
    find_speculation,
    find_trigger,
    infer_category,
    infer_recall_semantics,
)
from reconciler.reading.kinds import Category, RecallSemantics
from tests.tables import every, grouped


@every(
    ("text", "category"),
    grouped(
        {
            Category.PREFERENCE: [
                # A liking or a dislike is a preference.
                "Prefers email",
                "Loves Thai food",
                "Hates phone calls",
                "His favourite colour is blue",
                "My favorite band plays in May",
                "Would rather be called in the morning",
                "I'd rather meet in person",
                "Wants to be called Ana",
                "Email is best",
                "Best reached by phone",
                "I like to dance",
                "Does not like spicy food",
                "Doesn’t like spicy food",
                "Now prefers phone calls over email",
                "The preferred language is French",
            ],
            Category.DECISION: [
                # What was agreed and what always holds is a decision.
                "Decided to renew for two years",
                "We agreed on net 30",
                "The board approved the budget",
                "Approved: budget of 40k",
                "Went with Acme for hosting",
                "Chose the annual plan",
                "Signed off on the design",
                "Always ask before a refund",
                "Do not make purchases without confirmation",
                "No refactoring unless asked",
                "Read-only mode",
                "Use the southern region by default",
                "Contact only by email",
                "Never call before noon",
                # A decision about a preference is a decision.
                "We decided that she prefers email",
                # Line breaks and case do not count.
                "ALWAYS ASK\n  before a refund",
            ],
            Category.FACT: [
                # What is still open is no decision.
                "Has not decided yet",
                "Will sign once the board has approved the budget",
                "It is to be decided in May",
                "Works with an approved vendor",
                # Whatever no list knows is a fact.
                "Lives in Pune",
                "Budget is 40,000 EUR",
                "Invoice 1042 is unpaid",
                "Works at Acme since 2021",
                "Currently works at Acme",
                "Is now head of sales",
                "Moved to Berlin in March",
                "The price per seat is 40 EUR",
                "Work-life balance is important",
                "Has stock options",
                "Invests in stock options",
                "Shares an office and is now head of sales",
                "Is down to earth",
                "Would like a demo of the reporting module",
                "I'd like a demo",
                "Got 500 likes on the post",
                "It looks like rain",
                "I know how to fish",
                "First worked at Acme, then at Globex",
                "To: Ana Silva",
                "She never calls",
                "Allergic to peanuts",
                "",
            ],
            Category.PROCEDURE: [
                # An order of steps is a procedure.
                "To reset the password: open the settings and click reset",
                "To reset the router, hold the button for ten seconds",
                "How to export the contacts",
                "First open the menu, then click export",
                "Steps: open, click, save",
                "Step 1 is to open the menu",
                "Runbook for the ledger: restart, wait, verify",
            ],
            Category.SUMMARY: [
                # An outcome in short is a summary.
                "Summary: happy, renews in May",
                "Call summary: wants a discount",
                "Summary of the meeting: nothing new",
                "Ticket 123 resolved by rollback",
                "Case 7 was closed after a refund",
                "Incident 12: the disk was full and was replaced",
            ],
            Category.VOLATILE: [
                # What is gone tomorrow is volatile.
                "The server is down",
                "The share price is 40 EUR right now",
                "A flight to Rome costs 120 EUR today",
                "His balance is 1,200 EUR",
                "In a meeting until 3",
                "Is currently waiting for a callback",
                "The blue model is out of stock",
                "It is raining in Pune",
                "Weather in Oslo is cold",
                "On hold right now",
                "CPU usage is at 93 percent",
                "LH 440 to Houston costs 912 euros right now.",
                "The build is red.",
            ],
        }
    ),
)
def test_the_words_tell_the_category(text: str, category: Category) -> None:
    assert infer_category(text) is category


@every(
    ("text", "semantics"),
    grouped(
        {
            RecallSemantics.NEGATIVE: [
                # What is forbidden is negative.
                "Do not suggest Luigi's again",
                "Never call before noon",
                "Don’t call him Bob",
                "Please stop sending newsletters",
                "No calls before noon",
                "Asked us not to call on Fridays",
                "Does not want to be called at work",
            ],
            RecallSemantics.CONSTRAINT: [
                # What binds is a constraint.
                "Always ask before a refund",
                "Read-only access to the database",
                "Must not be called at work",
                "Contact only by email",
                "Only by email, please",
                "Prefers to be contacted only by email",
                "Emails only",
                "Invoices must carry a PO number",
                "Always copy his assistant",
                "Nothing with nuts may enter the kitchen",
                "Nobody may enter the lab",
                "No one is allowed in flat 5",
                "No exception to the two-person rule",
                "I only take calls after 5 pm",
                "The contact only takes calls after 5 pm",
                "Priya accepts deliveries only before noon",
                "She's only reachable on Fridays",
                "Call me only after six",
                "You can only text me in the evening",
                # What is forbidden until a person agrees is a constraint.
                "Do not make purchases without confirmation",
                "Never refund without asking",
                "No refactoring unless asked",
                "Nobody may enter flat 5 without notice",
            ],
            None: [
                # A habit or a fact orders nothing.
                "Lives in Pune",
                "Prefers email",
                "She never calls",
                "I never call my mother",
                "They do not use spreadsheets",
                "They always ask for discounts",
                "Has no calls scheduled",
                "I read only novels",
                "Has only one dog",
                "My phone must be broken",
                "She only works on Tuesdays",
                "Only takes sugar in coffee",
                "My doctor only takes calls after nine",
                "I only took the call after lunch",
                "I only read my messages on weekends",
                "You can only call support on weekdays",
            ],
        }
    ),
)
def test_the_words_tell_what_has_to_be_minded(text: str, semantics: RecallSemantics | None) -> None:
    assert infer_recall_semantics(text) is semantics


@every(
    ("text", "cue"),
    [
        ("Remember that she is vegan", "remember that"),
        ("Please remember to copy Bob", "remember to"),
        ("From now on use email", "from now on"),
        ("Email only, going forward", "going forward"),
        ("Make a note: vegan", "make a note"),
        ("Approved: 40k", "approved:"),
        ("For the record, he paid", "for the record"),
    ],
)
def test_a_wish_to_have_it_kept_is_found(text: str, cue: str) -> None:
    assert find_trigger(text) == cue


@every(
    "text",
    [
        "I remember that trip",
        "Do you remember that trip?",
        "I don't remember that",
        "Is going forward with the deal",
        "The budget was approved",
        "Has a bright future",
    ],
)
def test_words_that_only_sound_like_a_wish_are_passed_over(text: str) -> None:
    assert find_trigger(text) is None


@every(
    ("text", "cue"),
    [
        ("Hypothesis: the disk is full", "hypothesis:"),
        ("I suspect the root cause is the proxy", "i suspect"),
        ("My guess is he leaves", "my guess is"),
        ("It could be that the cache is stale", "it could be that"),
        ("Working theory: the proxy", "working theory:"),
        ("Probably caused by the upgrade", "probably caused by"),
        ("The root cause is probably the proxy", "cause is probably"),
    ],
)
def test_a_guess_at_what_nobody_verified_is_found(text: str, cue: str) -> None:
    assert find_speculation(text) == cue


@every(
    "text",
    [
        "I think she prefers tea",
        "She may be in Berlin",
        "Is a likely buyer",
        "The issue may be closed",
        "The root cause was a full disk",
        "Suspects that his account was hacked",
        "The theory of music interests him",
    ],
)
def test_a_hedge_or_a_finding_is_no_speculation(text: str) -> None:
    assert find_speculation(text) is None


@given(st.text(max_size=300))
def test_any_text_has_a_category(text: str) -> None:
    assert infer_category(text) in Category


@given(st.text(max_size=300))
def test_nothing_is_recalled_by_default_because_of_its_words(text: str) -> None:
    assert infer_recall_semantics(text) is not RecallSemantics.DEFAULT


@every(
    "piece",
    ["never ", "not a ", "price is ", "costs 1 ", "first open ", "to a ", "use a ", "i ", "1. "],
)
def test_a_text_made_to_be_slow_is_not(piece: str) -> None:
    text = (piece * 2000)[:2000]
    began = time.process_time()
    for look in (infer_category, infer_recall_semantics, find_trigger, find_speculation):
        look(text)
    assert time.process_time() - began < 0.5
