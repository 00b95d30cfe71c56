"""Health: looks through contacts, one after the other, and says how well each is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from reconciler.domain.records.decisions import Decision
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

if TYPE_CHECKING:
    from reconciler.service.moving.damage import Damage
    from reconciler.service.records import Records
    from reconciler.service.stores.health_store import HealthStore
    from reconciler.service.stores.memory_store import MemoryStore

__all__ = ["Health"]

_CONTACTS_AT_ONCE = 100


class Health:
    """How well the memory of an agent's contacts is kept. Only reads.

    Args:
        store: facts and their vectors.
        counts: what is counted in the graph.
        damage: finds what cannot be read.
        records: what waits for an answer.
        embedding_model: whose vectors are compared.
        near_min: from which raw cosine two facts are as near as restatements.
        file_bytes: what the store's files take up; None where a server keeps them.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self,
        *,
        store: MemoryStore,
        counts: HealthStore,
        damage: Damage,
        records: Records,
        embedding_model: str,
        near_min: float,
        file_bytes: Callable[[], int | None],
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._counts = counts
        self._damage = damage
        self._records = records
        self._embedding_model = embedding_model
        self._near_min = near_min
        self._file_bytes = file_bytes
        self._clock = clock

    def agents(self) -> list[tuple[str, str]]:
        """All agents of the store, each with its tenant first."""
        return self._counts.list_agents()

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
        found: list[ContactHealth] = []
        for first in range(0, len(scopes), _CONTACTS_AT_ONCE):
            for each in self._counted(scopes[first : first + _CONTACTS_AT_ONCE]):
                found.append(each)
                on_progress(1)
        return HealthReport(
            tenant=whose.tenant,
            agent_id=whose.agent_id,
            contacts=tuple(found),
            file_bytes=self._file_bytes(),
        )

    def _counted(self, scopes: Sequence[Scope]) -> Iterator[ContactHealth]:
        """The health of each of these contacts that is known, one after the other."""
        actions = self._counts.count_actions(scopes)
        kept = self._counts.count_episodes(scopes)
        for contact in self._records.contacts(scopes):
            scope = Scope(contact.tenant, contact.agent_id, contact.contact_id)
            sessions, episodes = kept.get(scope.contact_key, (0, 0))
            counted = ContactHealth(
                contact_id=scope.contact_id,
                sessions=sessions,
                episodes=episodes,
                damaged=len(self._damage.find(scope)),
            )
            decided = decided_rates(actions.get(scope.contact_key, ()))
            numbers: dict[str, Any] = {
                **counts_of(contact),
                **decided,
                **self._facts(scope),
                **self._waiting(scope),
            }
            yield replace(counted, **numbers)

    def _facts(self, scope: Scope) -> dict[str, int]:
        """What is twice there, or answers one question twice."""
        now = self._clock()
        _, facts, vectors = self._store.load_neighbourhood(scope, self._embedding_model)
        rows = [row for row, fact in enumerate(facts) if fact.as_of(now).is_live]
        live = [facts[row] for row in rows]
        conflicts = self._store.list_conflicts(scope, is_open=False)
        linked = {frozenset((conflict.new_id, conflict.old_id)) for conflict in conflicts}
        duplicated: set[str] = set()
        count = 0
        if vectors.size:
            for pair in near_pairs(live, vectors[rows], linked, self._near_min):
                duplicated.update(pair)
                count += 1
        values = slots_with_rivals(live)
        return {
            "near_pairs": count,
            "duplicated": len(duplicated),
            "slots": len(values),
            "rivalled_slots": sum(count > 1 for count in values.values()),
        }

    def _waiting(self, scope: Scope) -> dict[str, Waiting]:
        now, pending = self._clock(), list(self._records.pending([scope]))
        held = [item.at for item in pending if isinstance(item, Decision)]
        disputed = [item.opened_at for item in pending if not isinstance(item, Decision)]
        return {"questions": waiting(held, now), "disputes": waiting(disputed, now)}
