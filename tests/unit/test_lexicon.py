"""Lexicons: what a file may say, what an error tells its editor, and what is tried."""

from __future__ import annotations

import re
import time
import tomllib

import pytest
from hypothesis import given, strategies as st

from reconciler.errors import ConfigurationError
from reconciler.reading.lexicon import Cues, Lexicon, Literals, read_lexicon
from tests.tables import every

FILE = """
[lists]
drink = '''
tea
coffee
'''

[[order]]
pattern = '''
bring
 (?:me )?<drink>
'''

[[order]]
pattern = '(?P<what><drink>) now'
"""


def read(text: str) -> Lexicon:
    return read_lexicon("drinks.toml", tomllib.loads(text))


def cues(text: str = FILE) -> Cues:
    return Cues(read(text))


def test_a_name_in_a_pattern_stands_for_any_word_of_its_list() -> None:
    assert cues().pattern("order", 0).pattern == "bring(?:me )?(?:tea|coffee)"


def test_a_group_of_a_pattern_keeps_its_name() -> None:
    assert cues().pattern("order", 1).pattern == "(?P<what>(?:tea|coffee)) now"


def test_a_cue_is_tried_only_on_a_text_that_holds_what_it_needs() -> None:
    tried = cues().read("bring water").worth_trying("order")
    assert [cue.pattern for cue, _ in tried] == []


def test_a_cue_is_found_where_it_first_stands() -> None:
    found = cues().read("tea now, coffee now").first("order")
    assert found is not None
    assert found.span("what") == (0, 3)


def test_a_text_with_no_cue_has_none() -> None:
    assert cues().read("").first("order") is None


def test_nothing_is_compiled_before_a_text_holds_its_literal() -> None:
    broken = FILE.replace("bring", "bring[[a]")
    assert cues(broken).read("water now").first("order") is None


@every(
    ("old", "new", "said"),
    [
        ("pattern", "spelled", "drinks.toml: [[order]] number 1, pattern: Field required"),
        ("pattern", 'needs = "tea"\npattern', "[[order]] number 1, needs: "),
        ("'(?P<what><drink>) now'", "['now']", "drinks.toml: [[order]] number 2, pattern: "),
        ("drink = '''\ntea\ncoffee\n'''", "drink = 3", "drinks.toml: [lists] drink: "),
        ("[lists]", "[lists.all]", "drinks.toml: [lists] all: "),
    ],
)
def test_a_table_that_is_not_as_it_must_be_is_named(old: str, new: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        read(FILE.replace(old, new, 1))


@every("wrong", ["bring(", "bring[[a]"])
def test_a_pattern_that_is_no_regular_expression_is_named(wrong: str) -> None:
    said = "drinks.toml: [[order]] number 1: the pattern is not a regular expression"
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        cues(FILE.replace("bring", wrong)).pattern("order", 0)


def test_a_list_of_words_that_is_missing_is_named() -> None:
    with pytest.raises(ConfigurationError, match="add it"):
        cues(FILE.replace("<drink>)", "<food>)")).pattern("order", 1)


LISTED = """
[lists]
drink = '''
tea coffee
hot_<cold_drink>  iced_tea
'''
cold_drink = "milk"
"""


def test_a_list_of_cues_that_is_missing_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"no \[\[overide\]\]"):
        Cues(read(FILE), names=("order", "overide"))


def test_words_of_a_list_are_parted_by_a_space_and_have_spaces_of_their_own() -> None:
    assert read(LISTED).lists == {
        "drink": ("tea", "coffee", "hot <cold_drink>", "iced tea"),
        "cold_drink": ("milk",),
    }


# Literals: what a text may hold, all of them looked for at once


LITERALS = Literals((each, each) for each in ("mail", "i ", "my name", " at ", "n't", "last week"))


@every(
    ("text", "held"),
    [
        ("e-mailed", {"mail"}),
        ("don't", {"n't"}),
        ("hi there", {"i "}),
        ("i", set()),
        ("my named", {"my name"}),
        ("my own name", set()),
        ("at last week at home", {" at ", "last week"}),
        ("the last\nweek", set()),
    ],
)
def test_a_literal_is_held_wherever_it_stands(text: str, held: set[str]) -> None:
    assert LITERALS.held(text) == held


@given(st.text("abc ", max_size=30), st.lists(st.text("abc ", min_size=1).filter(str.strip)))
def test_all_literals_of_a_text_are_found(text: str, literals: list[str]) -> None:
    assert Literals((each, each) for each in literals).held(text) == {
        each for each in literals if each in text
    }


def test_a_word_without_end_and_half_a_letter_are_looked_through() -> None:
    assert LITERALS.held("mail" * 50_000) == {"mail"}
    assert LITERALS.held("\ud800 e-mail \udfff") == {"mail"}


@every("unclosed", ["[" * 30_000, "[" * 30_000 + "\\"])
def test_a_set_that_nothing_closes_is_looked_through_once(unclosed: str) -> None:
    started = time.process_time()
    assert read_lexicon("drinks.toml", {}).written_out(unclosed) == unclosed
    assert time.process_time() - started < 0.5
