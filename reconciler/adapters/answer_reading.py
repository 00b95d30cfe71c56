"""What a model said, as the answer that it was asked for.

A model that no schema binds puts a fence or a sentence around its JSON, a number in quotation
marks, a word in capitals. That is understood; what is left open, or could mean two things, is not
guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ValidationError

__all__ = [
    "LaxBool",
    "LaxFloat",
    "LaxInt",
    "OneOrMany",
    "UnreadableAnswerError",
    "fault_of",
    "read_answer",
    "word_of",
]

_TRIES_MAX = 20
"""Braces that are tried as the begin of an object; more of them are no answer with a remark."""

_BEGIN = re.compile(r"[{\[]")
_DECODER = json.JSONDecoder()

AnswerT = TypeVar("AnswerT", bound=BaseModel)

_WORDS_FOR_NULL = {"", "none", "null"}
_WORDS_FOR_BOOLS = {"true": True, "yes": True, "false": False, "no": False}


class UnreadableAnswerError(Exception):
    """What a model said is not what it was asked for; the text says what is wrong with it."""


def read_answer(text: str, shape: type[AnswerT]) -> AnswerT:
    """The one answer that stands in the text, whatever stands around it.

    Raises:
        UnreadableAnswerError: it holds none, or several that differ.
    """
    # A model that thinks aloud may draft an answer there.
    objects = list(_objects(text.rpartition("</think>")[2]))
    if not objects:
        raise UnreadableAnswerError("not what was asked for: there is no whole JSON object in it")
    answers: list[AnswerT] = []
    fault = ""
    for found in objects:
        try:
            answer = shape.model_validate(found)
        except ValidationError as error:
            fault = fault or fault_of(error)
        else:
            answers += [answer] if answer not in answers else []
    if len(answers) > 1:
        raise UnreadableAnswerError("not what was asked for: it holds several answers that differ")
    if not answers:
        raise UnreadableAnswerError(f"not what was asked for: {fault}")
    return answers[0]


def fault_of(error: ValidationError) -> str:
    """The first thing that is wrong, by its place, without the words themselves."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"])) or "the answer"
    return f"{where}: {first['msg']}"


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Each JSON object that begins a line or ends the text; what is part of a list is none.

    One in the middle of a sentence is a quotation, and may be the note's.
    """
    at = 0
    for _ in range(_TRIES_MAX):
        begin = _BEGIN.search(text, at)
        if begin is None:
            return
        try:
            found, at = _DECODER.raw_decode(text, begin.start())
        except (ValueError, RecursionError):
            at = begin.end()
            continue
        begins_line = not text[: begin.start()].rpartition("\n")[2].strip()
        if isinstance(found, dict) and (begins_line or not text[at:].strip("`\n\t ")):
            yield found


def _number(given: Any) -> Any:
    """A number that stands in a string as one; a boolean, which Python counts as one, is none."""
    if isinstance(given, bool):
        raise ValueError("should be a number")  # noqa: TRY004 - pydantic wants it so
    if isinstance(given, str) and given.strip().lower() in _WORDS_FOR_NULL:
        return None
    return given


def _boolean(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    word = given.strip().lower()
    return None if word in _WORDS_FOR_NULL else _WORDS_FOR_BOOLS.get(word, given)


LaxInt = BeforeValidator(_number)
"""Of an ``int``: also the number in a string, and "null" for null."""

LaxFloat = BeforeValidator(_number)
"""The same of a ``float``."""

LaxBool = BeforeValidator(_boolean)
"""Of a ``bool``: also the word in a string."""


def _listed(given: Any) -> Any:
    """Null as no number, and one number as a list of it."""
    if given is None:
        return []
    return given if isinstance(given, list) else [given]


OneOrMany = BeforeValidator(_listed)
"""Of a list: also one of its members alone, and null for an empty one."""


def word_of(words: type[StrEnum]) -> BeforeValidator:
    """Of an enumeration: its word in any case, with space around it."""
    known = {str(word).lower(): word for word in words}

    def _known(given: Any) -> Any:
        return known.get(given.strip().lower(), given) if isinstance(given, str) else given

    return BeforeValidator(_known)
