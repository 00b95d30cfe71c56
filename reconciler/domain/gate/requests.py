"""Requests: whether the words that a claim rests on ask for it to be kept. Pure.

``find_trigger`` tells whether a text asks for something to be kept; here that is narrowed to the
sentences that are cited, so that "remember that …" speaks for its own sentence and for no other
one of a long turn. What follows from a request is the score's and the extraction's to say.
"""

from __future__ import annotations

from collections.abc import Iterable

from reconciler.domain.gate.classification import find_trigger
from reconciler.domain.text_reading import read_text

__all__ = ["is_asked_to_keep"]


def is_asked_to_keep(text: str, spans: Iterable[str]) -> bool:
    """Whether a sentence that one of the spans stands in asks for it to be kept.

    Args:
        text: one episode of whoever may ask for that.
        spans: words of it; what does not stand in it asks for nothing.
    """
    if find_trigger(text) is None:
        return False
    touched = (read_text(text).around(span) for span in spans)
    return any(find_trigger(sentence.text) for sentences in touched for sentence in sentences)
