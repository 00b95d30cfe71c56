"""What a look at one part found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["DoctorCheck"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorCheck:
    """One thing that was looked at; ``finding`` says what to do where it is not in order.

    Attributes:
        name: what was looked at.
        is_ok: whether it is in order.
        finding: what was found, for a person.
        numbers: what was counted, by name; empty where nothing was.
    """

    name: str
    is_ok: bool
    finding: str
    numbers: Mapping[str, float] = field(default_factory=dict)
