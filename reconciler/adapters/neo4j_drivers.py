"""The current driver. If one of its connections stays silent, it is replaced with all of them.

A NAT, a load balancer or a firewall that silently dropped one idle connection dropped the others
too. The driver would notice this one by one, and each would cost a time-out. Running calls may end
on the old driver.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

import neo4j


class Drivers:
    """Lends the newest driver; an old one is closed as soon as no call uses it.

    Args:
        make: a new driver; it connects when it is first used.
    """

    def __init__(self, make: Callable[[], neo4j.Driver]) -> None:
        self._make = make
        self._newest = make()
        self._uses: Counter[neo4j.Driver] = Counter()
        self._lock = Lock()
        self._is_closed = False

    @property
    def newest(self) -> neo4j.Driver:
        """The driver that the next call gets."""
        return self._newest

    @contextmanager
    def lent(self) -> Iterator[neo4j.Driver]:
        """The newest driver, open until the block ends."""
        with self._lock:
            driver = self._newest
            self._uses[driver] += 1
        try:
            yield driver
        finally:
            with self._lock:
                self._uses[driver] -= 1
            self._close_unused()

    def replace(self, silent: neo4j.Driver) -> None:
        """Use no connection of this driver any more; does nothing if it was replaced already."""
        with self._lock:
            if self._is_closed or silent is not self._newest:
                return
            self._uses[silent] += 0  # so that it is closed though no call uses it
            self._newest = self._make()
        self._close_unused()

    def close(self) -> None:
        """Close all of them, and end the calls under way."""
        with self._lock:
            self._is_closed = True
            drivers = {self._newest, *self._uses}
        for driver in drivers:
            driver.close()

    def _close_unused(self) -> None:
        with self._lock:
            unused = [
                driver
                for driver, count in self._uses.items()
                if count == 0 and driver is not self._newest
            ]
            for driver in unused:
                del self._uses[driver]
        for driver in unused:
            driver.close()
