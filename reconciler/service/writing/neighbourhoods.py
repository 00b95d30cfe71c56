"""Neighbourhoods: the facts of recent contacts with their vectors, in this process's memory.

Ended facts are not kept here; expired facts are, because a note is compared with them, too.

A neighbourhood is valid for one version of its contact. For a write only the commit proves that it
is still valid: if the commit writes nothing, the neighbourhood is dropped and loaded again. So an
old neighbourhood costs a retry and never a wrong decision. A recall asks for the version first.
This process's own commits are applied in place.

Facts are compared here, by exact cosine. A search in the engine took the larger half of a write. A
vector index is approximate, filters after it has chosen, and does not see what the same transaction
wrote.
"""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from cachetools import LRUCache

from reconciler.domain.recalling.ranking import Numbers, cosines_to, holding, numbers_of, said_since
from reconciler.domain.recalling.recallable import Recallable, Told, told
from reconciler.domain.recalling.recalled import is_never_cut
from reconciler.domain.reconciling.verdicts import (
    NEIGHBOUR_COUNT_MAX,
    is_rival,
    neighbour_of,
    neighbours_of,
)
from reconciler.domain.records.facts import Fact, Facts, Neighbours
from reconciler.domain.records.kinds import FAR_AHEAD, Action, FactState
from reconciler.domain.records.notes import Note, Scope
from reconciler.domain.values.attributes import AttributeBook
from reconciler.domain.values.placing import Placing
from reconciler.floats import Flags, Floats, Rows
from reconciler.reading.kinds import Category
from reconciler.reading.question_words import WordIndex
from reconciler.service.stores.commits import Commit, OpenConflicts
from reconciler.service.stores.fact_store import FactStore, Loading
from reconciler.service.stores.rows import ContactState, of_its_own
from reconciler.service.stores.stored_facts import LazyFacts
from reconciler.service.writing.forgotten import NOTHING, Forgotten

_LOOKS_MAX = 3
"""The number of times that a recall looks at a contact during writes, before it loads the contact
again."""

_SPARE_ROWS = 16
_UNKNOWN = ContactState()
_ENDED = np.iinfo(np.int64).min
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_WORDS_COUNT_MAX = 3
"""The number of facts that a judge is shown for their words, at any distance in meaning."""
_SAME_QUESTION_MAX = 3
"""The number of facts that a judge is shown because they answer the same question as the note."""


