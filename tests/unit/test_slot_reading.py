"""Slots read from plain sentences: what is read of whom, what is left alone, what comes of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reconciler import Scope
from reconciler.config_files import load_attribute_book
from reconciler.domain.guard import Difference, find_differences
from reconciler.domain.reconciling.neighbours import filed
from reconciler.domain.records.notes import Note
from reconciler.domain.records.slots import Slot, SlotMatch, compare_slots
from reconciler.domain.values.attributes import AttributeBook
from reconciler.errors import ConfigurationError
from reconciler.service.writing.doors import note_of
from tests.commits import committed

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


# Whom it is about


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Lives in Pune.", "contact"),
        ("I live in Pune.", "contact"),
        ("She's living in Pune now.", "contact"),
        ("The customer lives in Pune.", "contact"),
        ("Priya lives in Pune.", "contact"),
        ("Priya Sharma lives in Pune.", "contact"),
        ("Her assistant lives in Pune.", "assistant"),
        ("My wife lives in Pune.", "wife"),
        ("Raj Patel lives in Pune.", "raj patel"),
    ],
)
def test_a_sentence_tells_about_whom_it_is(text: str, subject: str) -> None:
    assert told(text) == (subject, "city", "Pune")


def test_who_goes_by_the_name_that_came_with_the_note_is_the_contact() -> None:
    assert slot("Raj lives in Goa.", contact_name="Raj Patel").subject == "contact"


@pytest.mark.parametrize(
    "text",
    [
        "Her brother called, and lives in Pune.",
        "Met a friend of hers, works at Globex.",
        "The Berlin office is a mess, located in Pune.",
    ],
)
def test_behind_somebody_else_a_bare_verb_is_not_read(text: str) -> None:
    assert note(text).slot is None


# What is left alone

DOUBTFUL = [
    "Does she live in Pune?",
    "If she lives in Pune, call her.",
    "She might live in Pune.",
    "I think she lives in Pune.",
    "She lives in Pune, I guess.",
    "She used to live in Pune.",
    "She is thinking of moving to Mumbai.",
    "She will move to Mumbai in May.",
    "Is moving to Mumbai next month.",
    "She wants to move to Mumbai.",
    "She nearly moved to Mumbai.",
    "Rumour has it that she moved to Mumbai.",
    "In the film she lives in Pune.",
    "Lives in Pune and Mumbai.",
    "Lives in Pune, works at Globex.",
    "Lives in Pune for a week.",
    "Works for Globex's biggest rival.",
    "Not sure where she lives.",
    "When I was a child we lived in Pune.",
    "Moved to Brightwave.",
    "Imagine you live in Tokyo.",
]


@pytest.mark.parametrize(
    "text",
    [
        "Actually no, lives in Goa.",
        "Actually, no, I live in Goa.",
        "No, actually, I live in Goa.",
        "Wait, no, lives in Goa.",
        "No, wait, I live in Goa.",
        "Sorry, no, I live in Goa.",
        "Oops, lives in Goa.",
        "My mistake, I live in Goa.",
        "Scratch that, I live in Goa.",
    ],
)
def test_how_a_correction_begins_is_left_out(text: str) -> None:
    assert told(text) == ("contact", "city", "Goa")


@pytest.mark.parametrize("text", ["I live in Goa. Scratch that.", "I live in Pune, no, Goa."])
def test_what_is_taken_back_in_the_same_breath_is_not_read(text: str) -> None:
    assert note(text).slot is None


@pytest.mark.parametrize("text", ["Had a dog.", "She had a cat called Mia."])
def test_a_pet_that_somebody_had_is_no_pet_now(text: str) -> None:
    assert note(text).slot is None


@pytest.mark.parametrize("text", DOUBTFUL)
def test_in_doubt_there_is_no_slot(text: str) -> None:
    assert (note(text).slot, note(text).slot_read_from) == (None, None)


@pytest.mark.parametrize("text", ["", "x" * 700, "Lives in Pune. " * 60])
def test_what_is_no_short_text_is_not_read(text: str) -> None:
    assert BOOK.read_slot(text) is None


# Changes and ends


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Lives in Pune.", "Moved from Pune to Mumbai in March."),
        ("Lives in Pune.", "She relocated to Mumbai last month."),
        ("Works at Globex.", "He's back at Initech after two years."),
        ("Works at Globex.", "Left Globex to join Brightwave."),
        ("Prefers e-mail.", "Now wants a phone call instead of email."),
        ("Prefers e-mail.", "Switched from e-mail to WhatsApp."),
        ("Is on the Basic plan.", "Upgraded from Basic to Pro last week."),
        ("Budget: 40,000 EUR.", "The budget was cut from 40,000 to 35,000 EUR."),
        ("The contract renews on 1 May 2027.", "The renewal date is now 20 July 2027."),
    ],
)
def test_a_change_answers_the_same_question_anew(old: str, new: str) -> None:
    assert compare_slots(slot(new), slot(old)) is SlotMatch.CHANGED


@pytest.mark.parametrize(
    "text", ["Prefers email.", "Likes being emailed.", "Wants e-mail follow-ups."]
)
def test_one_channel_in_other_words_is_the_same_value(text: str) -> None:
    asked = slot("Asked to be contacted by email.")
    assert compare_slots(slot(text), asked) is SlotMatch.EQUAL


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("Plays squash.", "Has given up squash and taken up padel.", "Plays golf."),
        ("She is into knitting.", "She's into pottery now instead of knitting.", "Plays golf."),
        ("He is vegan.", "No longer vegan, he's vegetarian now.", "He eats halal."),
        ("They use HubSpot for sales.", "Switched from HubSpot to Pipedrive.", "They use Jira."),
    ],
)
def test_of_many_values_a_change_ends_the_one_that_it_names(old: str, new: str, kept: str) -> None:
    assert compare_slots(slot(new), slot(old)) is SlotMatch.CHANGED
    assert slot(new).decides_about(slot(old))
    assert compare_slots(slot(new), slot(kept)) is SlotMatch.APART


ENDS = [
    ("Works at Globex.", "No longer works at Globex."),
    ("Works at Globex.", "She left Globex in March."),
    ("Lives in Pune.", "I'm not living in Pune any more."),
    ("Prefers e-mail.", "Please don't e-mail me."),
    ("Wants phone calls only.", "No longer wants phone calls."),
    ("He is vegan.", "He's no longer vegan."),
    ("Works at Globex.", "Never worked at Globex."),
    ("Works at Globex.", "She has never worked for Globex."),
    ("Lives in Pune.", "Never lived in Pune."),
]


@pytest.mark.parametrize(("fact", "end"), ENDS)
def test_an_end_decides_about_its_own_value_alone(fact: str, end: str) -> None:
    read = BOOK.read_slot(end)
    assert read
    assert read.is_denied
    assert compare_slots(slot(end), slot(fact)) is SlotMatch.EQUAL
    other = Slot(
        subject="contact",
        attribute=read.attribute,
        value="other",
        value_key="other",
        is_single_valued=True,
        is_known=True,
    )
    assert compare_slots(slot(end), other) is SlotMatch.APART
    if other.attribute != "diet":
        assert compare_slots(other, slot(end)) is SlotMatch.CHANGED


@pytest.mark.parametrize(("fact", "end"), ENDS)
def test_the_guard_sees_that_what_is_read_as_an_end_is_one(fact: str, end: str) -> None:
    kinds = {each.kind for each in find_differences(end, fact)}
    assert kinds & {Difference.CESSATION, Difference.NEGATION}


def test_what_holds_now_goes_before_what_has_ended() -> None:
    assert told("No longer in Berlin, she's settled in Leipzig.") == ("contact", "city", "Leipzig")


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
    assert slot("Her brother lives in Pune.", subject="wife").attribute is None


def test_the_note_says_from_which_words_its_slot_was_read() -> None:
    made = note("Met at the fair. She's living in Pune now.")
    assert made.slot_read_from == "She's living in Pune now."


# Facts that were kept without a slot


def test_the_words_of_an_older_fact_give_it_the_slot_that_it_lacks() -> None:
    made = committed(PRIYA, 0, text="Lives in Pune.").fact
    assert made is not None
    assert made.slot is None
    assert filed(made, BOOK, ["priya"]).slot == slot("Lives in Pune.")


def test_what_stands_for_a_number_is_no_value_of_an_older_fact() -> None:
    made = committed(PRIYA, 0, text="My phone number is [phone:0123456789ab].").fact
    assert made is not None
    assert filed(made, BOOK, ["priya"]) == made


# What a frame accounts for


@pytest.mark.parametrize(
    "text",
    [
        "Her budget is 40k EUR.",
        "40k EUR is her budget.",
        "They have 40k EUR to spend.",
        "Budget was raised from 30k to 40k EUR.",
        "Our ceiling went up to 40k EUR this year.",
        "We can spend 40k EUR, not 30k EUR.",
    ],
)
def test_words_of_an_attribute_and_a_value_tell_of_it_in_any_order(text: str) -> None:
    assert told(text) == ("contact", "budget", "40k EUR")


@pytest.mark.parametrize(
    "text",
    [
        "The average budget here is 40k EUR.",
        "Her budget is not 40k EUR.",
        "Her budget was 40k EUR.",
        "Her budget worries him, and the car cost 40k EUR.",
        "Her budget is 30k EUR or rather 40k EUR.",
        "A friend has a budget of 40k EUR.",
        "She talked about a budget of 40k EUR that failed.",
        "What would she do with a budget of 40k EUR?",
    ],
)
def test_a_word_left_over_a_denial_or_a_past_leaves_a_clause_unread(text: str) -> None:
    assert note(text).slot is None


def test_a_frame_tells_which_value_gave_way() -> None:
    read = BOOK.read_slot("We rely on Asana instead of Trello.")
    assert read
    assert (read.attribute, read.value, read.replaces) == ("product_in_use", "Asana", "Trello")


def test_the_words_that_say_most_decide_between_attributes() -> None:
    assert told("Her work email is ana@example.com.")[1] == "work_email"
    assert told("The direct line is 555-0127.")[1] == "work_phone"


def test_a_frame_of_ones_own_is_read_and_a_bad_one_names_its_place() -> None:
    frame = {"value": "weekday", "words": "bins", "hits": ["Bins: [Friday]."], "misses": ["Bins."]}
    tables = {"bin_day": {"description": "d", "holds": "one", "frames": [frame]}}
    read = BOOK.merged_with(AttributeBook.from_mapping(tables)).read_slot("The bins are Friday.")
    assert read
    assert (read.attribute, read.value) == ("bin_day", "Friday")
    frame["value"] = "weekdya"
    with pytest.raises(ConfigurationError, match="number 1: 'weekdya' is not a kind of value; use"):
        AttributeBook.from_mapping(tables).read_slot("The bins are Friday.")
    del frame["words"]
    with pytest.raises(ConfigurationError, match=r"\[\[bin_day.frames\]\] number 1, words"):
        AttributeBook.from_mapping(tables).read_slot("The bins are Friday.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Marketing consent: yes.", ("contact", "marketing_consent", "yes")),
        ("AM: Gwendolyn Price", ("contact", "account_manager", "Gwendolyn Price")),
        ("Got a new mobile, it's 07700 900587.", ("contact", "mobile_phone", "07700 900587")),
        ("It's Delphine who signs off on purchases.", ("contact", "decision_maker", "Delphine")),
        ("He no longer lives in Lyon but in Annecy.", ("contact", "city", "Annecy")),
        ("I live in St. Louis.", ("contact", "city", "St. Louis")),
    ],
)
def test_a_line_of_a_card_and_what_it_takes_up_are_read(
    text: str, expected: tuple[str, str, str]
) -> None:
    assert told(text) == expected


@pytest.mark.parametrize("text", ["Plan: meet at noon.", "Location: unknown.", "Note: Pune."])
def test_a_label_without_a_value_of_its_kind_is_left_alone(text: str) -> None:
    assert note(text).slot is None


@pytest.mark.parametrize(
    "text",
    [
        "I am also a musician on the weekends.",
        "You can also reach me on 555-0155.",
        "She lives in Goa as well.",
    ],
)
def test_what_holds_beside_another_value_fills_no_slot_that_holds_one(text: str) -> None:
    assert note(text).slot is None
    assert told("She also speaks Danish.") == ("contact", "language", "Danish")


@pytest.mark.parametrize(
    "text",
    [
        "12 employees complained.",
        "10 seats is too much.",
        "ana@example.com is wrong.",
        "My flat in Pune was sold.",
        "She lived in Vienna.",
        "The contract ended on 31 March 2024.",
        "Please add 5 seats.",
        "We need 5 more seats.",
        "The budget was cut by 5k EUR.",
        "We have between 12 and 15 seats.",
        "Budget: > 40k EUR",
        "Employer: Globex until May",
        "Plan: meet on Monday",
        "I live in Pune. Just kidding.",
        "The renewal is on 3 May, no, 4 May",
        "Her husband called. He works at Globex.",
        "I'm not in Berlin.",
        "He's at Heathrow.",
        "Our budget is rarely 40k EUR.",
        "City: Pune\nBudget: 40k EUR",
    ],
)
def test_what_only_holds_the_words_is_left_alone(text: str) -> None:
    assert note(text).slot is None


DENYING = ["Never {}", "Hardly {}", "Rarely {}", "Nobody {}", "She never {}", "She rarely {}"]


@pytest.mark.parametrize("denied", DENYING)
def test_what_is_denied_fills_no_slot_as_if_it_were_so(denied: str) -> None:
    """Every sentence that the book promises to read, denied."""
    said = [
        text.translate({ord(mark): None for mark in "[]"})
        for attribute in BOOK
        for table in (*attribute.phrasings, *attribute.frames)
        for text in table["hits"]
    ]
    verbs = [text.split()[0] for text in said]
    bare = [
        text
        for text, verb in zip(said, verbs, strict=True)
        if verb.isalpha() and verb.endswith("s") and verb not in ("His", "This", "Has")
    ]
    assert len(bare) > 30
    read = {text: BOOK.read_slot(denied.format(text[0].lower() + text[1:])) for text in bare}
    assert {text: slot for text, slot in read.items() if slot and not slot.is_denied} == {}


@pytest.mark.parametrize(
    "text",
    ["Never plays chess.", "Doesn't eat fish.", "Does not take aspirin.", "Seldom goes sailing."],
)
def test_what_somebody_does_not_do_is_neither_a_hobby_nor_an_allergy(text: str) -> None:
    assert note(text).slot is None


def test_a_line_ends_what_is_said_in_it() -> None:
    assert told("I live in Pune\nBest regards\nAnna") == ("contact", "city", "Pune")


def test_letters_of_two_characters_are_read_as_one() -> None:
    assert told("Lives in Pu\u0301ne.") == ("contact", "city", "P\u00fane")


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"words": "~"}, "words is empty"),
        ({"words": "shoe (size)"}, "'shoe \\(size\\)' stands in no clause; write plain words"),
        ({"link": "in the"}, "link holds 'in the'; give single words"),
        ({"hits": ["Hat: [44]."]}, "'Hat: \\[44\\].' is not read as it"),
        ({"misses": ["Shoe 44."]}, "'Shoe 44.' is read as it"),
    ],
)
def test_a_frame_that_never_reads_what_it_promises_is_refused_at_once(
    changed: dict[str, object], complaint: str, tmp_path: Path
) -> None:
    frame = {"value": "count", "words": "shoe", "hits": ["Shoe: [44]."], "misses": ["Shoe."]}
    lines = (f"{key} = {json.dumps(value)}" for key, value in {**frame, **changed}.items())
    file = tmp_path / "own.toml"
    head = '[shoe]\ndescription = "d"\nholds = "one"\n[[shoe.frames]]\n'
    file.write_text(head + "\n".join(lines), "utf-8")
    with pytest.raises(ConfigurationError, match=rf"own.toml.*{complaint}"):
        load_attribute_book(file)
