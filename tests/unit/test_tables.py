from __future__ import annotations

import inspect

import pytest

from tests.tables import every, grouped


def test_a_table_names_every_row_that_fails_and_no_other() -> None:
    @every(("one", "other"), [(1, 1), (1, 2), (3, 3), (4, 5)])
    def equal(one: int, other: int) -> None:
        assert one == other

    with pytest.raises(pytest.fail.Exception) as told:
        equal()
    assert "2 of 4 rows fail" in str(told.value)
    assert [row in str(told.value) for row in ("'other': 2", "'one': 3", "'other': 5")] == [
        True,
        False,
        True,
    ]


def test_so_does_a_table_whose_rows_raise_what_they_should_not() -> None:
    @every("text", ["1", "x"])
    def read(text: str) -> None:
        int(text)

    with pytest.raises(ValueError, match="invalid literal") as raised:
        read()
    assert raised.value.__notes__ == ["in the row {'text': 'x'}"]


def test_an_empty_table_fails() -> None:
    @every("text", [])
    def read(text: str) -> None:
        """Nothing is asked of it."""

    with pytest.raises(AssertionError, match="empty"):
        read()


def test_a_table_of_tables_tries_each_with_each_and_keeps_its_fixtures() -> None:
    seen = []

    @every("one", "ab")
    @every("other", "xy")
    def pair(one: str, other: str, given: str) -> None:
        seen.append(one + other + given)

    assert list(inspect.signature(pair).parameters) == ["given"]
    pair(given="!")
    assert seen == ["ax!", "ay!", "bx!", "by!"]


def test_a_table_by_what_is_expected_gives_each_row_its_key() -> None:
    assert grouped({True: ["a", ("b", "c")], None: [7]}) == [
        ("a", True),
        ("b", "c", True),
        (7, None),
    ]
