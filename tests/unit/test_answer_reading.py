"""What a model said, read as an answer: what is understood, and what is not guessed."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from reconciler.adapters import model_arbiter, model_extractor
from reconciler.adapters.answer_reading import (
    LaxBool,
    LaxInt,
    UnreadableAnswerError,
    read_answer,
    word_of,
)
from tests.tables import every


class Word(StrEnum):
    SAME = "same"
    OTHER = "OTHER"


class Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    word: Annotated[Word, word_of(Word)]
    number: Annotated[int | None, LaxInt]
    share: Annotated[float, LaxInt] = Field(ge=0, le=1)
    holds: Annotated[bool | None, LaxBool] = None


FIELDS: dict[str, Any] = {"word": "same", "number": 2, "share": 0.9}
TEXT = json.dumps(FIELDS)
ANSWER = Answer(word=Word.SAME, number=2, share=0.9)


@every(
    "text",
    [
        TEXT,
        f"\n {TEXT}\n",
        f"```json\n{TEXT}\n```",
        f"```\n{TEXT}\n```",
        f"Here is my answer:\n{TEXT}",
        f"Here is my answer: {TEXT}",
        f"Here it is: ```{TEXT}```",
        f"[Fact 2] is the {{closest}}.\n\n{json.dumps(FIELDS, indent=2)}",
        f"{TEXT}\n{TEXT}",
        f'<think>Maybe {{"word": "OTHER"}}.\n{TEXT.replace("2", "3")}</think>\n{TEXT}',
        f"<think>{'{[' * 20}</think>\n{TEXT}",
        f"{'{[' * 20}</think>\n{TEXT}",
        f"<think>I end this with </think> and\n{TEXT[:-1]}</think>{TEXT}",
        f"Voilà : {TEXT}",
    ],
)
def test_what_stands_around_an_answer_is_passed_over(text: str) -> None:
    assert read_answer(text, Answer) == ANSWER


@every(
    ("field", "given", "read"),
    [
        ("word", "SAME", "same"),
        ("word", " other ", "OTHER"),
        ("number", "2", 2),
        ("number", "null", None),
        ("number", "None", None),
        ("number", "", None),
        ("number", 2.0, 2),
        ("share", "0.9", 0.9),
        ("share", 1, 1.0),
        ("holds", "true", True),
        ("holds", "No", False),
        ("holds", "null", None),
    ],
)
def test_a_value_in_other_clothes_is_understood(field: str, given: Any, read: Any) -> None:
    assert getattr(read_answer(json.dumps(FIELDS | {field: given}), Answer), field) == read


@every(
    ("field", "given"),
    [
        ("word", "similar"),
        ("word", None),
        ("number", True),
        ("number", 1.5),
        ("number", "two"),
        ("share", "high"),
        ("share", True),
        ("share", None),
        ("share", "90"),
        ("share", float("nan")),
        ("holds", "at times"),
    ],
)
def test_what_could_mean_something_else_is_not_guessed(field: str, given: Any) -> None:
    with pytest.raises(UnreadableAnswerError, match=field):
        read_answer(json.dumps(FIELDS | {field: given}), Answer)


@every(
    ("text", "fault"),
    [
        ("", "no whole JSON object"),
        ("They look alike to me.", "no whole JSON object"),
        (TEXT[:-1], "no whole JSON object"),
        (f"[{TEXT}]", "no whole JSON object"),
        (f"The note says {TEXT}, which is an order.", "no whole JSON object"),
        (f"The note says:\n{TEXT}\nThat is an order, which I decline.", "no whole JSON object"),
        (f"{TEXT} I hope that helps.", "no whole JSON object"),
        (f"```json\n{TEXT}\n```\nI hope that helps.", "no whole JSON object"),
        (f'["</think>", {TEXT}]', "no whole JSON object"),
        (f"{TEXT}\n{json.dumps(FIELDS | {'number': 3})}", "several answers"),
        ("{}", "word"),
        ("<html><body>Sign in {here}</body></html>", "no whole JSON object"),
        ("{" * 5000 + TEXT, "no whole JSON object"),
        ('{"a":' * 5000, "no whole JSON object"),
        ("[" * 100_000, "no whole JSON object"),
    ],
)
def test_where_there_is_no_one_answer_the_fault_is_named(text: str, fault: str) -> None:
    with pytest.raises(UnreadableAnswerError, match=fault):
        read_answer(text, Answer)


@every("said", [{"word": "Born in Ulm"}, {"Born in Ulm": 1}])
def test_a_fault_does_not_repeat_what_was_said(said: dict[str, Any]) -> None:
    with pytest.raises(UnreadableAnswerError) as raised:
        read_answer(json.dumps(FIELDS | said), Answer)
    assert "Ulm" not in str(raised.value)


class WordsAnswer(BaseModel):
    words: list[str]


def test_a_fault_names_fields_and_places_in_a_list_and_no_other_key() -> None:
    with pytest.raises(UnreadableAnswerError, match=r"words\.1: Input should be a valid string"):
        read_answer('{"words": ["a", 2]}', WordsAnswer)
    with pytest.raises(UnreadableAnswerError, match=r"\(a field that was not asked for\): "):
        read_answer(json.dumps(FIELDS | {"Born in Ulm": "x"}), Answer)


@pytest.mark.parametrize("shape", [model_arbiter.ANSWER_SHAPE, model_extractor.ANSWER_SHAPE])
def test_no_shape_of_an_answer_has_a_map_of_free_keys(shape: type[BaseModel]) -> None:
    assert 'additionalProperties": {' not in json.dumps(shape.model_json_schema())


@every("word", ["</think>", "<think>a</think> b", "</think>{[</think>"])
@every("form", ["{}", "```json\n{}\n```", "Here it is: {}", "<think>Hm.</think>{}"])
def test_an_answer_may_cite_the_end_of_a_thought(word: str, form: str) -> None:
    said = form.replace("{}", json.dumps({"words": [word]}))
    assert read_answer(said, WordsAnswer).words == [word]


def test_half_a_character_is_replaced_and_a_whole_one_kept() -> None:
    said = r'{"words": ["a\ud800b", "\udc00", "\ud83d\ude00"]}'
    assert read_answer(said, WordsAnswer).words == ["a?b", "?", "😀"]
