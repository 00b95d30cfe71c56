"""No regular expression runs away: each is tried on what would keep it busy, as long as texts get.

How long they get is known from the doors: a turn has 20,000 characters, a note 2,000, a value 500.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import faults
from tests.fuzz.patterns import SECONDS_MAX, Pattern, every_pattern

pytestmark = pytest.mark.faults(only=True)

GROWTH_MAX = 12.0
"""How much longer for three times the text: a quadratic one takes nine times as long."""

_PROBE = 2_000
_PROBE_SECONDS = 0.001
"""What takes less for a text of that length is far below the bound where it grows as a square."""


def run_aways(pattern: Pattern) -> Iterator[str]:
    """What is wrong with a pattern, in words: the text, and what it took."""
    longest = pattern.length_max
    short = min(_PROBE, longest)
    for pump in pattern.pumps:
        took = pattern.seconds(pump.text(short))
        faults.count_input("searches for patterns", took)
        if took < _PROBE_SECONDS:
            continue
        length = short
        while took < SECONDS_MAX and length < longest:
            length, before = min(length * 3, longest), took
            took = pattern.seconds(pump.text(length))
            faults.count_input("searches for patterns", took)
            if took > GROWTH_MAX * before and took > SECONDS_MAX / 10:
                yield f"{took / before:.0f} times as long for 3 times {pump} ({length})"
                break
        if took >= SECONDS_MAX:
            yield f"{took:.2f} s for {length} characters of {pump}"
            break


def test_no_pattern_runs_away() -> None:
    found = [
        f"{pattern.module}: {pattern.text[:120]!r}: {wrong}"
        for pattern in every_pattern()
        for wrong in run_aways(pattern)
    ]
    assert not found, "\n".join(found)
