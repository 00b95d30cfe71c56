"""Clauses: which hedge of a sentence is about the claim, and which ban about its value. Pure.

"I have five, and I might get more" leaves the five certain. Which words hedge or ban is told
elsewhere.
"""

from __future__ import annotations

import re

from reconciler.domain.gate.classification import infer_recall_semantics
from reconciler.domain.gate.literalness import find_hedge
from reconciler.domain.guard import count_words, denies_value, is_repeated_in, share_a_word
from reconciler.domain.records.kinds import RecallSemantics
from reconciler.domain.text_reading import read_text

CLAIMS_OPENING = re.compile(
    r"\A\s*(?:the\s)?(?:contact|user|customer|client|caller)(?:['’]s)?\s", re.IGNORECASE
)
"""How a claim names the contact, who says "I"."""

_JOINT = re.compile(r"(?:[,;]\s*|\s)(?:and|while)\s", re.IGNORECASE)
"""What puts one statement beside another; behind a "but" the hedge may take the first one back."""
_CLAUSE = re.compile(r"[;:]\s+|\b(?:but|because|so)\s|(,\s+|\band\s)", re.IGNORECASE)
"""Where a clause ends; the group where the next one may go on with what this one forbids."""

_REFERS_BACK = re.compile(r"\b(?:it|there|such)\b|\bany\W*$", re.IGNORECASE)
"""A ban with one of these may be about what was named before: "but never use it"."""

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


def forbids_something_else(claim: str, value: str) -> bool:
    """Whether what the claim forbids is not its value: "use WhatsApp, and do not email her".

    It is if a clause that forbids nothing speaks of the value, and none that forbids does.
    """
    named_by = value.replace("-", "")  # "e-mail" is "email"
    named = [
        bans
        for clause, bans in _banning(claim)
        if share_a_word(clause.replace("-", ""), named_by) or (bans and _REFERS_BACK.search(clause))
    ]
    return bool(named) and not any(named) and not denies_value(claim, value)


def _banning(claim: str) -> list[tuple[str, bool]]:
    """The clauses of a claim, each with whether it forbids something.

    "Do not call, text or email her" is one: what an "and" or an "or" adds, or a single word does,
    is forbidden as well.
    """
    clauses: list[tuple[str, bool]] = []
    for sentence in read_text(claim).sentences:
        pieces = ["", *_CLAUSE.split(sentence.text)]
        for joint, clause in zip(pieces[::2], pieces[1::2], strict=True):
            bans = infer_recall_semantics(clause) is RecallSemantics.NEGATIVE
            goes_on = bool(joint) and (joint[0] != "," or _lists(clause))
            clauses.append((clause, bans or (goes_on and clauses[-1][1])))
    return clauses


def _lists(clause: str) -> bool:
    """Whether it goes on with a list: a single word, or the last words of it, behind an "or"."""
    words = clause.casefold().split()
    return count_words(clause).total() <= 1 or "or" in words or "nor" in words
