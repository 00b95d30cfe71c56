"""The judges of the demo."""

from __future__ import annotations

from enum import StrEnum


class DemoJudge(StrEnum):
    """Who judges the notes that the rules alone cannot decide."""

    RECORDED = "recorded"
    CONFIGURED = "configured"
    NONE = "none"
