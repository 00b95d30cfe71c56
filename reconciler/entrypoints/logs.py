"""What a command's own process logs, how, and what it does not. Never anything for the library."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from reconciler.domain.visible_text import visible

if TYPE_CHECKING:
    from reconciler.settings import LogSettings

__all__ = ["logging_to_stderr", "quiet_the_driver"]

_DRIVER = "neo4j"


def quiet_the_driver() -> None:
    """Leave out what the driver says of a server that is away, at every attempt and connection.

    Our own error says so once, with what to do. Whoever sets a level for the driver is heard.
    """
    logger = logging.getLogger(_DRIVER)
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.CRITICAL)


@contextmanager
def logging_to_stderr(level: int, settings: LogSettings, *others: str) -> Iterator[None]:
    """Print what is logged on standard error while the block runs.

    Args:
        level: what is logged of ours, and everything above it.
        settings: in which form.
        *others: loggers of libraries, of which warnings are printed.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(settings))
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


class _PlainFormatter(logging.Formatter):
    """A line a record; an error's text may hold whatever a server answered."""

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
"""What every record has, and nobody asked for."""
