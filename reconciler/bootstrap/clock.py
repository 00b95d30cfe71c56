"""The clock of this machine."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    """The time now, UTC-aware; a memory uses it unless its opener brings a clock."""
    return datetime.now(UTC)
