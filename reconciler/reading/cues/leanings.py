"""Leanings: the resemblance of a whole note, found by a small model, not by single words. Pure.

A leaning is one more reading besides those of the words: ``reading`` joins them, and the checks
decide. Only sure results of the model come here. Never here: the model and its bounds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum


class Leaning(StrEnum):
    """Kinds of notes that differ by their sense."""

    NOTHING = "nothing"
    """Says nothing about a person: a stray word, a scrap, rubbish."""
    THIS_TIME = "this_time"
    """Holds for today or for one order."""
    STANDING = "standing"
    """A permission, a ban or a wish that holds until it is taken back."""
    PRICE_OR_STOCK = "price_or_stock"
    """What a market, a shelf or the weather says at the moment."""
    WORLD_KNOWLEDGE = "world_knowledge"
    """Tells of the world, not of the contact."""
    GUESS_OR_VENTING = "guess_or_venting"
    CORRECTION = "correction"
    HEALTH = "health"
    """The health of the contact or of another person."""
    ORDER = "order"
    """Tells the agent how to act or to answer."""


@dataclass(frozen=True, slots=True)
class Leanings:
    """The sure results of the model for one text.

    Attributes:
        shares: the probability of each kind that it is sure of, 0 to 1.
        version: the model's version.
        is_no_order: whether it is sure that the text orders nothing.
    """

    shares: Mapping[Leaning, float] = field(default_factory=dict)
    version: str = ""
    is_no_order: bool = False

    def without(self, leanings: Collection[Leaning]) -> Leanings:
        """Return the same without some kinds."""
        left = {kind: share for kind, share in self.shares.items() if kind not in leanings}
        return replace(self, shares=left)

    def cue(self, leaning: Leaning) -> str | None:
        """Describe a kind that the text leans to; None for any other kind."""
        if leaning not in self.shares:
            return None
        name, share = leaning.replace("_", " "), self.shares[leaning]
        return f"reads as {name}, {share:.2f} by note head {self.version}"


NO_LEANINGS = Leanings()
"""The leanings of a text that no model has read."""
