"""What a Prometheus is told of how well memories are kept, by real scrapes."""

from __future__ import annotations

import json
import re
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
import yaml
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from reconciler import Memory
from reconciler.domain.records.kinds import JobState
from reconciler.domain.records.sessions import Outcomes, QueueReport
from reconciler.errors import GraphUnavailableError
from reconciler.ops.metrics import Read, health_of_all, reading_health, serve_metrics
from reconciler.ops.review.health import HealthReport
from reconciler.serve.http_api.app import api
from reconciler.testing import HashingEmbedder
from tests.documents import ROOT
from tests.engines import EngineUnderTest

Sample = tuple[str, tuple[str, ...]]
LABELS = ("tenant", "agent", "state", "kind")
CRM = ("acme", "crm")


@pytest.fixture
def memory(kept_engine: EngineUnderTest) -> Iterator[Memory]:
    with Memory.open(embedder=HashingEmbedder(), **kept_engine.settings_arguments) as memory:
        yield memory


def queue() -> QueueReport:
    jobs = dict.fromkeys(JobState, 0)
    return QueueReport(jobs=jobs, attempts=0, outcomes=Outcomes(), oldest_unfinished_at=None)


def scraped_text(address: str) -> str:
    return str(urllib.request.urlopen(address, timeout=30).read().decode())