class Neighbourhood:
    """One contact's facts as they were at ``version``, live or expired, for any number of threads.

    Each fact has a row. If a fact has ended since that version, its row is empty: it has no id, and
    counts as expired.

    Args:
        version: the contact's version.
        facts: its facts that have not ended and can be compared; each is looked at when it is
            needed.
        vectors: the facts' vectors, float32, shape (len(facts), dimension), unit length.
        conflicts: the pairs of facts in dispute, by id.
        linked_ids: the facts that are or were in a dispute.
        attributes: returns the book that places notes.
        numbers: the numbers that rank the facts, if they are known.
        texts: the facts' search texts, if they are known.
        called: the contact's name.

    ``forgotten`` has the contact's forgotten words, at that version or a later one.
    ``replacing_none`` has the facts that are known to have replaced no other fact.
    """

    def __init__(
        self,
        version: int,
        facts: Facts,
        vectors: Floats,
        conflicts: Iterable[tuple[str, str]] = (),
        linked_ids: Iterable[str] = (),
        attributes: Callable[[], AttributeBook] = lambda: AttributeBook(()),
        numbers: Numbers | None = None,
        texts: Iterable[str] | None = None,
        called: Iterable[str] = (),
    ) -> None:
        self._called = frozenset(called)
        self._placing: Placing | None = None  # made for the first note that is placed
        self._lock = threading.Lock()
        self.version = version
        self._attributes = attributes
        self._vectors = vectors
        self._numbers = numbers_of(facts) if numbers is None else numbers
        self._rows: list[str] = self._numbers["fact_id"].tolist()
        self._places = {fact_id: row for row, fact_id in enumerate(self._rows)}
        self._loaded = facts
        self._facts: dict[str, Fact | int] = dict(self._places)  # one that changed, or its place
        self._conflicts = OpenConflicts(conflicts, linked_ids)
        self._by_question: dict[str, set[str]] | None = None  # made for the first note with a slot
        self._words = WordIndex(Told(facts) if texts is None else texts)
        self.sessions: Mapping[str, datetime] = {}  # plans hold it: replaced, never changed
        self.forgotten = NOTHING
        self.replacing_none: set[str] = set()
        self._marked_to = _LONG_AGO  # what expired until then is written as expired
        self._recallable: Recallable | None = None
        self._made: tuple[object, datetime, datetime, Any] = (None, FAR_AHEAD, FAR_AHEAD, None)

    @property
    def size(self) -> int:
        """Return its size in facts: its own, those that ended since, and one for itself."""
        return len(self._rows) + 1

    @property
    def linked_ids(self) -> Set[str]:
        """Return the facts that may be or have been in a dispute; no other fact was."""
        return self._conflicts.linked_ids

    def fork(self) -> Neighbourhood:
        """Make a copy at the same version, for plans with commits that are not written yet."""
        with self._lock:
            kept = self._kept()
            copy = Neighbourhood(
                self.version,
                self._some(self._rows[row] for row in kept),
                self._vectors[kept],
                attributes=self._attributes,
                numbers=self._numbers[kept],
                called=self._called,
            )
            copy.sessions, copy._marked_to = self.sessions, self._marked_to
            copy._conflicts = self._conflicts.copy()
            copy.forgotten = self.forgotten
            copy.replacing_none = set(self.replacing_none)
            return copy

    def placing(self, called: Iterable[str]) -> Placing:
        """Return the part that places a note among the contact's facts, at this version.

        Args:
            called: further names of the contact.
        """
        names = self._called.union(called)
        with self._lock:
            if self._placing is None or self._placing.called != names:
                slotted = self._numbers_in_use["attribute"] != None  # noqa: E711
                rows = (row for row in np.flatnonzero(slotted) if self._rows[row])
                facts = [self._fact_of(int(row)) for row in rows]
                self._placing = Placing(facts, names, self._attributes(), self._conflicts.of)
            return self._placing

    def recallable(self) -> Recallable:
        """Return the contact's facts for recall, at this version; kept until the version moves."""
        with self._lock:
            if self._recallable is None:
                kept = np.array(self._kept(), dtype=np.intp)
                self._recallable = Recallable(
                    self._some(fact_id for fact_id in self._rows if fact_id),
                    self._vectors[: len(self._rows)],  # a view: rows in use never change
                    self._conflicts.as_mapping(),
                    numbers=self._numbers[kept],
                    words=self._words,
                    rows=kept,
                    called=self._called,
                )
            return self._recallable

    def kept(self, fact_ids: Sequence[str]) -> tuple[int, Facts, Numbers] | None:
        """Return the version, the stored facts with these ids, and their numbers, in this order.

        None if these are not all of the contact's facts.
        """
        with self._lock:
            if self._places.keys() != set(fact_ids):
                return None
            rows = [self._places[fact_id] for fact_id in fact_ids]
            return self.version, self._some(fact_ids), self._numbers[rows]

    def lasting(
        self,
        version: int,
        facts: Facts,
        key: object,
        now: datetime,
        make: Callable[[Facts], Any],
    ) -> Any:
        """A value computed from all facts; computed again when a fact begins, ends or expires.

        Args:
            version: the version at which these are the contact's facts.
            facts: the contact's facts at that version.
            key: what else the value depends on.
            now: the time now (UTC).
            make: computes the value.
        """
        made_of, since, until, made = self._made
        if made_of != (version, key) or not since <= now < until:
            times = (
                at for fact in facts for at in (fact.valid_from, fact.valid_to, fact.expires_at)
            )
            until = min((at for at in times if at and at > now), default=FAR_AHEAD)
            made = make(facts)
            self._made = ((version, key), now, until, made)
        return made

    def disputed_facts(self, fact_ids: Iterable[str]) -> dict[str, tuple[Fact, ...]]:
        """Return the other sides of each of these facts that is in dispute, by its id."""
        with self._lock:
            others_of = {fact_id: self._conflicts.of(fact_id) for fact_id in fact_ids}
            return {
                fact_id: tuple(
                    self._kept_fact(other_id) for other_id in others if other_id in self._facts
                )
                for fact_id, others in others_of.items()
                if others
            }

    def apply(self, commit: Commit) -> bool:
        """Apply a commit; return false if that is not possible.

        The commit must be made on this version. A revert cannot be applied: the facts that live
        again have no vector here. Nor can a commit with a fact that is already here: the facts were
        read during the commit, and fit neither version.
        """
        with self._lock:
            is_moved = commit.restored or commit.joint
            if commit.version != self.version or self._knows(commit.fact) or is_moved:
                return False
            self.version += 1
            self._recallable = self._placing = None
            self._take_over(commit)
            return True

    def look(
        self,
        note: Note,
        vector: Floats,
        now: datetime,
        named_ids: Sequence[str] = (),
        *,
        is_wide: bool = False,
    ) -> tuple[int, Neighbours, dict[str, Fact]]:
        """Return the version, the neighbours of a note, and their facts by id.

        Args:
            note: the note to compare, with its slot.
            vector: its embedding, float32, shape (dimension,), unit length.
            now: the time now (UTC); facts that had expired then, or before the note was said, take
                no place of live facts.
            named_ids: facts that are always among them, at any distance.
            is_wide: whether facts that share the note's words, or answer its question, are among
                them at any distance: a judge reads more than a cosine shows.
        """
        now = min(now, note.said_at)  # an old note of an import meets the facts of its own time
        with self._lock:
            rows = self._looked_at(note, vector, now)
            alike = self._alike(note, now) if is_wide else set()
            places = (self._places[fact_id] for fact_id in named_ids if fact_id in self._places)
            named = {row for row in places if not self._numbers["is_membership"][row]}
            rows += sorted((alike | named) - {*rows})
            looked_at = [self._fact_of(row) for row in rows]
            neighbours = [
                neighbour_of(
                    fact,
                    cosine,
                    is_expired=fact.is_lapsed(now),
                    shares_words=row in alike,
                    is_upcoming=fact.is_upcoming(now),
                    is_vital=fact.fact_id in named_ids and is_never_cut(fact),
                )
                for row, fact, cosine in zip(
                    rows, looked_at, self._cosines(rows, vector), strict=True
                )
            ]
            kept = neighbours_of(note, neighbours, named_ids)
            facts = {neighbour.fact_id: self._kept_fact(neighbour.fact_id) for neighbour in kept}
            return self.version, kept, facts

    def is_told_since(self, said_at: datetime) -> bool:
        """True if a fact was said after a time, or if revoked facts are missing here."""
        with self._lock:
            is_later = said_since(self._numbers_in_use, said_at).any()
        return bool(is_later or self.forgotten.keys)

    def vector_of(self, fact_id: str) -> Floats | None:
        """Return a fact's vector; None if it has ended, or is not compared."""
        with self._lock:
            row = self._places.get(fact_id)
            return None if row is None else self._vectors[row]

    def cosine_of(self, fact_id: str, other_id: str) -> float:
        """Return the raw cosine of two facts, in [-1, 1]; 0 if one is ended or not compared."""
        one, other = self.vector_of(fact_id), self.vector_of(other_id)
        return 0.0 if one is None or other is None else float(one @ other)

    def answers(self, question: str) -> list[Fact]:
        """Return the facts with a slot for this question that have not ended, in no order."""
        with self._lock:
            return [self._fact_of(row) for row in self._answering(question)]

    def lapsed(self, now: datetime) -> dict[str, datetime | None]:
        """Return the facts that are stored as live but have expired by now (UTC).

        The values are the ends of the facts, if they are known.
        """
        with self._lock:
            rows = np.flatnonzero(self._expired(now) & self._holding(self._marked_to))
            facts = map(self._fact_of, rows.tolist())
            return {fact.fact_id: fact.valid_to for fact in facts if fact.is_live}

    def _knows(self, fact: Fact | None) -> bool:
        return fact is not None and fact.fact_id in self._places

    def _kept_fact(self, fact_id: str) -> Fact:
        """Return a fact as it is stored."""
        return _one(self._facts[fact_id], self._loaded)

    def _some(self, fact_ids: Iterable[str]) -> Facts:
        """Return these facts, as they are now."""
        return _Some([self._facts[fact_id] for fact_id in fact_ids], self._loaded)

    def _take_over(self, commit: Commit) -> None:
        name = commit.decision.note.contact_name
        if name and commit.decision.action.is_reconciled:
            self._called = frozenset({name})
        self._conflicts.apply(commit)
        began = {told.kept_in: at for told, at in commit.told_at}
        if not began.keys() <= self.sessions.keys():
            self.sessions = {**began, **self.sessions}
        for fact_id in commit.lapsed:
            self._mark_expired(fact_id)
        for ended_id in commit.decision.superseded_ids:
            self._end(ended_id)
        if commit.kept and self._knows(commit.kept):
            self._keep(commit.kept)
        fact = commit.fact
        if fact and fact.has_ended:  # history of one of the facts, which one is read again
            self.replacing_none.clear()
        elif fact and commit.vector.size:
            self._add(fact, commit.vector)
            self.replacing_none.update(() if commit.decision.superseded_ids else [fact.fact_id])

    def _keep(self, fact: Fact) -> None:
        """Replace a known fact by its new state: it was repeated, and may have a slot now."""
        is_told_otherwise = told(fact) != told(self._kept_fact(fact.fact_id))
        self._unfile(fact.fact_id)
        self._facts[fact.fact_id] = fact
        self._numbers[self._places[fact.fact_id]] = numbers_of([fact])[0]
        self._file(fact)
        if is_told_otherwise:
            self._words = self._words_of_rows()

    def _words_of_rows(self) -> WordIndex:
        return WordIndex(
            Told([self._kept_fact(fact_id) if fact_id else None for fact_id in self._rows])
        )

    def _mark_expired(self, fact_id: str) -> None:
        fact = self._kept_fact(fact_id) if fact_id in self._facts else None
        if fact is not None and fact.expires_at is not None:
            self._facts[fact_id] = replace(fact, state=FactState.EXPIRED)
            self._marked_to = max(self._marked_to, fact.expires_at)

    def _add(self, fact: Fact, vector: Floats) -> None:
        if len(self._rows) >= len(self._vectors):
            self._make_room(vector.size)
        place = len(self._rows)
        self._vectors[place], self._numbers[place] = vector, numbers_of([fact])[0]
        self._rows.append(fact.fact_id)
        self._places[fact.fact_id] = place
        self._facts[fact.fact_id] = fact
        self._words.add(told(fact))
        self._file(fact)

    def _end(self, fact_id: str) -> None:
        row = self._places.pop(fact_id, None)
        if row is not None:
            self._unfile(fact_id)
            del self._facts[fact_id]
            self._rows[row], self._numbers["expires_at"][row] = "", _ENDED

    def _make_room(self, dimension: int) -> None:
        """Remove the rows of ended facts, and add half as many spare rows."""
        kept = self._kept()
        has_ended = len(kept) < len(self._rows)
        room = len(kept) * 3 // 2 + _SPARE_ROWS
        vectors = np.empty((room, dimension), dtype=np.float32)
        numbers = np.empty(room, dtype=self._numbers.dtype)
        if kept:
            vectors[: len(kept)], numbers[: len(kept)] = self._vectors[kept], self._numbers[kept]
        self._vectors, self._numbers = vectors, numbers
        self._rows = [self._rows[row] for row in kept]
        self._places = {fact_id: row for row, fact_id in enumerate(self._rows)}
        if has_ended:
            self._words = self._words_of_rows()

    @property
    def _numbers_in_use(self) -> Numbers:
        return self._numbers[: len(self._rows)]

    def _kept(self) -> list[int]:
        """Return the rows of facts that have not ended."""
        return [row for row, fact_id in enumerate(self._rows) if fact_id]

    def _compared(self, vector: Floats) -> Floats:
        """Return the cosine of each row, in single precision."""
        if not self._rows:
            return np.empty(0, dtype=np.float32)
        return cosines_to(self._vectors[: len(self._rows)], vector)

    def _holding(self, now: datetime) -> Flags:
        """Return the rows of facts that have neither ended nor expired."""
        return holding(self._numbers_in_use, now)

    def _expired(self, now: datetime) -> Flags:
        """Return the rows of facts that have expired and not ended."""
        is_there: Flags = self._numbers_in_use["expires_at"] != _ENDED
        return is_there & ~self._holding(now)

    def _looked_at(self, note: Note, vector: Floats, now: datetime) -> list[int]:
        """Return the rows of ten facts: those with the same slot first, then the nearest.

        If any facts expired, ten of those as well.
        """
        closeness = self._compared(vector)
        is_of_one_kind = self._of_one_kind(note)
        expired = self._expired(now)
        rows = self._first_of(note, closeness, self._holding(now) & is_of_one_kind)
        if expired.any():
            rows += self._first_of(note, closeness, expired & is_of_one_kind)
        return rows

    def _of_one_kind(self, note: Note) -> Flags:
        """Return the rows of facts that a note may be compared with: never a membership."""
        numbers = self._numbers_in_use
        is_other = numbers["is_outcome"] != (note.category is Category.OUTCOME)
        is_fit: Flags = ~(is_other | numbers["is_membership"])
        return is_fit

    def _alike(self, note: Note, now: datetime) -> set[int]:
        """Return the rows of live facts that share most words, or answer the note's question."""
        wanted = self._holding(now) & self._of_one_kind(note)
        rows = np.flatnonzero(wanted)
        if not len(rows):
            return set()
        fits = self._words.matches(note.text, rows)
        best = np.argsort(-fits.scores, kind="stable")[:_WORDS_COUNT_MAX]
        chosen = {int(rows[place]) for place in best if fits.scores[place] > 0}
        if note.slot is not None and note.slot.key is not None:
            same = [row for row in self._answering(note.slot.question) if wanted[row]]
            chosen |= {*sorted(same)[-_SAME_QUESTION_MAX:]}
        return chosen

    def _first_of(self, note: Note, closeness: Floats, wanted: Flags) -> list[int]:
        """Return the best of the wanted rows: rivals first, then the nearest, older first."""
        nearest = _nearest(closeness, np.flatnonzero(wanted), NEIGHBOUR_COUNT_MAX)
        if note.slot is None or note.slot.rival_prefix is None:
            return nearest
        # The facts that the note's slot decides about, for this question.
        rivals = sorted(
            row
            for row in self._answering(note.slot.question)
            if is_rival(note, self._fact_of(row)) and wanted[row]
        )
        rows = _nearest(closeness, np.array(rivals, dtype=np.intp), NEIGHBOUR_COUNT_MAX)
        others = [row for row in nearest if not is_rival(note, self._fact_of(row))]
        return [*rows, *others][:NEIGHBOUR_COUNT_MAX]

    def _answering(self, question: str) -> list[int]:
        """Return the rows of all facts that answer a question."""
        if self._by_question is None:
            self._by_question = defaultdict(set)
            names = self._numbers_in_use["attribute"].tolist()
            for fact_id, name in zip(self._rows, names, strict=True):
                if fact_id and name is not None:
                    self._file(self._kept_fact(fact_id))
        return [self._places[fact_id] for fact_id in self._by_question.get(question, ())]

    def _fact_of(self, row: int) -> Fact:
        return self._kept_fact(self._rows[row])

    def _file(self, fact: Fact) -> None:
        """Index the fact under the question that its slot answers."""
        if self._by_question is not None and fact.slot is not None and fact.slot.key is not None:
            self._by_question[fact.slot.question].add(fact.fact_id)

    def _unfile(self, fact_id: str) -> None:
        """Remove the fact from the index: it ends, or gets another slot."""
        slot = self._kept_fact(fact_id).slot
        if self._by_question is not None and slot is not None and slot.key is not None:
            self._by_question[slot.question].discard(fact_id)

    def _cosines(self, rows: list[int], vector: Floats) -> list[float]:
        """Return the exact cosines: single precision is off by some 1e-7, too much at a bound."""
        if not rows:
            return []
        ours, given = self._vectors[rows].astype(np.float64), vector.astype(np.float64)
        lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(given)
        products = np.divide(ours @ given, lengths, out=np.zeros(len(rows)), where=lengths > 0)
        return [float(cosine) for cosine in np.clip(products, -1.0, 1.0)]


