"""Where turns belong that are handed over again, as a window, or as what is new alone."""

from __future__ import annotations

from reconciler.domain.sessions.extraction import place_in, shared_at_the_end
from tests.tables import every


@every(
    ("kept", "given", "place"),
    [
        ("", "ab", 0),
        ("ab", "ab", 0),
        ("ab", "abcd", 0),
        ("abcd", "cdef", 2),
        ("abcd", "d", 3),
        ("abcd", "de", 3),
        ("abcd", "ef", 4),
        ("abab", "ab", 2),
        ("aba", "aba", 0),
        ("ab", "a", 2),
        ("abc", "ab", 3),
        ("abcdefgh", "bcde", 1),
        ("abcdefgh", "bcd", 8),
        ("abcdef", "abXdefg", 0),
        ("abc", "aXcd", 0),
        ("abc", "aX", 3),
        ("aaa", "aaaa", 0),
        ("abba", "bax", 2),
    ],
)
def test_the_order_of_turns_says_where_they_belong(kept: str, given: str, place: int) -> None:
    assert place_in(kept, given) == place


@every(
    ("kept", "given", "count"),
    [
        ("abc", "abc", 3),
        ("abc", "abcd", 3),
        ("abc", "bcd", 2),
        ("abc", "cd", 1),
        ("abc", "d", 0),
        ("abc", "ab", 0),
        ("", "ab", 0),
    ],
)
def test_what_goes_on_begins_with_what_was_heard_last(kept: str, given: str, count: int) -> None:
    assert shared_at_the_end(kept, given) == count
