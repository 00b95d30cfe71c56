"""Words before a colon: the label of a speaker, or the contact's own words."""

from __future__ import annotations

import pytest

from reconciler.config_files import load_attribute_book
from reconciler.domain.records.candidates import Role, Turn
from reconciler.domain.sessions.speakers import turns_of_one_contact
from reconciler.errors import InvalidSessionError
from tests.tables import every

BOOK = load_attribute_book(None)
OSLO, ROME = "I live in Oslo.", "I live in Rome."


def is_attribute(label: str) -> bool:
    known = BOOK.find(label)
    return known is not None and known.normaliser != "person"


def turns(texts: tuple[str, ...]) -> list[Turn]:
    return [Turn(role="user", text=text) for text in texts]


LABELS = [
    ("Budget: 50k",),
    ("Budget: 50k", "Budget: 60k"),
    ("City: Oslo", "Budget: 40k", "City: Bergen"),
    ("City: I moved to Oslo.", "City: I moved on to Bergen."),
    ("Job: I started at Acme.", "Hobby: I paint.", "Job: I left Acme."),
    ("[Note]: call me", "[Update]: I moved"),
    ("[INFO]: started\n[ERROR]: it failed, can you help me?",),
    ("[x]: done", "[ ]: I must call them"),
    ("[1]: see the report", "[2]: see the annex"),
    ("[2031-05-01]: I arrived", "[2031-05-02]: I left"),
    ("Q: where do you live?", "A: in Oslo", "Q: since when?"),
    ("Rose: 12 stems", "Lily: 3 stems", "Rose: 4 more"),
    ("Mark: 90%", "Grace: 3 days", "Mark: 95%"),
    ("Frank: 100 CHF", "Jack: 5/8 inch"),
    ("Paris: sunny", "London: rainy", "Paris: cloudy"),
    ("Monday: I swim.", "Tuesday: I rest.", "Monday: I run, too."),
    ("April: 100", "June: 200", "April: 110"),
    ("Anna: 7\nTom: 9",),
    ("The ages of my children:\nAnna: 7\nTom: 9 years",),
    ("My team:\nAlice: design\nBob: backend\nCarol: sales",),
    ("From: Bob Smith\nTo: Alice Rao\nSubject: Hello\n\nCan we meet?",),
    ("Delivery address: Oslo", "Billing address: Rome", "Delivery address: I moved to Rome"),
    ("Step one: I open it", "Step two: I close it", "Step one: done"),
    ("Hotel: I'd take the Hilton.", "Flight: I'd like the early one.", "Hotel: Actually no."),
    ("Gearbox: what does my gearbox cost?", "Clutch: and my clutch?", "Gearbox: hello?"),
    ("PS: I love tea.", "PPS: 3 cups", "PS: you too"),
    ("Stadt: Oslo", "Datum: morgen", "Stadt: Rom"),
    ("Ciudad: Oslo", "Fecha: hoy", "Ciudad: Roma"),
    ("Pros: I like it.", "Cons: you don't.", "Pros: we save money."),
    ("Meet at 10:30: the office.", "Re: your mail"),
    ("TODO: call my bank", "DONE: paid", "TODO: I must sleep"),
    ("http: //a.example", "https: //b.example", "http: //c.example"),
    ("Goal: I want to run.", "Deadline: May", "Goal: I want to rest."),
    ("Temperature: 20", "Humidity: 40", "Temperature: 21"),
    ("Width: 20 cm\nHeight: 30 cm\nColour: red",),
]
"""One person speaks in these, and nothing of it is dropped, whether the contact is named or not."""

PEOPLE = [
    (f"[Alice]: {OSLO}", f"[Bob]: {ROME}"),
    (f"[ALICE]: {OSLO}", f"[BOB]: {ROME}"),
    (f"[Zorblax]: {ROME}", f"[Alice]: {OSLO}"),
    (f"[user_17]: {ROME}", f"[Alice]: {OSLO}"),
    (f"[Mark]: {ROME}", f"[Alice]: {OSLO}"),
    ("[Bob]: Rome", "[Alice]: Oslo"),
    (f"Alice: {OSLO}", f"Bob: {ROME}"),
    (f"Alice: {OSLO}\nBob: {ROME}",),
    ("Alice: Oslo", "Bob: Rome"),
    (f"Alice: {OSLO}", f"Bob Smith: {ROME}"),
    (f"Alice: {OSLO}", f"Mark: {ROME}"),
    (f"Alice: {OSLO}", f"Grace: {ROME}"),
    (f"Alice: {OSLO}", "Jack: no", "Jack: hello?"),
    (f"Zorblax: {ROME}", f"Alice: {OSLO}", "Zorblax: Right."),
    (f"Alice: {OSLO}", f"Zorblax: {ROME}"),
    (f"Alice: {OSLO}", f"Wife: {ROME}", "Wife: Right."),
    (f"Alice: {OSLO}", f"Manager: {ROME}"),
    (f"Alice: {OSLO}", f"Customer: {ROME}", "Customer: yes"),
    (f"Alice: {OSLO}", f"Dr. Weber: {ROME}"),
    (f"Alice: {OSLO}", "Xiu-Ying: what about me?"),
    (f"Alice: {OSLO}", f"O'Brien: {ROME}"),
    (f"Alice: {OSLO}", "Алёша: Я живу в Риме."),
    (f"Alice: {OSLO}", "Jürgen: Ich wohne in Rom."),
    (f"Alice: {OSLO}", "Søren: jeg bor i Rom, og du?"),
    (f"Alice: {OSLO}", "Inès: j'habite à Rome"),
    (f"Alice: {OSLO}", "Begoña: hola"),
    (f"Alice: {OSLO}", f"Bob: {ROME}", "Budget: 50k"),
    (f"Alice: {OSLO}", f"Bob: {ROME}", "[Note]: late"),
    (f"Alice: {OSLO}\nCity: Oslo", f"Bob: {ROME}"),
    (f"Bob: {ROME}", f"Alice: {OSLO}", "Alice: Budget: 50k"),
    (f"I forward our chat.\nBob: {ROME}\nAlice: {OSLO}",),
    ("Bob: ok", f"Alice: {OSLO}"),
    (f"[Alice]: {OSLO}", f"[May]: {ROME}"),
]
"""Two people speak in these, and one of them is Alice."""


