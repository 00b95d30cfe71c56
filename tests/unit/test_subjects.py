"""Whom a subject means, among the contact and the people that its facts are about."""

from __future__ import annotations

from dataclasses import replace

from reconciler.config_files import load_attribute_book
from reconciler.domain.records.notes import CONTACT_SUBJECT, Slot
from reconciler.domain.values.placing import Meant, People
from tests.tables import every

BOOK = load_attribute_book(None)
INES = "Dr. Inês Bergström"
"""The contact, if no other is named."""

Told = tuple[str, str, str, str]


def told(subject: str, attribute: str = "city", value: str = "Porto", text: str = "") -> Told:
    """A fact about a person."""
    return subject, attribute, value, text


def slot(subject: str, attribute: str | None = None, value: str | None = None) -> Slot:
    """A slot as the book folds it."""
    made = BOOK.slot(subject=subject, attribute=attribute, value=value)
    assert made is not None
    return made


def meant(given: str, known: tuple[Told, ...], said: str = "", called: str = INES) -> Meant:
    """Whom the subject means if these facts are known."""
    facts = [(slot(who, attribute, value), text) for who, attribute, value, text in known]
    return People(facts, [called], BOOK.are_one_role).meant_by(slot(given).subject, said)


@every(
    ("called", "given"),
    [
        (INES, "Inês"),
        (INES, "ines bergstrom"),
        (INES, "INES BERGSTRÖM"),
        (INES, "Bergstroem"),
        (INES, "Frau Dr. Bergström"),
        (INES, "I. Bergström"),
        (INES, "Inês Maria Bergström"),
        ("Theodora Marsh", "Theo Marsh"),
        ("Lotte van den Berg", "mevrouw Van den Berg"),
        ("Ken Ishii", "Ishii-san"),
        ("Ольга Петрова", "Ольга"),
    ],
)
def test_the_contacts_names_are_the_contact(called: str, given: str) -> None:
    assert meant(given, (), given, called) == Meant((CONTACT_SUBJECT,))


@every(
    ("known", "given"),
    [
        ("husband Nuno", "Nuno"),
        ("husband Nuno", "her husband"),
        ("husband Nuno", "spouse"),
        ("husband Nuno", "Inês's husband"),
        ("husband Nuno", "Nuno Bergström"),
        ("husband", "husband Nuno"),
        ("Priya Nair", "Priya"),
        ("Priya", "Priya Nair"),
        ("Priya Nair", "Ms Nair"),
        ("Mr Coyle", "Coyle"),
        ("dog Bruno", "Bruno"),
        ("younger brother Rui", "Rui"),
        ("Steuerberater Falk", "Falk"),
        ("colleague Tom", "the welder Tom"),
    ],
)
def test_a_shorter_name_or_the_relation_of_one_known_person_is_that_person(
    known: str, given: str
) -> None:
    said = f"It is said that {given.removeprefix('the ')} lives in Faro."
    assert meant(given, (told(known),), said) == Meant((slot(known).subject,))


@every(
    ("known", "given"),
    [
        ("husband Nuno", "brother"),
        ("husband Nuno", "Nadia"),
        ("ex-husband Nuno", "husband"),
        ("wife's mother", "mother"),
        ("mother-in-law", "mother"),
        ("friend Tom", "Tom's wife"),
        ("Priya Nair", "Priya Rao"),
        ("son", "son Gil"),
        ("husband", "Nuno"),
        ("colleague Tom", "cousin Tom"),
        ("Mr Coyle", "Mrs Coyle"),
        ("Lisbon office", "Porto office"),
        ("parent company", "company"),
        ("warehouse 2", "warehouse 3"),
        ("contact", "Nuno Bergström"),
        ("contact", "Inês Duarte"),
    ],
)
def test_another_person_is_another_subject(known: str, given: str) -> None:
    found = meant(given, (told(known, text=f"That {known} is in Porto."),), f"That {given} is far.")
    assert found == Meant((slot(given).subject,))


@every(
    ("first", "second", "given"),
    [
        ("Priya Nair", "Priya Rao", "Priya"),
        ("son Gil", "son Duarte", "son"),
        ("colleague Tom", "cousin Tom", "Tom"),
        ("Ann Coyle", "Bob Coyle", "Dr. Coyle"),
        ("contact", "daughter Inês", "Inês"),
        ("contact", "Nuno Bergström", "Bergström"),
    ],
)
def test_of_two_people_none_is_chosen(first: str, second: str, given: str) -> None:
    found = meant(given, (told(first), told(second)))
    assert found.subjects == (slot(given).subject,)
    assert set(found.may_be) == {slot(first).subject, slot(second).subject}


