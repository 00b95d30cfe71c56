"""Marks: what a system gives back for a question, against what is true.

An answer is a text with a state: ``true`` as the system tells it, ``doubt`` (it says that the fact
is in dispute or unsure), or ``over`` (it says that the fact no longer holds). What is over answers
no question and misleads no reader, so it is left out before the first five are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypedDict

from exam.stories import Ask

__all__ = ["MARKS", "SHOWN", "Answer", "mark"]

SHOWN = 5
"""So many answers are read, the system's best first."""

MARKS = {
    "right": "what is true is told, and nothing that is not",
    "doubt": "what is true is told, or what is not true is, as something in doubt",
    "both": "what is true and what is not are both told as true",
    "lost": "what is true is not among the first answers",
    "wrong": "what is not true is told as true, and what is true is not",
    "failed": "the system raised an error",
}


class Answer(TypedDict):
    """One text that a system gives back."""

    text: str
    state: str


def mark(ask: Ask, answers: Iterable[Answer]) -> str:
    """One of ``MARKS``."""
    shown = [each for each in answers if each["state"] != "over"][:SHOWN]
    plain = [each["text"] for each in shown if each["state"] == "true"]
    texts = [each["text"] for each in shown]
    told, told_in_doubt = _has_all(ask, plain), _has_all(ask, texts)
    # A text that also says what is true ("moved from Porto to Lisbon") tells no untruth.
    stale, stale_in_doubt = _has_wrong(ask, plain), _has_wrong(ask, texts)
    if told and not stale_in_doubt:
        return "right"
    if stale:
        return "both" if told_in_doubt and ask.right else "wrong"
    return "doubt" if told_in_doubt or stale_in_doubt else "lost"


def _has_all(ask: Ask, texts: list[str]) -> bool:
    return all(any(_finds(way, text) for way in ways for text in texts) for ways in ask.right)


def _has_wrong(ask: Ask, texts: list[str]) -> bool:
    true_ones = [way for ways in ask.right for way in ways]
    untrue = [text for text in texts if not any(_finds(way, text) for way in true_ones)]
    return any(_finds(wrong, text) for wrong in ask.wrong for text in untrue)


def _finds(words: str, text: str) -> bool:
    """Whether the words stand in the text as whole words, in any case of letters."""
    return bool(re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE))
