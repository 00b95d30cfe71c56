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
from dataclasses import dataclass
from datetime import UTC, datetime

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from reconciler.domain.review.health import ContactHealth, HealthReport, Waiting
from reconciler.errors import ReconcilerError
from reconciler.memory import Memory

__all__ = ["HealthCollector", "health_of_all", "reading_health"]

_LABELS = ("tenant", "agent")
_STATES = ("live", "expired", "archived", "superseded", "revoked")
_KEPT = ("sessions", "episodes", "decisions")
_RATIOS = {
    "duplicate_rate": "Share of live facts with a near twin that nothing links.",
    "stale_rate": "Share of questions of one value with several live answers.",
}
_WAITING = {
    "disputes": "Disputes that wait for an answer.",
    "questions": "Held notes that wait for an answer.",
}
_COUNTERS = {
    "attempts": ("notes", "Notes that were decided about."),
    "refusals": ("refusals", "Notes that the gate refused."),
    "answers": ("answers", "Answers to questions."),
    "confirmations": ("confirmations", "Answers to questions that were a yes."),
    "recalls": ("recalls", "Recalls by processes that may write."),
    "empty_recalls": ("empty_recalls", "Recalls that found nothing but what always stands."),
}
_log = logging.getLogger(__name__)
Read = Callable[[Callable[[int], None]], Sequence[HealthReport]]
"""Reads the health of all agents, and reports its progress after each contact."""


@dataclass(frozen=True, slots=True, kw_only=True)
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
        clock: the time now, UTC-aware.
    """

    def __init__(
        self,
        read: Read,
        every_seconds: float,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._read = read
        self._every_seconds = every_seconds
        self._clock = clock
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
                self._last = _HealthReading(reports=reports, at=self._clock(), seconds=took)
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
        yield _gauge("up", "Whether the health could be read.", float(last.reports is not None))
        yield _gauge("read_seconds", "How long the last reading took.", last.seconds)
        yield _gauge("read_timestamp_seconds", "When it was read last.", last.at.timestamp())
        if last.reports is not None:
            yield from _families(last.reports, self._clock())

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
    """All metrics of a reading, each with a sample for every agent."""
    totals = [((report.tenant, report.agent_id), report.total) for report in reports]
    contacts = _family("contacts", "Contacts with anything kept about them.")
    for report in reports:
        contacts.add_metric((report.tenant, report.agent_id), float(len(report.contacts)))
    yield contacts
    yield _by_name("facts", "Facts by state.", "state", _STATES, totals)
    yield _by_name("kept", "What is kept beside the facts.", "kind", _KEPT, totals)
    yield from (_ratio(name, help_text, totals) for name, help_text in _RATIOS.items())
    for name, help_text in _WAITING.items():
        yield from _waiting(name, help_text, totals, now)
    for name, (metric, help_text) in _COUNTERS.items():
        counter = CounterMetricFamily(f"reconciler_{metric}", help_text, labels=_LABELS)
        for labels, total in totals:
            counter.add_metric(labels, float(getattr(total, name)))
        yield counter
    sizes = [report.file_bytes for report in reports if report.file_bytes is not None]
    if sizes:
        help_text = "What the files of the embedded store take up."
        yield GaugeMetricFamily("reconciler_store_bytes", help_text, value=float(sizes[-1]))


_Totals = Sequence[tuple[tuple[str, str], ContactHealth]]


def _by_name(
    metric: str, help_text: str, label: str, names: Sequence[str], totals: _Totals
) -> Metric:
    family = _family(metric, help_text, label)
    for labels, total in totals:
        for name in names:
            family.add_metric((*labels, name), float(getattr(total, name)))
    return family


def _ratio(name: str, help_text: str, totals: _Totals) -> Metric:
    """A share by agent; left out for an agent without anything to count."""
    family = _family(name.replace("_rate", "_ratio"), help_text)
    for labels, total in totals:
        if (share := getattr(total, name)) is not None:
            family.add_metric(labels, float(share))
    return family


def _waiting(name: str, help_text: str, totals: _Totals, now: datetime) -> Iterator[Metric]:
    """The number that waits, and the age of the oldest; 0 if nothing waits."""
    count = _family(f"open_{name}", help_text)
    age = _family(f"oldest_{name.removesuffix('s')}_age_seconds", "Age of the oldest; 0 without.")
    for labels, total in totals:
        waits: Waiting = getattr(total, name)
        oldest_at = waits.oldest_at or now
        count.add_metric(labels, float(waits.count))
        age.add_metric(labels, max((now - oldest_at).total_seconds(), 0.0))
    yield from (count, age)


def _family(metric: str, help_text: str, *more: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"reconciler_{metric}", help_text, labels=(*_LABELS, *more))


def _gauge(name: str, help_text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"reconciler_health_{name}", help_text, value=value)
