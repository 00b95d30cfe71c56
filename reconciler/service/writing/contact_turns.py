"""One writer at a time for a contact, in this process, in order of arrival.

Turns only save work: a writer that looks, decides and commits alone loses no race. Decisions are
right without turns, because the commit compares the contact's version. So after 5 s without
progress in the queue a writer proceeds anyway, and queues again if it loses. Nothing here knows a
graph or an engine.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from reconciler.domain.records.scope import Scope
from reconciler.turns import Ticket, Turns

STALLED_SECONDS = 5.0
"""A turn takes some 30 ms, on a busy machine ten times that. One that takes longer than this waits
for an unavailable engine, and the writers behind it should ask the engine themselves."""


@dataclass(slots=True)
class _Queue:
    turns: Turns = field(default_factory=Turns)
    user_count: int = 0


@dataclass(frozen=True, slots=True)
class ContactTurn:
    """A writer's turn to write about a contact."""

    turn: Ticket
    stalled_seconds: float

    def take(self) -> None:
        """Wait for the turn, unless it is taken; proceed without it if the queue does not move."""
        self.turn.take(self.stalled_seconds, while_moving=True)


class ContactTurns:
    """A queue of writers for each contact that is being written about now.

    Args:
        stalled_seconds: how long a queue may stand still before its writers go on without a turn.
    """

    def __init__(self, stalled_seconds: float = STALLED_SECONDS) -> None:
        self._stalled_seconds = stalled_seconds
        self._lock = threading.Lock()
        self._queues: dict[str, _Queue] = {}

    @contextmanager
    def turn(self, scope: Scope) -> Iterator[ContactTurn]:
        """The turn to take before each attempt to write; a writer keeps it until the end.

        Ask no arbiter and embed nothing meanwhile: the other writers wait.
        """
        with self._queue(scope.contact_key) as turns, turns.turn() as turn:
            yield ContactTurn(turn, self._stalled_seconds)

    @contextmanager
    def _queue(self, contact_key: str) -> Iterator[Turns]:
        with self._lock:
            queue = self._queues.setdefault(contact_key, _Queue())
            queue.user_count += 1
        try:
            yield queue.turns
        finally:
            with self._lock:
                queue.user_count -= 1
                if not queue.user_count:
                    del self._queues[contact_key]
