"""What a model may say about facts, and the short names that it says it by."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.domain.records import facts
from reconciler.domain.records.facts import Relations, handle_of, handles_of
from reconciler.errors import InvalidRequestError
from tests.tables import every


def test_a_handle_is_short_and_follows_from_the_id() -> None:
    assert handle_of("f-1") == handle_of("f-1")
    assert handle_of("f-1") != handle_of("f-2")
    assert len(handle_of("f-1")) == 5


def test_no_handle_holds_a_letter_that_is_read_for_another() -> None:
    written = {letter for number in range(500) for letter in handle_of(str(number))[1:]}
    assert written == set(facts._LETTERS)
    assert written.isdisjoint("ilou")


def test_of_facts_that_collide_the_later_one_gets_a_longer_handle() -> None:
    by_handle: dict[str, str] = {}
    first, second = next(
        (by_handle[handle_of(fact_id)], fact_id)
        for fact_id in map(str, range(100_000))
        if by_handle.setdefault(handle_of(fact_id), fact_id) != fact_id
    )
    assert handles_of([first, second]) == {first: handle_of(first), second: handle_of(second, 5)}


@every(
    ("given", "complaint"),
    [
        ({}, "say which facts"),
        ({"replaces": ["a"], "ends": ["a"]}, "a: named twice"),
        ({"replaces": ["a", "a"]}, "a: named twice"),
        ({"repeats": "a", "both_hold": ["a"]}, "a: named twice"),
        ({"replaces": ["a", "b"], "ends": ["c", "d"]}, "3 facts, not 4"),
        ({"repeats": "a", "ends": ["b"]}, "cannot end another"),
        ({"replaces": "a"}, "must be a list of facts, each by its id or handle"),
        ({"ends": [""]}, "id or handle of a fact is empty"),
        ({"ends": [7]}, "id or handle of a fact must be a string"),
    ],
)
def test_relations_that_cannot_be_meant_are_refused(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidRequestError, match=complaint):
        Relations(**given)
