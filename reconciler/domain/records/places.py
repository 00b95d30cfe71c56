"""Places: an item's place in a newest-first list."""

from __future__ import annotations

from datetime import datetime


def newest_first(at: datetime, item_id: str) -> tuple[float, str]:
    """The sort key of a newest-first list: an item's time, then its id."""
    return -at.timestamp(), item_id


def is_after(place: tuple[datetime, str], other: tuple[datetime, str]) -> bool:
    """Whether an item comes after another one, which may be gone."""
    return newest_first(*place) > newest_first(*other)
