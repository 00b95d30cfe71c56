"""How words are compared: by their stems, the rare ones for more."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator

import bm25s
import numpy as np
import pytest
from hypothesis import given, strategies as st

from reconciler.reading.question_words import WordIndex, content_words
from tests.tables import every

VOCABULARY = (
    "tea",
    "coffee",
    "likes",
    "liked",
    "boat",
    "invoice",
    "Pune",
    "unpaid",
    "oboe",
    "cats",
)


@every(
    ("text", "expected"),
    [
        ("Where does she live?", ["live"]),
        ("Lives in the Hauptstraße", ["live", "hauptstrass"]),
        ("ｅｍａｉｌ, EMAIL", ["email", "email"]),
        ("who is it", []),
        ("", []),
    ],
)
def test_words_are_compared_by_stem_without_those_that_say_nothing(
    text: str, expected: list[str]
) -> None:
    assert content_words(text) == expected


def test_a_word_that_few_texts_hold_tells_more_than_one_that_many_do() -> None:
    found = WordIndex(["Likes tea", "Likes coffee", "Likes Bianchi bikes"]).matches("likes bianchi")
    assert found.scores[2] > found.scores[0] == found.scores[1] > 0
    assert found.shares[2] == pytest.approx(1.0)
    assert found.shares[0] < 0.5


def test_a_word_that_no_text_holds_counts_against_all() -> None:
    index = WordIndex(["Likes tea", "Drives a car"])
    assert index.matches("tea").shares[0] == pytest.approx(1.0)
    assert index.matches("tea in Reykjavik").shares[0] < 0.5


@every("question", ["", "???", "who is it", "Reykjavik"])
def test_a_question_without_a_known_word_matches_nothing(question: str) -> None:
    found = WordIndex(["Likes tea", "is it"]).matches(question)
    assert (found.scores.tolist(), found.shares.tolist()) == ([0, 0], [0, 0])


CUSTOMER = [
    "Invoice SL-204 is open.",
    "Clem wants an aisle seat.",
    "Cost centre 4711 pays.",
    "Tea.",
]


@every(
    ("question", "named"),
    [
        ("What became of SL-204 in the end?", [0]),
        ("is sl-204 paid?", [0]),
        ("What is on 4711?", [2]),
        ("Where does Clem sit?", [1]),
        ("lake quote SL-204, seat", [0, 1]),
        ("Where is SL-205?", []),
        ("How many seats are free?", []),
        ("Is anything due in May?", []),
        ("Where is the seat of the firm?", []),
    ],
)
def test_a_number_a_name_and_a_keyword_name_what_holds_them(
    question: str, named: list[int]
) -> None:
    texts = [*CUSTOMER, *(f"Box {n} arrived in May" for n in range(8))]
    assert np.flatnonzero(WordIndex(texts).matches(question).named).tolist() == named


@every(("held", "count"), [(3, 3), (4, 0)])
def test_a_number_that_many_texts_hold_names_none(held: int, count: int) -> None:
    texts = ["Order SL-204 came"] * held + ["Tea"] * 9
    assert WordIndex(texts).matches("Where is SL-204?").named.sum() == count


def test_each_number_and_name_of_a_question_is_counted() -> None:
    texts = ["Invoice 4711 is Dele's", "Invoice 4712 is Dele's", "Tea"]
    assert WordIndex(texts).matches("Is 4711 from Dele?").named.tolist() == [2, 1, 0]


def test_what_fits_one_thing_of_a_list_fits_more_than_as_part_of_a_sentence() -> None:
    index = WordIndex(["Has a bad knee", "Likes tea", "Likes coffee"])
    listed, said = (
        index.matches(each).shares[0] for each in ("knee, long hikes", "knee long hikes")
    )
    assert said < listed <= 1


@every("texts", [[], ["who is it"], ["...", "???"]])
def test_texts_without_a_word_match_nothing(texts: list[str]) -> None:
    assert WordIndex(texts).matches("tea").scores.tolist() == [0] * len(texts)


@given(
    st.lists(st.lists(st.sampled_from(VOCABULARY), max_size=12).map(" ".join), max_size=40),
    st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=6).map(" ".join),
)
def test_scores_are_those_of_the_library(texts: list[str], asked: str) -> None:
    told = [content_words(text) for text in texts]
    known = {word for words in told for word in words}
    wanted = [word for word in dict.fromkeys(content_words(asked)) if word in known]
    expected = np.zeros(len(texts))
    if wanted:
        library = bm25s.BM25()
        library.index(told, show_progress=False)
        expected = library.get_scores(wanted)
    assert WordIndex(texts).matches(asked).scores == pytest.approx(expected, rel=1e-5)


@given(
    st.lists(st.tuples(st.sampled_from(VOCABULARY), st.booleans(), st.booleans()), max_size=20),
    st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=6).map(" ".join),
)
def test_texts_that_come_later_count_and_those_that_are_left_out_do_not(
    texts: list[tuple[str, bool, bool]], asked: str
) -> None:
    index = WordIndex([])
    for text, _, is_asked_meanwhile in texts:
        index.add(text)
        if is_asked_meanwhile:
            index.matches(asked)
    rows = np.array([row for row, (_, is_there, _) in enumerate(texts) if is_there], dtype=np.intp)
    found = index.matches(asked, rows)
    expected = WordIndex([texts[row][0] for row in rows]).matches(asked)
    assert found.scores.tolist() == expected.scores.tolist()
    assert found.shares.tolist() == expected.shares.tolist()


def test_reading_that_is_interrupted_begins_again() -> None:
    class Texts:
        is_interrupted = True

        def __iter__(self) -> Iterator[str]:
            yield "Likes tea"
            if self.is_interrupted:
                self.is_interrupted = False
                raise KeyboardInterrupt
            yield "Likes coffee"

    index = WordIndex(Texts())
    with pytest.raises(KeyboardInterrupt):
        index.matches("coffee")
    assert index.matches("coffee").scores.tolist() == (
        WordIndex(["Likes tea", "Likes coffee"]).matches("coffee").scores.tolist()
    )


@given(st.lists(st.text(max_size=30), max_size=5), st.text(max_size=30))
def test_any_text_can_be_asked_and_shares_lie_from_0_to_1(texts: list[str], asked: str) -> None:
    found = WordIndex(texts).matches(asked)
    assert all(0 <= share <= 1 + 1e-9 for share in found.shares)
    assert all(
        (score > 0) == (share > 0) for score, share in zip(found.scores, found.shares, strict=True)
    )


def test_many_words_make_nothing_that_the_garbage_collector_counts() -> None:
    texts = [f"Invoice {number} is unpaid" for number in range(2_000)]
    WordIndex(texts).matches("unpaid")
    before = len(gc.get_objects())
    index = WordIndex(texts)
    index.matches("unpaid")
    assert len(gc.get_objects()) - before < 500


def test_what_recall_reads_words_with_loads_neither_scipy_nor_bm25s() -> None:
    """They take 140 ms, for a list of stop words."""
    read = (
        "from reconciler.reading.question_words import WordIndex; WordIndex(['tea']).matches('t')"
    )
    check = f"import sys; {read}; print({{'scipy', 'bm25s'}} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert told.stdout == "set()\n"
