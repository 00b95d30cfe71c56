"""What recorded answers of a language model make of changes in languages that no cue reads.

The pairs are those of ``benchmarks/languages.py``, the answers were given to the shipped prompt by
a model that saw nothing else. A prompt, a schema or a question that changes has no recording.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from benchmarks.languages import ANSWERS, changes, judged_memory
from benchmarks.natural import became
from tests.engines import embedded_engine
from tests.recordings import RecordedJudge, read_answers

SHARE_MIN = 0.85
LANGUAGES = ("German", "Spanish", "Japanese")
Became = dict[tuple[str, str], Counter[str]]


@pytest.fixture(scope="module")
def judge() -> RecordedJudge:
    return RecordedJudge(ANSWERS)


@pytest.fixture(scope="module")
def told(judge: RecordedJudge, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Became]:
    store = embedded_engine(tmp_path_factory.mktemp("languages")).settings_arguments
    counts: Became = {}
    with judged_memory(store, judge) as memory:
        for row in changes():
            of = counts.setdefault((row["set"], row["label"]), Counter())
            of[became(memory, row, judge)] += 1
        yield counts


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_change_replaces_is_superseded(told: Became, language: str) -> None:
    of = told[language, "change"]
    assert of["ended"] >= SHARE_MIN * of.total()


@pytest.mark.parametrize("language", LANGUAGES)
def test_of_two_notes_that_both_hold_none_is_ended(told: Became, language: str) -> None:
    assert told[language, "both"]["ended"] == 0


def test_every_question_has_an_answer_and_every_answer_a_question(
    told: Became, judge: RecordedJudge
) -> None:
    assert judge.missing == {}, "record again: python -m benchmarks.record_languages"
    assert judge.used == read_answers(ANSWERS).keys()
