"""The result of one check of the doctor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from reconciler.frozen import frozen


@frozen
class DoctorCheck:
    """One checked part; ``finding`` says what to do if it is not in order.

    Attributes:
        name: the part.
        is_ok: whether it is in order.
        finding: the result, for a person.
        numbers: counts by name; may be empty.
    """

    name: str
    is_ok: bool
    finding: str
    numbers: Mapping[str, float] = field(default_factory=dict)
