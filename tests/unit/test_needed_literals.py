"""The literals that an expression needs: what a text that it matches always holds."""

from __future__ import annotations

import re

from hypothesis import given, strategies as st

from reconciler.reading.needed_literals import needed_literals
from tests.tables import every


@every(
    ("expression", "needed"),
    [
        ("tea", {"tea"}),
        ("tea|coffee", {"tea", "coffee"}),
        (r"\bte(?:a|as)? cup\b", {"te cup", "tea cup", "teas cup"}),
        (r"\w{2,9} cup", {" cup"}),
        ("(?:a|b)+ of [^.]{0,30} biscuits", {" biscuits"}),
        ("(?!tea)(?<!no )cof+ees", {"ees"}),
        ("(?=tea)[a-z]+", {"tea"}),
        ("colou?r", {"color", "colour"}),
        ("x{0,3}", set()),
        ("tea|.", set()),
        (r"\u00e9t\x65", {"\u00e9te"}),
        ("Gro\u00df", {"gross"}),
        ("[\"']q[\"']", {'"q"', "'q'", "\"q'", "'q\""}),
        (r"(?P<a>tea) \1 (?P=a)", {"tea "}),
        ("(?i:Tea)(?>s) *+now", {"teas"}),
        (r"\Atea\n\Z", {"tea\n"}),
        ("", set()),
    ],
)
def test_the_rarest_literals_are_needed(expression: str, needed: set[str]) -> None:
    assert needed_literals(expression) == needed


ATOMS = ("a", "b", "ab", " ", ".", r"\\w", "[ab]", "[^a]", r"\\.", r"\\b", "^", "(?=a)", "(?!b)")


def _more(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    in_a_row = st.lists(inner, max_size=4).map("".join)
    either = st.lists(in_a_row, min_size=1, max_size=3).map(lambda each: f"(?:{'|'.join(each)})")
    times = st.sampled_from(("?", "*", "+", "{2}", "{0,2}", "{1,3}?", "{,2}"))
    return in_a_row | either | st.tuples(either, times).map("".join)


@given(st.recursive(st.sampled_from(ATOMS), _more, max_leaves=12), st.text("ab. ", max_size=12))
def test_what_matches_holds_one_of_them(expression: str, text: str) -> None:
    needed = needed_literals(expression)
    if needed and re.search(expression, text):
        assert any(literal in text for literal in needed)


@every("expression", ["tea(", "tea)", "[[a]", "(?i)tea", "*tea", "(" * 50_000, "[" * 50_000])
def test_what_is_no_expression_needs_something_or_nothing(expression: str) -> None:
    assert isinstance(needed_literals(expression), frozenset)
