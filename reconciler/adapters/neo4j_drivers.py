"""The current driver of a server: how it is replaced, when it logs in, and what its errors mean.

If one of its connections stays silent, the driver is replaced; running calls may end on the old
one. A NAT, a load balancer or a firewall that silently dropped one idle connection dropped the
others too, and the driver would notice each dropped connection only after its own time-out. If a
server does not answer, ``to_check`` says what to check, because for a ``neo4j://`` address the
driver only says that it got no routing information.

After a refused password this process logs in rarely. A server locks an account for everyone after
some wrong passwords in a row. If a process with an old password logs in at each call, the owner of
the account cannot log in. Never here: a query or a transaction.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from time import monotonic

import neo4j
from neo4j.exceptions import AuthError, TokenExpired

from reconciler.errors import CredentialsRefusedError

REFUSALS = (AuthError, TokenExpired)
"""The driver's errors for a refused user name or password."""

_WAIT_SECONDS, _WAIT_SECONDS_MAX = 60.0, 960.0
"""The wait after the first refusal, which doubles after each further refusal, and the longest wait.
Neo4j locks an account for 5 seconds after 3 wrong passwords by default."""


class LoginTries:
    """The logins of one account with one password: after a refusal one call tries, others do not.

    Args:
        uri: the server's address.
        username: the account.
    """

    def __init__(self, uri: str, username: str) -> None:
        self._uri, self._username = uri, username
        self._lock = threading.Lock()
        self._wait_seconds = 0.0
        self._again_at = 0.0

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """A call that may log in.

        Calls that were under way at a refusal say nothing about the time after it.

        Raises:
            CredentialsRefusedError: the server refused the password, and it is too early to ask
                again; nothing was sent.
        """
        is_trial = self._begin()
        try:
            yield
        except REFUSALS:
            with self._lock:
                if is_trial or not self._wait_seconds:
                    again = 2 * self._wait_seconds or _WAIT_SECONDS
                    self._wait_seconds = min(again, _WAIT_SECONDS_MAX)
                    self._again_at = monotonic() + self._wait_seconds
            raise
        if is_trial:
            self._wait_seconds = 0.0

    def _begin(self) -> bool:
        with self._lock:
            if self._wait_seconds and monotonic() < self._again_at:
                raise self.refusal()
            self._again_at = monotonic() + self._wait_seconds  # for all but this call
            return self._wait_seconds > 0

    def refusal(self) -> CredentialsRefusedError:
        """Make the error; its text stays the same until the next try, so that logs stay short."""
        return CredentialsRefusedError(
            f"Neo4j at {self._uri} rejected the user name {self._username} or its password; "
            "check NEO4J_USERNAME and NEO4J_PASSWORD, and start this process again. It waits "
            f"{self._wait_seconds / 60:.0f} min before it tries these again, because Neo4j locks "
            "an account after a few wrong passwords"
        )


@cache
def logins_of(uri: str, username: str, password: str) -> LoginTries:  # noqa: ARG001  each its own
    """Share the logins of all memories of this process with the same account and password."""
    return LoginTries(uri, username)


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=logins_of.cache_clear)


class Drivers:
    """Lends the newest driver; an old one is closed as soon as no call uses it.

    Args:
        make: a new driver; it connects when it is first used.

    Attributes:
        newest: the driver that the next call gets.
    """

    def __init__(self, make: Callable[[], neo4j.Driver]) -> None:
        self._make = make
        self.newest = make()
        self._uses: Counter[neo4j.Driver] = Counter()
        self._lock = Lock()
        self._is_closed = False

    @contextmanager
    def lent(self) -> Iterator[neo4j.Driver]:
        """Newest driver, open until the block ends."""
        with self._lock:
            driver = self.newest
            self._uses[driver] += 1
        try:
            yield driver
        finally:
            with self._lock:
                self._uses[driver] -= 1
            self._close_unused()

    def replace(self, silent: neo4j.Driver) -> None:
        """Stop using this driver; does nothing if it was already replaced."""
        with self._lock:
            if self._is_closed or silent is not self.newest:
                return
            self._uses[silent] += 0  # so that it is closed though no call uses it
            self.newest = self._make()
        self._close_unused()

    def close(self) -> None:
        """Close all drivers, and end the running calls."""
        with self._lock:
            self._is_closed = True
            drivers = {self.newest, *self._uses}
        for driver in drivers:
            driver.close()

    def _close_unused(self) -> None:
        with self._lock:
            unused = [
                driver
                for driver, count in self._uses.items()
                if not count and driver is not self.newest
            ]
            for driver in unused:
                del self._uses[driver]
        for driver in unused:
            driver.close()


def to_check(uri: str, setting: str, error: BaseException) -> str:
    """What to check, and the driver's reason.

    Args:
        uri: the server's address.
        setting: the setting or argument that holds the address, for the reader.
        error: the driver's error.
    """
    checks = f"check that the server runs, and host and port in {setting}"
    if uri.startswith("neo4j"):
        direct = uri.replace("neo4j", "bolt", 1)
        checks += f"; for a single server try {direct}, because neo4j:// continues to "
        checks += "the address that the server gives for itself"
    return f"{checks} ({_reason(error)})"


def _reason(error: BaseException) -> str:
    """The first line of the error, or of the first error in a group."""
    grouped = getattr(error.__cause__, "exceptions", ())
    text = str(grouped[0] if grouped else error).partition("\n")[0].rstrip(":")
    return text[:300] or type(error).__name__
