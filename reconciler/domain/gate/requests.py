"""Requests: whether the words that a claim rests on ask for it to be kept. Pure.

``find_trigger`` tells whether a text asks for something to be kept; here that is narrowed to the
sentences that are cited, so that "remember that …" speaks for its own sentence and for no other
one of a long turn. What follows from a request is the score's and the extraction's to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from reconciler.domain.gate.classification import find_trigger

__all__ = ["is_asked_to_keep"]

_SENTENCE_END = re.compile(r"[.!?…]{1,50}+[\"”’')\]]*+(?=\s)|\n")
"""So many stops and no more: each of a long row is tried, which would take as its square."""


def is_asked_to_keep(text: str, spans: Iterable[str]) -> bool:
    """Whether a sentence that one of the spans stands in asks for it to be kept.

    Args:
        text: one episode of whoever may ask for that.
        spans: words of it; what does not stand in it asks for nothing.
    """
    if find_trigger(text) is None:
        return False
    return any(find_trigger(_sentences_around(text, span)) for span in spans)


def _sentences_around(text: str, span: str) -> str:
    """The sentences that the span touches; "" where it does not stand in the text."""
    start = text.find(span)
    if start < 0:
        return ""
    end = start + len(span.rstrip())
    before = (found.end() for found in _SENTENCE_END.finditer(text, 0, start))
    after = _SENTENCE_END.search(text, max(start, end - 1))
    return text[max(before, default=0) : after.end() if after else len(text)]
