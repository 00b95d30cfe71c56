"""The latest time that a store keeps, and times after a span, which never pass it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

FAR_AHEAD = datetime(9999, 12, 30, tzinfo=UTC)
"""A day before the last time that Python knows, so that every zone can show it."""


def later(begins: datetime, span: timedelta) -> datetime:
    """The time after a span, but at most ``FAR_AHEAD``; a later beginning stays as it is."""
    return begins + min(span, max(FAR_AHEAD - begins, timedelta(0)))