def scraped(address: str) -> dict[Sample, float]:
    text = scraped_text(address)
    return {
        (sample.name, tuple(sample.labels[each] for each in LABELS if each in sample.labels)): (
            sample.value
        )
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@contextmanager
def served(read: Read, every_seconds: float = 0.02) -> Iterator[Callable[[], dict[Sample, float]]]:
    """Gives what scrapes."""
    with (
        reading_health(read, every_seconds) as health,
        serve_metrics(queue, 0, health) as address,
    ):
        assert address is not None
        yield lambda: scraped(address)


def until(
    scrape: Callable[[], dict[Sample, float]], name: str, labels: tuple[str, ...], value: float
) -> dict[Sample, float]:
    """The first scrape that tells of this; what was last scraped where none does."""
    end = time.monotonic() + 30
    while (found := scrape()).get((name, labels)) != value and time.monotonic() < end:
        time.sleep(0.02)
    assert found.get((name, labels)) == value
    return found


@pytest.mark.on_neo4j_too
def test_a_scrape_tells_of_each_agent_of_each_tenant_and_of_no_contact(memory: Memory) -> None:
    day_ago = datetime.now(UTC) - timedelta(days=1)
    memory.add_contact_note("crm", "alice", "Likes tea", tenant="acme")
    memory.add_contact_note("crm", "alice", "ok", tenant="acme")
    memory.add_contact_note("crm", "bob", "Is diabetic.", tenant="acme", said_at=day_ago)
    memory.add_contact_note("sales", "carla", "Owns a boat")
    memory.contact("crm", "alice", tenant="acme").recall()
    memory.contact("crm", "alice", tenant="acme").recall(tags=["none"])
    memory._services.use_trace.flush()
    with served(partial(health_of_all, memory)) as scrape:
        found = until(scrape, "reconciler_health_up", (), 1)
    assert found["reconciler_facts", (*CRM, "live")] == 1
    assert found["reconciler_facts", ("default", "sales", "live")] == 1
    assert found["reconciler_contacts", CRM] == 2
    assert found["reconciler_open_questions", CRM] == 1
    assert found["reconciler_oldest_question_age_seconds", CRM] > 0
    assert (found["reconciler_open_disputes", CRM], found["reconciler_refusals_total", CRM]) == (
        0,
        1,
    )
    assert found["reconciler_recalls_total", CRM] == 2
    assert found["reconciler_empty_recalls_total", CRM] == 1
    assert found["reconciler_duplicate_ratio", CRM] == 0
    assert ("reconciler_stale_ratio", CRM) not in found  # no question of one value was answered
    told = {label for _, labels in found for label in labels}
    assert not told & {"alice", "bob", "carla"}


def expressions() -> Iterator[str]:
    """What the alerts and the dashboard ask of Prometheus."""
    folder = ROOT / "examples" / "monitoring"
    for group in yaml.safe_load((folder / "alerts.yml").read_text())["groups"]:
        yield from (rule["expr"] for rule in group["rules"])
    for panel in json.loads((folder / "dashboard.json").read_text())["panels"]:
        yield from (target["expr"] for target in panel["targets"])


def test_alerts_and_dashboard_ask_for_metrics_that_there_are(memory: Memory) -> None:
    memory.add_contact_note("crm", "alice", "Likes tea", tenant="acme")
    with (
        reading_health(partial(health_of_all, memory), 3600) as health,
        serve_metrics(memory.queue, 0, health) as address,
    ):
        assert address is not None
        until(lambda: scraped(address), "reconciler_health_up", (), 1)
        told = re.findall(r"^# HELP (\w+)", scraped_text(address), re.MULTILINE)
    asked = {name for each in expressions() for name in re.findall(r"\breconciler_\w+", each)}
    parts = {f"{name}_{part}" for name in told for part in ("bucket", "sum", "count")}
    assert asked <= {*told, *parts}
    assert len(asked) > 15


def test_a_server_of_the_api_reads_the_health_too(memory: Memory) -> None:
    memory.add_contact_note("crm", "alice", "Likes tea", tenant="acme")
    app = api(memory, health_seconds=3600)
    with TestClient(app):
        registry = app.state.registry

        def scrape() -> dict[Sample, float]:
            value = registry.get_sample_value("reconciler_facts", told)
            return {} if value is None else {("reconciler_facts", (*CRM, "live")): value}

        told = {"tenant": "acme", "agent": "crm", "state": "live"}
        until(scrape, "reconciler_facts", (*CRM, "live"), 1)


def test_what_is_written_later_is_told_later(memory: Memory) -> None:
    memory.add_contact_note("crm", "alice", "Likes tea", tenant="acme")
    with served(partial(health_of_all, memory)) as scrape:
        until(scrape, "reconciler_facts", (*CRM, "live"), 1)
        memory.add_contact_note("crm", "alice", "Owns a boat", tenant="acme")
        until(scrape, "reconciler_facts", (*CRM, "live"), 2)


def test_what_cannot_be_read_is_said_and_the_exporter_goes_on(memory: Memory) -> None:
    memory.add_contact_note("crm", "alice", "Likes tea", tenant="acme")
    is_away = threading.Event()

    def read(on_progress: Callable[[int], None]) -> Sequence[HealthReport]:
        if is_away.is_set():
            raise GraphUnavailableError("away")
        return health_of_all(memory, on_progress)

    with served(read) as scrape:
        until(scrape, "reconciler_health_up", (), 1)
        is_away.set()
        found = until(scrape, "reconciler_health_up", (), 0)
        assert (found["reconciler_up", ()], ("reconciler_contacts", CRM) in found) == (1, False)
        is_away.clear()
        until(scrape, "reconciler_contacts", CRM, 1)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_bug_in_reading_leaves_no_old_numbers(memory: Memory) -> None:
    memory.add_contact_note("crm", "alice", "Likes tea", tenant="acme")
    first = iter([partial(health_of_all, memory)])
    with served(lambda on_progress: next(first)(on_progress)) as scrape:
        assert "reconciler_contacts" not in {
            name for name, _ in until(scrape, "reconciler_health_up", (), 0)
        }


def test_scrapes_do_not_read_and_do_not_wait_for_who_does(memory: Memory) -> None:
    readings, may_go_on = [], threading.Event()

    def read(on_progress: Callable[[int], None]) -> Sequence[HealthReport]:
        readings.append(1)
        may_go_on.wait(30)
        return health_of_all(memory, on_progress)

    with served(read, every_seconds=3600) as scrape:
        assert scrape()["reconciler_up", ()] == 1  # while the first reading goes on
        may_go_on.set()
        until(scrape, "reconciler_health_up", (), 1)
        for _ in range(5):
            scrape()
    assert len(readings) == 1


def test_the_end_waits_for_one_contact_and_not_for_all() -> None:
    looked_at = []

    def read(on_progress: Callable[[int], None]) -> Sequence[HealthReport]:
        for number in range(10_000):
            looked_at.append(number)
            time.sleep(0.01)
            on_progress(1)
        return []

    with served(read):
        time.sleep(0.05)
    assert len(looked_at) < 1_000


def test_switched_off_nothing_is_read() -> None:
    def read(_: Callable[[int], None]) -> Sequence[HealthReport]:
        raise AssertionError

    with served(read, every_seconds=0) as scrape:
        assert {name for name, _ in scrape() if "health" in name} == set()
