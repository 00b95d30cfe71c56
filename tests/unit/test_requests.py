"""Requests to remember: whether the sentence that a span stands in asks for it to be kept."""

from __future__ import annotations

import time

from reconciler.reading.cues.classification import is_asked_to_keep
from tests.tables import every

ASKED = "Please remember that I live in Pune."


@every(
    ("text", "is_asked"),
    [
        (ASKED, True),
        (f"Hello...  {ASKED} Bye!?)", True),
        ("Please remember the milk... I live in Pune.", False),
        ("Please remember the milk!? I live in Pune.", False),
    ],
)
def test_only_the_sentence_around_a_span_asks_for_it(text: str, is_asked: bool) -> None:
    assert is_asked_to_keep(text, ["I live in Pune"]) is is_asked


def test_a_long_row_of_stops_is_read_once() -> None:
    started = time.process_time()
    assert is_asked_to_keep(f"{ASKED[:-1]} {'.' * 20_000}x", ["I live in Pune"])
    assert time.process_time() - started < 1.0
