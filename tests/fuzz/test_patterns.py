"""No regular expression runs away: each is tried on what would keep it busy, as long as texts get.

How long they get is known from the doors: a turn has 20,000 characters, a note 2,000, a value 500.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from reconciler.domain.records.candidates import EVIDENCE_LENGTH_MAX
from reconciler.domain.records.notes import TEXT_LENGTH_MAX
from reconciler.domain.sessions.explicit_statements import REQUEST_LENGTH_MAX
from reconciler.domain.values.slot_reading import TEXT_LENGTH_MAX as SLOT_TEXT_LENGTH_MAX
from tests import faults
from tests.fuzz.patterns import Pattern, every_pattern

pytestmark = pytest.mark.faults(only=True)

SECONDS_MAX = 1.0
"""What one pattern may take for one text, of this process's time."""

GROWTH_MAX = 12.0
"""How much longer for three times the text: a quadratic one takes nine times as long."""

_PROBE = 2_000
_PROBE_SECONDS = 0.001
"""What takes less for a text of that length is far below the bound where it grows as a square."""

LENGTHS = {
    "reconciler.domain.values": SLOT_TEXT_LENGTH_MAX,
    "reconciler.domain.gate": TEXT_LENGTH_MAX,
    "reconciler.domain.gate.requests": EVIDENCE_LENGTH_MAX,
    "reconciler.domain.gate.contacts_word": EVIDENCE_LENGTH_MAX,
    "reconciler.domain.gate.cleaning": EVIDENCE_LENGTH_MAX,
    "reconciler.domain.guard": TEXT_LENGTH_MAX,
    # Its lines are a turn's, which test_explicit_statements looks after; its cues see a sentence.
    "reconciler.domain.sessions.explicit_statements": REQUEST_LENGTH_MAX,
    # What is shipped, or the operator's own.
    "reconciler.adapters.embedded_statements": 1_000,
    "reconciler.entrypoints": 1_000,
    "reconciler.queries": 1_000,
}
"""The longest text of a module's patterns, by the longest name that fits; else it is a turn's."""


class TooLongError(BaseException):
    """A search took too long, and was ended."""


def length_of(pattern: Pattern) -> int:
    """How long the texts are that it is tried on, at most."""
    fitting = [name for name in LENGTHS if pattern.module.startswith(name)]
    return LENGTHS[max(fitting, key=len)] if fitting else EVIDENCE_LENGTH_MAX


def seconds(compiled: Any, text: str, is_anchored: bool) -> float:
    """What it takes to find all that the pattern finds, as far as the bound."""

    def end(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, end)
    started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, SECONDS_MAX * 1.5)
    try:
        if is_anchored:
            compiled.match(text)
        else:
            for _ in compiled.finditer(text):
                pass
    except TooLongError:
        pass
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return time.process_time() - started


def run_aways(pattern: Pattern) -> Iterator[str]:
    """What is wrong with a pattern, in words: the text, and what it took."""
    longest = length_of(pattern)
    compiled = pattern.compiled
    short = min(_PROBE, longest)
    for pump in pattern.pumps:
        took = seconds(compiled, pump.text(short), pattern.is_anchored)
        faults.count_input("searches for patterns", took)
        if took < _PROBE_SECONDS:
            continue
        length = short
        while took < SECONDS_MAX and length < longest:
            length, before = min(length * 3, longest), took
            took = seconds(compiled, pump.text(length), pattern.is_anchored)
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
