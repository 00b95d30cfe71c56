from __future__ import annotations

import math
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from reconciler.config_files import BookChoice, load_attribute_book
from reconciler.domain.records.notes import CONTACT_SUBJECT, Slot
from reconciler.domain.values.attributes import AttributeBook
from reconciler.errors import ConfigurationError, InvalidNoteError
from reconciler.reading.values.attribute import Attribute
from reconciler.resources import resource_path
from tests.tables import every


@cache
def shipped() -> AttributeBook:
    path = resource_path("config") / "attributes.toml"
    return AttributeBook.from_mapping(tomllib.loads(path.read_text(encoding="utf-8")))


def entry(**given_keys: Any) -> dict[str, Any]:
    return {"description": "Something.", "holds": "one"} | given_keys


def book(**entries: dict[str, Any]) -> AttributeBook:
    return AttributeBook.from_mapping(entries)


def slot(attribute: Any, value: Any = None, **others: Any) -> Slot:
    made = shipped().slot(attribute=attribute, value=value, **others)
    assert made is not None
    return made


def key(attribute: str, value: Any) -> str | None:
    return slot(attribute, value).value_key


SINGLE = """
name preferred_name birthday age city country region address time_zone email work_email phone
mobile_phone work_phone preferred_channel preferred_language employer title department industry
company_size marital_status spouse budget currency contract_value renewal_date plan
account_manager meeting_time marketing_consent discount customer_since
""".split()  # fmt: skip # noqa: SIM905
MANY = """
nationality language other_email other_phone previous_employer affiliation diet allergy child pet
hobby interest competitor product_in_use pain_point decision_maker order invoice ticket
preferred_meeting_time goal
""".split()  # fmt: skip # noqa: SIM905


@every("name", SINGLE)
def test_the_shipped_file_holds_one_value_of(name: str) -> None:
    assert slot(name).is_single_valued


@every("name", MANY)
def test_the_shipped_file_holds_many_values_of(name: str) -> None:
    assert not slot(name).is_single_valued


@every("attribute", list(shipped()))
def test_every_shipped_attribute_is_told_to_callers_in_one_line(attribute: Attribute) -> None:
    assert attribute.description.endswith(".")
    assert len(attribute.description) <= 100


@every("attribute", list(shipped()))
def test_every_shipped_alias_and_synonym_leads_to_its_attribute(attribute: Attribute) -> None:
    assert {shipped().find(alias) for alias in (attribute.name, *attribute.aliases)} == {attribute}
    for word, others in attribute.synonyms.items():
        assert {key(attribute.name, each) for each in others} == {key(attribute.name, word)}


def test_a_shipped_attribute_that_holds_many_says_so_to_callers() -> None:
    for attribute in shipped():
        assert attribute.is_single_valued != attribute.description.endswith("; one value each.")


@every(
    ("name", "canonical"),
    [
        ("city", "city"),
        ("City", "city"),
        (" CITY ", "city"),
        ("location", "city"),
        ("home city", "city"),
        ("homeCity", "city"),
        ("Home-City", "city"),
        ("lives_in", "city"),
        ("the contact's city", "city"),
        ("Customer’s city", "city"),
        ("contact_city", "city"),
        ("her city", "city"),
        ("current city", "city"),
        ("the client's current city", "city"),
        ("E-Mail", "email"),
        ("e_mail address", "email"),
        ("emailAddress", "email"),
        ("primary_email", "email"),
        ("phoneNumber", "phone"),
        ("mobile", "mobile_phone"),
        ("timezone", "time_zone"),
        ("time zone", "time_zone"),
        ("TZ", "time_zone"),
        ("jobTitle", "title"),
        ("role", "title"),
        ("company", "employer"),
        ("works at", "employer"),
        ("children", "child"),
        ("DOB", "birthday"),
        ("contact_method", "preferred_channel"),
        ("primary_language", "preferred_language"),
        ("customer_name", "name"),
        ("user's email", "email"),
    ],
)
def test_an_attribute_is_found_under_any_spelling_of_its_names(name: str, canonical: str) -> None:
    found = shipped().find(name)
    assert found
    assert found.name == canonical


@every(
    "name", ["favourite colour", "", "🎂", "contact", "wife's birthday", "wife_city", "user_name"]
)
def test_any_other_name_finds_nothing(name: str) -> None:
    assert shipped().find(name) is None


def test_a_book_gives_its_attributes_in_file_order() -> None:
    made = book(zeta=entry(), alpha=entry(), mid=entry())
    assert [each.name for each in made] == ["zeta", "alpha", "mid"]
    assert len(made) == 3


