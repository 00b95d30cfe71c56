"""The worker's metrics for Prometheus: the queue in numbers, and whether it lives and is ready.

Numbers only: a contact's id or text is never a label. It listens on this machine alone, unless
another address is given, as in a container.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from socket import SHUT_RDWR
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, Metric, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from reconciler.domain.records.jobs import QueueReport
from reconciler.entrypoints.decision_metrics import counting_decisions
from reconciler.errors import CredentialsRefusedError, InvalidRequestError, ReconcilerError

LOOPBACK = "127.0.0.1"
_REQUESTS_AT_ONCE_MAX = 32


def queue_numbers(report: QueueReport, now: datetime) -> dict[str, float]:
    """The queue by name: jobs by state, attempts, candidates by outcome, the oldest job's age.

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
    """A metric of this package, with its values by its labels' values."""
    made = kind(f"reconciler_{name}", about, labels=labels)
    for of, value in values.items():
        made.add_metric(of, float(value))
    return made


counter = partial(_metric, CounterMetricFamily)
gauge = partial(_metric, GaugeMetricFamily)


class QueueCollector(Collector):
    """The queue at the moment of a scrape; if the graph is unavailable, only that.

    Args:
        report: counts the queue.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self,
        report: Callable[[], QueueReport],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._report = report
        self._clock = clock
        self._attempts_max = 0

    def describe(self) -> list[Metric]:
        """No metrics in advance: the registry would count the queue only to learn the names."""
        return []

    def collect(self) -> Iterator[Metric]:
        """All metrics of the moment; never an error of ours."""
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
        age_seconds = queue_numbers(report, self._clock())["oldest_job_age_seconds"]
        yield gauge("jobs", "Jobs by state.", jobs, ["state"])
        yield counter("job_attempts", "How often jobs were started.", {(): self._attempts_max})
        yield counter(
            "candidates", "What became of the candidates of all jobs.", outcomes, ["outcome"]
        )
        yield gauge(
            "oldest_job_age_seconds",
            "Age of the oldest job that is neither done nor dead; 0 without one.",
            {(): age_seconds},
        )


@contextmanager
def serve_metrics(
    report: Callable[[], QueueReport],
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
        server = make_server(host, port, _answering(report, registry), _Server, _QuietHandler)
    except OSError as error:
        raise InvalidRequestError(
            f"--metrics-port {port} of {host} cannot be used: {error.strerror}; give another, or 0 "
            "for a free one"
        ) from error
    thread = threading.Thread(target=server.serve_forever, name="reconciler-metrics", daemon=True)
    with counting_decisions(registry):
        thread.start()
        try:
            yield f"http://{host}:{server.server_port}/metrics"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


class _Server(ThreadingMixIn, WSGIServer):
    """A thread for each request, so that a slow scrape keeps no probe waiting.

    Their number is bounded: the oldest client makes room for a newcomer, so that idle clients
    neither take all threads of the process nor keep a probe out.
    """

    daemon_threads = True
    request_queue_size = 128  # with 5, the system makes the sixth client wait for a second or more

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._under_way: dict[Any, None] = {}

    def process_request(self, request: Any, client_address: Any) -> None:
        """Begin to answer a client."""
        self._under_way[request] = None
        if len(self._under_way) > _REQUESTS_AT_ONCE_MAX:
            first = list(self._under_way)[0]  # noqa: RUF015  in one step, for threads take some out
            self._under_way.pop(first, None)
            with suppress(OSError):  # it has ended meanwhile
                first.shutdown(SHUT_RDWR)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """End with a client."""
        self._under_way.pop(request, None)
        super().shutdown_request(request)


class _QuietHandler(WSGIRequestHandler):
    """A handler that logs no scrapes."""

    timeout = 30

    def log_message(self, *_: Any) -> None:
        """Nothing."""


def _answering(
    report: Callable[[], QueueReport], registry: CollectorRegistry
) -> Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]:
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


def _probed(path: str, report: Callable[[], QueueReport]) -> tuple[str, str]:
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
