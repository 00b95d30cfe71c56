"""What trails behind a value is taken off it in a time that does not explode with its length."""

from __future__ import annotations

import time

import pytest

from reconciler.domain.values.slot_values import the_only


@pytest.mark.parametrize(
    ("value", "left"),
    [("Pune, now", "Pune"), ("Pune since last year.", "Pune"), ("Pune, , please !", "Pune")],
)
def test_trailing_words_and_marks_are_taken_off(value: str, left: str) -> None:
    assert the_only("trailing").sub("", value) == left


def test_many_marks_that_end_in_a_word_are_looked_at_once() -> None:
    started = time.process_time()
    the_only("trailing").sub("", "Pune" + " ," * 120 + "x")
    assert time.process_time() - started < 0.5
