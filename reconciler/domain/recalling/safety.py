"""Safety: the facts that no budget cuts, and those that hold although in dispute. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

from reconciler.domain.guard import is_lifted
from reconciler.domain.guard.reading import read
from reconciler.domain.records.facts import Fact, RankedFact

ALLERGY = "allergy"
MATTERS_MOST = 0.95
"""The importance of a limit that binds, such as "never supply latex", or of a fact as grave."""
_FOR_GOOD = re.compile(
    r"\b(?:never|must not|no(?:thing|body|-one| one| exceptions?))\b", re.IGNORECASE
)
_ALLERGY = re.compile(r"\b(?:allergic|allerg(?:y|ies)|anaphyla|intoleran)")


def _keeps_safe(fact: Fact) -> bool:
    """Whether it keeps the contact safe: an allergy, or a standing constraint said for good.

    An allergy counts in any words, filed under that attribute or not.
    """
    if fact.is_standing and _FOR_GOOD.search(fact.text):
        return True
    if fact.slot is not None and fact.slot.attribute == ALLERGY:
        return True
    return tells_of_allergy(fact.text) and not _lifts(fact)


def tells_of_allergy(text: str) -> bool:
    """Whether the words speak of an allergy or an intolerance, even if they deny it."""
    said = text.lower()
    # All facts of a contact are looked at when it is read: most need no pattern.
    may_tell = "allerg" in said or "anaphyla" in said or "intoleran" in said
    return may_tell and _ALLERGY.search(said) is not None


def is_never_cut(fact: Fact) -> bool:
    """Whether no budget cuts it: it keeps the contact safe, or is as important."""
    return fact.importance >= MATTERS_MOST or _keeps_safe(fact)


def holds_always(hit: RankedFact) -> bool:
    """Whether every answer tells it: it is a standing constraint, or no budget cuts it."""
    return hit.is_standing or is_never_cut(hit.fact)


def holds_until_settled(fact: Fact, others: Collection[Fact]) -> bool:
    """Whether a side of a dispute holds until the contact or an operator answers.

    It does if it is never cut, or if it is the only standing constraint of the dispute: to rely on
    neither side would drop the limit. A fact that says that a limit has gone is no limit.

    Args:
        fact: the side that is asked about.
        others: the other sides; empty where it is in no dispute.
    """
    if not others or _lifts(fact):
        return False
    return is_never_cut(fact) or (
        fact.is_standing and not any(other.is_standing for other in others)
    )


def _lifts(fact: Fact) -> bool:
    """Whether the fact says that its limit has gone: "no longer allergic", "may eat nuts again"."""
    said = read(fact.text)
    denied = {stem for denial in (*said.negated, *said.ceased) for stem in denial.reach}
    value = (fact.slot and fact.slot.value) or ""
    return any(stem.startswith("allerg") for stem in denied) or is_lifted(fact.text, value)
