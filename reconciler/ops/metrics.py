"""The worker's metrics for Prometheus: the numbers of the queue, and the state of the process.

Numbers only: no id and no text is ever a label. It listens on this machine alone, unless another
address is given, as in a container. The process that writes decisions counts them from its own log
records. No scrape reads the whole store: ``health`` and ``digest`` tell what needs that.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, Metric, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from reconciler.domain.records.sessions import QueueReport
from reconciler.errors import CredentialsRefusedError, InvalidRequestError, ReconcilerError
from reconciler.frozen import Values
from reconciler.ops.small_server import Answer, listening, running
from reconciler.service.stores.commits import LOGGER_NAME

LOOPBACK = "127.0.0.1"
CountQueue = Callable[[], QueueReport]


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
        oldest_at, now = report.oldest_unfinished_at, datetime.now(UTC)
        age_seconds = max((now - (oldest_at or now)).total_seconds(), 0.0)
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
    report: CountQueue, port: int | None, host: str = LOOPBACK
) -> Iterator[str | None]:
    """Answer scrapes while the block runs; gives the address, or None without a port.

    ``/metrics`` also counts the decisions that this process writes. ``/healthz`` says that the
    process lives, ``/readyz`` whether the graph answers: 200, else 503.

    Args:
        report: counts the queue, from threads of its own.
        port: 0 takes a free one, None serves nothing.
        host: the address to listen on.

    Raises:
        InvalidRequestError: the port cannot be used.
    """
    if port is None:
        yield None
        return
    registry = CollectorRegistry()
    registry.register(QueueCollector(report))
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

    def answer(environ: Values, start: Callable[..., Any]) -> Iterable[bytes]:
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
            "reconciler_decisions", "Decisions that were written.", ["action", "decided_by", "door"]
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

    def _count(self, told: Values) -> None:
        self._decisions.labels(told["action"], told["decided_by"], told["door"]).inc()
        if told["action"] in {"REJECT", "HOLD"}:
            self._refusals.labels(told["action"], str(told["gate_reason"])).inc()
        if told["arbiter"] is not None:
            self._arbiter.labels(told["arbiter"]).inc()
        self._races.inc(max(told["attempts"] - 1, 0))
        for stage in _STAGES:
            self._seconds.labels(stage).observe(told[f"{stage}_ms"] / 1000)
