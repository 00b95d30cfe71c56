"""Which facts a recall can be narrowed to, and what is said of a filter that cannot be."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reconciler.config_files import load_attribute_book
from reconciler.domain.recalling.filtering import RecallFilter
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import SourceKind
from reconciler.errors import InvalidRequestError
from reconciler.reading.kinds import Category
from reconciler.service.recall import filter_of
from tests.tables import every
from tests.unit.test_ranking import NOW, fact

BOOK = load_attribute_book(None)
TICK = timedelta(microseconds=1)
PUNE = replace(
    fact(text="Lives in Pune"),
    slot=BOOK.slot(attribute="city", value="Pune"),
    category=Category.FACT,
    topic="home",
    tags=("a", "b"),
    confidence=0.7,
    trust=SourceKind.APPROVED_DOC,
)


def fits(given: Any, told: Fact = PUNE) -> bool:
    return filter_of(given, lambda: BOOK).fits(told)


@every(
    ("given", "expected"),
    [
        ({}, True),
        ({"attribute": "city"}, True),
        ({"attribute": "Home city"}, True),
        ({"attribute": "email"}, False),
        ({"attribute": "wife's city"}, False),
        ({"subject": "the contact"}, True),
        ({"subject": "wife"}, False),
        ({"category": "fact"}, True),
        ({"category": Category.DECISION}, False),
        ({"topic": "home"}, True),
        ({"topic": "work"}, False),
        ({"tags": ["a"]}, True),
        ({"tags": ("b", "a")}, True),
        ({"tags": ["a", "c"]}, False),
        ({"tags": []}, True),
        ({"min_confidence": 0.7}, True),
        ({"min_confidence": 0.71}, False),
        ({"since": NOW}, True),
        ({"since": NOW + TICK}, False),
        ({"until": NOW}, False),
        ({"until": NOW + TICK}, True),
        ({"trust": "approved_doc"}, True),
        ({"trust": "extractor"}, True),
        ({"trust": SourceKind.OPERATOR}, False),
        ({"attribute": "city", "topic": "work"}, False),
        ({"min_score": 1.0}, True),
        ({"attribute": None, "trust": None}, True),
    ],
)
def test_a_fact_must_fit_all_that_is_given(given: Any, expected: bool) -> None:
    assert fits(given) is expected


def test_a_fact_without_a_slot_is_about_the_contact() -> None:
    told = replace(PUNE, slot=None)
    assert (fits({"subject": "contact"}, told), fits({"attribute": "city"}, told)) == (True, False)


@every(
    ("attribute", "text", "expected"),
    [
        ("allergy", "allergic to nuts; it is life-threatening", True),
        ("allergy", "Severe nut allergies.", True),
        ("budget", "The budgets are with the board.", True),
        ("preferred_channel", "The preferred delivery channel is the web shop", True),
        ("preferred_channel", "The channel is crowded", False),
        ("country", "Counts on us", False),
        ("allergy", "Eats nuts", False),
    ],
)
def test_what_is_filed_under_nothing_passes_where_it_names_the_attribute(
    attribute: str, text: str, expected: bool
) -> None:
    assert fits({"attribute": attribute}, replace(PUNE, slot=None, text=text)) is expected
    assert not fits({"attribute": attribute}, replace(PUNE, text=text))


def test_a_guess_that_the_contact_confirmed_is_the_contacts_word() -> None:
    told = replace(PUNE, trust=SourceKind.MODEL_GUESS, is_confirmed_by_user=True)
    assert fits({"trust": "user_explicit"}, told)


@every(
    ("given", "said"),
    [
        ({"colour": "red"}, "there is no filter colour; use attribute, category"),
        ({"category": "gossip"}, "category 'gossip' is not one of preference, fact"),
        ({"trust": "god"}, "trust 'god' is not one of user_explicit"),
        ({"since": datetime(2026, 1, 1)}, "since 2026-01-01T00:00:00 has no time zone"),
        ({"until": "2026"}, "until must be a datetime, not str; datetime.fromisoformat makes one"),
        ({"since": NOW, "until": NOW - TICK}, "is not before until"),
        ({"tags": "vip"}, "tags must be a list"),
        ({"tags": [1]}, "a tag must be a string"),
        ({"tags": ["x"] * 101}, "at most 100"),
        ({"topic": " "}, "topic is blank; leave it out"),
        ({"topic": 7}, "topic must be a string"),
        ({"attribute": "  "}, "attribute is blank"),
        ({"attribute": 7}, "attribute must be a string"),
        ({"subject": "none"}, "attribute and subject are blank"),
        ({"min_score": 2}, "min_score must be a number from 0 to 1"),
        ({"min_confidence": True}, "min_confidence must be a number from 0 to 1"),
        ({"min_confidence": float("nan")}, "min_confidence must be a number"),
    ],
)
def test_a_filter_that_cannot_be_used_is_refused_with_what_to_do(given: Any, said: str) -> None:
    with pytest.raises(InvalidRequestError, match=said):
        filter_of(given, lambda: BOOK)


def test_times_in_any_zone_are_compared_as_instants() -> None:
    east = NOW.astimezone(datetime.now(UTC).astimezone().tzinfo)
    assert RecallFilter(since=east).since == NOW
