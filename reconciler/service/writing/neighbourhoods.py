"""Neighbourhoods: the live facts of the contacts that this process writes about, with vectors.

A neighbourhood holds at one version of its contact, and only the commit proves that it still does:
where the commit writes nothing, it is dropped and loaded again. So a stale one costs a retry and
never a wrong decision. What this process commits is applied in place.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Set
from datetime import datetime
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from reconciler.domain.reconciling.neighbours import (
    NEIGHBOUR_COUNT_MAX,
    is_rival,
    neighbour_of,
    neighbours_of,
)
from reconciler.domain.records.facts import Fact, Neighbour
from reconciler.domain.records.notes import Note
from reconciler.domain.records.scope import Scope
from reconciler.service.stores.memory_store import Commit, MemoryStore

__all__ = ["Neighbourhood", "Neighbourhoods"]

_SPARE_ROWS = 16


class Neighbourhood:
    """One contact's live facts as they were at ``version``, for any number of threads.

    Args:
        version: the contact's.
        facts: its live facts that can be compared, expired ones too.
        vectors: theirs, float32, shape (len(facts), dimension), unit length.
    """

    def __init__(self, version: int, facts: Iterable[Fact], vectors: NDArray[np.float32]) -> None:
        self._lock = threading.Lock()
        self._version = version
        self._facts = {fact.fact_id: fact for fact in facts}
        self._rows = list(self._facts)  # the id in each row; "" where a fact has ended
        self._vectors = vectors
        self._sessions: frozenset[str] = frozenset()  # plans hold it: replaced, never changed

    @property
    def size(self) -> int:
        """Facts that it takes the room of, those that ended since included; and one for itself."""
        return len(self._rows) + 1

    @property
    def version(self) -> int:
        """The contact's version that it holds at."""
        return self._version

    @property
    def sessions(self) -> Set[str]:
        """The keys of the contact's sessions that were seen; a hint that saves a look."""
        return self._sessions

    def fork(self) -> Neighbourhood:
        """One of its own at the same version, for plans whose commits are not written yet."""
        with self._lock:
            fact_ids, vectors = self._compacted()
            facts = [self._facts[fact_id] for fact_id in fact_ids]
            copy = Neighbourhood(self._version, facts, vectors)
            copy._sessions = self._sessions
            return copy

    def look(
        self, note: Note, vector: NDArray[np.float32], now: datetime
    ) -> tuple[int, tuple[Neighbour, ...], dict[str, Fact]]:
        """The version, the neighbours that a note is decided on, and their facts by id.

        Args:
            note: what is compared, with its slot.
            vector: its embedding, float32, shape (dimension,), unit length.
            now: facts that expired by then are not compared (UTC).
        """
        with self._lock:
            found = [
                neighbour_of(self._facts[self._rows[row]], self._cosine(row, vector))
                for row in self._looked_at(note, vector, now)
            ]
            kept = neighbours_of(note, found)
            facts = {each.fact_id: self._facts[each.fact_id] for each in kept}
            return self._version, kept, facts

    def compared(self, vector: NDArray[np.float32]) -> list[tuple[Fact, float]]:
        """Every live fact with its raw cosine to the vector, in no order; expired ones too."""
        with self._lock:
            if not self._facts:
                return []
            cosines = np.clip(self._vectors[: len(self._rows)] @ vector, -1, 1).tolist()
            return [
                (self._facts[fact_id], cosine)
                for fact_id, cosine in zip(self._rows, cosines, strict=True)
                if fact_id
            ]

    def apply(self, commit: Commit) -> bool:
        """Take over what was committed; whether it was made on this very version."""
        with self._lock:
            if commit.version != self._version:
                return False
            self._version += 1
            told_in = {told.scope.session_key(told.session_id) for told in commit.evidence}
            if not told_in <= self._sessions:
                self._sessions |= told_in
            for ended_id in commit.decision.superseded_ids:
                self._end(ended_id)
            if commit.kept and commit.kept.fact_id in self._facts:
                self._facts[commit.kept.fact_id] = commit.kept
            if commit.fact and commit.fact.is_live and commit.vector.size:
                self._add(commit.fact, commit.vector)
            return True

    def _looked_at(self, note: Note, vector: NDArray[np.float32], now: datetime) -> list[int]:
        """The rows of the ten facts to look at: what shares the slot first, then the nearest."""
        if not self._rows:
            return []
        nearest = np.argsort(-(self._vectors[: len(self._rows)] @ vector), kind="stable")
        live = (row for row in nearest.tolist() if self._is_compared(row, now))
        if note.slot is None or note.slot.rival_prefix is None:
            return list(islice(live, NEIGHBOUR_COUNT_MAX))
        ordered = sorted(live, key=lambda row: not is_rival(note, self._facts[self._rows[row]]))
        return ordered[:NEIGHBOUR_COUNT_MAX]

    def _is_compared(self, row: int, now: datetime) -> bool:
        fact_id = self._rows[row]
        return bool(fact_id) and not self._facts[fact_id].is_expired(now)

    def _cosine(self, row: int, vector: NDArray[np.float32]) -> float:
        """Raw and exact: single precision alone is off by some 1e-7, which a bound would notice."""
        one, other = self._vectors[row].astype(np.float64), vector.astype(np.float64)
        length = float(np.linalg.norm(one) * np.linalg.norm(other))
        return min(1.0, max(-1.0, float(one @ other) / length)) if length else 0.0

    def _add(self, fact: Fact, vector: NDArray[np.float32]) -> None:
        place = len(self._rows)
        if place >= len(self._vectors):
            self._make_room(vector.size)
            place = len(self._rows)
        self._vectors[place] = vector
        self._rows.append(fact.fact_id)
        self._facts[fact.fact_id] = fact

    def _end(self, fact_id: str) -> None:
        if self._facts.pop(fact_id, None) is not None:
            self._rows[self._rows.index(fact_id)] = ""

    def _make_room(self, dimension: int) -> None:
        """Leave out the rows of facts that ended, and have half as many again to spare."""
        fact_ids, vectors = self._compacted()
        larger = np.empty((len(fact_ids) * 3 // 2 + _SPARE_ROWS, dimension), dtype=np.float32)
        if fact_ids:
            larger[: len(fact_ids)] = vectors
        self._vectors, self._rows = larger, fact_ids

    def _compacted(self) -> tuple[list[str], NDArray[np.float32]]:
        """The ids of the facts that have not ended, and their vectors, copied, in one order."""
        kept = [row for row, fact_id in enumerate(self._rows) if fact_id]
        return [self._rows[row] for row in kept], self._vectors[kept]


class Neighbourhoods:
    """The neighbourhoods that were used last, at most so many facts in all.

    Args:
        store: where they are loaded from.
        embedding_model: facts of another model are not compared.
        facts_max: facts that are kept, of all contacts, some 2.5 kB each, and one more for each
            contact; 0 keeps none, nor is a contact kept that has more by itself.
    """

    def __init__(self, store: MemoryStore, embedding_model: str, facts_max: int) -> None:
        self._store = store
        self._embedding_model = embedding_model
        self._facts_max = facts_max
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Neighbourhood] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._size = 0

    def of(self, scope: Scope) -> Neighbourhood:
        """The contact's, as this process last saw it, or loaded now."""
        key = scope.contact_key
        with self._lock:
            if (found := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return found
        loaded = Neighbourhood(*self._store.load_neighbourhood(scope, self._embedding_model))
        with self._lock:
            self._keep(key, loaded)
        return loaded

    def at_present(self, scope: Scope) -> Neighbourhood:
        """The contact's as it is now, after a look at its version."""
        with self._lock:
            found = self._kept.get(scope.contact_key)
        if found is not None and found.version != self._store.contact_version(scope):
            self.drop(scope)
        return self.of(scope)

    def version(self, scope: Scope) -> int:
        """The contact's version, as this process last saw it, or as it is."""
        with self._lock:
            found = self._kept.get(scope.contact_key)
        return self._store.contact_version(scope) if found is None else found.version

    def apply(self, commit: Commit) -> None:
        """Take over what was committed."""
        key = commit.decision.scope.contact_key
        with self._lock:
            found = self._kept.get(key)
        if found is None:
            return
        holds = found.apply(commit)
        with self._lock:
            if self._kept.get(key) is not found:
                return
            if holds:
                self._keep(key, found)
            else:
                self._leave_out(key)

    def drop(self, scope: Scope) -> None:
        """Forget the contact's: another writer came first, or nobody knows whether one did."""
        with self._lock:
            self._leave_out(scope.contact_key)

    def _keep(self, key: str, found: Neighbourhood) -> None:
        """Keep it, as large as it is now, and leave out what was used longest ago."""
        self._leave_out(key)
        if found.size > self._facts_max:
            return
        self._kept[key], self._sizes[key] = found, found.size
        self._size += found.size
        while self._size > self._facts_max:
            self._leave_out(next(iter(self._kept)))

    def _leave_out(self, key: str) -> None:
        if self._kept.pop(key, None) is not None:
            self._size -= self._sizes.pop(key)
