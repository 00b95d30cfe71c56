"""Counting how facts are used, without a graph."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from reconciler.errors import GraphUnavailableError
from reconciler.service.use_trace import Use, UseTrace

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
Written = list[dict[str, Use]]


def trace(written: Written, seconds: float = 3600.0) -> UseTrace:
    def write(used: Mapping[str, Use]) -> None:
        written.append(dict(used))

    return UseTrace(write=write, clock=lambda: NOON, flush_seconds=seconds)


def test_recalls_are_counted_together_and_written_once() -> None:
    written: Written = []
    used = trace(written)
    used.note(["a", "b"])
    used.note(["a"])
    assert written == []
    used.close()
    used.close()
    assert written == [{"a": Use(2, NOON), "b": Use(1, NOON)}]


def test_a_thread_writes_behind_after_a_while() -> None:
    written, has_written = [], threading.Event()

    def write(used: Mapping[str, Use]) -> None:
        written.append(dict(used))
        has_written.set()

    used = UseTrace(write=write, clock=lambda: NOON, flush_seconds=0.01)
    used.note(["a"])
    assert has_written.wait(10)
    used.close()
    assert written == [{"a": Use(1, NOON)}]


def test_switched_off_it_counts_nothing_and_starts_no_thread() -> None:
    written: Written = []
    before = threading.active_count()
    used = trace(written, seconds=0.0)
    used.note(["a"])
    assert threading.active_count() == before
    used.close()
    assert written == []


def test_a_recall_does_not_wait_for_what_is_being_written() -> None:
    may_go_on, writes = threading.Event(), threading.Event()

    def write(used: Mapping[str, Use]) -> None:
        writes.set()
        may_go_on.wait(10)

    used = UseTrace(write=write, clock=lambda: NOON, flush_seconds=0.01)
    used.note(["a"])
    assert writes.wait(10)
    used.note(["b"])  # returns, although the write still goes on
    may_go_on.set()
    used.close()


def test_what_could_not_be_written_is_written_with_what_follows() -> None:
    written: Written = []
    answers = [GraphUnavailableError("away"), None]

    def write(used: Mapping[str, Use]) -> None:
        if error := answers.pop(0):
            raise error
        written.append(dict(used))

    used = UseTrace(write=write, clock=lambda: NOON, flush_seconds=3600)
    used.note(["a"])
    with pytest.raises(GraphUnavailableError):
        used.flush()
    used.note(["a", "b"])
    used.flush()
    assert written == [{"a": Use(2, NOON), "b": Use(1, NOON)}]


def test_after_its_end_nothing_is_counted() -> None:
    written: Written = []
    used = trace(written)
    used.close()
    used.note(["a"])
    used.flush()
    assert written == []
