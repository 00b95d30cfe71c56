"""The health of each agent's memory in numbers, for a Prometheus on the same machine.

Reading the health compares the facts of every contact. So a thread does it now and then, and a
scrape gets the last reading. Tenant and agent are labels; a contact never is.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

from prometheus_client import Metric
from prometheus_client.registry import Collector

from reconciler.domain.review.health import HealthReport
from reconciler.entrypoints.metrics import counter, gauge
from reconciler.errors import ReconcilerError
from reconciler.frozen import frozen
from reconciler.memory import Memory

_LABELS = ("tenant", "agent")
_BY_KIND = (
    (
        "facts",
        "Facts by state.",
        "state",
        ("live", "expired", "archived", "superseded", "revoked"),
    ),
    ("kept", "What is kept beside the facts.", "kind", ("sessions", "episodes", "decisions")),
)
_NUMBERS = (
    (gauge, "duplicate_ratio", "total.duplicate_rate",
     "Share of live facts with a near twin that nothing links."),
    (gauge, "stale_ratio", "total.stale_rate",
     "Share of questions of one value with several live answers."),
    (gauge, "open_disputes", "total.disputes.count", "Disputes that wait for an answer."),
    (gauge, "open_questions", "total.questions.count", "Held notes that wait for an answer."),
    (counter, "notes", "total.attempts", "Notes that were decided about."),
    (counter, "refusals", "total.refusals", "Notes that the gate refused."),
    (counter, "answers", "total.answers", "Answers to questions."),
    (counter, "confirmations", "total.confirmations", "Answers to questions that were a yes."),
    (counter, "recalls", "total.recalls", "Recalls by processes that may write."),
    (counter, "empty_recalls", "total.empty_recalls",
     "Recalls that found nothing but what always stands."),
)  # fmt: skip
_AGES = {
    "oldest_dispute_age_seconds": "total.disputes.oldest_at",
    "oldest_question_age_seconds": "total.questions.oldest_at",
}
_log = logging.getLogger(__name__)
Read = Callable[[Callable[[int], None]], Sequence[HealthReport]]
"""Reads the health of all agents, and reports its progress after each contact."""


@frozen
class _HealthReading:
    """The last reading, its time and its duration; without reports if it failed."""

    reports: Sequence[HealthReport] | None
    at: datetime
    seconds: float


class HealthCollector(Collector):
    """The last reading of the health; if it failed, only that it failed.

    Args:
        read: reads it, from the thread that ``run`` runs in.
        every_seconds: how long to wait after a reading, above 0; at least as long as that took.
    """

    def __init__(self, read: Read, every_seconds: float) -> None:
        self._read = read
        self._every_seconds = every_seconds
        self._closing = threading.Event()
        self._last: _HealthReading | None = None

    def run(self) -> None:
        """Read now and then, until ``stop``."""
        pause = 0.0
        while not self._closing.wait(pause):
            began, reports = time.monotonic(), None
            try:
                reports = self._read(self._check_open)
            except ReconcilerError as error:
                _log.warning("the health could not be read: %s", error)
            except _ReadingStoppedError:
                return
            finally:
                # However this thread ends, old numbers must not pass for new ones.
                took = time.monotonic() - began
                self._last = _HealthReading(reports=reports, at=datetime.now(UTC), seconds=took)
            pause = max(self._every_seconds, took)

    def stop(self) -> None:
        """Let ``run`` return after its present contact."""
        self._closing.set()

    def describe(self) -> list[Metric]:
        """No metrics in advance: there may be no reading yet."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The last reading; nothing before the first one has ended."""
        last = self._last
        if last is None:
            return
        is_read, at = last.reports is not None, last.at.timestamp()
        yield gauge("health_up", "Whether the health could be read.", {(): is_read})
        yield gauge("health_read_seconds", "How long the last reading took.", {(): last.seconds})
        yield gauge("health_read_timestamp_seconds", "When it was read last.", {(): at})
        if last.reports is not None:
            yield from _families(last.reports, datetime.now(UTC))

    def _check_open(self, _: int) -> None:
        if self._closing.is_set():
            raise _ReadingStoppedError


class _ReadingStoppedError(Exception):
    """The reading was stopped."""


def health_of_all(
    memory: Memory, on_progress: Callable[[int], None] = lambda _: None
) -> list[HealthReport]:
    """The health of every agent of the store, of all tenants.

    Args:
        memory: the store's memory.
        on_progress: called with the number of contacts that were read since its last call.
    """
    return [
        memory.agent(agent_id, tenant=tenant).health(on_progress=on_progress)
        for tenant, agent_id in memory.agents()
    ]


@contextmanager
def reading_health(read: Read, every_seconds: float) -> Iterator[list[Collector]]:
    """Read the health while the block runs; gives its collector, or none for 0 seconds."""
    if not every_seconds:
        yield []
        return
    collector = HealthCollector(read, every_seconds)
    thread = threading.Thread(target=collector.run, name="reconciler-health", daemon=True)
    thread.start()
    try:
        yield [collector]
    finally:
        collector.stop()
        thread.join()


def _families(reports: Sequence[HealthReport], now: datetime) -> Iterator[Metric]:
    """All metrics of a reading, each with a value for every agent; a share of nothing has none."""

    def each(path: str) -> dict[tuple[str, str], Any]:
        read = attrgetter(path)
        return {(report.tenant, report.agent_id): read(report) for report in reports}

    contacts = {agent: len(known) for agent, known in each("contacts").items()}
    yield gauge("contacts", "Contacts with anything kept about them.", contacts, _LABELS)
    for name, about, label, kinds in _BY_KIND:
        values = {
            (*agent, kind): count
            for kind in kinds
            for agent, count in each(f"total.{kind}").items()
        }
        yield gauge(name, about, values, (*_LABELS, label))
    for make, name, path, about in _NUMBERS:
        known = {agent: value for agent, value in each(path).items() if value is not None}
        yield make(name, about, known, _LABELS)
    for name, path in _AGES.items():
        ages = {
            agent: max((now - (oldest_at or now)).total_seconds(), 0.0)
            for agent, oldest_at in each(path).items()
        }
        yield gauge(name, "Age of the oldest; 0 without.", ages, _LABELS)
    sizes = [report.file_bytes for report in reports if report.file_bytes is not None]
    if sizes:
        about = "What the files of the embedded store take up."
        yield gauge("store_bytes", about, {(): sizes[-1]})
