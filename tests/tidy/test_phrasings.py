"""Phrasings and frames of attributes as tests: each reads its hits, and none of its misses."""

from __future__ import annotations

import re
import re._parser as parser
import time

import pytest

from reconciler.config_files import load_attribute_book
from reconciler.domain.values.attributes import Attribute, AttributeBook
from reconciler.lexicon import Cue
from tests.tidy.test_lexicons import _is_needed

BOOK = load_attribute_book(None)
CUES = BOOK.reader.cues
PLACES = [(each.name, number) for each in BOOK for number in range(len(each.phrasings))]
VALUE = re.compile(r"\[([^\]]+)\]")


def _cue(name: str, number: int) -> Cue:
    return CUES.cue(name, number)


def _told(attribute: Attribute, key: str) -> list[str]:
    """The texts that stand under a key of the attribute's phrasings and frames."""
    tables = (*attribute.phrasings, *attribute.frames)
    assert all(table[key] for table in tables)
    return [text for table in tables for text in table[key]]


@pytest.mark.parametrize("attribute", list(BOOK), ids=lambda each: each.name)
def test_the_value_of_each_hit_is_read(attribute: Attribute) -> None:
    for hit in _told(attribute, "hits"):
        read, value = BOOK.read_slot(VALUE.sub(r"\1", hit)), VALUE.search(hit)
        assert value
        assert read, hit
        assert (read.attribute, read.value) == (attribute.name, value[1])


@pytest.mark.parametrize("attribute", list(BOOK), ids=lambda each: each.name)
def test_nothing_is_read_out_of_a_miss(attribute: Attribute) -> None:
    for text in _told(attribute, "misses"):
        read = BOOK.read_slot(text)
        assert read is None or read.attribute != attribute.name, text


@pytest.mark.parametrize(("name", "number"), PLACES)
def test_no_text_without_what_a_phrasing_needs_can_match_it(name: str, number: int) -> None:
    pattern = CUES.pattern(name, number)
    literals = list(_cue(name, number).literals)
    assert literals
    assert _is_needed(parser.parse(pattern.pattern, pattern.flags), literals)


def test_every_shipped_attribute_can_be_read() -> None:
    unread = {each.name for each in BOOK if not each.phrasings and not each.frames}
    assert unread == {"country", "region"}
    assert [BOOK.read_slot(f"Lives in {each}.").attribute for each in ("Spain", "Ohio")] == [  # type: ignore[union-attr]
        "country",
        "region",
    ]


ENDLESS = [
    "She lives in " + "Aa " * 190,
    "a" * 600,
    "She is " + "very " * 110,
    "moved from " * 54,
    "1" * 599,
    "Her budget was cut from " + "1," * 280,
    "now, " * 119,
    ", and " * 99,
    "Works as a " + "senior " * 80,
    "A@" * 299,
    "prefers to be contacted by " * 22,
    "She has the " + "A-" * 280,
]


@pytest.mark.parametrize("text", ENDLESS, ids=range(len(ENDLESS)))
def test_no_text_runs_away(text: str) -> None:
    BOOK.read_slot("Lives in Pune.")
    pieces = [text[:238], text]
    began = time.process_time()
    for each in pieces:
        BOOK.read_slot(each)
    assert time.process_time() - began < 5  # every phrasing may be compiled meanwhile


def test_every_phrasing_ends_quickly_on_a_text_of_its_own_words() -> None:
    began = time.process_time()
    for name, number in PLACES:
        pattern = CUES.pattern(name, number)
        for hit in _cue(name, number).hits:
            said = VALUE.sub(r"\1", hit)
            for text in ((said + " ") * 8, said[:-4] + " Aa" * 60, said[:-4] + " of" * 60):
                pattern.match(text[:240])
    assert time.process_time() - began < 30


def test_an_attribute_of_ones_own_is_read_by_ones_own_phrasings() -> None:
    phrasing = {"pattern": "(?:sits|likes to sit) by the (?P<value>window|aisle)", "hits": []}
    own = AttributeBook.from_mapping(
        {"seat_side": {"description": "d", "holds": "one", "phrasings": [phrasing]}}
    )
    read = BOOK.merged_with(own).read_slot("Sits by the window.")
    assert read
    assert (read.attribute, read.value) == ("seat_side", "window")
