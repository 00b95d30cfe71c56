"""Slots read from plain sentences: the shapes that are read, and what is left alone."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from reconciler import Scope
from reconciler.config_files import load_attribute_book
from reconciler.domain.records.notes import Note, Slot, SlotMatch, compare_slots
from reconciler.domain.values.attributes import AttributeBook
from reconciler.errors import ConfigurationError
from reconciler.reading.findings import Difference
from reconciler.reading.guard import find_differences
from reconciler.reading.values.attribute import Attribute
from reconciler.reading.values.slot_reading import TEXT_LENGTH_MAX
from reconciler.service.writing.doors import note_of
from tests.tables import every

BOOK = load_attribute_book(None)
PRIYA = Scope("acme", "crm", "priya")
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)


def note(text: str, **fields: object) -> Note:
    return note_of(PRIYA, text, fields, BOOK, NOON)


def slot(text: str, **fields: object) -> Slot:
    read = note(text, **fields).slot
    assert read is not None, text
    return read


def told(text: str) -> tuple[str, str | None, str | None]:
    read = slot(text)
    return read.subject, read.attribute, read.value


# Every shape that the book promises

EXAMPLES = {
    "country": "Norway",
    "currency": "EUR",
    "date": "4 May 2027",
    "email": "ana@example.com",
    "job": "teacher",
    "language": "Portuguese",
    "money": "40k EUR",
    "number": "35",
    "organisation": "Acme",
    "percent": "15 percent",
    "person": "Ada Lin",
    "phone": "+44 7700 900123",
    "place": "Łódź",
    "role": "Head of Sales",
    "street_address": "9 Oak Road, Bath",
    "time_zone": "CET",
    "url": "linkedin.com/in/ada",
}


def _example(attribute: Attribute, kind: str) -> str:
    return EXAMPLES.get(kind) or [*attribute.known, *attribute.synonyms][0]


STATEMENTS = [(each, said) for each in BOOK for said in each.says]
CARDS = [each for each in BOOK if each.value]


def _plain(attribute: Attribute, said: str) -> tuple[str, str]:
    kind = re.findall(r"\{(\w+)\}", said)[0]
    value = _example(attribute, "known" if kind in ("listed", "substances") else kind)
    text = said.replace(f"{{{kind}}}", value).replace("we has", "we have").replace(" :", ":")
    return text[0].upper() + text[1:] + ".", value


@every(("attribute", "said"), STATEMENTS)
def test_each_statement_of_the_book_is_read(attribute: Attribute, said: str) -> None:
    text, value = _plain(attribute, said)
    subject, name, read = told(text)
    assert read is not None
    assert (subject, name, read.casefold()) == ("contact", attribute.name, value.casefold())
    assert slot(f"FYI, {text[:-1]} now.").key == slot(text).key


@every("denied", ["Never {}", "Hardly {}", "Nobody {}", "She rarely {}", "Maybe {}"])
def test_a_statement_behind_any_other_word_is_not_read(denied: str) -> None:
    texts = [_plain(attribute, said)[0] for attribute, said in STATEMENTS]
    read = [text for text in texts if BOOK.read_slot(denied.format(text[0].lower() + text[1:]))]
    assert read == []


@every(
    "text",
    [
        "Customer number is 4471-2290-11.",
        "The client number is 4471-2290-11.",
        "The address of the office is 5 Elm Street, Leeds.",
        "Her sister's address is 5 Elm Street, Leeds.",
        "Her address is Room 5.30.",
        "Her address is 5 doors from here.",
    ],
)
def test_what_only_looks_like_a_phone_or_an_address_is_not_read(text: str) -> None:
    assert BOOK.read_slot(text) is None


@every("ending", [" and Bob", " I think", " if he signs", " or so", " until May"])
def test_a_statement_before_any_other_word_is_not_read(ending: str) -> None:
    texts = [_plain(attribute, said)[0][:-1] + ending + "." for attribute, said in STATEMENTS]
    assert [text for text in texts if BOOK.read_slot(text)] == []


@every("attribute", CARDS)
def test_the_card_of_an_attribute_is_read(attribute: Attribute) -> None:
    value, name = _example(attribute, attribute.value), attribute.name.replace("_", " ")
    expected = ("contact", attribute.name, value)
    assert told(f"{name.capitalize()}: {value}") == expected
    assert told(f"Her {name} is {value}.") == expected
    assert told(f"Priya's new {name} is {value}.") == expected


# Whom it is about


@every(
    ("text", "subject"),
    [
        ("Lives in Pune.", "contact"),
        ("I live in Pune.", "contact"),
        ("She's living in Pune now.", "contact"),
        ("The customer lives in Pune.", "contact"),
        ("Priya lives in Pune.", "contact"),
        ("Her assistant lives in Pune.", "assistant"),
        ("My wife lives in Pune.", "wife"),
        ("FYI she lives in Pune.", "contact"),
        ("Update: lives in Pune", "contact"),
        ("Actually, she lives in Pune now.", "contact"),
    ],
)
def test_a_sentence_tells_about_whom_it_is(text: str, subject: str) -> None:
    assert told(text) == (subject, "city", "Pune")


def test_who_goes_by_the_name_that_came_with_the_note_is_the_contact() -> None:
    assert slot("Dr. Raj Patel lives in Goa.", contact_name="Raj Patel").subject == "contact"


@every(
    "text",
    [
        # Where it is not certain who is meant nothing is read.
        "Raj lives in Pune.",
        "They live in Pune.",
        "We live in Pune.",
        "Everybody lives in Pune.",
        "Her brother lives in Pune.",
        "Her brother called, and lives in Pune.",
        "The Berlin office is based in Pune.",
        "Raj's birthday is 4 May.",
        "The role is Head of Sales.",
        "Role: Open",
        "Location: Remote",
        "FYI she moved.",
        "FYI, FYI",
        # Where the next value is not certain nothing is read.
        "She left Pune and plans to live in Goa.",
        "She never left Pune and lives in Goa.",
        "She left Pune because of Ravi and lives in Goa.",
        "Left Pune and lives in Pune.",
        "Her team left Pune and now lives in Goa.",
        "Her brother left Pune and now lives in Goa.",
        "Her husband left Pune and she lives in Goa.",
        "She left Pune and her husband lives in Goa.",
        "She left Infosys and he works at Wipro.",
        "Our CEO left Infosys and now works at Wipro.",
        "She left Pune, lives in Goa and works at Wipro.",
        "Left it to her husband who left Pune and lives in Goa.",
        "Left Ravi and her son left Pune and lives in Goa.",
        "Relocated her team from Pune to Goa.",
        "No longer works at Infosys and Wipro.",
        "No longer at Infosys, joined Wipro in May.",
        "Moved from Pune to Goa.",
    ],
)
def test_where_it_is_not_certain_what_is_meant_nothing_is_read(text: str) -> None:
    assert note(text).slot is None


# Values


@every("town", ["Łódź", "Évora", "Αθήνα", "Москва", "東京", "St. Louis", "Rio de Janeiro"])
def test_a_place_is_a_name_in_any_alphabet(town: str) -> None:
    assert told(f"Lives in {town}.") == ("contact", "city", town)


@every(
    ("text", "attribute", "value"),
    [
        # A country and a region are no cities.
        ("Lives in Spain.", "country", "Spain"),
        ("Lives in Ohio.", "region", "Ohio"),
        ("Lives in Paris, France.", "city", "Paris"),
        ("Lives in Pu\u0301ne.", "city", "Púne"),
        # A value is read beside what is said not to hold.
        ("Allergic to peanuts, not to other nuts.", "allergy", "peanuts"),
        ("Allergic to peanuts, not other nuts.", "allergy", "peanuts"),
        ("Lives in Pune, not in Mumbai.", "city", "Pune"),
    ],
)
def test_a_value_is_read_with_its_attribute(text: str, attribute: str, value: str) -> None:
    assert told(text) == ("contact", attribute, value)


@every(
    "text",
    [
        "She lives in Pune and Mumbai.",
        "Lives in Pune, works at Globex.",
        "Lives in Pune for a week.",
        "Lives in the countryside.",
        "Lives in the San Francisco Bay Area.",
        "Moved to Mumbai.",
        "Moved to Brightwave.",
        "Works at home.",
        "Works for Globex's biggest rival.",
        "Works as a team.",
        "It works as a charm.",
        "Prefers calls on Friday.",
        "Wants a call.",
        "Her account manager is German.",
        "Decision maker: Yes",
        "Decision maker: unknown",
        "The budget is up to 40k.",
        "Her budget was 40k EUR.",
        "Her budget is not 40k EUR.",
        "Her budget is 30k EUR or rather 40k EUR.",
        "The average budget here is 40k EUR.",
        "The budget was cut by 5k EUR.",
        "Budget: > 40k EUR",
        "The discount is 15 percent on licences.",
        "Plan: meet at noon.",
        "Note: Pune.",
        "Phone: 3 May 2027",
        "12 employees complained.",
        "Allergic to early mornings.",
        "He is the best.",
        "She used to live in Pune.",
        "She lived in Pune.",
        "She will live in Pune.",
        "Does she live in Pune?",
        'He said "I live in Pune"',
        "I live in Pune. Just kidding.",
        "Lives in Pune. Works at Globex.",
        "City: Pune\nBudget: 40k EUR",
        "I am also a teacher.",
        "She lives in Goa as well.",
        "x" * (TEXT_LENGTH_MAX + 1),
        "",
    ],
)
def test_what_only_looks_like_it_is_left_alone(text: str) -> None:
    assert (note(text).slot if text else BOOK.read_slot(text)) is None


@every(
    "text",
    [
        "Her budget is 40k EUR.",
        "Her budget is now 40k EUR.",
        "The budget was raised to 40k EUR.",
        "Budget went up from 30k to 40k EUR.",
        "I raised the budget to 40k EUR.",
        "Raised the budget from 30k to 40k EUR.",
        "Final budget: 40k EUR",
    ],
)
def test_a_change_of_a_card_is_read(text: str) -> None:
    assert told(text) == ("contact", "budget", "40k EUR")


@every(
    "text",
    [
        "Prefers e-mail.",
        "E-mail works better for her.",
        "Prefers email rather than phone.",
        "Best reached by mail.",
    ],
)
def test_one_channel_in_other_words_is_the_same_value(text: str) -> None:
    asked = slot("Prefers to be contacted by email.")
    assert compare_slots(slot(text), asked) is SlotMatch.EQUAL


@every(
    "text", ["Has a nut allergy.", "She has a severe nut allergy.", "Has a severe allergy to nuts."]
)
def test_one_allergy_in_other_words_is_the_same_value(text: str) -> None:
    assert compare_slots(slot(text), slot("Is allergic to nuts.")) is SlotMatch.EQUAL


@every(("subject", "about"), [(None, "husband"), ("contact", "contact"), ("Clem", "clem")])
def test_a_slot_without_a_subject_is_of_whom_the_sentence_is_about(
    subject: str | None, about: str
) -> None:
    given = BOOK.slot(subject=subject, attribute="diet", value="vegan")
    filled, _ = BOOK.filled(given, "Her husband is vegan.")
    assert filled is not None
    assert (filled.subject, filled.value) == (about, "vegan")


def test_what_holds_beside_another_value_is_read_of_what_holds_many() -> None:
    assert told("She also speaks Danish.") == ("contact", "language", "Danish")


# Ends

ENDS = [
    ("Works at Globex.", "No longer works at Globex."),
    ("Lives in Pune.", "She does not live in Pune any more."),
    ("Is on the Pro plan.", "Not on the Pro plan any more."),
    ("Allergic to nuts.", "She's no longer allergic to nuts."),
    ("Speaks Dutch.", "Doesn't speak Dutch."),
]


@every(("fact", "end"), ENDS)
def test_an_end_decides_about_its_own_value_alone(fact: str, end: str) -> None:
    read = BOOK.read_slot(end)
    assert read
    assert read.is_denied
    assert compare_slots(slot(end), slot(fact)) is SlotMatch.EQUAL
    assert not slot(end).is_single_valued


@every(("fact", "end"), ENDS)
def test_the_guard_sees_that_what_is_read_as_an_end_is_one(fact: str, end: str) -> None:
    kinds = {each.kind for each in find_differences(end, fact)}
    assert kinds & {Difference.CESSATION, Difference.NEGATION}


# A change: the end of one value and the next

CHANGES = [
    ("No longer lives in Pune but in Goa.", "city", "Goa"),
    ("Her budget is no longer 40k EUR but 60k EUR.", "budget", "60k EUR"),
]


@every(("text", "attribute", "value"), CHANGES)
def test_what_ends_one_value_and_states_the_next_is_read_with_the_next(
    text: str, attribute: str, value: str
) -> None:
    assert told(text) == ("contact", attribute, value)
    assert slot(text).is_single_valued


@every(
    "text",
    [
        "She left Pune and now lives in Goa.",
        "She left Pune and plans to live in Goa.",
        "Her husband left Pune and she lives in Goa.",
        "Relocated from Pune to Goa.",
        "Relocated her team from Pune to Goa.",
        "No longer works at Infosys and Wipro.",
        "No longer at Infosys, joined Wipro in May.",
        "Moved from Pune to Goa.",
    ],
)
def test_an_end_and_what_is_new_in_two_clauses_give_no_slot(text: str) -> None:
    assert note(text).slot is None


# What was given


def test_a_slot_that_was_given_wins() -> None:
    given = note("Lives in Pune.", attribute="city", value="Goa")
    assert (given.slot and given.slot.value, given.slot_read_from) == ("Goa", None)


def test_an_attribute_that_was_given_without_a_value_is_left_so() -> None:
    assert slot("Lives in Pune.", attribute="city").value is None


def test_a_subject_that_was_given_gets_the_rest_from_the_words() -> None:
    read = slot("Lives in Pune.", subject="my wife")
    assert (read.subject, read.attribute, read.value) == ("wife", "city", "Pune")


def test_a_subject_that_the_words_contradict_is_left_alone() -> None:
    assert slot("Her husband lives in Pune.", subject="wife").attribute is None


def test_the_note_says_from_which_words_its_slot_was_read() -> None:
    assert note("She's living in Pune now.").slot_read_from == "She's living in Pune now."


# What a profile shows and nothing is decided by


SHOWN = [(each, said) for each in BOOK for said in each.shows]


@every(("attribute", "said"), SHOWN)
def test_each_wording_that_a_profile_shows_is_read_for_it(attribute: Attribute, said: str) -> None:
    text, value = _plain(attribute, said)
    shown = BOOK.shown_slot(text)
    assert shown is not None
    assert shown.value is not None
    assert (shown.attribute, shown.value.casefold()) == (attribute.name, value)


@every(
    ("text", "value"),
    [
        ("Allergic to cashews, kiwi and soy.", "cashews, kiwi and soy"),
        ("Is allergic to sulfa drugs.", "sulfa drugs"),
        ("Kiwi allergy!", "Kiwi"),
        ("I'm allergic to Mondays.", None),
        ("I'm not allergic to anything.", None),
        ("Allergic to nothing.", None),
        ("No known allergies.", None),
        ("Allergies: none.", None),
        ("Allergies: over.", None),
        ("Not lactose intolerant.", None),
        ("Her son is allergic to sulfa drugs.", None),
        ("May be allergic to sulfa drugs.", None),
        ("Cannot eat pork.", None),
        ("Must avoid the motorway.", None),
    ],
)
def test_an_allergy_is_shown_in_more_wordings_than_decide(text: str, value: str | None) -> None:
    shown = BOOK.shown_slot(text)
    assert (shown and shown.value) == value
    assert note(text).slot is None


# A book of one's own


def test_an_attribute_of_ones_own_is_read_by_its_own_words() -> None:
    entry = {
        "description": "d",
        "holds": "one",
        "says": ["sits by the {known}"],
        "value": "known",
        "known": ["window", "aisle"],
    }
    book = BOOK.merged_with(AttributeBook.from_mapping({"seat_side": entry}))
    for text in ("She sits by the window.", "Seat side: window", "I sit by the window."):
        read = book.read_slot(text)
        assert read, text
        assert (read.attribute, read.value) == ("seat_side", "window")


@every(
    ("entry", "complaint"),
    [
        ({"says": ["sits there"]}, r"\[seat_side\] says 'sits there'; write words around one of"),
        ({"says": ["{person}"]}, "write words around one of"),
        ({"says": ["sits by {windows}"]}, "write words around one of {country}"),
        ({"value": "windows"}, "has the unknown value 'windows'; use one of country"),
        ({"value": 3}, "value: Input should be a valid string"),
        ({"frames": []}, "frames: Extra inputs are not permitted"),
    ],
)
def test_an_entry_that_could_never_be_read_is_refused(
    entry: dict[str, object], complaint: str
) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        AttributeBook.from_mapping({"seat_side": {"description": "d", "holds": "one"} | entry})
