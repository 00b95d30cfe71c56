"""When this process may log in to a Neo4j after its password was refused: rarely.

A server locks an account for everyone after some wrong passwords in a row. A process with an old
password that logs in at each call keeps the owner of the account out. Never here: a connection.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from time import monotonic

from neo4j.exceptions import AuthError, TokenExpired

from reconciler.errors import CredentialsRefusedError

REFUSALS = (AuthError, TokenExpired)
"""The driver's errors for a refused user name or password."""

_WAIT_SECONDS, _WAIT_SECONDS_MAX = 60.0, 960.0
"""The wait after the first refusal, doubled after each further one, and its bound. Neo4j locks an
account for 5 seconds after 3 wrong passwords by default."""


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
        """The error that says so; its text stays the same until the next try, for the logs."""
        return CredentialsRefusedError(
            f"Neo4j at {self._uri} rejected the user name {self._username} or its password; "
            "check NEO4J_USERNAME and NEO4J_PASSWORD, and start this process again. It waits "
            f"{self._wait_seconds / 60:.0f} min before it tries these again, because Neo4j locks "
            "an account after a few wrong passwords"
        )


@cache
def logins_of(uri: str, username: str, password: str) -> LoginTries:  # noqa: ARG001  each its own
    """The logins of all memories of this process that use the same account and password."""
    return LoginTries(uri, username)


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=logins_of.cache_clear)
