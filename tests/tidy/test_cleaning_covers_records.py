"""Every record that passes the gate is cleaned in all fields that hold words, or says which not."""

from __future__ import annotations

import dataclasses

import pytest

from reconciler.domain.gate.cleaning import AS_GIVEN, ids_of
from reconciler.domain.records.candidates import Candidate, Evidence
from reconciler.domain.records.notes import Note, Scope
from reconciler.domain.records.sessions import Session

RECORDS = (Scope, Note, Evidence, Candidate, Session)


def test_what_is_kept_as_it_is_given_are_fields_of_records() -> None:
    named = {kind: {each.name for each in dataclasses.fields(kind)} for kind in AS_GIVEN}
    assert set(AS_GIVEN) == set(RECORDS)
    assert all(AS_GIVEN[kind] <= named[kind] for kind in AS_GIVEN)


@pytest.mark.parametrize("kind", [Note, Evidence, Candidate])
def test_only_ids_and_names_of_persons_are_kept_as_they_are_given(kind: type) -> None:
    assert all(name.endswith(("_id", "_by", "_key")) for name in AS_GIVEN[kind]), (
        "what a person wrote is cleaned; name an id so that it says what it is"
    )


def test_ids_are_found_however_deep_they_stand() -> None:
    assert dict(ids_of([[Scope("acme", "crm", "ann")]])) == {
        "tenant": "acme",
        "agent_id": "crm",
        "contact_id": "ann",
    }
