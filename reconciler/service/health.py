"""Health: looks through contacts, one after the other, and says how well each is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reconciler.domain.reconciling.disputes import disputes_of
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Conflict, Fact
from reconciler.domain.records.scope import Scope
from reconciler.domain.review.health import (
    ContactHealth,
    HealthReport,
    Waiting,
    counts_of,
    decided_rates,
    near_pairs,
    slots_with_rivals,
    waiting,
)
from reconciler.service.batches import batches
from reconciler.service.moving.lines import KEY_OF
from reconciler.service.records import unanswered

if TYPE_CHECKING:
    from reconciler.service.moving.damage import Damage
    from reconciler.service.records import Records
    from reconciler.service.stores.memory_store import MemoryStore

__all__ = ["Health"]

_CONTACTS_AT_ONCE = 400

_RECORDS_AT_ONCE = 5_000
"""Of so many records the contacts are read together. One with more is read alone, by pages of the
store; a query takes milliseconds, however little it finds."""

_MANY = ("Episode", "Fact", "Decision")
_FEW = tuple(label for label in KEY_OF if label not in ("Contact", *_MANY))
"""What most contacts have none of, and so is read of many at once."""


@dataclass(slots=True)
class _Read:
    """What was read of a contact, as far as its health depends on it."""

    facts: list[Fact] = field(default_factory=list)
    held: list[Decision] = field(default_factory=list)


class Health:
    """Measures how well an agent's contacts are kept. Only reads.

    Args:
        store: facts and their vectors.
        damage: finds what cannot be read.
        records: what waits for an answer.
        embedding_model: the model that made the vectors to compare.
        near_min: from which raw cosine two facts are as near as restatements.
        file_bytes: what the store's files take up; None where a server keeps them.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self,
        *,
        store: MemoryStore,
        damage: Damage,
        records: Records,
        embedding_model: str,
        near_min: float,
        file_bytes: Callable[[], int | None],
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._damage = damage
        self._records = records
        self._embedding_model = embedding_model
        self._near_min = near_min
        self._file_bytes = file_bytes
        self._clock = clock

    def agents(self) -> list[tuple[str, str]]:
        """All agents of the store, each with its tenant first."""
        return self._store.list_agents()

    def report(
        self,
        whose: Scope,
        scopes: Sequence[Scope],
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> HealthReport:
        """How well these contacts of an agent are kept.

        Args:
            whose: the agent, in the scope of any contact.
            scopes: the contacts.
            on_progress: told how many more contacts were looked at.
        """
        contacts: list[ContactHealth] = []
        for some in batches(scopes, _CONTACTS_AT_ONCE):
            for each in self._counted(some):
                contacts.append(each)
                on_progress(1)
        return HealthReport(
            tenant=whose.tenant,
            agent_id=whose.agent_id,
            contacts=tuple(contacts),
            file_bytes=self._file_bytes(),
        )

    def _counted(self, scopes: Sequence[Scope]) -> Iterator[ContactHealth]:
        """The health of each of these contacts that is known, one after the other."""
        contacts = {contact.contact_id: contact for contact in self._records.contacts(scopes)}
        scopes = [scope for scope in scopes if scope.contact_id in contacts]
        actions = self._store.count_actions(scopes)
        kept = self._store.count_episodes(scopes)
        linked = set(self._store.list_disputed(scopes))
        pending_ids = set(self._store.list_pending_ids(scopes, self._clock()))
        damaged: Counter[Scope] = Counter()
        for scope, _, record in self._damage.read_among(scopes, _FEW, _RECORDS_AT_ONCE):
            damaged[scope] += record is None
        sizes = Counter({key: episodes for key, (_, episodes) in kept.items()})
        for key, counts in actions.items():
            sizes[key] += sum(count.decisions for count in counts)
        for part in _parts(scopes, sizes):
            read = self._read(part, pending_ids, damaged)
            several = [scope for scope in part if len(read[scope].facts) > 1]
            vectors = self._store.load_vectors(several, self._embedding_model) if several else {}
            for scope in part:
                sessions, episodes = kept.get(scope.contact_key, (0, 0))
                conflicts = (
                    self._store.list_conflicts(scope, is_open=False) if scope in linked else []
                )
                numbers: dict[str, Any] = {
                    **counts_of(contacts[scope.contact_id]),
                    **decided_rates(actions.get(scope.contact_key, ())),
                    **self._compared(read[scope].facts, vectors, conflicts),
                    **self._waiting(scope, read[scope], conflicts),
                }
                yield ContactHealth(
                    contact_id=scope.contact_id,
                    sessions=sessions,
                    episodes=episodes,
                    damaged=damaged[scope],
                    **numbers,
                )

    def _read(
        self, scopes: Sequence[Scope], pending_ids: Collection[str], damaged: Counter[Scope]
    ) -> Mapping[Scope, _Read]:
        """The facts and held notes of each of these contacts; what is damaged is counted."""
        read: dict[Scope, _Read] = {scope: _Read() for scope in scopes}
        for scope, _, record in self._damage.read_among(scopes, _MANY, _RECORDS_AT_ONCE):
            if record is None:
                damaged[scope] += 1
            elif isinstance(record, Fact):
                read[scope].facts.append(record)
            elif isinstance(record, Decision) and record.decision_id in pending_ids:
                read[scope].held.append(record)
        return read

    def _compared(
        self,
        facts: Sequence[Fact],
        vectors: Mapping[str, NDArray[np.float32]],
        conflicts: Sequence[Conflict],
    ) -> dict[str, int]:
        """Duplicate facts, and facts that answer one question twice."""
        now = self._clock()
        live = [fact for fact in facts if fact.as_of(now).is_live]
        near = [fact for fact in live if fact.fact_id in vectors]
        linked = {frozenset((conflict.new_id, conflict.old_id)) for conflict in conflicts}
        duplicated: set[str] = set()
        count = 0
        if len(near) > 1:
            rows = np.stack([vectors[fact.fact_id] for fact in near])
            for pair in near_pairs(near, rows, linked, self._near_min):
                duplicated.update(pair)
                count += 1
        values = slots_with_rivals(live)
        return {
            "near_pairs": count,
            "duplicated": len(duplicated),
            "slots": len(values),
            "rivalled_slots": sum(count > 1 for count in values.values()),
        }

    def _waiting(
        self, scope: Scope, read: _Read, conflicts: Sequence[Conflict]
    ) -> dict[str, Waiting]:
        from reconciler.domain.gate.questions import Answers

        now, said = self._clock(), Answers(read.facts)
        held = [decision.at for decision in unanswered(read.held, lambda _: said)]
        open_ = [conflict for conflict in conflicts if conflict.is_open]
        disputed = [each.opened_at for each in disputes_of(scope, read.facts, open_, now)]
        return {"questions": waiting(held, now), "disputes": waiting(disputed, now)}


def _parts(scopes: Sequence[Scope], sizes: Mapping[str, int]) -> Iterator[list[Scope]]:
    """These contacts, together as long as they have no more records than ``_RECORDS_AT_ONCE``."""
    part: list[Scope] = []
    room = _RECORDS_AT_ONCE
    for scope in scopes:
        size = sizes.get(scope.contact_key, 0)
        if part and size > room:
            yield part
            part, room = [], _RECORDS_AT_ONCE
        part.append(scope)
        room -= size
    if part:
        yield part
