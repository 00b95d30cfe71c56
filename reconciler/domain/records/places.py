"""Places: where an item stands in a list of which the newest come first."""

from __future__ import annotations

from datetime import datetime

__all__ = ["is_after", "newest_first"]


def newest_first(at: datetime, item_id: str) -> tuple[float, str]:
    """The key that orders items so, each by its time and its id; two of one time by their ids."""
    return -at.timestamp(), item_id


def is_after(place: tuple[datetime, str], other: tuple[datetime, str]) -> bool:
    """Whether an item comes after the other one, which need not be there any more."""
    return newest_first(*place) > newest_first(*other)
