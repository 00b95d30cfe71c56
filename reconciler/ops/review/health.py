"""Health: the quality of a memory, in numbers that can be followed over time.

Numbers and ids only; a report never holds a remembered text. ``Health`` looks through contacts, one
after the other; the rest is pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime, timedelta
from functools import partial, reduce
from typing import Any

import numpy as np

from reconciler.domain.records.facts import ActionCount, Conflict, Contact, LiveFact
from reconciler.domain.records.kinds import Action, Clock, Progress
from reconciler.domain.records.notes import Scope
from reconciler.floats import Floats
from reconciler.frozen import Json, frozen, grouped, picked
from reconciler.service.checking.damage import Damage
from reconciler.service.checking.lines import KEY_OF
from reconciler.service.records import Records
from reconciler.service.stores.contact_store import ContactStore
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.fact_store import FactStore
from reconciler.service.stores.rows import FEW, batches, vectors_in

_BLOCK_ROWS = 512
"""The number of facts that are compared with all others at a time, so that memory stays bounded."""

_ALONE_MAX = 1 << 18
"""Multiplications up to which numpy's BLAS uses one thread. More threads wait for each other: a
contact of 100 facts took 3.0 ms of a busy processor at once, and 0.15 in small blocks."""

RATES = ("duplicate_rate", "stale_rate", "confirm_rate", "refusal_rate", "empty_recall_rate")

_STATES = ("live", "expired", "archived", "superseded", "revoked")
_WAITS = ("day", "week", "month", "longer")
_AGES = {"day": timedelta(days=1), "week": timedelta(days=7), "month": timedelta(days=30)}


@frozen
class Waiting:
    """Questions that wait for an answer, by how long they have waited.

    Attributes:
        day, week, month, longer: how many wait for up to so long, and not for less.
        oldest_at: when the one that waits longest came up (UTC); None without one.
    """

    day: int = 0
    week: int = 0
    month: int = 0
    longer: int = 0
    oldest_at: datetime | None = None

    @property
    def count(self) -> int:
        """Return all of them."""
        return self.day + self.week + self.month + self.longer

    def __add__(self, other: Waiting) -> Waiting:
        """Return both together."""
        times = [at for at in (self.oldest_at, other.oldest_at) if at is not None]
        summed = {name: getattr(self, name) + getattr(other, name) for name in _WAITS}
        return Waiting(**summed, oldest_at=min(times, default=None))


@frozen
class ContactHealth:
    """The health of one contact, or of several together, in numbers.

    Attributes:
        contact_id: the contact; None for several together.
        live, expired, archived, superseded, revoked: facts by their state now.
        near_pairs: pairs of live facts that are as near as restatements, and that no link joins.
        duplicated: live facts that are in such a pair.
        slots: questions of one value that live facts answer.
        rivalled_slots: those of them that have two live values or more.
        disputes, questions: what waits for an answer.
        answers, confirmations: answers to questions, and those of them that were a yes.
        attempts, refusals: notes that were decided about, and those that the gate refused.
        sessions, episodes, decisions: what is kept beside the facts.
        damaged: records of any kind that cannot be read; None unless each was checked. The log
            names them when they are asked for, and ``forget`` erases them.
        recalls, empty_recalls: questions that were asked of the memory, and those of them to which
            it found nothing but what stands whatever is asked. Only of processes that may write.
    """

    contact_id: str | None = None
    live: int = 0
    expired: int = 0
    archived: int = 0
    superseded: int = 0
    revoked: int = 0
    near_pairs: int = 0
    duplicated: int = 0
    slots: int = 0
    rivalled_slots: int = 0
    disputes: Waiting = Waiting()
    questions: Waiting = Waiting()
    answers: int = 0
    confirmations: int = 0
    attempts: int = 0
    refusals: int = 0
    sessions: int = 0
    episodes: int = 0
    decisions: int = 0
    damaged: int | None = None
    recalls: int = 0
    empty_recalls: int = 0

    @property
    def duplicate_rate(self) -> float | None:
        """Return the share of live facts with a near twin and no link; None without facts."""
        return _share(self.duplicated, self.live)

    @property
    def stale_rate(self) -> float | None:
        """Return the share of one-value questions with several live answers; None without any."""
        return _share(self.rivalled_slots, self.slots)

    @property
    def confirm_rate(self) -> float | None:
        """Return the share of answers that were a yes; None without answers."""
        return _share(self.confirmations, self.answers)

    @property
    def refusal_rate(self) -> float | None:
        """Return the share of notes that the gate refused; None without any."""
        return _share(self.refusals, self.attempts)

    @property
    def empty_recall_rate(self) -> float | None:
        """Return the share of recalls that found nothing; None where nothing was recalled."""
        return _share(self.empty_recalls, self.recalls)

    def with_more(self, other: ContactHealth) -> ContactHealth:
        """Both together, of no contact by itself."""
        summed = {
            field.name: _sum(getattr(self, field.name), getattr(other, field.name))
            for field in fields(self)
            if field.name != "contact_id"
        }
        return ContactHealth(**summed)

    def to_dict(self) -> Json:
        """As plain values, its rates among them."""
        return asdict(self) | picked(self, RATES)


@frozen
class HealthReport:
    """How well an agent's memory is kept.

    Attributes:
        tenant, agent_id: the agent and its tenant.
        contacts: each contact that was asked about, by id.
        file_bytes: what the store's files take up; None where a server keeps them.
    """

    tenant: str
    agent_id: str
    contacts: tuple[ContactHealth, ...]
    file_bytes: int | None

    @property
    def total(self) -> ContactHealth:
        """Return all contacts together."""
        return reduce(ContactHealth.with_more, self.contacts, ContactHealth())

    def to_dict(self) -> Json:
        """As plain values."""
        return {
            "tenant": self.tenant,
            "agent_id": self.agent_id,
            "total": self.total.to_dict(),
            "contacts": [contact.to_dict() for contact in self.contacts],
            "file_bytes": self.file_bytes,
        }


def near_pairs(
    facts: Sequence[LiveFact],
    vectors: Floats,
    linked: Collection[frozenset[str]],
    cosine_min: float,
) -> Iterator[tuple[str, str]]:
    """Find pairs of facts that are as near as restatements, and that no link joins.

    Facts that answer a question differently, or answer different questions, are never such a pair:
    their slots show the difference.

    Args:
        facts: the live facts of one contact.
        vectors: the facts' vectors, float32, shape (len(facts), dimension), unit length.
        linked: the pairs of ids of facts that a link joins.
        cosine_min: the raw cosine from which two texts are near.

    Yields:
        The two ids of each pair; thousands of equal facts make millions of pairs.
    """
    size = _ALONE_MAX // max(vectors.size, 1)
    if size < 2:
        size = _BLOCK_ROWS
    for first in range(0, len(facts), size):
        block = vectors[first : first + size] @ vectors[first:].T
        for place in np.flatnonzero(block >= cosine_min).tolist():
            row, column = divmod(place, len(facts) - first)
            if row < column:  # each pair once
                one, other = facts[first + row], facts[first + column]
                pair = (one.fact_id, other.fact_id)
                if not _differ(one, other) and frozenset(pair) not in linked:
                    yield pair


def slots_with_rivals(facts: Iterable[LiveFact]) -> dict[tuple[str, str], int]:
    """Count the live values of each question of one value, by subject and attribute.

    Args:
        facts: the live facts of one contact.
    """
    values = grouped(
        ((fact.subject, fact.attribute), fact.value_key)
        for fact in facts
        if fact.subject and fact.is_single_valued and fact.attribute and fact.value_key
    )
    return {question: len({*rivals}) for question, rivals in values.items()}


def waiting(opened_at: Iterable[datetime], now: datetime) -> Waiting:
    """Count by age the questions that wait since these times."""
    times = list(opened_at)
    counts = Counter(
        next((name for name, longest in _AGES.items() if now - at <= longest), "longer")
        for at in times
    )
    return Waiting(**counts, oldest_at=min(times, default=None))


def decided_rates(counted: Iterable[ActionCount]) -> Counter[str]:
    """Count decisions, attempts, refusals, answers and confirmations, for ``ContactHealth``."""
    counts: Counter[str] = Counter()
    for count in counted:
        action, is_yes, is_answer = count.action, count.action.is_reconciled, count.is_answer
        # An ``ADMIT`` is no attempt: the committing decision follows.
        is_attempt = not is_answer and (is_yes or action in (Action.HOLD, Action.REJECT))
        counts["decisions"] += count.decisions
        counts["attempts"] += count.decisions * is_attempt
        counts["refusals"] += count.decisions * (action is Action.REJECT)
        counts["answers"] += count.decisions * (is_answer and (is_yes or action is Action.DECLINE))
        counts["confirmations"] += count.decisions * (is_answer and is_yes)
    return counts


def counts_of(contact: Contact) -> Mapping[str, int]:
    """Count a contact's facts by state and its recalls, for ``ContactHealth``."""
    facts = {state: getattr(contact, f"{state}_facts") for state in _STATES}
    return facts | picked(contact, ("recalls", "empty_recalls"))


