"""Since when a fact is told to hold: since it was said first, however often it is said again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reconciler import Action, ContactMemory, Memory
from reconciler.domain.recalling.prompting import as_prompt

FIRST, LATER = datetime(2026, 1, 12, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
GIVEN = datetime(2025, 6, 1, tzinfo=UTC)


@pytest.fixture
def contact(memory: Memory) -> ContactMemory:
    return memory.contact("crm", "alice")


def since(contact: ContactMemory) -> datetime:
    """What profile, value and recall say alike."""
    [value], [hit] = contact.value("city"), contact.recall()
    assert f"since {value.since:%Y-%m-%d}" in as_prompt([hit])
    return value.since


def test_what_is_said_again_holds_since_it_was_said_first(contact: ContactMemory) -> None:
    contact.note("Lives in Oslo.", said_at=FIRST)
    for text in ("She lives in Oslo.", "Oslo is where she lives."):
        again = contact.note(text, attribute="city", value="Oslo", said_at=LATER)
        assert again.action is Action.UPDATE
    assert since(contact) == FIRST


def test_another_value_holds_since_it_was_said(contact: ContactMemory) -> None:
    contact.note("Lives in Oslo.", said_at=FIRST)
    contact.note("Lives in Bergen.", said_at=LATER)
    assert since(contact) == LATER


def test_a_given_date_counts_for_what_says_it_again(contact: ContactMemory) -> None:
    contact.note("Lives in Oslo.", said_at=FIRST, valid_from=GIVEN)
    contact.note("Oslo is where she lives.", attribute="city", value="Oslo", said_at=LATER)
    assert since(contact) == GIVEN


def test_a_later_given_date_goes_before_what_was_said_first(contact: ContactMemory) -> None:
    contact.note("Lives in Oslo.", said_at=GIVEN)
    contact.note("She lives in Oslo.", said_at=LATER, valid_from=FIRST)
    assert since(contact) == FIRST
