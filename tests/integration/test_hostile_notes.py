"""A note never holds the process, whatever it says: gate, guard and slots take under a second."""

from __future__ import annotations

from tests.hostile_notes import hostile_notes, seconds_of

SECONDS_MAX = 1.0
"""A tenth of that is the most that one took when this was written."""


def test_no_hostile_note_takes_a_second() -> None:
    notes = hostile_notes()
    taken = seconds_of(notes, timeout_seconds=200)
    assert len(taken) == len(notes)
    slow = [note[:60] for note, took in zip(notes, taken, strict=True) if took > SECONDS_MAX]
    assert not slow
