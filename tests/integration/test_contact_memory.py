"""The memories of a contact and of an agent: the scope is said once."""

from __future__ import annotations

import inspect

from reconciler import ContactMemory, Memory


def test_the_memorys_own_two_calls_about_a_contact_only_add_whose_it_is() -> None:
    for own, bound in ((Memory.add_contact_note, "note"), (Memory.agent_tools, "tools")):
        whose = {"agent_id", "contact_id", "tenant"}
        taken = inspect.signature(own).parameters.values()
        theirs = inspect.signature(getattr(ContactMemory, bound)).parameters.values()
        assert [each for each in taken if each.name not in whose] == list(theirs)


def test_the_facade_stays_small() -> None:
    assert len([name for name in dir(Memory) if not name.startswith("_")]) <= 25