@pytest.mark.parametrize(
    ("mapping", "complaint"),
    [
        pytest.param({"a": "one"}, r"\[a\] its table: Input should be", id="no table"),
        pytest.param(
            {"a": entry(hold="one")}, r"\[a\] hold: Extra inputs are not permitted", id="a key"
        ),
        pytest.param({"a": entry(normaliser="soundex")}, r"\[a\].*'soundex'; use", id="normaliser"),
        pytest.param({"a": entry(normaliser=["text"])}, r"\[a\].*normaliser", id="two normalisers"),
        pytest.param(
            {"a": entry(holds="two")},
            r"\[a\] holds: Input should be 'one' or 'many'",
            id="holds two",
        ),
        pytest.param(
            {"a": entry(holds=1)},
            r"\[a\] holds: Input should be 'one' or 'many'",
            id="holds a number",
        ),
        pytest.param({"a": {"description": "A."}}, r"\[a\] holds: Field required", id="no holds"),
        pytest.param(
            {"a": {"holds": "one"}}, r"\[a\] description: Field required", id="no description"
        ),
        pytest.param(
            {"a": entry(description="A\nB")},
            r"\[a\] description: String should match",
            id="two lines",
        ),
        pytest.param(
            {"a": entry(aliases="b")}, r"\[a\] aliases: Input should be a valid tuple", id="no list"
        ),
        pytest.param(
            {"a": entry(aliases=[1])},
            r"\[a\] aliases.0: Input should be a valid string",
            id="a number",
        ),
        pytest.param({"a": entry(aliases=["!"])}, r"\[a\] alias '!' holds no letter", id="no word"),
        pytest.param(
            {"a": entry(), "b": entry(aliases=["A"])}, r"\[b\] alias 'A' already means a", id="name"
        ),
        pytest.param(
            {"a": entry(aliases=["c"]), "b": entry(aliases=["C"])},
            r"\[b\] alias 'C' already means a",
            id="an alias twice",
        ),
        pytest.param(
            {"time_zone": entry(), "timezone": entry()}, r"\[timezone\] has the same name", id="two"
        ),
        pytest.param({"Time Zone": entry()}, r"write it like time_zone", id="no snake case"),
        pytest.param({"": entry()}, r"\[\] is not a usable name", id="no name"),
        pytest.param({"a" * 201: entry()}, r"is not a usable name", id="a long name"),
        pytest.param(
            {"a": entry(synonyms=["b"])},
            r"\[a\] synonyms: Input should be a valid dictionary",
            id="a list",
        ),
        pytest.param(
            {"a": entry(synonyms={"b": "c"})},
            r"\[a\] synonyms.b: Input should be a valid tuple",
            id="a word",
        ),
        pytest.param(
            {"a": entry(synonyms={"b": ["c"], "d": ["C"]})},
            r"\[a\] synonym 'C' stands for b",
            id="2",
        ),
    ],
)
def test_an_unusable_file_is_refused_with_the_attribute_and_the_mend(
    mapping: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        AttributeBook.from_mapping(mapping)


def test_each_fault_of_a_file_is_told_with_the_files_name(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('[tier]\nholds = "two"\n', encoding="utf-8")
    told = r"own\.toml: .*\[tier\] description: Field required; \[tier\] holds: Input should be"
    with pytest.raises(ConfigurationError, match=told):
        load_attribute_book(BookChoice(file))


def test_an_attribute_may_list_its_own_name_among_its_aliases() -> None:
    assert len(book(time_zone=entry(aliases=["timezone", "tz", "TZ"]))) == 1


def test_a_second_book_adds_to_the_first() -> None:
    merged = shipped().merged_with(book(shoe_size=entry(normaliser="number")))
    assert [each.name for each in merged] == [*(each.name for each in shipped()), "shoe_size"]


def test_a_second_book_overrides_what_has_the_same_name_in_place() -> None:
    merged = shipped().merged_with(book(phone=entry(holds="many", normaliser="phone")))
    phone = merged.find("phone")
    assert phone
    assert not phone.is_single_valued
    assert len(merged) == len(shipped())


def test_a_second_book_takes_an_alias_for_its_own() -> None:
    merged = shipped().merged_with(book(mobile=entry(), office=entry(aliases=["location"])))
    assert [each.name for each in map(merged.find, ("mobile", "cell", "location")) if each] == [
        *("mobile", "mobile_phone", "office")
    ]


def test_a_second_book_cannot_take_a_name_for_an_alias() -> None:
    with pytest.raises(ConfigurationError, match=r"\[place\] alias 'city' already means city"):
        shipped().merged_with(book(place=entry(aliases=["city"])))


@every(
    "subject",
    [
        *(None, "contact", "Contact", "the contact", "self", "customer", "the client", "User"),
        *("me", "I", "he", "her", "the user", "null", "None", "N/A", "the customer's"),
    ],
)
def test_whatever_means_the_contact_is_the_contact(subject: str | None) -> None:
    assert slot("city", "Berlin", subject=subject).subject == CONTACT_SUBJECT


@every(
    ("subject", "normalised"),
    [
        ("wife", "wife"),
        ("Her wife", "wife"),
        ("the contact's  wife", "wife"),
        ("My Wife", "wife"),
        ("wife's", "wife"),
        ("a colleague", "colleague"),
        ("his eldest son", "eldest son"),
        ("Jane Doe", "jane doe"),
        ("Theodor", "theodor"),
        ("unknown", "unknown"),
        ("👶", "👶"),
    ],
)
def test_anybody_else_is_named_in_one_form(subject: str, normalised: str) -> None:
    assert slot("city", "Berlin", subject=subject).subject == normalised


@every(
    ("subject", "attribute", "found"),
    [
        (None, "wife's birthday", ("wife", "birthday")),
        ("contact", "his wife’s birthday", ("wife", "birthday")),
        ("wife", "wife's birthday", ("wife", "birthday")),
        ("wife", "birthday", ("wife", "birthday")),
        (None, "the contact's birthday", (CONTACT_SUBJECT, "birthday")),
        ("son", "wife's birthday", ("son", "wife_birthday")),
        (None, "driver's licence", (CONTACT_SUBJECT, "driver_licence")),
    ],
)
def test_what_an_attribute_says_is_somebodys_is_not_the_contacts(
    subject: str | None, attribute: str, found: tuple[str, str]
) -> None:
    made = slot(attribute, "1 March", subject=subject)
    assert (made.subject, made.attribute) == found


def test_a_subject_that_names_nobody_is_refused() -> None:
    with pytest.raises(InvalidNoteError, match="has no name in it"):
        shipped().slot(subject="'s")


def test_a_slot_of_nothing_is_none() -> None:
    assert shipped().slot() is None
    assert shipped().slot(value="unknown", attribute="null", is_single_valued=True) is None


def test_a_subject_alone_is_a_slot_that_names_no_attribute() -> None:
    assert shipped().slot(subject="Her wife") == Slot(
        subject="wife", attribute=None, value=None, value_key=None, is_single_valued=False
    )


@every(("attribute", "is_known"), [("city", True), ("Home city", True), ("shoe size", False)])
def test_a_slot_knows_whether_its_attribute_is_the_books(attribute: str, is_known: bool) -> None:
    assert slot(attribute, "38").is_known is is_known


def test_a_slot_keeps_the_value_as_it_was_said() -> None:
    assert slot("Employer", " ACME Corp. ") == Slot(
        subject="contact",
        attribute="employer",
        value=" ACME Corp. ",
        value_key="acme",
        is_single_valued=True,
        is_known=True,
    )


@every(
    ("name", "canonical"),
    [
        ("favourite colour", "favourite_colour"),
        ("favouriteColour", "favourite_colour"),
        ("Favourite-Colour", "favourite_colour"),
        ("the contact's favourite colour", "favourite_colour"),
        ("город", "город"),
        ("नाम", "नाम"),
    ],
)
def test_an_attribute_outside_the_book_is_kept_in_snake_case(name: str, canonical: str) -> None:
    assert slot(name, "red").attribute == canonical


@every(("said", "kept"), [(None, False), (False, False), (True, True)])
def test_an_attribute_outside_the_book_holds_as_many_values_as_the_caller_says(
    said: bool | None, kept: bool
) -> None:
    made = slot("favourite colour", "red", is_single_valued=said)
    assert (made.is_single_valued, made.is_open) == (kept, said is None)


@every(("name", "book"), [("city", True), ("allergies", False)])
@every("said", [None, True, False])
def test_what_the_caller_says_of_an_attribute_holds_before_the_book(
    name: str, book: bool, said: bool | None
) -> None:
    made = slot(name, "x", is_single_valued=said)
    assert (made.is_single_valued, made.is_open) == (book if said is None else said, False)


@every(
    "value",
    [
        *(None, "", "  ", "\n", "\u200b", "-", "?", "...", "null", "None", "NULL", "unknown"),
        *("Unknown.", "n/a", "N/A", "(none)", "not specified", "TBD", "not known", "undefined"),
    ],
)
@every("name", ["city", "name", "employer", "allergy", "phone", "budget", "shoe"])
def test_a_word_for_no_value_is_no_value(name: str, value: str | None) -> None:
    made = slot(name, value)
    assert (made.value, made.value_key) == (None, None)


@every("value", ["No", "Nun", "Nullarbor", "Jennifer Null", "none of them", "0"])
def test_a_value_that_only_looks_like_such_a_word_is_kept(value: str) -> None:
    assert slot("shoe", value).value == value


@every(
    ("value", "said"),
    [
        (42, "42"),
        (0, "0"),
        (-1, "-1"),
        (1.5, "1.5"),
        (40000.0, "40000"),
        (1e22, "10000000000000000000000"),
        (True, "yes"),
        (False, "no"),
    ],
)
def test_a_number_or_a_truth_is_put_into_words(value: Any, said: str) -> None:
    assert slot("favourite", value).value == said


UNUSABLE = {
    "control characters": "a\x07b",
    "an escape": "\x1b[31mred",
    "a null byte": "a\0b",
    "a null byte only": "\0",
    "half a surrogate pair": "a\ud83d",
    "bytes": b"city",
    "a list": ["city"],
    "a table": {"city": "Berlin"},
}


@every("name", ["subject", "attribute", "value"])
@every("said", UNUSABLE.values())
def test_what_cannot_be_stored_is_refused(name: str, said: Any) -> None:
    with pytest.raises(InvalidNoteError, match=f"^{name} "):
        shipped().slot(**{"attribute": "city"} | {name: said})


@every("name", ["subject", "attribute"])
@every("said", ["", " ", "...", "\u200b", "Zoe\nDoe", 7, 1.5, True, "a" * 201])
def test_so_is_a_subject_or_an_attribute_that_is_no_name(name: str, said: Any) -> None:
    with pytest.raises(InvalidNoteError, match=f"^{name} "):
        shipped().slot(**{"attribute": "city"} | {name: said})


@pytest.mark.parametrize(
    "said",
    ["a" * 501, math.nan, math.inf, -math.inf, pytest.param(10**5000, id="huge"), 10**500, 1j],
)
def test_so_is_a_value_that_is_too_much_or_no_number(said: Any) -> None:
    with pytest.raises(InvalidNoteError, match=r"^value "):
        slot("shoe", said)


@every(("name", "length"), [("subject", 200), ("attribute", 200), ("value", 500)])
def test_the_longest_name_and_value_are_kept(name: str, length: int) -> None:
    assert shipped().slot(**{"attribute": "city"} | {name: "a" * length})  # type: ignore[arg-type]


def test_a_value_may_have_lines() -> None:
    assert key("address", "1 High St\nOxford") == key("address", "1 High St, Oxford")


@every("attribute", [None, "null"])
def test_a_value_without_an_attribute_is_refused_with_the_mend(attribute: str | None) -> None:
    with pytest.raises(InvalidNoteError, match=r"^value 'Berlin' has no attribute; name"):
        shipped().slot(attribute=attribute, value="Berlin")


def test_so_is_an_attribute_of_symbols_alone() -> None:
    with pytest.raises(InvalidNoteError, match=r"^attribute '\$' is not the name"):
        slot("$", "x")


@every("said", ["true", 1, 0, "yes"])
def test_so_is_a_word_on_how_many_that_is_no_truth(said: Any) -> None:
    with pytest.raises(
        InvalidNoteError, match=r"^single_valued must be true or false, or be left out$"
    ):
        slot("shoe", "x", is_single_valued=said)


def test_synonyms_work_for_any_attribute_and_normaliser() -> None:
    made = book(seats=entry(normaliser="number", synonyms={"12": ["a dozen", "1,2e1"]}))
    keys = [made.slot(attribute="seats", value=value) for value in ("12", "A dozen", "1,2e1")]
    assert [each.value_key for each in keys if each] == ["12"] * 3


SCRAP_WORDS = """
the contact's her wife's ' ’ of 's null unknown Inc. Dr. , 40 000 k € /yr - + # @ 3pm % İ
"""
SCRAPS = st.lists(st.sampled_from(SCRAP_WORDS.split()), max_size=6)
TEXTS = (
    st.text(st.characters(exclude_categories=["Cc"]), max_size=60)
    | SCRAPS.map("".join)
    | SCRAPS.map(" ".join)
)


@given(
    subject=st.none() | TEXTS,
    attribute=st.none() | TEXTS | st.sampled_from([each.name for each in shipped()]),
    value=st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.text(),
    is_single_valued=st.none() | st.booleans(),
)
@example(subject="\ud800", attribute="\0", value="\x1b", is_single_valued=None)
@example(subject="the", attribute="'s s", value="-", is_single_valued=None)
@example(subject=None, attribute="¨", value=None, is_single_valued=None)
def test_whatever_is_sent_makes_a_slot_or_is_refused(
    subject: Any, attribute: Any, value: Any, is_single_valued: bool | None
) -> None:
    try:
        made = shipped().slot(
            subject=subject, attribute=attribute, value=value, is_single_valued=is_single_valued
        )
    except InvalidNoteError:
        return
    if made is None:
        return
    assert made.subject
    assert (made.value is None) == (made.value_key is None)
    assert made.value_key != ""
    assert made.attribute is None or shipped().slot(attribute=made.attribute)
