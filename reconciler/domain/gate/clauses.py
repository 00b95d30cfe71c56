"""Clauses: which hedge of a sentence is about the claim that was read out of it. Pure.

"I have five, and I might get more" leaves the five certain. Which words hedge is told elsewhere.
"""

from __future__ import annotations

import re

from reconciler.domain.gate.literalness import find_hedge
from reconciler.domain.guard import is_repeated_in
from reconciler.domain.text_reading import read_text

__all__ = ["CLAIMS_OPENING", "find_hedge_of"]

CLAIMS_OPENING = re.compile(
    r"\A\s*(?:the\s)?(?:contact|user|customer|client|caller)(?:['’]s)?\s", re.IGNORECASE
)
"""How a claim names the contact, who says "I"."""

_JOINT = re.compile(r"(?:[,;]\s*|\s)(?:and|while)\s", re.IGNORECASE)
"""What puts one statement beside another; behind a "but" the hedge may take the first one back."""
_SUBJECT = re.compile(r"(?:(?:i|we|he|she|they|it)\b)?\s*+(?:(?:also|now|still)\s*+)?")


def find_hedge_of(claim: str, said: str) -> str | None:
    """The words of what was said that leave the claim open; None where they leave it certain.

    A hedge that opens a later clause says nothing of the clauses before it. So the claim is certain
    if all that it states, beside what it hedges itself, stands in those: behind "I think she moved
    and works there" the second clause is as open as the first.
    """
    hedge = find_hedge(said)
    if hedge is None:
        return None
    before = _before_hedge(read_text(said).small)
    clauses = _JOINT.split(CLAIMS_OPENING.sub("", claim))
    stated = [clause for clause in clauses if find_hedge(clause) is None]
    is_certain = bool(before and stated) and all(is_repeated_in(each, before) for each in stated)
    return None if is_certain else hedge


def _before_hedge(said: str) -> str:
    """All before the first clause with a hedge, if that clause opens with it; else nothing."""
    start = 0
    for end in (*(joint.start() for joint in _JOINT.finditer(said)), len(said)):
        clause = _JOINT.sub("", said[start:end], count=1) if start else said[:end]
        if hedge := find_hedge(clause):
            return said[:start] if _SUBJECT.fullmatch(clause[: clause.find(hedge)]) else ""
        start = end
    return ""
