"""One reading of a text: where its sentences end, and where they only seem to."""

from __future__ import annotations

import time

from hypothesis import given, strategies as st

from reconciler.reading.text_reading import read_text
from tests.tables import every


def sentences(text: str) -> list[str]:
    return [sentence.text for sentence in read_text(text).sentences]


@every(
    "text",
    [
        "If the U.S. deal closes, I work at Globex.",
        "If Dr. Patel agrees, I would move to Pune.",
        "Bring tea, e.g. green tea, at 3 p.m. sharp.",
        "J. R. Smith met Acme Inc. in the U.K. office.",
        "No. 5 costs 3.50 EUR at example.com, vs. 4.20 elsewhere.",
        "Lives in St. Louis near Mt. Hood.",
        "She works for Acme Corp. Berlin.",
        'He said "Stop!" and left.',
        "Well... maybe… later.",
        "If the deal\ncloses, I work at Globex.",
        "If the deal closes,\nI work at Globex.",
        "Look at https://a.test/?q=1 or a.txt.",
    ],
)
def test_it_is_one_sentence(text: str) -> None:
    assert sentences(text) == [text]


@every(
    ("text", "parts"),
    [
        ("I moved to the U.S. I work at Globex.", ["I moved to the U.S.", "I work at Globex."]),
        ("We met at 3 p.m. My wife came.", ["We met at 3 p.m.", "My wife came."]),
        ("No. I live in Pune.", ["No.", "I live in Pune."]),
        ("i live in pune. i work at globex", ["i live in pune.", "i work at globex"]),
        ("Hi!Now I live in Rome.", ["Hi!", "Now I live in Rome."]),
        ('"Who?" (Ana!) Yes.', ['"Who?"', "(Ana!)", "Yes."]),
        ("- tea\n2. rum\r\n(3) gin", ["tea", "rum", "gin"]),
        ("name: ana\ncity: pune", ["name: ana", "city: pune"]),
        ("我住在东京。我叫安娜！", ["我住在东京。", "我叫安娜！"]),
        ("मैं पुणे में हूँ। ठीक है", ["मैं पुणे में हूँ।", "ठीक है"]),
        ("Wait... Now?! Yes", ["Wait...", "Now?!", "Yes"]),
    ],
)
def test_it_is_several(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts


@given(
    st.text()
    | st.lists(st.sampled_from([".", "\r\n", " ", "a", "Dr", "U.S", '"', "1", "I"])).map("".join)
)
def test_every_sentence_stands_where_it_says_and_no_letter_is_lost(text: str) -> None:
    reading = read_text(text)
    assert all(text[each.start : each.end] == each.text for each in reading.sentences)
    told = sum(letter.isalpha() for each in reading.sentences for letter in each.text)
    assert told == sum(map(str.isalpha, text))
    assert len(reading.small) == len(reading.plain)


@every("piece", [".", ". ", 'a."', "\n", "a\n", "1. ", "(", "。", " ", "a.b."])
def test_a_long_text_costs_as_it_is_long(piece: str) -> None:
    started = time.process_time()
    assert read_text(piece * 20_000).sentences is not None
    assert time.process_time() - started < 5.0


def test_a_text_is_read_once() -> None:
    assert read_text("Lives in Pune.") is read_text("Lives in Pune.")
