"""What holds for the moment, beside what lasts of the same attribute."""

from __future__ import annotations

import pytest

from reconciler import Action, ContactMemory, Memory


@pytest.fixture
def contact(memory: Memory) -> ContactMemory:
    return memory.contact("crm", "alice")


def cities(contact: ContactMemory) -> list[str]:
    return [value.value for value in contact.value("city")]


def test_a_note_of_the_moment_ends_nothing_that_lasts(contact: ContactMemory) -> None:
    contact.note("Lives in Oslo.")
    made = contact.note("In Bergen right now", attribute="city", value="Bergen")
    assert (made.action, made.conflicting_ids) == (Action.ADD, ())
    assert {hit.fact.text for hit in contact.recall()} == {"Lives in Oslo.", "In Bergen right now"}
    assert cities(contact) == ["Oslo"]


def test_of_two_notes_of_the_moment_the_later_one_holds(contact: ContactMemory) -> None:
    contact.note("In Bergen right now", attribute="city", value="Bergen")
    contact.note("In Oslo right now", attribute="city", value="Oslo")
    assert cities(contact) == ["Oslo"]


def test_what_lasts_ends_a_note_of_the_moment(contact: ContactMemory) -> None:
    contact.note("In Bergen right now", attribute="city", value="Bergen")
    contact.note("Lives in Oslo.")
    assert cities(contact) == ["Oslo"]
