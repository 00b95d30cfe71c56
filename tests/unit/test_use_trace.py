"""Counting how facts are used, without a graph."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import pytest

from reconciler.errors import GraphUnavailableError
from reconciler.service.use_trace import Use, UseTrace

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
Written = list[dict[str, Use]]


def trace(written: Written, seconds: float = 3600.0) -> UseTrace:
    def write(used: Mapping[str, Use]) -> None:
        written.append(dict(used))

    return tracing(write, written, seconds)


def tracing(
    write: Callable[[Mapping[str, Use]], None], written: Written, seconds: float = 3600.0
) -> UseTrace:
    return UseTrace(
        write=write,
        write_asked=lambda asked: written.append(dict(asked)),
        clock=lambda: NOON,
        flush_seconds=seconds,
    )


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
    written: Written = []
    has_written = threading.Event()

    def write(used: Mapping[str, Use]) -> None:
        written.append(dict(used))
        has_written.set()

    used = tracing(write, [], 0.01)
    used.note(["a"])
    assert has_written.wait(60)
    used.close()
    assert written == [{"a": Use(1, NOON)}]


def test_switched_off_it_counts_nothing_and_starts_no_thread() -> None:
    written: Written = []
    before = threading.active_count()
    used = trace(written, seconds=0.0)
    used.note(["a"])
    used.note_recall("alice", is_empty=True)
    assert threading.active_count() == before
    used.close()
    assert written == []


def test_a_recall_does_not_wait_for_what_is_being_written() -> None:
    may_go_on, writes = threading.Event(), threading.Event()

    def write(used: Mapping[str, Use]) -> None:
        writes.set()
        may_go_on.wait(60)

    used = tracing(write, [], 0.01)
    used.note(["a"])
    assert writes.wait(60)
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

    used = tracing(write, written)
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
    used.note_recall("alice", is_empty=True)
    used.flush()
    assert written == []


def test_who_was_asked_about_is_counted_and_how_often_in_vain() -> None:
    written: Written = []
    used = trace(written)
    used.note_recall("alice", is_empty=False)
    used.note_recall("bob", is_empty=True)
    used.note_recall("alice", is_empty=True)
    used.close()
    assert written == [{"alice": Use(2, NOON, 1), "bob": Use(1, NOON, 1)}]


def test_what_is_written_of_facts_is_not_written_again_for_contacts_that_wait() -> None:
    written: Written = []
    answers = [GraphUnavailableError("away"), None]

    def write_asked(asked: Mapping[str, Use]) -> None:
        if error := answers.pop(0):
            raise error
        written.append(dict(asked))

    used = UseTrace(
        write=lambda facts: written.append(dict(facts)),
        write_asked=write_asked,
        clock=lambda: NOON,
        flush_seconds=3600,
    )
    used.note(["a"])
    used.note_recall("alice", is_empty=False)
    with pytest.raises(GraphUnavailableError):
        used.flush()
    used.note_recall("alice", is_empty=True)
    used.flush()
    assert written == [{"a": Use(1, NOON)}, {"alice": Use(2, NOON, 1)}]
