"""Gathered commits: what many threads commit at the same time goes in one transaction.

A transaction costs much by itself: of the processor time of a note, half on Neo4j and a third on
the embedded engine, if 32 threads write. A thread that is alone sends its own at once and waits for
nothing. While transactions are under way, later threads wait; the first of them then sends all that
wait.

Gathering only saves work. A batch is tried once, for a short time. If it fails, each thread sends
its own commit alone, so one that cannot be written fails no other. It may have been sent before by
then: the contact's version has moved on, nothing is written twice, and the ledger finds the
decision. An interrupt such as Ctrl-C may come anywhere: a thread waits only as long as the one that
sends for it is at work, and looks again by itself.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue

from reconciler.service.stores.commits import Commit
from reconciler.service.stores.decision_store import DecisionStore

_log = logging.getLogger(__name__)

BATCH_MAX = 32
AT_ONCE_MAX = 2
"""Transactions under way: the second is prepared and read while the engine writes the first."""

STALLED_SECONDS = 1.0
"""A transaction takes some 50 ms. One that takes longer than this waits for a lock or for an
unavailable engine, and those behind it should ask the engine themselves."""

BATCH_SECONDS_MAX = 5.0
"""A contact that another process keeps locked delays the other contacts of its batch this long."""


class _Asked:
    """One thread's commit."""

    def __init__(self, commit: Commit) -> None:
        self.commit = commit
        self.sender: _Asked | None = None
        self.is_written: bool | None = None
        self._calls: SimpleQueue[None] = SimpleQueue()

    def call(self) -> None:
        """Have its thread look again."""
        self._calls.put(None)

    def wait(self) -> None:
        with suppress(Empty):
            self._calls.get(timeout=STALLED_SECONDS)


class GatheredCommits:
    """Writes the commits of the threads of one process, in few transactions.

    Args:
        store: the store of decisions.
    """

    def __init__(self, store: DecisionStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._waiting: dict[_Asked, None] = {}
        self._sending: dict[_Asked, float] = {}

    def write(self, commit: Commit) -> bool:
        """Write a commit; False if its contact moved on, and then nothing was written.

        Raises:
            GraphError: see ``DecisionStore.commit_decisions``. It is about this commit alone.
        """
        own = _Asked(commit)
        try:
            self._waiting[own] = None
            batch = self._taken(own)
            if len(batch) > 1:
                self._send(own, batch)
            if own.is_written is None:
                own.is_written = bool(self._store.commit_decisions([commit]))
            return own.is_written
        finally:
            self._leave(own, ())

    def _taken(self, own: _Asked) -> list[_Asked]:
        """What this thread is to send, its own first; empty if another thread has sent its own."""
        while True:
            with self._lock:
                if own.is_written is not None or self._is_left(own):
                    return []
                if own.sender is None and self._may_send(own):
                    return self._take(own)
            own.wait()

    def _is_left(self, own: _Asked) -> bool:
        """Whether the thread that was to send it has left without an answer."""
        return own.sender is not None and own.sender not in self._sending

    def _may_send(self, own: _Asked) -> bool:
        now = time.monotonic()
        began = list(self._sending.values())
        at_work = [since for since in began if now - since < STALLED_SECONDS]
        return len(at_work) < AT_ONCE_MAX and self._first() == [own]

    def _first(self) -> list[_Asked]:
        return list(self._waiting)[:1]

    def _take(self, own: _Asked) -> list[_Asked]:
        """Those that wait, in their order, at most one of each contact."""
        self._sending[own] = time.monotonic()
        taken: dict[str, _Asked] = {}
        for other in list(self._waiting):
            taken.setdefault(other.commit.decision.scope.contact_key, other)
            if len(taken) == BATCH_MAX:
                break
        batch = list(taken.values())
        for other in batch:
            other.sender = own
            self._waiting.pop(other, None)
        return batch

    def _send(self, own: _Asked, batch: Sequence[_Asked]) -> None:
        """Send them; if that fails, none has an answer, and each thread sends its own."""
        try:
            commits = [each.commit for each in batch]
            written = self._store.commit_decisions(commits, seconds_max=BATCH_SECONDS_MAX)
            for each in batch:
                each.is_written = each.commit.decision.decision_id in written
        except Exception as error:  # noqa: BLE001 (whose fault it is, each alone finds out)
            failed = type(error).__name__
            _log.info("%d commits failed together (%s); each is sent alone", len(batch), failed)
        finally:
            self._leave(own, batch)

    def _leave(self, own: _Asked, batch: Sequence[_Asked]) -> None:
        self._sending.pop(own, None)  # first, and no call of Python's: no interrupt comes before
        self._waiting.pop(own, None)
        for other in (*batch, *self._first()):
            other.call()
