"""Places: where a list of decisions goes on, as an address holds it."""

from __future__ import annotations

from datetime import datetime

from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.notes import utc
from reconciler.errors import InvalidNoteError, InvalidRequestError

__all__ = ["place_of", "read_place"]


def place_of(decision: Decision) -> str:
    """The place after a decision; ``read_place`` reads it."""
    return f"{decision.at.isoformat()}~{decision.decision_id}"


def read_place(after: str) -> tuple[datetime, str]:
    """The time and the id of the decision that a page goes on after.

    Raises:
        InvalidRequestError: it is no place.
    """
    at, _, decision_id = after.partition("~")
    try:
        return utc("after", datetime.fromisoformat(at)), decision_id
    except (ValueError, OverflowError, InvalidNoteError):
        raise InvalidRequestError("after must be the `next` of a page of decisions") from None
