"""Health: looks through contacts, one after the other, and says how well each is kept."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from reconciler.domain.records.facts import LiveFact
from reconciler.domain.records.notes import Scope
from reconciler.frozen import frozen
from reconciler.ops.review.health import (
    ContactHealth,
    HealthReport,
    counts_of,
    decided_rates,
    near_pairs,
    slots_with_rivals,
    waiting,
)
from reconciler.service.checking.lines import KEY_OF
from reconciler.service.stores.rows import batches, vectors_in

if TYPE_CHECKING:
    from reconciler.service.checking.damage import Damage
    from reconciler.service.records import Records
    from reconciler.service.stores.contact_store import ContactStore
    from reconciler.service.stores.decision_store import DecisionStore
    from reconciler.service.stores.fact_store import FactStore

_CONTACTS_AT_ONCE = 400

_NUMBER_BYTES = 4
"""Of a float32, of which vectors are made."""

_FACTS_AT_ONCE = 10_000
"""So many live facts, of one contact or of several, are read with one query, since a query takes
milliseconds, however little it finds; with their vectors they take 20 MB."""

_RECORDS_AT_ONCE = 5_000
"""Of so many records the contacts are checked together. One with more is checked alone, by pages of
the store."""

_MANY = ("Episode", "Fact", "Decision")
_FEW = tuple(label for label in KEY_OF if label not in ("Contact", *_MANY))
"""What most contacts have none of, and so is read of many at once."""


@frozen
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

    fact_store: FactStore
    decision_store: DecisionStore
    contact_store: ContactStore
    damage: Damage
    records: Records
    embedding_model: str
    near_min: float
    file_bytes: Callable[[], int | None]
    clock: Callable[[], datetime]

    def report(
        self,
        whose: Scope,
        scopes: Sequence[Scope],
        on_progress: Callable[[int], None] = lambda _: None,
        *,
        checks_records: bool = False,
    ) -> HealthReport:
        """How well these contacts of an agent are kept.

        Args:
            whose: the agent, in the scope of any contact.
            scopes: the contacts.
            on_progress: told how many more contacts were looked at.
            checks_records: whether every record is read, to count the damaged ones.
        """
        contacts: list[ContactHealth] = []
        for some in batches(scopes, _CONTACTS_AT_ONCE):
            for contact in self._counted(some, checks_records):
                contacts.append(contact)
                on_progress(1)
        return HealthReport(
            tenant=whose.tenant,
            agent_id=whose.agent_id,
            contacts=tuple(contacts),
            file_bytes=self.file_bytes(),
        )

    def _counted(self, scopes: Sequence[Scope], checks_records: bool) -> Iterator[ContactHealth]:
        """Health of each of these contacts that is known, one after the other."""
        contacts = {contact.contact_id: contact for contact in self.records.contacts(scopes)}
        scopes = [scope for scope in scopes if scope.contact_id in contacts]
        actions = self.decision_store.count_actions(scopes)
        kept = self.contact_store.count_episodes(scopes)
        linked = set(self.contact_store.list_disputed(scopes))
        sizes = Counter({key: episodes for key, (_, episodes) in kept.items()})
        for key, counts in actions.items():
            sizes[key] += sum(count.decisions for count in counts)
        damaged = self._damaged(scopes, sizes) if checks_records else None
        live = {scope.contact_key: contacts[scope.contact_id].live_facts for scope in scopes}
        for part in _parts(scopes, live, _FACTS_AT_ONCE):
            now = self.clock()
            facts = self.fact_store.list_live_facts(part, self.embedding_model, now)
            held = self.records.held(part, is_bare=True)
            disputes = self.records.disputes([scope for scope in part if scope in linked])
            questions = _times((each.scope, each.at) for each in held)
            disputed = _times((each.scope, each.opened_at) for each in disputes)
            for scope in part:
                sessions, episodes = kept.get(scope.contact_key, (0, 0))
                yield ContactHealth(
                    contact_id=scope.contact_id,
                    sessions=sessions,
                    episodes=episodes,
                    questions=waiting(questions[scope], now),
                    disputes=waiting(disputed[scope], now),
                    damaged=None if damaged is None else damaged[scope.contact_key],
                    **counts_of(contacts[scope.contact_id]),
                    **decided_rates(actions.get(scope.contact_key, ())),
                    **self._compared(scope, facts.get(scope.contact_key, ()), scope in linked),
                )

    def _damaged(self, scopes: Sequence[Scope], sizes: Mapping[str, int]) -> Counter[str]:
        """How many records cannot be read, by the contact's key."""
        find = partial(self.damage.damaged_among, page_size=_RECORDS_AT_ONCE)
        damaged = Counter(find(scopes, _FEW))
        for part in _parts(scopes, sizes, _RECORDS_AT_ONCE):
            damaged.update(find(part, _MANY))
        return damaged

    def _compared(self, scope: Scope, facts: Sequence[LiveFact], is_linked: bool) -> dict[str, int]:
        """Duplicate facts, and facts that answer one question twice."""
        conflicts = self.fact_store.list_conflicts(scope, is_open=False) if is_linked else []
        linked = {conflict.ids for conflict in conflicts}
        # One with a vector that was cut short, unlike most others, is compared with none.
        by_length: dict[int, list[LiveFact]] = defaultdict(list)
        for fact in facts:
            length = len(fact.embedding_bytes or b"")
            if length and length % _NUMBER_BYTES == 0:
                by_length[length].append(fact)
        placed = max(by_length.values(), key=len, default=[])
        vectors = vectors_in([fact.embedding_bytes for fact in placed])
        duplicated: set[str] = set()
        count = 0
        for pair in near_pairs(placed, vectors, linked, self.near_min):
            duplicated.update(pair)
            count += 1
        values = slots_with_rivals(facts)
        return {
            "near_pairs": count,
            "duplicated": len(duplicated),
            "slots": len(values),
            "rivalled_slots": sum(count > 1 for count in values.values()),
        }


def _times(waiting_since: Iterable[tuple[Scope, datetime]]) -> Mapping[Scope, list[datetime]]:
    """Since when something waits about each contact."""
    times: dict[Scope, list[datetime]] = defaultdict(list)
    for scope, at in waiting_since:
        times[scope].append(at)
    return times


def _parts(
    scopes: Iterable[Scope], sizes: Mapping[str, int], size_max: int
) -> Iterator[list[Scope]]:
    """These contacts, together as long as their sizes, by their keys, are no more than that."""
    part: list[Scope] = []
    room = size_max
    for scope in scopes:
        size = sizes.get(scope.contact_key, 0)
        if part and size > room:
            yield part
            part, room = [], size_max
        part.append(scope)
        room -= size
    if part:
        yield part
