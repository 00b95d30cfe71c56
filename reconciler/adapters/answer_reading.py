"""Reads a model's words as the answer that it was asked for.

Without a schema a model may put a fence around its JSON, a sentence before it, a number in
quotation marks, or a word in capitals. All that is understood; missing or ambiguous parts are never
guessed.
"""

from __future__ import annotations

import json
import re
from enum import StrEnum
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from reconciler.frozen import Json

_TRIES_MAX = 20
"""The most braces tried as the beginning of an object; a text with more braces is not an answer
with a remark."""

_NOT_ASKED_FOR = "(a field that was not asked for)"
_THOUGHT_ENDS = "</think>"
_BEGIN = re.compile(r"[{\[]")
_DECODER = json.JSONDecoder()

AnswerT = TypeVar("AnswerT", bound=BaseModel)

_WORDS_FOR_NULL = {"", "none", "null"}


class UnreadableAnswerError(Exception):
    """The model's answer does not have the requested form; the text names the fault."""


def read_answer(text: str, shape: type[AnswerT]) -> AnswerT:
    """Return the one answer at the end of the text; any other text may come before it.

    Raises:
        UnreadableAnswerError: the text ends without one, or holds several that differ.
    """
    objects = _objects(text)
    if not objects:
        raise UnreadableAnswerError(
            "not what was asked for: there is no whole JSON object at the end of the reply"
        )
    answers: list[AnswerT] = []
    fault = ""
    for candidate in objects:
        try:
            answer = shape.model_validate(_encodable(candidate))
        except ValidationError as error:
            fault = fault or fault_of(error)
        else:
            answers += [answer] if answer not in answers else []
    if len(answers) > 1:
        raise UnreadableAnswerError(
            "not what was asked for: the reply holds several answers that differ"
        )
    if not answers:
        raise UnreadableAnswerError(f"not what was asked for: {fault}")
    return answers[0]


def fault_of(error: ValidationError) -> str:
    """The first fault and its place, without the answer's words.

    A key that was not asked for may be the answer's word, so it is not repeated; no shape has a map
    of free keys.
    """
    first = error.errors(include_url=False, include_input=False)[0]
    parts = list(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        parts[-1] = _NOT_ASKED_FOR
    return f"{'.'.join(parts) or 'the answer'}: {first['msg']}"


def _encodable(answer: Json) -> Any:
    """Answer without half surrogate pairs, which JSON can write but no store can keep."""
    try:
        return json.loads(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError:
        return {}


def _objects(text: str) -> list[Json]:
    """The JSON objects that begin a line, and the one that ends the text; empty without that one.

    A model that thinks aloud may draft an answer in its thoughts, so the text after them is read
    first. But an answer may quote the words that end a thought.
    """
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        spoken = (text.partition(_THOUGHT_ENDS)[2], text.rpartition(_THOUGHT_ENDS)[2], text)
        return next(filter(None, map(_objects_up_to_the_end, spoken)), [])
    return [whole] if isinstance(whole, dict) else []


def _objects_up_to_the_end(text: str) -> list[Json]:
    """The JSON objects that begin a line, up to the object that ends the text.

    A part of a list does not count. An object inside a sentence is a quotation, and so is one with
    words after it: it may come from the note, and the words may say so.
    """
    objects: list[Json] = []
    at = 0
    for _ in range(_TRIES_MAX):
        begin = _BEGIN.search(text, at)
        if begin is None:
            break
        try:
            value, at = _DECODER.raw_decode(text, begin.start())
        except (ValueError, RecursionError):
            at = begin.end()
            continue
        ends_text = not text[at:].strip("`\r\n\t ")
        begins_line = not text[: begin.start()].rpartition("\n")[2].strip()
        if isinstance(value, dict):
            objects += [value] if begins_line or ends_text else []
            if ends_text:
                return objects
    return []


def _null(given: Any) -> Any:
    """Read null, also from a word for null.

    Pydantic itself reads numbers and booleans from strings.
    """
    word = given.strip() if isinstance(given, str) else given
    return None if isinstance(word, str) and word.lower() in _WORDS_FOR_NULL else word


def _number(given: Any) -> Any:
    """A number, also from a string; a boolean, which Python counts as a number, is refused."""
    if isinstance(given, bool):
        raise ValueError("should be a number")  # noqa: TRY004 - pydantic wants it so
    return _null(given)


LaxInt = BeforeValidator(_number)
"""An ``int``: accepts also a number in a string, and "null" for null."""

Share = Annotated[float, Field(ge=0, le=1), BeforeValidator(_number)]
"""A number from 0 to 1, also in a string."""

LaxBool = BeforeValidator(_null)
"""A ``bool``: accepts also the word in a string."""


def _listed(given: Any) -> Any:
    """A list of numbers: accepts null as an empty list, and one number as a list of one."""
    if given is None:
        return []
    return given if isinstance(given, list) else [given]


OneOrMany = BeforeValidator(_listed)
"""A list: accepts also a single member, and null for an empty list."""


def word_of(words: type[StrEnum]) -> BeforeValidator:
    """An enumeration: accepts its word in any case, with space around it."""
    known = {str(word).lower(): word for word in words}

    def _known(given: Any) -> Any:
        return known.get(given.strip().lower(), given) if isinstance(given, str) else given

    return BeforeValidator(_known)
