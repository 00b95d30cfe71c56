"""Logging of the commands' own processes. The library itself sets nothing up."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from reconciler.domain.visible_text import visible
from reconciler.job_context import job_under_way

if TYPE_CHECKING:
    from reconciler.settings import LogSettings

_DRIVER = "neo4j"


def quiet_the_driver() -> None:
    """Leave out the driver's messages about an unavailable server, one for each attempt.

    Our own error says it once, with the remedy. A level that is set for the driver counts.
    """
    logger = logging.getLogger(_DRIVER)
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.CRITICAL)


@contextmanager
def logging_to_stderr(level: int, settings: LogSettings, *others: str) -> Iterator[None]:
    """Print log records on standard error while the block runs.

    It changes only the loggers of this package and those named: a reader who wants details of this
    package does not want every packet of the driver and of HTTP.

    Args:
        level: the lowest level of our records; a level in the settings replaces it.
        settings: the format and the level.
        *others: loggers of libraries, of which warnings are printed.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(settings))
    handler.addFilter(_name_the_job)
    if settings.level is not None:
        level = logging.getLevelNamesMapping()[settings.level.upper()]
    loggers = {logging.getLogger(name): logging.WARNING for name in others}
    loggers[logging.getLogger("reconciler")] = level
    before = {logger: logger.level for logger in loggers}
    for logger, chosen in loggers.items():
        logger.addHandler(handler)
        logger.setLevel(chosen)
    try:
        yield
    finally:
        for logger, chosen in before.items():
            logger.setLevel(chosen)
            logger.removeHandler(handler)


def _name_the_job(record: logging.LogRecord) -> bool:
    """Give a record the id of the job that the process works on."""
    if (job_id := job_under_way()) is not None:
        record.job_id = job_id
    return True


class _PlainFormatter(logging.Formatter):
    """One line for each record; an error may quote any answer of a server."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        job_id = getattr(record, "job_id", None)
        if job_id is not None and job_id not in record.message:
            record.message = f"job {job_id}: {record.message}"
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def _formatter(settings: LogSettings) -> logging.Formatter:
    if settings.format == "text":
        return _PlainFormatter("%(asctime)s %(levelname)-7s %(message)s")
    from pythonjsonlogger.json import JsonFormatter

    return JsonFormatter(
        "%(message)s",
        rename_fields={"levelname": "level", "name": "logger"},
        timestamp=True,
        json_ensure_ascii=True,
        reserved_attrs=[name for name in _RESERVED if name not in {"levelname", "name"}],
    )


_RESERVED = [*vars(logging.makeLogRecord({})), "asctime", "taskName"]
"""Attributes that every record has."""
