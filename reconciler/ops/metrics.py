"""The worker's metrics for Prometheus: the numbers of the queue, and the state of the process.

Numbers only: a contact's id or text is never a label; tenant and agent are. It listens on this
machine alone, unless another address is given, as in a container. The process that writes decisions
counts them from its own log records. Reading the health compares the facts of every contact, so a
thread does it now and then, and a scrape gets the last reading.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from operator import attrgetter
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, Metric, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from reconciler.domain.records.sessions import QueueReport
from reconciler.errors import CredentialsRefusedError, InvalidRequestError, ReconcilerError
from reconciler.frozen import frozen
from reconciler.memory import Memory
from reconciler.ops.review.health import HealthReport
from reconciler.ops.reviews import health
from reconciler.ops.small_server import Answer, listening, running
from reconciler.service.stores.commits import LOGGER_NAME

_log = logging.getLogger(__name__)
LOOPBACK = "127.0.0.1"
CountQueue = Callable[[], QueueReport]


def queue_numbers(report: QueueReport, now: datetime) -> dict[str, float]:
    """Describe the queue by name: jobs by state, attempts, candidates by outcome, oldest job's age.

    Args:
        report: the queue.
        now: the time now, UTC-aware.
    """
    jobs = {str(state): count for state, count in report.jobs.items()}
    oldest_at = report.oldest_unfinished_at
    age_seconds = 0.0 if oldest_at is None else max((now - oldest_at).total_seconds(), 0.0)
    return {
        **jobs,
        "attempts": report.attempts,
        **asdict(report.outcomes),
        "oldest_job_age_seconds": round(age_seconds, 3),
    }


def _metric(
    kind: type[CounterMetricFamily | GaugeMetricFamily],
    name: str,
    about: str,
    values: Mapping[Any, float],
    labels: Sequence[str] = (),
) -> Metric:
    """Make a metric of this package, with its values by its labels' values."""
    made = kind(f"reconciler_{name}", about, labels=labels)
    for of, value in values.items():
        made.add_metric(of, float(value))
    return made


counter = partial(_metric, CounterMetricFamily)
gauge = partial(_metric, GaugeMetricFamily)


class QueueCollector(Collector):
    """Collects the queue at the moment of a scrape; if the graph is unavailable, only that.

    Args:
        report: counts the queue.
    """

    def __init__(self, report: CountQueue) -> None:
        self._report = report
        self._attempts_max = 0

    def describe(self) -> list[Metric]:
        """Return no metrics in advance: else the registry would count the queue for the names."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Collect all metrics of the moment; never raise an error of ours."""
        try:
            report = self._report()
        except ReconcilerError:
            report = None
        yield gauge("up", "Whether the graph answers.", {(): report is not None})
        if report is None:
            return
        # A retried job counts its attempts again. Prometheus takes a falling counter for one that
        # restarted at 0, and counts all of it as new; so this one stays until it is passed.
        self._attempts_max = max(self._attempts_max, report.attempts)
        jobs = {(str(state),): count for state, count in report.jobs.items()}
        outcomes = {(outcome,): count for outcome, count in asdict(report.outcomes).items()}
        age_seconds = queue_numbers(report, datetime.now(UTC))["oldest_job_age_seconds"]
        yield gauge("jobs", "Jobs by state.", jobs, ["state"])
        yield counter("job_attempts", "How often jobs were started.", {(): self._attempts_max})
        yield counter(
            "candidates", "Candidates of all jobs, by their outcome.", outcomes, ["outcome"]
        )
        yield gauge(
            "oldest_job_age_seconds",
            "Age of the oldest job that is neither done nor dead; 0 without one.",
            {(): age_seconds},
        )


@contextmanager
def serve_metrics(
    report: CountQueue,
    port: int | None,
    more: Iterable[Collector] = (),
    host: str = LOOPBACK,
) -> Iterator[str | None]:
    """Answer scrapes while the block runs; gives the address, or None without a port.

    ``/metrics`` also counts the decisions that this process writes. ``/healthz`` says that the
    process lives, ``/readyz`` whether the graph answers: 200, else 503.

    Args:
        report: counts the queue, from threads of its own.
        port: 0 takes a free one, None serves nothing.
        more: further collectors.
        host: the address to listen on.

    Raises:
        InvalidRequestError: the port cannot be used.
    """
    if port is None:
        yield None
        return
    registry = CollectorRegistry()
    for collector in (QueueCollector(report), *more):
        registry.register(collector)
    try:
        server = listening(host, port, _answering(report, registry))
    except OSError as error:
        raise InvalidRequestError(
            f"--metrics-port {port} of {host} cannot be used: {error.strerror}; give another, or 0 "
            "for a free one"
        ) from error
    with counting_decisions(registry), running(server) as url:
        yield f"{url}metrics"


def _answering(report: CountQueue, registry: CollectorRegistry) -> Answer:
    metrics = make_wsgi_app(registry)

    def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path in {"/metrics", "/"}:
            found: Iterable[bytes] = metrics(environ, start)
            return found
        status, words = _probed(path, report)
        start(status, [("Content-Type", "text/plain; charset=utf-8")])
        return [f"{words}\n".encode()]

    return answer


def _probed(path: str, report: CountQueue) -> tuple[str, str]:
    if path == "/healthz":
        return "200 OK", "alive"
    if path != "/readyz":
        return "404 Not Found", "there are /metrics, /healthz and /readyz"
    try:
        report()
    except CredentialsRefusedError:
        refused = "the graph rejected the password of this process, which waits; see its log"
        return "503 Service Unavailable", refused
    except ReconcilerError:
        return "503 Service Unavailable", "the graph does not answer"
    return "200 OK", "ready"


_STAGES = ("embed", "compare", "arbitrate", "commit")
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


