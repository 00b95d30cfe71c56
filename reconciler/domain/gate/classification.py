"""What a note's words alone say of it: its category, how it is to be recalled, its cues.

The order in which the lists of ``config/lexicon/classification.toml`` are tried lives here. What
follows from a category or a cue never does, and neither does anything that needs a model: a text
that no list knows is a fact, which is the category that promises least.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import cache, lru_cache

from reconciler.domain.records.kinds import Category, RecallSemantics
from reconciler.domain.text_reading import read_text
from reconciler.lexicon import Cues, Held, lexicon


class Weight(StrEnum):
    """Kinds of long-term weight of a note, the heaviest first."""

    WISH = "wish"
    CORRECTION = "correction"
    IDENTITY = "identity"
    COMMITMENT = "commitment"
    CIRCUMSTANCE = "circumstance"
    REMARK = "remark"


@cache
def _lexicon() -> Cues:
    return Cues(lexicon("classification"))


@lru_cache(maxsize=64)
def _find_cues(text: str) -> Held:
    """The text as the cues expect it; read once, whatever is asked of it."""
    return _lexicon().read(_one_line(text))


@lru_cache(maxsize=64)
def infer_category(text: str) -> Category:
    """The category that the words give away; a fact where they give none away.

    The surest kind of words comes first, so a decision about a preference is a decision, and a
    preference about the weather is a preference.
    """
    held = _find_cues(text)
    if held.first("summary"):
        return Category.SUMMARY
    if held.first("procedure"):
        return Category.PROCEDURE
    if _is_decision(held):
        return Category.DECISION
    if held.first("preference"):
        return Category.PREFERENCE
    if infer_recall_semantics(text):
        return Category.DECISION
    return Category.VOLATILE if held.first("volatile") else Category.FACT


@lru_cache(maxsize=64)
def infer_recall_semantics(text: str) -> RecallSemantics | None:
    """CONSTRAINT or NEGATIVE where the words order or forbid something; else None.

    What is forbidden only until a person agrees is a constraint.
    """
    held = _find_cues(text)
    if held.first("conditional_order"):
        return RecallSemantics.CONSTRAINT
    if held.first("ban") or held.first("withdrawal"):
        return RecallSemantics.NEGATIVE
    return RecallSemantics.CONSTRAINT if held.first("constraint") else None


def infer_weight(text: str) -> Weight:
    """What makes the text matter, as far as its words say; a circumstance where they say nothing.

    The caller decides about a request to remember, and about a mere remark.
    """
    if infer_recall_semantics(text):
        return Weight.WISH
    held = _find_cues(text)
    for weight in (Weight.CORRECTION, Weight.IDENTITY, Weight.COMMITMENT):
        if held.first(weight.value):
            return weight
    is_chosen = infer_category(text) in (Category.DECISION, Category.PREFERENCE)
    return Weight.COMMITMENT if is_chosen else Weight.CIRCUMSTANCE


def find_hearsay(text: str) -> str | None:
    """The words that pass on what another person said, case folded; None without any."""
    return _found(text, "hearsay")


def is_in_person(text: str) -> bool:
    """Whether a person speaks for themselves in it, or gives an order."""
    return bool(_find_cues(text).first("in_person") or infer_recall_semantics(text))


def find_trigger(text: str) -> str | None:
    """The words that ask for the note to be kept, case folded; None where there are none."""
    match = _find_cues(text).first("trigger")
    return next(filter(None, match.groups())) if match else None


def is_asked_to_keep(text: str, spans: Iterable[str]) -> bool:
    """Whether a sentence that one of the spans stands in asks for it to be kept.

    "Remember that …" speaks for its own sentence and for no other one of a long turn. What does not
    stand in the text asks for nothing.
    """
    if find_trigger(text) is None:
        return False
    touched = (read_text(text).around(span) for span in spans)
    return any(find_trigger(sentence.text) for sentences in touched for sentence in sentences)


def is_withdrawal(text: str) -> bool:
    """Whether the words forbid something, take a permission back, object or opt out."""
    return infer_recall_semantics(text) is RecallSemantics.NEGATIVE


def find_taking_back(text: str) -> str | None:
    """The words that take a permission back, object or opt out, case folded; a mere ban is none."""
    return _found(text, "withdrawal")


def is_permission(text: str) -> bool:
    """Whether the words allow something, and take nothing back."""
    return _find_cues(text).first("permission") is not None and not is_withdrawal(text)


def is_standing_ask(text: str) -> bool:
    """Whether the words order to ask a person before each such step."""
    return _find_cues(text).first("standing_ask") is not None


def find_speculation(text: str) -> str | None:
    """The words that mark an unverified guess, case folded; else None.

    A mere hedge ("I think she prefers tea") is none: it weakens a claim and leaves it one.
    """
    return _found(text, "speculation")


def _found(text: str, name: str) -> str | None:
    match = _find_cues(text).first(name)
    return match.group() if match else None


def _is_decision(held: Held) -> bool:
    if held.first("decision") and not held.first("no_decision"):
        return True
    return bool(held.first("conditional_order") or held.first("standing_ask"))


def _one_line(text: str) -> str:
    return " ".join(text.replace("’", "'").casefold().split())
