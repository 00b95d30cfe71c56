"""Health: looks through contacts, one after the other, and says how well each is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from reconciler.service.moving.damage import Damage
    from reconciler.service.records import Records
    from reconciler.service.stores.memory_store import MemoryStore

__all__ = ["Health"]

_CONTACTS_AT_ONCE = 100

_RECORDS_AT_ONCE = 500
"""Of so many the contacts are looked through together for damage: a page of the store. Of more,
each page would look through all of them again."""


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
        actions = self._store.count_actions(scopes)
        kept = self._store.count_episodes(scopes)
        linked = set(self._store.list_disputed(scopes))
        sizes = Counter({key: episodes for key, (_, episodes) in kept.items()})
        for key, counts in actions.items():
            sizes[key] += sum(count.decisions for count in counts)
        damaged = self._damaged(scopes, sizes)
        for contact in self._records.contacts(scopes):
            scope = Scope(contact.tenant, contact.agent_id, contact.contact_id)
            sessions, episodes = kept.get(scope.contact_key, (0, 0))
            counted = ContactHealth(
                contact_id=scope.contact_id,
                sessions=sessions,
                episodes=episodes,
                damaged=damaged[scope],
            )
            decided = decided_rates(actions.get(scope.contact_key, ()))
            numbers: dict[str, Any] = {
                **counts_of(contact),
                **decided,
                **self._facts(scope, has_links=scope in linked),
                **self._waiting(scope, has_links=scope in linked),
            }
            yield replace(counted, **numbers)

    def _damaged(self, scopes: Sequence[Scope], sizes: Mapping[str, int]) -> Counter[Scope]:
        """How many records of each of these contacts cannot be read."""
        damaged: Counter[Scope] = Counter()
        for some in _parts(scopes, sizes):
            damaged.update(scope for scope, _ in self._damage.find_among(some))
        return damaged

    def _facts(self, scope: Scope, *, has_links: bool) -> dict[str, int]:
        """Duplicate facts, and facts that answer one question twice."""
        now = self._clock()
        _, facts, vectors = self._store.load_neighbourhood(scope, self._embedding_model)
        rows = [row for row, fact in enumerate(facts) if fact.as_of(now).is_live]
        live = [facts[row] for row in rows]
        conflicts = self._store.list_conflicts(scope, is_open=False) if has_links else []
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

    def _waiting(self, scope: Scope, *, has_links: bool) -> dict[str, Waiting]:
        now, linked = self._clock(), [scope] if has_links else []
        held = [decision.at for decision in self._records.held([scope])]
        disputed = [dispute.opened_at for dispute in self._records.disputes(linked)]
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