def _differ(one: LiveFact, other: LiveFact) -> bool:
    """True if they are about different persons, or answer questions differently."""
    if one.subject is None or other.subject is None:
        return False
    if one.subject != other.subject:
        return True
    answers = (one.attribute, one.value_key), (other.attribute, other.value_key)
    return all(None not in answer for answer in answers) and answers[0] != answers[1]


def _share(some: int, of_all: int) -> float | None:
    return some / of_all if of_all else None


def _sum(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return one if other is None else other
    return one + other


_Times = Mapping[Scope, Sequence[datetime]]
"""The times since when something waits, by contact."""

_NUMBER_BYTES = 4
"""The bytes of a float32, of which vectors are made."""

_FACTS_AT_ONCE = 10_000
"""The number of live facts, of one contact or of several, that one query reads, because each query
takes milliseconds; with their vectors they take 20 MB."""

_RECORDS_AT_ONCE = 5_000
"""The number of records up to which contacts are checked together. A contact with more records is
checked alone, by pages of the store."""

_MANY = ("Episode", "Fact", "Decision")
_FEW = tuple(label for label in KEY_OF if label not in ("Contact", *_MANY))
"""The records that most contacts do not have; so they are read for many contacts at once."""


@frozen
class Health:
    """Measures how well an agent's contacts are kept. Only reads.

    Args:
        fact_store: facts and their vectors.
        decision_store: decisions to count.
        contact_store: contacts and agents.
        damage: finds records that cannot be read.
        records: open questions.
        embedding_model: the model that made the vectors to compare.
        near_min: the raw cosine from which two facts are as near as restatements.
        file_bytes: the size of the store's files; None if a server keeps them.
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
    clock: Clock

    def report(
        self, whose: Scope, scopes: Sequence[Scope], on_progress: Progress, *, checks_records: bool
    ) -> HealthReport:
        """Report how well these contacts of an agent are kept.

        Args:
            whose: the agent, in the scope of any contact.
            scopes: the contacts.
            on_progress: called with how many more contacts were read.
            checks_records: whether every record is read, to count the damaged ones.
        """
        asked = scopes if len(scopes) <= FEW else whose
        linked = dict(self.fact_store.list_disputed(asked))
        waits = (
            grouped((each.scope, each.at) for each in self.records.held(asked, is_bare=True)),
            grouped((each.scope, each.opened_at) for each in self.records.disputes([*linked])),
        )
        return HealthReport(
            tenant=whose.tenant,
            agent_id=whose.agent_id,
            contacts=tuple(self._counted(scopes, linked, waits, on_progress, checks_records)),
            file_bytes=self.file_bytes(),
        )

    def _counted(
        self,
        scopes: Sequence[Scope],
        linked: Mapping[Scope, Sequence[Conflict]],
        waits: Sequence[_Times],
        on_progress: Progress,
        checks_records: bool,
    ) -> Iterator[ContactHealth]:
        """Measure the health of each of these contacts that is known, one after the other."""
        contacts = {contact.contact_id: contact for contact in self.records.contacts(scopes)}
        scopes = [scope for scope in scopes if scope.contact_id in contacts]
        actions = self.decision_store.count_actions(scopes)
        kept = self.contact_store.count_episodes(scopes)
        sizes = Counter({key: episodes for key, (_, episodes) in kept.items()})
        for key, counts in actions.items():
            sizes[key] += sum(count.decisions for count in counts)
        live = {scope.contact_key: contacts[scope.contact_id].live_facts for scope in scopes}
        for some in batches(scopes, FEW):
            damaged = self._damaged(some, sizes) if checks_records else None
            for part in _parts(some, live, _FACTS_AT_ONCE):
                now = self.clock()
                facts = self.fact_store.list_live_facts(part, self.embedding_model, now)
                for scope in part:
                    sessions, episodes = kept.get(scope.contact_key, (0, 0))
                    yield ContactHealth(
                        contact_id=scope.contact_id,
                        sessions=sessions,
                        episodes=episodes,
                        questions=waiting(waits[0].get(scope, ()), now),
                        disputes=waiting(waits[1].get(scope, ()), now),
                        damaged=None if damaged is None else damaged[scope.contact_key],
                        **counts_of(contacts[scope.contact_id]),
                        **decided_rates(actions.get(scope.contact_key, ())),
                        **self._compared(facts.get(scope.contact_key, ()), linked.get(scope, ())),
                    )
                    on_progress(1)

    def _damaged(self, scopes: Sequence[Scope], sizes: Mapping[str, int]) -> Counter[str]:
        """Count the records that cannot be read, by the contact's key."""
        find = partial(self.damage.damaged_among, page_size=_RECORDS_AT_ONCE)
        damaged = Counter(find(scopes, _FEW))
        for part in _parts(scopes, sizes, _RECORDS_AT_ONCE):
            damaged.update(find(part, _MANY))
        return damaged

    def _compared(self, facts: Sequence[LiveFact], conflicts: Iterable[Conflict]) -> dict[str, int]:
        """Find duplicate facts, and facts that answer one question twice."""
        linked = {conflict.ids for conflict in conflicts}
        # One with a vector that was cut short, unlike most others, is compared with none.
        by_length = grouped((len(fact.embedding_bytes or b""), fact) for fact in facts)
        whole = (some for size, some in by_length.items() if size and size % _NUMBER_BYTES == 0)
        placed = max(whole, key=len, default=[])
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


def _parts(
    scopes: Iterable[Scope], sizes: Mapping[str, int], size_max: int
) -> Iterator[list[Scope]]:
    """Divide contacts into groups; each group's sizes add up to at most this."""
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
