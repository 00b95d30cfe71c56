"""What a command's own process logs, and what it does not. Never anything for the library."""

from __future__ import annotations

import logging

__all__ = ["quiet_the_driver"]

_DRIVER = "neo4j"


def quiet_the_driver() -> None:
    """Leave out what the driver says of a server that is away, at every attempt and connection.

    Our own error says so once, with what to do. Whoever sets a level for the driver is heard.
    """
    logger = logging.getLogger(_DRIVER)
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.CRITICAL)
