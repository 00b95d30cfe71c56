"""The benchmark of contradicting facts: what it reads, and what comes of a small list."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.chains import Chains, newest_by_words
from benchmarks.consolidation import (
    MODES,
    Asked,
    FactFileError,
    Mode,
    Told,
    answers,
    fact_list,
    read_rows,
    tell,
)
from benchmarks.invented_facts import invented_row
from tests.engines import embedded_engine
from tests.tables import every

ROW = {
    "context": "Here is a list of facts:\n0. The capital of Oria is Ulm. \n1. Ada was born in the "
    "city of Bo.\n2. The capital of Oria is Pell Inc..\n10. Nothing else holds.\n9. Ada's child is "
    "Jo.\n",
    "questions": ["What is the capital of Oria?"],
    "answers": [["Pell Inc.", "Pell"]],
    "metadata": {"source": "factconsolidation_sh_6k"},
}
Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(text: str) -> Path:
        path = tmp_path / "facts"
        path.write_text(text, encoding="utf-8")
        return path

    return _write


@pytest.mark.parametrize(
    "text", [json.dumps([ROW]), json.dumps(ROW, indent=1), json.dumps(ROW) + "\n\n"]
)
def test_rows_are_read_from_a_list_an_object_or_lines(write: Write, text: str) -> None:
    assert read_rows(write(text)) == [ROW]


def test_facts_are_told_in_the_order_of_their_numbers() -> None:
    listed = fact_list([ROW], "any")
    assert [told.text for told in listed.facts] == [
        "The capital of Oria is Ulm.",
        "Ada was born in the city of Bo.",
        "The capital of Oria is Pell Inc..",
        "Ada's child is Jo.",
        "Nothing else holds.",
    ]
    assert listed.questions == (Asked("What is the capital of Oria?", ("Pell Inc.", "Pell")),)
    assert listed.stale == {"The capital of Oria is Ulm."}


@every(
    ("text", "parts"),
    [
        ("The capital of Oria is Pell Inc..", ("Oria", "Pell Inc")),
        ("The headquarters of Is & Co is located in the city of Ulm.", ("Is & Co", "Ulm")),
        ("Ada's child is Jo.", ("Ada", "Jo")),
        ("The name of the current head of the Orian government is Jo.", ("Orian", "Jo")),
        ("The harbour master of Oria is Jo.", ("Oria", "Jo")),
        ("Nothing else holds.", None),
    ],
)
def test_a_fact_is_taken_apart_by_its_frame(text: str, parts: tuple[str, str] | None) -> None:
    found = Told(text).parts
    assert (found and (found[0], found[2])) == parts


HOPS = (
    "0. Ada is married to Bo.\n1. Bo was born in the city of Ulm.\n2. Ada is married to Cy.\n3. Cy \
was born in the city of Pell.\n4. Cy's child is Di.\n"
)


def test_a_chain_goes_through_the_newest_facts_alone() -> None:
    listed = fact_list([ROW | {"context": HOPS}], "any")
    ask = "Where was the spouse of Ada born?"
    chain = Chains(listed).chain(Asked(ask, ("Pell",)))
    assert [told.asked for told in chain] == ["Ada is married to", "Cy was born in the city of"]
    assert Chains(listed).chain(Asked(ask, ("Ulm",))) == ()
    assert Chains(listed).chain(Asked("Where was he born?", ("Pell",))) == ()


def test_a_naive_reader_takes_the_newest_fact_with_most_words_of_the_question() -> None:
    listed = fact_list([ROW | {"context": HOPS}], "any")
    assert newest_by_words(listed, Asked("Who is Ada married to?", ())) == "Cy"
    assert newest_by_words(listed, Asked("In which city was Cy born?", ())) == "Pell"
    assert newest_by_words(listed, Asked("Who is Eve?", ())) == ""


def test_an_answer_is_compared_but_for_case_punctuation_and_articles() -> None:
    question = Asked("", ("The Last Jor, Inc.",))
    assert answers("last jor inc", question)
    assert not answers("Last Jor", question)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "is empty"),
        ("  \n", "is empty"),
        ("PAR1 and so on", "needs pyarrow"),
        ("question,answer", "line 1 is not JSON"),
        ("[]", "holds no rows"),
        ("[1, 2]", "holds no rows"),
        ('{"a": 1}\n{"b"', "line 2 is not JSON"),
    ],
)
def test_a_file_without_rows_is_refused(
    write: Write, monkeypatch: pytest.MonkeyPatch, text: str, error: str
) -> None:
    monkeypatch.setattr("benchmarks.consolidation.find_spec", lambda _: None)
    with pytest.raises(FactFileError, match=error):
        read_rows(write(text))


def test_a_file_that_is_missing_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FactFileError, match="cannot be read: No such file"):
        read_rows(tmp_path / "none")
    with pytest.raises(FactFileError, match="cannot be read: Is a directory"):
        read_rows(tmp_path)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FactFileError, match="neither Parquet nor text in UTF-8"):
        read_rows(tmp_path / "bytes")


@every(
    ("changed", "error"),
    [
        ({"context": None}, "no numbered lines"),
        ({"context": "Here is a list of facts:\n"}, "no numbered lines"),
        ({"questions": []}, "0 questions and 1 answers"),
        ({"questions": ["One?", "Two?"]}, "2 questions and 1 answers"),
        ({"questions": None}, "are no lists"),
        ({"questions": [""]}, "question 1 has no text or no answer"),
        ({"answers": [[]]}, "question 1 has no text or no answer"),
        ({"answers": [None]}, "question 1 has no text or no answer"),
    ],
)
def test_a_row_without_facts_or_a_question_is_refused(changed: dict[str, Any], error: str) -> None:
    with pytest.raises(FactFileError, match=error):
        fact_list([ROW | changed], "any")


def test_a_row_of_another_split_is_refused_and_so_is_a_name_that_none_has() -> None:
    with pytest.raises(FactFileError, match=r"has no questions, answers; is it of Conflict"):
        fact_list([{"context": "0. A is B."}], "any")
    others = [ROW | {"metadata": {"source": name}} for name in ("one", "two")]
    with pytest.raises(FactFileError, match="no row factconsolidation_sh_6k; there are one, two"):
        fact_list(others, "factconsolidation_sh_6k")
    assert fact_list(others, "two").source == "two"


def test_an_invented_row_has_the_format_and_no_answer_that_a_later_fact_denies() -> None:
    row = invented_row(1)
    listed = fact_list([row], "any")
    newest = {told.about: told.value for told in listed.facts}
    assert (len(listed.facts), len(listed.stale), len(listed.questions)) == (450, 160, 100)
    assert all(told.parts for told in listed.facts)
    assert invented_row(1) == row
    for question in listed.questions:
        assert any(answers(value, question) for value in newest.values())


def test_a_small_list_is_told_in_each_mode_and_asked_about(tmp_path: Path) -> None:
    listed = fact_list([invented_row(7, facts=16, conflicts=6, questions=6)], "any")
    assert len(listed.stale) == 6
    bounded = Mode("", has_judge=True, arbiter={"calls_per_minute_max": 3}, has_budget=True)
    plain, judged, slots, left_unjudged, rejudged = (
        outcome
        for number, mode in enumerate((MODES[0], MODES[2], MODES[-1], bounded))
        for outcome in tell(
            embedded_engine(tmp_path / str(number)).settings_arguments, listed, mode
        )
    )
    assert (plain.asked, slots.asked) == (0, 0)
    assert judged.asked > 5
    assert rejudged.became["later amended"] > 2
    assert left_unjudged.stale_live > 0
    assert plain.stale_live > 3
    assert (judged.stale_live, slots.stale_live, rejudged.stale_live) == (0, 0, 0)
    assert [len(outcome.wrong) <= 1 for outcome in (judged, slots, rejudged)] == [True] * 3
