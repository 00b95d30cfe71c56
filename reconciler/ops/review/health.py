"""Health: how well a memory is kept, in numbers that can be followed over time. Pure.

Numbers and ids only; a report never holds a remembered text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from reconciler.domain.records.facts import ActionCount, Contact, LiveFact
from reconciler.domain.records.kinds import Action
from reconciler.floats import Floats
from reconciler.frozen import frozen

_BLOCK_ROWS = 512
"""Facts that are compared with all others at a time, so that memory stays bounded."""

_ALONE_MAX = 1 << 18
"""Multiplications up to which numpy's BLAS uses one thread. More threads wait for each other: a
contact of 100 facts took 3.0 ms of a busy processor at once, and 0.15 in small blocks."""

_RATES = ("duplicate_rate", "stale_rate", "confirm_rate", "refusal_rate", "empty_recall_rate")

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
        """All of them."""
        return self.day + self.week + self.month + self.longer

    def with_more(self, other: Waiting) -> Waiting:
        """Both together."""
        times = [at for at in (self.oldest_at, other.oldest_at) if at is not None]
        return Waiting(
            day=self.day + other.day,
            week=self.week + other.week,
            month=self.month + other.month,
            longer=self.longer + other.longer,
            oldest_at=min(times, default=None),
        )


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
        """Share of live facts with a near twin that nothing links; None without facts."""
        return _share(self.duplicated, self.live)

    @property
    def stale_rate(self) -> float | None:
        """Share of questions of one value with several live answers; None without any."""
        return _share(self.rivalled_slots, self.slots)

    @property
    def confirm_rate(self) -> float | None:
        """Share of answers that were a yes; None without answers."""
        return _share(self.confirmations, self.answers)

    @property
    def refusal_rate(self) -> float | None:
        """Share of notes that the gate refused; None without any."""
        return _share(self.refusals, self.attempts)

    @property
    def empty_recall_rate(self) -> float | None:
        """Share of recalls that found nothing; None where nothing was recalled."""
        return _share(self.empty_recalls, self.recalls)

    def with_more(self, other: ContactHealth) -> ContactHealth:
        """Both together, of no contact by itself."""
        summed = {
            field.name: _sum(getattr(self, field.name), getattr(other, field.name))
            for field in fields(self)
            if field.name != "contact_id"
        }
        return ContactHealth(**summed)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, its rates among them."""
        return asdict(self) | {name: getattr(self, name) for name in _RATES}


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
        """All contacts together."""
        total = ContactHealth()
        for contact in self.contacts:
            total = total.with_more(contact)
        return total

    def to_dict(self) -> dict[str, Any]:
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
    """Pairs of facts that are as near as restatements, and that nothing says anything about.

    Facts that answer a question differently, or different questions, are no such pair however near
    they are: their slots say so.

    Args:
        facts: live ones of one contact.
        vectors: theirs, float32, shape (len(facts), dimension), unit length.
        linked: the ids of two facts each that a link joins.
        cosine_min: from which raw cosine two texts are near.

    Yields:
        The ids of two facts each; of thousands that say the same there are millions of pairs.
    """
    for one, other in _near(facts, vectors, cosine_min):
        pair = (one.fact_id, other.fact_id)
        if not _differ(one, other) and frozenset(pair) not in linked:
            yield pair


def slots_with_rivals(facts: Iterable[LiveFact]) -> dict[tuple[str, str], int]:
    """How many live values each question of one value has, by subject and attribute.

    Args:
        facts: live ones of one contact.
    """
    values: dict[tuple[str, str], set[str]] = defaultdict(set)
    for fact in facts:
        if fact.subject and fact.is_single_valued and fact.attribute and fact.value_key:
            values[fact.subject, fact.attribute].add(fact.value_key)
    return {question: len(rivals) for question, rivals in values.items()}


def waiting(opened_at: Iterable[datetime], now: datetime) -> Waiting:
    """What waits since these times, counted by age."""
    times = list(opened_at)
    counts = dict.fromkeys((*_AGES, "longer"), 0)
    for at in times:
        counts[_age_of(now - at)] += 1
    return Waiting(**counts, oldest_at=min(times, default=None))


def decided_rates(counted: Iterable[ActionCount]) -> dict[str, int]:
    """Decisions, attempts, refusals, answers and confirmations, as ``ContactHealth`` has them."""
    counts_of = dict.fromkeys(("decisions", "attempts", "refusals", "answers", "confirmations"), 0)
    for count in counted:
        is_yes = count.action.is_reconciled
        counts_of["decisions"] += count.decisions
        counts_of["attempts"] += count.decisions * (
            not count.is_answer and _is_attempt(count.action)
        )
        counts_of["refusals"] += count.decisions * (count.action is Action.REJECT)
        counts_of["answers"] += count.decisions * (count.is_answer and _is_answer(count.action))
        counts_of["confirmations"] += count.decisions * (count.is_answer and is_yes)
    return counts_of


def counts_of(contact: Contact) -> Mapping[str, int]:
    """Its facts by state and its recalls, as ``ContactHealth`` has them."""
    return {
        "live": contact.live_facts,
        "expired": contact.expired_facts,
        "archived": contact.archived_facts,
        "superseded": contact.superseded_facts,
        "revoked": contact.revoked_facts,
        "recalls": contact.recalls,
        "empty_recalls": contact.empty_recalls,
    }


def _near(
    facts: Sequence[LiveFact], vectors: Floats, cosine_min: float
) -> Iterator[tuple[LiveFact, LiveFact]]:
    """Each pair once."""
    size = _ALONE_MAX // max(vectors.size, 1)
    if size < 2:
        size = _BLOCK_ROWS
    for first in range(0, len(facts), size):
        block = vectors[first : first + size] @ vectors[first:].T
        for row, column in np.argwhere(block >= cosine_min).tolist():
            if column > row:
                yield facts[first + row], facts[first + column]


def _differ(one: LiveFact, other: LiveFact) -> bool:
    """True if they are about different persons, or answer questions differently."""
    if one.subject is None or other.subject is None:
        return False
    if one.subject != other.subject:
        return True
    answers = (one.attribute, one.value_key), (other.attribute, other.value_key)
    return all(None not in answer for answer in answers) and answers[0] != answers[1]


def _age_of(age: timedelta) -> str:
    return next((name for name, longest in _AGES.items() if age <= longest), "longer")


def _is_attempt(action: Action) -> bool:
    """True if a note came in; ``ADMIT`` is followed by the decision that commits it."""
    return action.is_reconciled or action in (Action.HOLD, Action.REJECT)


def _is_answer(action: Action) -> bool:
    return action.is_reconciled or action is Action.DECLINE


def _share(some: int, of_all: int) -> float | None:
    return some / of_all if of_all else None


def _sum(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return one if other is None else other
    return one.with_more(other) if isinstance(one, Waiting) else one + other