def test_a_longer_name_than_the_contacts_may_be_anothers() -> None:
    assert meant("Inês Prado", (), called="Inês") == Meant(("inês prado",), (CONTACT_SUBJECT,))


@every(
    ("known", "given", "subject"),
    [
        ((told("wife", "name", "Sofia Prado"),), "Sofia", "wife"),
        ((told("wife"), told("contact", "spouse", "Sofia Prado")), "Sofia", "wife"),
        ((told("Sofia"), told("contact", "spouse", "Sofia Prado")), "wife", "sofia"),
        ((told("Ann Coyle", "title", "notary"),), "the notary", "ann coyle"),
        ((told("contact", "preferred_name", "Nes"),), "Nes", CONTACT_SUBJECT),
        ((told("contact"), told("inês")), "Inês", CONTACT_SUBJECT),
        ((told("(procedure)"),), "procedure", "procedure"),
    ],
)
def test_facts_tell_who_a_person_is(known: tuple[Told, ...], given: str, subject: str) -> None:
    assert meant(given, known, f"That is {given.removeprefix('the ')}.").subjects[0] == subject


def test_a_family_name_in_a_text_tells_two_people_of_one_first_name_apart() -> None:
    known = told("Priya", text="Since May Priya Nair lives in Porto.")
    assert meant("Priya Nair", (known,)) == Meant(("priya",))
    assert meant("Priya Rao", (known,)) == Meant(("priya rao",))


def test_subjects_of_one_person_that_were_stored_apart_are_found_together() -> None:
    known = (told("Nuno"), told("husband Nuno"))
    assert meant("husband", known).subjects == ("husband nuno",)
    assert meant("Nuno", known).subjects == ("nuno", "husband nuno")


@every(
    ("thing", "one", "other"),
    [
        ("flat", "3B", "5A"),
        ("car", "Golf", "Polo"),
        ("office", "Leeds", "York"),
        ("flat", "3", "5"),
    ],
)
@every("own", [("one", "other"), ("one",), ("other",)])
def test_two_values_of_an_attribute_are_two_things(
    thing: str, one: str, other: str, own: tuple[str, ...]
) -> None:
    given = {"one": one, "other": other}
    facts = [told("contact", thing, given[each]) for each in own]
    facts.append(told(f"{thing} {one}", "rent", text=f"The rent of {thing} {one} is 900 EUR."))
    said = f"The rent of {thing} {other} is 800 EUR."
    assert meant(f"{thing} {other}", (*facts,), said) == Meant((f"{thing} {other}".lower(),))
    assert meant(f"{thing} {one}", (*facts,)).subjects == (f"{thing} {one}".lower(),)
    assert meant(one, (*facts,)).subjects == (f"{thing} {one}".lower(),)


def test_a_thing_without_a_name_is_neither_of_two_values() -> None:
    facts = (
        *(told("contact", "flat", number) for number in ("3B", "5A")),
        told("flat", "rent", text="The rent of the flat is due."),
    )
    for given in ("flat 3B", "flat 5A"):
        assert meant(given, facts, f"The rent of {given} is due.") == Meant((given.lower(),))


def test_a_name_in_two_values_brings_neither_to_it() -> None:
    facts = (
        *(told("contact", "flat", f"{number} Hillcrest") for number in ("3B", "5A")),
        told("flat Hillcrest", "rent", text="The rent of flat Hillcrest is due."),
    )
    assert meant("flat 5A", facts, "The rent of flat 5A is due.") == Meant(("flat 5a",))


@every("known", ["024ad472bbe7", "d584abd5bd6d", "ad17abb235ee"])
@every("given", ["85e5d8a39772", "8bf630318829"])
def test_two_tokens_are_two_subjects(known: str, given: str) -> None:
    one, other = (f"[street_address:{each}]" for each in (known, given))
    filed = replace(slot("flat", "rent", "900"), subject=one)
    people = People([(filed, f"The rent of {one} is 900.")], [], BOOK.are_one_role)
    for said in ("", f"The rent of {other} is 800."):
        assert people.meant_by(other, said) == Meant((other,))
    assert people.meant_by(one, f"The rent of {one} is 800.") == Meant((one,))
    assert people.meant_by(slot(one).subject, "") == Meant((one,))
    assert people.meant_by(slot(other).subject, "") == Meant((slot(other).subject,))
