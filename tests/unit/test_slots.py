from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from reconciler.domain.records.notes import CONTACT_SUBJECT, Slot, SlotMatch, compare_slots
from tests.tables import every

UNKNOWN, EQUAL, CHANGED, OPEN, APART = SlotMatch


def slot(attribute: str | None, value: str | None, **others: Any) -> Slot:
    usual = {"attribute": attribute, "value": value, "value_key": value, "is_known": True}
    subject = {"subject": CONTACT_SUBJECT, "is_single_valued": False}
    return Slot(**usual | subject | others)


def one(attribute: str | None, value: str | None, **others: Any) -> Slot:
    return slot(attribute, value, is_single_valued=True, **others)


@pytest.mark.parametrize(
    ("note", "fact", "match"),
    [
        pytest.param(None, None, UNKNOWN, id="neither has a slot"),
        pytest.param(one("city", "berlin"), None, UNKNOWN, id="only the note has one"),
        pytest.param(None, one("city", "berlin"), UNKNOWN, id="only the fact has one"),
        pytest.param(
            one("city", "berlin"),
            one("city", "berlin", subject="wife"),
            APART,
            id="the same about somebody else",
        ),
        pytest.param(None, slot(None, None, subject="wife"), APART, id="the fact is about another"),
        pytest.param(slot(None, None, subject="wife"), None, APART, id="the note is about another"),
        pytest.param(
            slot(None, None),
            slot(None, None, subject="wife"),
            APART,
            id="only the subjects are known, and they differ",
        ),
        pytest.param(slot(None, None), slot(None, None), UNKNOWN, id="only the subjects are known"),
        pytest.param(slot(None, None), one("city", "berlin"), UNKNOWN, id="the note names nothing"),
        pytest.param(one("city", "berlin"), slot(None, None), UNKNOWN, id="the fact names nothing"),
        pytest.param(
            one("city", "berlin"), one("town", "berlin"), UNKNOWN, id="two names, one value"
        ),
        pytest.param(
            one("city", "berlin"), one("employer", "acme"), APART, id="two names, two values"
        ),
        pytest.param(
            one("city", "berlin"), one("employer", None), APART, id="two names, the fact no value"
        ),
        pytest.param(
            one("city", None), one("employer", "acme"), APART, id="two names, the note no value"
        ),
        pytest.param(one("city", None), one("employer", None), UNKNOWN, id="two names, no value"),
        pytest.param(
            one("town", "paris", is_known=False),
            one("city", "berlin"),
            UNKNOWN,
            id="two names, the note's made up",
        ),
        pytest.param(
            one("city", "berlin"),
            one("town", "paris", is_known=False),
            UNKNOWN,
            id="two names, the fact's made up",
        ),
        pytest.param(
            one("town", None, is_known=False),
            one("city", "berlin"),
            APART,
            id="a made-up name and no value",
        ),
        pytest.param(one("city", "berlin"), one("city", "berlin"), EQUAL, id="one, equal"),
        pytest.param(one("city", "berlin"), one("city", "paris"), CHANGED, id="one, another"),
        pytest.param(one("city", "berlin"), one("city", None), UNKNOWN, id="one, none before"),
        pytest.param(one("city", None), one("city", "berlin"), APART, id="one, none now"),
        pytest.param(one("city", None), one("city", None), UNKNOWN, id="one, none at all"),
        pytest.param(slot("child", "ann"), slot("child", "ann"), EQUAL, id="many, equal"),
        pytest.param(slot("child", "ann"), slot("child", "ben"), APART, id="many, another"),
        pytest.param(slot("child", "ann"), slot("child", None), UNKNOWN, id="many, none before"),
        pytest.param(slot("child", None), slot("child", "ann"), APART, id="many, none now"),
        pytest.param(slot("child", None), slot("child", None), UNKNOWN, id="many, none at all"),
        pytest.param(
            one("colour", "red"), slot("colour", "blue"), CHANGED, id="the note's word on how many"
        ),
        pytest.param(
            slot("colour", "red"), one("colour", "blue"), APART, id="and not the fact's word"
        ),
    ],
)
def test_how_a_notes_slot_relates_to_a_facts(
    note: Slot | None, fact: Slot | None, match: SlotMatch
) -> None:
    assert compare_slots(note, fact) is match


def test_values_are_compared_as_normalised_and_not_as_said() -> None:
    said_otherwise = slot("phone", "+49 30 1", value_key="+49301")
    assert compare_slots(said_otherwise, slot("phone", "0049301", value_key="+49301")) is EQUAL


@every(
    ("one_key", "other_key", "match"),
    [
        ("malmö", "malmo", EQUAL),
        ("łódź", "lodz", EQUAL),
        ("yıldız", "yildiz", EQUAL),
        ("malmö", "malme", CHANGED),
        ("がん", "かん", CHANGED),  # the mark makes another letter there
        ("кий", "кии", CHANGED),
    ],
)
def test_two_latin_values_are_one_but_for_accents(
    one_key: str, other_key: str, match: SlotMatch
) -> None:
    for said, known in ((one_key, other_key), (other_key, one_key)):
        assert compare_slots(one("city", said), one("city", known)) is match


def test_a_slot_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        slot("city", "berlin").value = "paris"  # type: ignore[misc]


@every(
    ("given", "key", "rival_prefix"),
    [
        (one("city", "berlin"), "contact/city/berlin/", "contact/city/"),
        (slot("child", "ann"), "contact/child/ann/", "contact/child/ann/"),
        (one("city", "a/b%", subject="x/y"), "x%2Fy/city/a%2Fb%25/", "x%2Fy/city/"),
        (one("city", None), None, None),
        (slot(None, None), None, None),
    ],
)
def test_a_slot_is_found_by_a_key_that_no_other_slot_has(
    given: Slot, key: str | None, rival_prefix: str | None
) -> None:
    assert (given.key, given.rival_prefix) == (key, rival_prefix)