@every("texts", LABELS)
@every("named", [None, "Priya"])
def test_a_label_is_no_speaker(texts: tuple[str, ...], named: str | None) -> None:
    read = turns_of_one_contact(turns(texts), named, is_attribute)
    assert [(turn.role, turn.text) for turn in read] == [("contact", text) for text in texts]


@every("texts", PEOPLE)
def test_two_people_are_told_apart(texts: tuple[str, ...]) -> None:
    with pytest.raises(InvalidSessionError, match="speak as users"):
        turns_of_one_contact(turns(texts), None, is_attribute)
    read = turns_of_one_contact(turns(texts), "Alice", is_attribute)
    said = " ".join(turn.text for turn in read if turn.role == "contact")
    assert "Oslo" in said
    assert not any(each in said for each in ("Rome", "Rom", "hola", "what about", "hello"))


def test_an_attribute_of_ones_own_is_a_label() -> None:
    texts = ("Zorblax: I chose A.", "Zorblax: I chose B.", "Yorblax: I chose C.")
    with pytest.raises(InvalidSessionError):
        turns_of_one_contact(turns(texts), None)
    read = turns_of_one_contact(turns(texts), None, lambda label: label.endswith("blax"))
    assert [turn.text for turn in read] == list(texts)


BESIDE_ALICE = [
    ("Alice: hi", f"Xiu: {ROME}"),
    (f"Xiu: {ROME}", "Alice: thanks xiu"),
    (f"Alice: hi\nBoss: {ROME}",),
    (f"Alice: I like my boss.\nBoss: {ROME}",),
    (f"Alice: hi\nMom: {ROME}\nAlice: thanks mom",),
    (f"Alice: hi\nXiu: {ROME}", "and I am fine"),
    ("Alice: hi", f"May: {ROME}"),
    (f"alice: hi\nboss: {ROME}",),
    ("Alice: my boss is here", "Boss: must leave for Rome"),
]


@every("texts", BESIDE_ALICE)
def test_beside_a_named_contact_another_label_is_another_person(texts: tuple[str, ...]) -> None:
    agent = Turn(role="assistant", text="thanks alice, xiu, mom and boss, in may")
    read = turns_of_one_contact([*turns(texts), agent], "Alice", is_attribute)
    told = {turn.role for turn in read if "Rome" in turn.text}
    assert told == {Role.SYSTEM}


@every(
    "text",
    [
        "Alice: hi\nBy the way: I live in Oslo.",
        "Alice: hi\nAnyway: I live in Oslo.",
        "Alice: hi\nCity: I live in Oslo.",
        "Alice: hi\nBudget: 50k for my flat in Oslo",
        "Alice: hi\nUpdate: I live in Oslo.",
        "Alice: hi\nGearbox: a new one, in Oslo",
    ],
)
def test_a_label_within_the_words_of_a_named_contact_stays_theirs(text: str) -> None:
    beside = ("Bob: hello", text)
    read = turns_of_one_contact(turns(beside), "Alice", is_attribute)
    assert {turn.role for turn in read if "Oslo" in turn.text} == {Role.CONTACT}


def test_what_the_agent_says_in_small_letters_makes_no_label_a_thing() -> None:
    agent = Turn(role="assistant", text="thanks zorblax")
    said = turns((f"Zorblax: {OSLO}", "Zorblax: Right.", f"Yorblax: {ROME}"))
    with pytest.raises(InvalidSessionError, match="speak as users"):
        turns_of_one_contact([*said, agent], None, is_attribute)


def test_bracketed_months_that_speak_are_people() -> None:
    with pytest.raises(InvalidSessionError, match="speak as users"):
        turns_of_one_contact(turns(("[May]: I moved house", "[Will]: I did not")), None)
    bills = ("[May]: 3 bills", "[June]: 4 bills")
    assert [turn.text for turn in turns_of_one_contact(turns(bills), None)] == list(bills)
