"""Health: looks through contacts, one after the other, and says how well each is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reconciler.domain.reconciling.disputes import disputes_of
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Conflict
from reconciler.domain.records.scope import Scope
from reconciler.domain.records.slots import Slot
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
from reconciler.ports.graph import Row
from reconciler.service.batches import batches
from reconciler.service.moving.lines import KEY_OF
from reconciler.service.records import unanswered
from reconciler.service.stores.stored_facts import SomeFacts, StoredFacts

if TYPE_CHECKING:
    from reconciler.service.moving.damage import Damage
    from reconciler.service.records import Records
    from reconciler.service.stores.contact_store import ContactStore
    from reconciler.service.stores.decision_store import DecisionStore
    from reconciler.service.stores.fact_store import FactStore

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
    """What was read of a contact, as far as its health depends on it.

    Of thousands of facts few are made: those of a near pair, of a dispute, or compared with a
    question.
    """

    facts: SomeFacts = field(default_factory=SomeFacts)
    live: SomeFacts = field(default_factory=SomeFacts)
    live_ids: list[str] = field(default_factory=list)
    live_slots: list[Slot | None] = field(default_factory=list)
    held: list[Decision] = field(default_factory=list)

    def add_live(self, fact_id: str, facts: StoredFacts, place: int) -> None:
        """Add one of its live facts."""
        self.live.add(facts, place)
        self.live_ids.append(fact_id)
        self.live_slots.append(facts.slot_at(place))


class Health:
    """Measures how well an agent's contacts are kept. Only reads.

    Args:
        fact_store: facts and their vectors.
        decision_store: decisions, to be counted.
        contact_store: contacts and agents.
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
        fact_store: FactStore,
        decision_store: DecisionStore,
        contact_store: ContactStore,
        damage: Damage,
        records: Records,
        embedding_model: str,
        near_min: float,
        file_bytes: Callable[[], int | None],
        clock: Callable[[], datetime],
    ) -> None:
        self._fact_store = fact_store
        self._decision_store = decision_store
        self._contact_store = contact_store
        self._damage = damage
        self._records = records
        self._embedding_model = embedding_model
        self._near_min = near_min
        self._file_bytes = file_bytes
        self._clock = clock

    def agents(self) -> list[tuple[str, str]]:
        """All agents of the store, each with its tenant first."""
        return self._contact_store.list_agents()

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
        actions = self._decision_store.count_actions(scopes)
        kept = self._contact_store.count_episodes(scopes)
        linked = set(self._contact_store.list_disputed(scopes))
        pending_ids = set(self._decision_store.list_pending_ids(scopes, self._clock()))
        damaged = Counter(self._damage.damaged_among(scopes, _FEW, _RECORDS_AT_ONCE))
        sizes = Counter({key: episodes for key, (_, episodes) in kept.items()})
        for key, counts in actions.items():
            sizes[key] += sum(count.decisions for count in counts)
        for part in _parts(scopes, sizes):
            read = self._read(part, pending_ids, damaged)
            several = [scope for scope in part if len(read[scope.contact_key].live) > 1]
            vectors = (
                self._fact_store.load_vectors(several, self._embedding_model) if several else {}
            )
            for scope in part:
                sessions, episodes = kept.get(scope.contact_key, (0, 0))
                conflicts = (
                    self._fact_store.list_conflicts(scope, is_open=False) if scope in linked else []
                )
                own = read[scope.contact_key]
                numbers: dict[str, Any] = {
                    **counts_of(contacts[scope.contact_id]),
                    **decided_rates(actions.get(scope.contact_key, ())),
                    **self._compared(own, vectors, conflicts),
                    **self._waiting(scope, own, conflicts),
                }
                yield ContactHealth(
                    contact_id=scope.contact_id,
                    sessions=sessions,
                    episodes=episodes,
                    damaged=damaged[scope.contact_key],
                    **numbers,
                )

    def _read(
        self, scopes: Sequence[Scope], pending_ids: Collection[str], damaged: Counter[str]
    ) -> Mapping[str, _Read]:
        """The facts and held notes of each of these contacts by its key; damage is counted."""
        read = {scope.contact_key: _Read() for scope in scopes}
        for page in self._damage.pages_among(scopes, _MANY, _RECORDS_AT_ONCE):
            damaged.update(page.damaged_keys)
            if isinstance(page.records, StoredFacts):
                self._sort_in(read, page.records, page.columns)
            elif page.label == "Decision":
                for key, decision in zip(page.columns["contact_key"], page.records, strict=True):
                    if decision.decision_id in pending_ids:
                        read[key].held.append(decision)
        return read

    def _sort_in(self, read: Mapping[str, _Read], facts: StoredFacts, columns: Row) -> None:
        """Give these facts to their contacts."""
        keys, ids = columns["contact_key"], columns["fact_id"]
        for place, key in enumerate(keys):
            read[key].facts.add(facts, place)
        for place in facts.live_places(self._clock()):
            read[keys[place]].add_live(ids[place], facts, place)

    def _compared(
        self,
        read: _Read,
        vectors: Mapping[str, NDArray[np.float32]],
        conflicts: Sequence[Conflict],
    ) -> dict[str, int]:
        """Duplicate facts, and facts that answer one question twice."""
        places = [place for place, fact_id in enumerate(read.live_ids) if fact_id in vectors]
        linked = {frozenset((conflict.new_id, conflict.old_id)) for conflict in conflicts}
        duplicated: set[str] = set()
        count = 0
        if len(places) > 1:
            rows = np.stack([vectors[read.live_ids[place]] for place in places])
            near = read.live.among(places)
            for pair in near_pairs(near, rows, linked, self._near_min):
                duplicated.update(pair)
                count += 1
        values = slots_with_rivals(read.live_slots)
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

        now, said = self._clock(), cache(lambda _: Answers(read.facts))
        held = [decision.at for decision in unanswered(read.held, said)]
        open_ = [conflict for conflict in conflicts if conflict.is_open]
        disputes = disputes_of(scope, read.facts, open_, now) if open_ else ()
        disputed = [dispute.opened_at for dispute in disputes]
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