def _nearest(closeness: Floats, rows: Rows, count: int) -> list[int]:
    """Return the nearest of these rows, the nearest first; the rows must be in ascending order."""
    distance = -closeness[rows]
    if len(rows) > count:
        near = np.flatnonzero(distance <= np.partition(distance, count - 1)[count - 1])
        rows, distance = rows[near], distance[near]
    return [int(row) for row in rows[np.argsort(distance, kind="stable")][:count]]


class _Some(LazyFacts):
    """Facts in an order; a fact of which only the place is given is made when it is needed."""

    def __init__(self, held: Sequence[Fact | int], loaded: Facts) -> None:
        self._held, self._loaded = held, loaded

    def __len__(self) -> int:
        return len(self._held)

    def at(self, place: int) -> Fact:
        """Return the fact at a place."""
        return _one(self._held[place], self._loaded)


def _one(held: Fact | int, loaded: Facts) -> Fact:
    return loaded[held] if isinstance(held, int) else held


class Neighbourhoods:
    """A cache of neighbourhoods, bounded by the number of facts; the last used ones stay.

    Args:
        store: the store from which they are loaded.
        embedding_model: facts of another model are not compared.
        facts_max: the most facts that are kept of all contacts, about 2.5 kB each; each contact
            counts as one more. 0 keeps none. A contact with more facts than this is not kept.
        attributes: returns the book that places notes.
        forgotten: returns a contact's version, and the words forgotten then or later; None if
            nothing is ever forgotten.
    """

    def __init__(
        self,
        store: FactStore,
        embedding_model: str,
        facts_max: int,
        attributes: Callable[[], AttributeBook] = lambda: AttributeBook(()),
        forgotten: Callable[[Scope], tuple[int, Forgotten]] | None = None,
    ) -> None:
        self._forgotten = forgotten or (lambda scope: (store.contact_version(scope), NOTHING))
        self._store = store
        self._attributes = attributes
        self._embedding_model = embedding_model
        self._lock = threading.Lock()
        self._kept: LRUCache[str, Neighbourhood] = LRUCache(facts_max, lambda held: held.size)

    def of(self, scope: Scope) -> Neighbourhood:
        """Return the contact's neighbourhood as this process last saw it, or loaded now."""
        held = self.used(scope)
        return self._loaded(scope) if held is None else held

    def current(self, scope: Scope) -> Neighbourhood:
        """Return the contact's present neighbourhood, even if another process wrote last.

        The cached one is compared with the contact's version. If a writer of this process changed
        the version, it applies its commit in a moment; so the cached one is kept until the next
        look.
        """
        return self.begin(scope)()[0]

    def begin(self, *scopes: Scope) -> Callable[[], list[Neighbourhood]]:
        """Ask for the versions that ``current`` compares with; the returned call does the rest.

        The facts of a contact that is not cached are asked for at the same time.
        """
        begun = {each: self._begun(each) for each in scopes if self.used(each) is None}
        states = self._store.begin_states(each for each in scopes if each not in begun)

        def current() -> list[Neighbourhood]:
            found = states()
            return [
                self._loaded(each, begun[each])
                if each in begun
                else self._current(each, found.get(each, _UNKNOWN))
                for each in scopes
            ]

        return current

    def _begun(self, scope: Scope) -> Loading:
        return self._store.begin_neighbourhood(scope, self._embedding_model)

    def _current(self, scope: Scope, state: ContactState) -> Neighbourhood:
        version = of_its_own(scope, state).version
        for look in range(_LOOKS_MAX):
            held = self.used(scope)
            if held is None:
                break
            known = held.version
            if look:
                version = self._store.contact_version(scope)
            if known == version:
                return held
            if look:
                self.drop(scope, version)
        return self._loaded(scope)

    def _loaded(self, scope: Scope, begun: Loading | None = None) -> Neighbourhood:
        version, facts, vectors = (begun or self._begun(scope))()
        # Read after the facts: an erasure in between makes the commit fail.
        now, forgotten = self._forgotten(scope)
        if now and not version:  # no live fact, or one that was written in between
            version, (_, facts, vectors) = now, self._begun(scope)()
        if not facts and (begun or now):  # before the first write a commit checks it
            self._store.check_own_model()
        # A dispute in between is only too new.
        conflicts = self._store.list_conflicts(scope, is_open=False) if facts else []
        loaded = Neighbourhood(
            version,
            facts,
            vectors,
            [one.pair for one in conflicts if one.is_open],
            [fact_id for one in conflicts for fact_id in one.pair],
            lambda: self._attributes().of(scope.agent_id),
            facts.numbers,
            facts.texts,
            facts.called,
        )
        loaded.forgotten = forgotten
        if not forgotten.is_erasing:  # its end moves no version
            with self._lock:
                self._keep(scope.contact_key, loaded)
        return loaded

    def standing(self, scope: Scope) -> tuple[int, Forgotten]:
        """Return the contact's version and its forgotten words, as last seen or from the store."""
        held = self.used(scope)
        return self._forgotten(scope) if held is None else (held.version, held.forgotten)

    def apply(self, commit: Commit) -> None:
        """Apply a commit."""
        key, held = commit.decision.scope.contact_key, self.used(commit.decision.scope)
        if held is None:
            return
        # A revoked fact's words must be read again as forgotten ones.
        holds = held.apply(commit) and commit.decision.action is not Action.REVOKE
        with self._lock:
            if self._kept.get(key) is not held:
                return
            if holds:
                self._keep(key, held)
            else:
                del self._kept[key]

    def drop(self, scope: Scope, below: float = math.inf) -> None:
        """Drop the contact's neighbourhood: another writer came first, or may have.

        Args:
            scope: the contact.
            below: only a neighbourhood that is older than this version.
        """
        key = scope.contact_key
        with self._lock:
            if (held := self._kept.get(key)) is not None and held.version < below:
                del self._kept[key]

    def used(self, scope: Scope) -> Neighbourhood | None:
        """Return the contact's cached neighbourhood, marked as used last; None without one."""
        with self._lock:
            return self._kept.get(scope.contact_key)

    def _keep(self, key: str, held: Neighbourhood) -> None:
        """Cache it at its present size; the least recently used ones make room."""
        self._kept.pop(key, None)
        with suppress(ValueError):  # larger than all the room
            self._kept[key] = held
