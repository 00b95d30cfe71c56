"""Neighbourhoods: the facts of the contacts that this process writes about, with vectors.

Those that have ended are not there; those that expired are, for a note is compared with them too.

A neighbourhood holds at one version of its contact, and only the commit proves that it still does:
where the commit writes nothing, it is dropped and loaded again. So a stale one costs a retry and
never a wrong decision. What this process commits is applied in place.

A recall of a contact that this process does not write about loads an outline alone.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Set
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from reconciler.domain.recalling.ranking import numbers_of
from reconciler.domain.reconciling.neighbours import (
    NEIGHBOUR_COUNT_MAX,
    filed,
    is_rival,
    neighbour_of,
    neighbours_of,
)
from reconciler.domain.records.facts import Fact, Neighbour
from reconciler.domain.records.kinds import Action, FactState
from reconciler.domain.records.notes import Note
from reconciler.domain.records.scope import Scope
from reconciler.domain.values.attributes import AttributeBook
from reconciler.service.stores.memory_store import Commit, MemoryStore
from reconciler.service.writing.forgotten import NOTHING, Forgotten
from reconciler.service.writing.outlines import Outline

__all__ = ["Neighbourhood", "Neighbourhoods"]

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_READ_COUNT_MAX = 100
"""Facts without a slot whose words are read when a note with one comes, the nearest; each once."""


class Neighbourhood(Outline):
    """One contact's facts as they were at ``version``, live or expired, for any number of threads.

    Args:
        version: the contact's.
        facts: its facts that have not ended and can be compared.
        vectors: theirs, float32, shape (len(facts), dimension), unit length.
        conflicts: which of them are in dispute, by their ids.
        attributes: gives what reads the slot of a fact that was kept without one.

    ``forgotten`` is what of the contact was forgotten, at that version or since.
    """

    def __init__(
        self,
        version: int,
        facts: Iterable[Fact],
        vectors: NDArray[np.float32],
        conflicts: Iterable[tuple[str, str]] = (),
        attributes: Callable[[], AttributeBook] = lambda: AttributeBook(()),
    ) -> None:
        self._attributes = attributes
        self._facts = {fact.fact_id: fact for fact in facts}
        self._unread = {each.fact_id for each in self._facts.values() if not _is_filed(each)}
        self._sessions: frozenset[str] = frozenset()  # plans hold it: replaced, never changed
        self.forgotten = NOTHING
        self._marked_to = _LONG_AGO  # what expired until then is written as expired
        numbers = numbers_of(self._facts.values())
        super().__init__(version, list(self._facts), vectors, numbers, conflicts)

    @property
    def sessions(self) -> Set[str]:
        """The keys of the contact's sessions that were seen; a hint that saves a look."""
        return self._sessions

    def fork(self) -> Neighbourhood:
        """One of its own at the same version, for plans whose commits are not written yet."""
        with self._lock:
            kept = self._kept()
            facts = [self._facts[self._rows[row]] for row in kept]
            copy = Neighbourhood(
                self._version, facts, self._vectors[kept], attributes=self._attributes
            )
            copy._unread &= self._unread
            copy._sessions, copy._marked_to = self._sessions, self._marked_to
            copy._conflicts = self._conflicts.copy()
            copy.forgotten = self.forgotten
            return copy

    def disputed_facts(self, fact_ids: Iterable[str]) -> dict[str, tuple[Fact, ...]]:
        """Those of these facts that are in dispute, each with the other sides."""
        found = self.disputed(fact_ids)
        with self._lock:
            return {
                fact_id: tuple(self._facts[each] for each in others if each in self._facts)
                for fact_id, others in found.items()
            }

    def look(
        self,
        note: Note,
        vector: NDArray[np.float32],
        now: datetime,
        named_id: str | None = None,
    ) -> tuple[int, tuple[Neighbour, ...], dict[str, Fact]]:
        """The version, the neighbours that a note is decided on, and their facts by id.

        Args:
            note: what is compared, with its slot.
            vector: its embedding, float32, shape (dimension,), unit length.
            now: facts that expired by then take no place of those that are live (UTC).
            named_id: a fact that is among them however far away it is.
        """
        with self._lock:
            rows = self._looked_at(note, vector, now)
            named = self._places.get(named_id or "")
            if named is not None and named not in rows:
                rows.append(named)
            looked_at = [self._facts[self._rows[row]] for row in rows]
            found = [
                neighbour_of(fact, cosine, is_expired=fact.is_expired(now))
                for fact, cosine in zip(looked_at, self._cosines(rows, vector), strict=True)
            ]
            kept = neighbours_of(note, found, named_id)
            facts = {each.fact_id: self._facts[each.fact_id] for each in kept}
            return self._version, kept, facts

    def lapsed_ids(self, now: datetime) -> tuple[str, ...]:
        """The facts that are written as live, and whose lifetime is over by now (UTC)."""
        with self._lock:
            rows = np.flatnonzero(self._expired(now) & self._holding(self._marked_to))
            facts = (self._facts[self._rows[row]] for row in rows.tolist())
            return tuple(fact.fact_id for fact in facts if fact.is_live)

    def _take_over(self, commit: Commit) -> None:
        super()._take_over(commit)
        told_in = {told.scope.session_key(told.session_id) for told in commit.evidence}
        if not told_in <= self._sessions:
            self._sessions |= told_in
        for fact_id in commit.expired_ids:
            self._mark_expired(fact_id)
        for ended_id in commit.decision.superseded_ids:
            self._facts.pop(ended_id, None)
        if commit.kept and commit.kept.fact_id in self._facts:
            self._facts[commit.kept.fact_id] = commit.kept
        if commit.fact and self._knows(commit.fact):
            self._facts[commit.fact.fact_id] = commit.fact

    def _mark_expired(self, fact_id: str) -> None:
        fact = self._facts.get(fact_id)
        if fact is not None and fact.expires_at is not None:
            self._facts[fact_id] = replace(fact, state=FactState.EXPIRED)
            self._marked_to = max(self._marked_to, fact.expires_at)

    def _looked_at(self, note: Note, vector: NDArray[np.float32], now: datetime) -> list[int]:
        """The rows of the ten facts to look at: what shares the slot first, then the nearest.

        And those of ten that expired, where there are any.
        """
        nearest = np.argsort(-self._compared(vector), kind="stable")
        live, expired = self._holding(now), self._expired(now)
        rows = self._first_of(note, nearest[live[nearest]].tolist())
        if expired.any():
            rows += self._first_of(note, nearest[expired[nearest]].tolist())
        return rows

    def _first_of(self, note: Note, rows: list[int]) -> list[int]:
        if note.slot is not None and note.slot.rival_prefix is not None:
            self._read(note, rows[:_READ_COUNT_MAX])
            rows.sort(key=lambda row: not is_rival(note, self._facts[self._rows[row]]))
        return rows[:NEIGHBOUR_COUNT_MAX]

    def _read(self, note: Note, rows: list[int]) -> None:
        """Read the slots of facts that were kept without one, before slots were read."""
        unread = self._unread.intersection(self._rows[row] for row in rows)
        for fact_id in unread:
            names = (note.contact_name, note.scope.contact_id)
            self._facts[fact_id] = filed(self._facts[fact_id], self._attributes(), names)
        self._unread -= unread

    def _cosines(self, rows: list[int], vector: NDArray[np.float32]) -> list[float]:
        """Raw and exact: single precision alone is off by some 1e-7, which a bound would notice."""
        if not rows:
            return []
        ours, given = self._vectors[rows].astype(np.float64), vector.astype(np.float64)
        lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(given)
        products = np.divide(ours @ given, lengths, out=np.zeros(len(rows)), where=lengths > 0)
        return [float(cosine) for cosine in np.clip(products, -1.0, 1.0)]


