"""Metrics of decisions for Prometheus: counts, times, refusals and answers of the arbiter.

The process that writes decisions counts them from its own log records. An id is never a label.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram

from reconciler.service.writing.decision_log import LOGGER_NAME

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
    """Counts from records; never fails a write."""

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
            "What came of asking the arbiter; circuit_open is its breaker.",
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
        """Count one."""
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
