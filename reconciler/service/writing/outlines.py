"""Outlines: what ranks a contact's facts, in arrays, without the facts themselves."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from reconciler.domain.recalling.ranking import (
    Numbers,
    Rank,
    holding,
    numbers_of,
    rank_rows,
)
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.policies import RankingPolicy
from reconciler.service.stores.memory_store import Commit
from reconciler.service.writing.open_conflicts import OpenConflicts

__all__ = ["Outline"]

_SPARE_ROWS = 16
_LONG_AGO = np.iinfo(np.int64).min


class Outline:
    """What ranks one contact's facts as of ``version``, live or expired, for any number of threads.

    A row each. That of a fact that ended since is empty: it has no id, and expired long ago.

    Args:
        version: the contact's.
        fact_ids: of its facts that have not ended and can be compared.
        vectors: theirs, float32, shape (len(fact_ids), dimension), unit length.
        numbers: theirs, a row each.
        conflicts: which of its facts are in dispute, by their ids.
    """

    def __init__(
        self,
        version: int,
        fact_ids: Sequence[str],
        vectors: NDArray[np.float32],
        numbers: Numbers,
        conflicts: Iterable[tuple[str, str]] = (),
    ) -> None:
        self._lock = threading.Lock()
        self._version = version
        self._rows = list(fact_ids)
        self._places = {fact_id: row for row, fact_id in enumerate(self._rows)}
        self._vectors, self._numbers = vectors, numbers
        self._conflicts = OpenConflicts(conflicts)

    @property
    def size(self) -> int:
        """Facts that it takes the room of, those that ended since included; and one for itself."""
        return len(self._rows) + 1

    @property
    def version(self) -> int:
        """The contact's version that it holds at."""
        return self._version

    def ranked(
        self,
        vector: NDArray[np.float32],
        policy: RankingPolicy,
        now: datetime,
        limit: int,
        confidence_min: float,
    ) -> tuple[int, dict[str, Rank]]:
        """The version, and the ids of the best facts, the best first; as ``rank_rows``."""
        with self._lock:
            cosines = np.clip(self._compared(vector), -1, 1)
            numbers = self._numbers[: len(self._rows)]
            ranks = rank_rows(numbers, cosines, policy, now, limit, confidence_min)
            return self._version, {self._rows[each.row]: each for each in ranks}

    def disputed(self, fact_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Those of these facts that are in dispute, each with the ids of the other sides."""
        with self._lock:
            found = {fact_id: self._conflicts.of(fact_id) for fact_id in fact_ids}
            return {fact_id: others for fact_id, others in found.items() if others}

    def apply(self, commit: Commit) -> bool:
        """Take over what was committed; whether it was made on this very version.

        A revert is not taken over: what lives again has no vector here.

        A look beside the commit may have found the new fact under the version before: that is no
        outline of either.
        """
        with self._lock:
            if commit.version != self._version or self._knows(commit.fact) or commit.restored:
                return False
            self._version += 1
            self._take_over(commit)
            return True

    def _knows(self, fact: Fact | None) -> bool:
        return fact is not None and fact.fact_id in self._places

    def _take_over(self, commit: Commit) -> None:
        self._conflicts.apply(commit)
        for ended_id in commit.decision.superseded_ids:
            self._end(ended_id)
        if commit.kept and self._knows(commit.kept):
            self._numbers[self._places[commit.kept.fact_id]] = numbers_of([commit.kept])[0]
        if commit.fact and not commit.fact.has_ended and commit.vector.size:
            self._add(commit.fact, commit.vector)

    def _compared(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cosine of each row, in single precision."""
        if not self._rows:
            return np.empty(0, dtype=np.float32)
        found: NDArray[np.float32] = self._vectors[: len(self._rows)] @ vector
        return found

    def _holding(self, now: datetime) -> NDArray[np.bool_]:
        """Which rows are of facts that have neither ended nor expired."""
        return holding(self._numbers[: len(self._rows)], now)

    def _expired(self, now: datetime) -> NDArray[np.bool_]:
        """Which rows are of facts that have expired, and not ended."""
        is_there: NDArray[np.bool_] = self._numbers["expires_at"][: len(self._rows)] != _LONG_AGO
        return is_there & ~self._holding(now)

    def _kept(self) -> list[int]:
        """The rows of facts that have not ended."""
        return [row for row, fact_id in enumerate(self._rows) if fact_id]

    def _add(self, fact: Fact, vector: NDArray[np.float32]) -> None:
        if len(self._rows) >= len(self._vectors):
            self._make_room(vector.size)
        place = len(self._rows)
        self._vectors[place], self._numbers[place] = vector, numbers_of([fact])[0]
        self._rows.append(fact.fact_id)
        self._places[fact.fact_id] = place

    def _end(self, fact_id: str) -> None:
        row = self._places.pop(fact_id, None)
        if row is not None:
            self._rows[row], self._numbers["expires_at"][row] = "", _LONG_AGO

    def _make_room(self, dimension: int) -> None:
        """Leave out the rows of facts that ended, and have half as many again to spare."""
        kept = self._kept()
        room = len(kept) * 3 // 2 + _SPARE_ROWS
        vectors = np.empty((room, dimension), dtype=np.float32)
        numbers = np.empty(room, dtype=self._numbers.dtype)
        if kept:
            vectors[: len(kept)], numbers[: len(kept)] = self._vectors[kept], self._numbers[kept]
        self._vectors, self._numbers = vectors, numbers
        self._rows = [self._rows[row] for row in kept]
        self._places = {fact_id: row for row, fact_id in enumerate(self._rows)}