def _is_filed(fact: Fact) -> bool:
    return fact.slot is not None and fact.slot.attribute is not None


class Neighbourhoods:
    """The neighbourhoods that were used last, at most so many facts in all.

    Args:
        store: where they are loaded from.
        embedding_model: facts of another model are not compared.
        facts_max: facts that are kept, of all contacts, some 2.5 kB each, and one more for each
            contact; 0 keeps none, nor is a contact kept that has more by itself.
        attributes: gives what reads the slots of facts that were kept without one.
        forgotten: gives a contact's version, and what was forgotten of it then or since; None
            where nothing ever is.
    """

    def __init__(
        self,
        store: MemoryStore,
        embedding_model: str,
        facts_max: int,
        attributes: Callable[[], AttributeBook] = lambda: AttributeBook(()),
        forgotten: Callable[[Scope], tuple[int, Forgotten]] | None = None,
    ) -> None:
        self._forgotten = forgotten or (lambda scope: (store.contact_version(scope), NOTHING))
        self._store = store
        self._attributes = attributes
        self._embedding_model = embedding_model
        self._facts_max = facts_max
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Outline] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._size = 0

    def of(self, scope: Scope) -> Neighbourhood:
        """The contact's, as this process last saw it, or loaded now."""
        found = self._used(scope)
        if isinstance(found, Neighbourhood):
            return found
        version, facts, vectors = self._store.load_neighbourhood(scope, self._embedding_model)
        conflicts = self._conflicts(scope)
        loaded = Neighbourhood(version, facts, vectors, conflicts, self._attributes)
        # Read after the version: what was forgotten in between fails the commit.
        _, loaded.forgotten = self._forgotten(scope)
        if not loaded.forgotten.is_erasing:  # its end moves no version
            with self._lock:
                self._keep(scope.contact_key, loaded)
        return loaded

    def outline(self, scope: Scope) -> Outline:
        """What ranks the contact's facts, as this process last saw it, or loaded now."""
        found = self._used(scope)
        if found is not None:
            return found
        loaded = Outline(
            *self._store.load_rankable(scope, self._embedding_model), self._conflicts(scope)
        )
        with self._lock:
            if not isinstance(self._kept.get(scope.contact_key), Neighbourhood):
                self._keep(scope.contact_key, loaded)
        return loaded

    def _conflicts(self, scope: Scope) -> list[tuple[str, str]]:
        """Read after the facts: one that came in between belongs to a later version."""
        return [(each.new_id, each.old_id) for each in self._store.list_conflicts(scope)]

    def expect(self, scope: Scope, version: int) -> None:
        """Forget the contact's if it is older than this version."""
        key = scope.contact_key
        with self._lock:
            if (found := self._kept.get(key)) is not None and found.version < version:
                self._leave_out(key)

    def version(self, scope: Scope) -> int:
        """The contact's version, as this process last saw it, or as it is."""
        with self._lock:
            found = self._kept.get(scope.contact_key)
        return self._store.contact_version(scope) if found is None else found.version

    def standing(self, scope: Scope) -> tuple[int, Forgotten]:
        """The contact's version, and what was forgotten of it, as last seen or as it is."""
        with self._lock:
            found = self._kept.get(scope.contact_key)
        if isinstance(found, Neighbourhood):
            return found.version, found.forgotten
        return self._forgotten(scope)

    def apply(self, commit: Commit) -> None:
        """Take over what was committed."""
        key = commit.decision.scope.contact_key
        with self._lock:
            found = self._kept.get(key)
        if found is None:
            return
        # What was revoked is looked up among what was forgotten.
        holds = found.apply(commit) and commit.decision.action is not Action.REVOKE
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

    def _used(self, scope: Scope) -> Outline | None:
        """The contact's, now the one that was used last."""
        key = scope.contact_key
        with self._lock:
            if (found := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
            return found

    def _keep(self, key: str, found: Outline) -> None:
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