@contextmanager
def counting_decisions(registry: CollectorRegistry) -> Iterator[None]:
    """Count the decisions that this process writes while the block runs.

    Args:
        registry: the registry of the counts, without these names so far.
    """
    logger, counter = logging.getLogger(LOGGER_NAME), _DecisionCounter(registry)
    level_before = logger.level
    logger.addHandler(counter)
    if logger.getEffectiveLevel() > logging.INFO:
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level_before)
        logger.removeHandler(counter)


class _DecisionCounter(logging.Handler):
    """Counts decisions from log records; never makes a write fail."""

    def __init__(self, registry: CollectorRegistry) -> None:
        super().__init__(logging.INFO)
        counter = partial(Counter, registry=registry)
        self._decisions = counter(
            "reconciler_decisions",
            "Decisions that were written.",
            ["action", "decided_by", "door"],
        )
        self._refusals = counter(
            "reconciler_gate_refusals",
            "Notes that the gate refused or held, by its reason.",
            ["action", "reason"],
        )
        self._arbiter = counter(
            "reconciler_arbiter_answers",
            "Outcomes of asking the arbiter; circuit_open is its breaker.",
            ["outcome"],
        )
        self._races = counter(
            "reconciler_lost_races",
            "How often a note was decided again because another writer came first.",
        )
        self._seconds = Histogram(
            "reconciler_decision_seconds",
            "How long a decision took, by stage.",
            ["stage"],
            buckets=_SECONDS,
            registry=registry,
        )

    def emit(self, record: logging.LogRecord) -> None:
        """Count one decision."""
        try:
            self._count(vars(record))
        except Exception:  # noqa: BLE001 - a metric is no reason to fail a write
            self.handleError(record)

    def _count(self, told: dict[str, Any]) -> None:
        self._decisions.labels(told["action"], told["decided_by"], told["door"]).inc()
        if told["action"] in {"REJECT", "HOLD"}:
            self._refusals.labels(told["action"], str(told["gate_reason"])).inc()
        if told["arbiter"] is not None:
            self._arbiter.labels(told["arbiter"]).inc()
        self._races.inc(max(told["attempts"] - 1, 0))
        for stage in _STAGES:
            self._seconds.labels(stage).observe(told[f"{stage}_ms"] / 1000)


# The health of each agent's memory


_LABELS = ("tenant", "agent")
_BY_KIND = (
    (
        "facts",
        "Facts by state.",
        "state",
        ("live", "expired", "archived", "superseded", "revoked"),
    ),
    ("kept", "Records that are kept besides facts.", "kind", ("sessions", "episodes", "decisions")),
)
_NUMBERS = (
    (gauge, "duplicate_ratio", "total.duplicate_rate",
     "Share of live facts with a near duplicate that is not linked."),
    (gauge, "stale_ratio", "total.stale_rate",
     "Share of single-valued attributes with several live values."),
    (gauge, "open_disputes", "total.disputes.count", "Disputes that wait for an answer."),
    (gauge, "open_questions", "total.questions.count", "Held notes that wait for an answer."),
    (counter, "notes", "total.attempts", "Notes that were decided."),
    (counter, "refusals", "total.refusals", "Notes that the gate refused."),
    (counter, "answers", "total.answers", "Answers to questions."),
    (counter, "confirmations", "total.confirmations", "Answers to questions that were a yes."),
    (counter, "recalls", "total.recalls", "Recalls by processes that may write."),
    (counter, "empty_recalls", "total.empty_recalls",
     "Recalls that found nothing but standing facts."),
)  # fmt: skip
_AGES = {
    "oldest_dispute_age_seconds": "total.disputes.oldest_at",
    "oldest_question_age_seconds": "total.questions.oldest_at",
}
Read = Callable[[Callable[[int], None]], Sequence[HealthReport]]
"""A call that reads the health of all agents, and reports its progress after each contact."""


@frozen
class _HealthReading:
    """The last reading, its time and its duration; without reports if it failed."""

    reports: Sequence[HealthReport] | None
    at: datetime
    seconds: float


class HealthCollector(Collector):
    """Collects the last reading of the health; if it failed, only that it failed.

    Args:
        read: reads the health, in the thread of ``run``.
        every_seconds: how long to wait after a reading, above 0; at least the duration of that
            reading.
    """

    def __init__(self, read: Read, every_seconds: float) -> None:
        self._read = read
        self._every_seconds = every_seconds
        self._closing = threading.Event()
        self._last: _HealthReading | None = None

    def run(self) -> None:
        """Read the health now and then, until ``stop``."""
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
        """Make ``run`` return after its present contact."""
        self._closing.set()

    def describe(self) -> list[Metric]:
        """Return no metrics in advance: there may be no reading yet."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Collect the last reading; nothing before the first reading has ended."""
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
    """Read the health of every agent of the store, of all tenants.

    Args:
        memory: the store's memory.
        on_progress: called with the number of contacts that were read since its last call.
    """
    return [
        health(memory.agent(agent_id, tenant=tenant), on_progress=on_progress)
        for tenant, agent_id in memory.agents()
    ]


@contextmanager
def reading_health(read: Read, every_seconds: float) -> Iterator[list[Collector]]:
    """Read the health while the block runs; gives its collector, or None for 0 seconds."""
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
    """Make all metrics of a reading, each with a value for every agent; a share of 0 has none."""

    def each(path: str) -> dict[tuple[str, str], Any]:
        read = attrgetter(path)
        return {(report.tenant, report.agent_id): read(report) for report in reports}

    contacts = {agent: len(known) for agent, known in each("contacts").items()}
    yield gauge("contacts", "Contacts with at least one record.", contacts, _LABELS)
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
        about = "Size of the embedded store's files."
        yield gauge("store_bytes", about, {(): sizes[-1]})
