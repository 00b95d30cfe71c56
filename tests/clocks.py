"""A memory's time in tests: it stands still until a test moves it."""

from __future__ import annotations

from datetime import datetime, timedelta

__all__ = ["Clock"]


class Clock:
    """The time now (UTC); only a test moves it."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def on(self, step: timedelta = timedelta(hours=1)) -> datetime:
        """Move on by ``step`` and give the new time."""
        self.now += step
        return self.now

    def pass_days(self, days: float) -> None:
        """Move on by days."""
        self.now += timedelta(days=days)
