"""The alerts and the dashboard ask for metrics that a real scrape has."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator

import yaml

from reconciler.domain.records.kinds import JobState
from reconciler.domain.records.sessions import Outcomes, QueueReport
from reconciler.ops.metrics import serve_metrics
from tests.documents import ROOT


def queue() -> QueueReport:
    jobs = dict.fromkeys(JobState, 0)
    return QueueReport(jobs=jobs, attempts=0, outcomes=Outcomes(), oldest_unfinished_at=None)


def expressions() -> Iterator[str]:
    """What the alerts and the dashboard ask of Prometheus."""
    folder = ROOT / "examples" / "monitoring"
    for group in yaml.safe_load((folder / "alerts.yml").read_text())["groups"]:
        yield from (rule["expr"] for rule in group["rules"])
    for panel in json.loads((folder / "dashboard.json").read_text())["panels"]:
        yield from (target["expr"] for target in panel["targets"])


def test_alerts_and_dashboard_ask_for_metrics_that_there_are() -> None:
    with serve_metrics(queue, 0) as address:
        assert address is not None
        scraped = urllib.request.urlopen(address, timeout=30).read().decode()
    told = re.findall(r"^# HELP (\w+)", scraped, re.MULTILINE)
    asked = {name for each in expressions() for name in re.findall(r"\breconciler_\w+", each)}
    parts = {f"{name}_{part}" for name in told for part in ("bucket", "sum", "count")}
    assert asked <= {*told, *parts}
    assert len(asked) > 7
