"""What later words answer a question is looked for quickly, and nothing is overlooked."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from reconciler.domain.gate.disposing import may_answer
from reconciler.domain.records.facts import SaidFact
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import Note, Scope, Slot
from reconciler.reading.guard import count_words
from reconciler.service.stores.rows import told_by_contact

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
CITY = Slot(
    subject="contact", attribute="city", value="Goa", value_key="goa", is_single_valued=True
)
PIECES = (
    *(
        "Lives",
        "lived",
        "living in",
        "Goa",
        "goas",
        "US",
        "U.S.",
        "e-mail",
        "email",
        "café",
        "cafe",
    ),
    *(
        "5 %",
        "percent",
        "&",
        "and",
        "MIX",
        "mix",
        "doesn't",
        "twice a week",
        "a.txt",
        "#goa",
        "ﬁne",
    ),
    *(
        "fine",
        "twenty-five",
        "25",
        "third",
        "3rd",
        "no longer",
        "may",
        "€",
        "euros",
        "Straße",
        "STRASSE",
    ),
)
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map(" ".join)


def note(text: str, slot: Slot | None = None) -> Note:
    scope = Scope(tenant="default", agent_id="crm", contact_id="ann")
    return Note(scope=scope, text=text, said_at=NOON, slot=slot, source_kind=SourceKind.TOOL_OUTPUT)


@given(asked=TEXTS, said=st.lists(st.sampled_from(PIECES), max_size=6).map(" ".join))
def test_what_says_all_that_was_asked_may_answer_it(asked: str, said: str) -> None:
    for text in (said, f"{asked} {said}", f"{said} {asked}.", f"{asked.lower()}, {said}"):
        stems = count_words(asked)
        if stems and stems <= count_words(text):
            assert may_answer(note(asked))(text, None)


def test_other_words_answer_only_under_the_slot_that_was_asked_about() -> None:
    may = may_answer(note("Lives in Goa", CITY))
    assert may("Moved to Pune", CITY.key)
    assert not may("Moved to Pune", None)
    assert not may("Moved to Pune", "contact/employer/acme/")


def test_a_damaged_fact_is_named_and_the_others_are_told(caplog: pytest.LogCaptureFixture) -> None:
    columns = {"contact_key": ["a", "a", "b"], "fact_id": ["1", "2", "3"]}
    columns |= {"text": ["Tea", 7, "Cats"], "slot_key": [None, None, None]}
    with caplog.at_level(logging.WARNING):
        told = told_by_contact(SaidFact, [columns])
    assert told == {"a": [SaidFact("1", "Tea", None)], "b": [SaidFact("3", "Cats", None)]}
    assert "Fact 2 cannot be read" in caplog.text
