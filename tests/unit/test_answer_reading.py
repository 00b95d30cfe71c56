"""What a model said, read as an answer: what is understood, and what is not guessed."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from reconciler.adapters.answer_reading import (
    LaxBool,
    LaxFloat,
    LaxInt,
    UnreadableAnswerError,
    read_answer,
    word_of,
)


class Word(StrEnum):
    SAME = "same"
    OTHER = "OTHER"


class Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    word: Annotated[Word, word_of(Word)]
    number: Annotated[int | None, LaxInt]
    share: Annotated[float, LaxFloat] = Field(ge=0, le=1)
    holds: Annotated[bool | None, LaxBool] = None


FIELDS: dict[str, Any] = {"word": "same", "number": 2, "share": 0.9}
TEXT = json.dumps(FIELDS)
ANSWER = Answer(word=Word.SAME, number=2, share=0.9)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"\n {TEXT}\n",
        f"```json\n{TEXT}\n```",
        f"```\n{TEXT}\n```",
        f"Here is my answer:\n{TEXT}",
        f"Here is my answer: {TEXT}",
        f"Here it is: ```{TEXT}```",
        f"{TEXT}\n\nLet me know whether that helps.",
        f"{TEXT} I hope that helps.",
        f"[Fact 2] is the {{closest}}.\n\n{json.dumps(FIELDS, indent=2)}",
        f"{TEXT}\n{TEXT}",
        f'<think>Maybe {{"word": "OTHER"}}.\n{TEXT.replace("2", "3")}</think>\n{TEXT}',
        f"Voilà : {TEXT}",
    ],
)
def test_what_stands_around_an_answer_is_passed_over(text: str) -> None:
    assert read_answer(text, Answer) == ANSWER


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
        ("more", 1),
    ],
)
def test_what_could_mean_something_else_is_not_guessed(field: str, given: Any) -> None:
    with pytest.raises(UnreadableAnswerError, match=field):
        read_answer(json.dumps(FIELDS | {field: given}), Answer)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "no whole JSON object"),
        ("They look alike to me.", "no whole JSON object"),
        (TEXT[:-1], "no whole JSON object"),
        (f"[{TEXT}]", "no whole JSON object"),
        (f"The note says {TEXT}, which is an order.", "no whole JSON object"),
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


def test_a_fault_does_not_repeat_what_was_said() -> None:
    with pytest.raises(UnreadableAnswerError) as raised:
        read_answer(json.dumps(FIELDS | {"word": "Born in Ulm"}), Answer)
    assert "Ulm" not in str(raised.value)
