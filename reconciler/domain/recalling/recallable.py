"""Recallable: facts with what a question is compared with, and the answer to one. Pure.

The stages of an answer, for facts from any source: *filter* the facts, *choose* by closeness in
meaning and in words, *order* the chosen facts. Standing constraints are outside all three. Choosing
is a separate stage: with one score over all facts, age counted more than closeness, and old facts
were not found.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reconciler.domain.recalling.filtering import RecallFilter
from reconciler.domain.recalling.history import true_at
from reconciler.domain.recalling.ranking import (
    Numbers,
    cosines_to,
    holding,
    is_ahead,
    numbers_of,
    recency_among,
    recency_now,
    reciprocal_ranks,
    score,
    strengths,
    telling,
)
from reconciler.domain.recalling.recalled import Recalled, ends_own_value, suspended_ids
from reconciler.domain.records.facts import Fact, Facts, RankedFact
from reconciler.domain.records.notes import CONTACT_SUBJECT, MEMBERSHIP
from reconciler.domain.records.policies import DecayPolicy, RankingPolicy, RecallFloor
from reconciler.domain.values.placing import NAMING
from reconciler.floats import Flags, Floats, Rows, Scores
from reconciler.frozen import Strings, frozen, grouped, in_order
from reconciler.reading.question_words import WordIndex, WordMatches, content_words

_OTHERS_PART = 0.5
"""The weight of facts about other people if a question names no other person; the contact's own
facts have 1."""

_ASKED_RANKS = 2.0
"""The weight of a clear question for an attribute: as much as being first in meaning and in
words."""

_OF_SUBJECT = 0.2
"""How clearly a question that names a person asks for each fact about that person."""

_NAMED = 0.2
"""How clearly a question asks for facts that hold its number or name ("SL-204")."""


@dataclass(frozen=True, slots=True, eq=False)
class RecallQuery:
    """A query, with its vector.

    Attributes:
        text: in words; empty to ask for everything.
        vector: its embedding, float32, shape (dimension,), unit length, moved towards the facts of
            the attributes that it asks for; None to compare only words.
        asks: by attribute how clearly the question asks for it, above 0 to 1.
        unread: the share of its letters that the model could not read, 0 to 1; the cosine then
            counts for less in the order.
        strange: how much nearer than usual facts must be, because the question is hardly about a
            contact; 0 or more.
    """

    text: str
    vector: Floats | None = None
    asks: Mapping[str, float] = field(default_factory=dict)
    unread: float = 0.0
    strange: float = 0.0


@frozen
class Recalling:
    """The settings by which questions are answered.

    Attributes:
        ranking: how facts are chosen and ordered.
        floor: how near facts must be; None lets every fact answer. It is used only if cosines are
            compared.
        confidence_min: facts with a lower confidence of the gate are left out, 0 to 1.
        decay: how the strength of a fact is computed, if it is weighed.
        hides_expired: whether expired facts are left out; else they come last.
    """

    ranking: RankingPolicy
    floor: RecallFloor | None = None
    confidence_min: float = 0.0
    hides_expired: bool = False
    decay: DecayPolicy = field(default_factory=DecayPolicy)


@in_order
class Told:
    """The search text of each fact; empty for None."""

    facts: Sequence[Fact | None]

    def __iter__(self) -> Iterator[str]:
        return (told(fact) if fact else "" for fact in self.facts)


def told(fact: Fact) -> str:
    """Search text of a fact."""
    subject, attribute = (fact.slot.subject, fact.slot.attribute) if fact.slot else (None, None)
    return search_text(fact.text, subject, attribute, fact.tags)


def search_text(text: str, subject: str | None, attribute: str | None, tags: Sequence[str]) -> str:
    """Search text of a fact: its text, the names of its slot, and its tags."""
    return f"{text} {subject or ''} {attribute or ''} {' '.join(tags)}".replace("_", " ")


class Recallable:
    """Facts about one contact, as they were at one moment; nothing in it changes.

    Args:
        facts: the facts that have not ended, expired ones included.
        vectors: the facts' vectors, float32, shape (len(facts), dimension), unit length; None to
            compare only words.
        disputes: by the id of a fact, the ids of the facts that contradict it.
        numbers: the numbers that rank the facts, if they are known. Then only a fact that is
            returned or filtered is read itself.
        words: the index of the facts' words, if there is one.
        rows: the row of each fact in vectors and words, in ascending order, if they have rows of
            other facts too; else None.
        called: the contact's names, as doors told them beside notes.
    """

    def __init__(
        self,
        facts: Facts,
        vectors: Floats | None = None,
        disputes: Mapping[str, Sequence[str]] | None = None,
        numbers: Numbers | None = None,
        words: WordIndex | None = None,
        rows: Rows | None = None,
        called: Iterable[str] = (),
    ) -> None:
        self._facts = facts
        self._called = called
        self._vectors = vectors
        self._disputes = disputes or {}
        self._numbers = numbers_of(facts) if numbers is None else numbers
        self._words = WordIndex(Told(facts)) if words is None else words
        self._rows = rows
        is_part = vectors is not None and len(facts) < len(vectors)
        # A slice copies nothing, unlike rows.
        self._own = rows if is_part and rows is not None else slice(len(facts))

    @cached_property
    def attributes(self) -> Strings:
        """Attributes of the facts, the most frequent first."""
        rows = self._filed
        return tuple(sorted(rows, key=lambda name: (-len(rows[name]), name)))

    @cached_property
    def own_names(self) -> Strings:
        """The contact's names: as told beside notes, and from their slot."""
        rows = sorted(row for name in NAMING for row in self._filed.get(name, ()))
        slots = (self._facts[row].slot for row in rows)
        own = (slot for slot in slots if slot and slot.subject == CONTACT_SUBJECT)
        return (*self._called, *filter(None, (slot.value for slot in own)))

    def answer(
        self, question: RecallQuery, wanted: RecallFilter, how: Recalling, now: datetime, limit: int
    ) -> Recalled:
        """Facts that answer a question, the best first, and then the standing constraints.

        Among the standing constraints, those that fit the question come first, then the others in
        the order of their start. Facts that keep the contact safe count as standing, unless they
        are among the best. Without a question every fact is an answer; the newest and most
        important come first.

        Args:
            question: what is asked.
            wanted: which facts may answer it, standing constraints too.
            how: how the facts are chosen and ordered.
            now: the time of the answer, which may be past (UTC).
            limit: at most so many facts, without the standing constraints.
        """
        if not len(self._facts):
            return Recalled()
        held = self._held(how, now)
        asked = self._fitting(held, wanted)
        near = self._closeness(question) if question.text else None
        fitting = asked if near is None else near.fitting(asked, len(held), how.floor)
        is_standing = self._standing
        answering, standing = fitting[~is_standing[fitting]], asked[is_standing[asked]]
        least, limit = wanted.min_score, min(limit, len(answering))
        pages = (
            [answering]
            if near is None
            else near.chosen(answering, self._numbers, how, limit if least is None else None)
        )
        answered = (pair for page in pages for pair in self._ordered(page, near, how, now))
        if least is not None:
            answered = (pair for pair in answered if pair[1].score >= least)
        best = dict(islice(answered, limit))
        is_left = self._mask(answering if least is None else [row for row, _ in answered])
        is_left[[*best]] = False
        stays = np.concatenate((standing, self._never_cut(asked, best)))
        count = len(best) + int(is_left.sum() - is_left[stays].sum())
        is_touched = is_left | (is_standing & self._mask(fitting))
        constraints = [
            replace(hit, fits=bool(is_touched[row]), is_standing=True)
            for row, hit in self._ordered(stays, near, how, now)
        ]
        hits = [*best.values(), *sorted(constraints, key=_standing_order)]
        count += sum(hit.fits for hit in constraints)
        known = () if count else self._known(held)
        told = self._with_disputes(hits, held, now)
        return Recalled(told, fitting=count, held=len(held), known=known, passing=len(asked))

    def accounts(self, at: datetime) -> list[str]:
        """The accounts that the contact belongs to at a time (UTC), by name."""
        held = true_at(at, (self._facts[row] for row in self._memberships))
        return sorted({fact.account for fact in held if fact.account})

    @cached_property
    def _memberships(self) -> list[int]:
        rows: list[int] = np.flatnonzero(self._numbers["is_membership"]).tolist()
        return rows

    @cached_property
    def _standing(self) -> Flags:
        return np.ascontiguousarray(self._numbers["is_standing"])

    @cached_property
    def _vital(self) -> Flags:
        """The facts that no budget cuts, without the standing constraints."""
        is_vital: Flags = self._numbers["is_never_cut"] & ~self._standing
        return is_vital

    def _mask(self, rows: Rows | Sequence[int]) -> Flags:
        is_among = np.zeros(len(self._facts), dtype=np.bool_)
        is_among[rows] = True
        return is_among

    def _never_cut(self, rows: Rows, told: Collection[int]) -> Rows:
        """Rows of facts that no budget cuts and that are not in the answer yet."""
        left = [row for row in rows[self._vital[rows]].tolist() if row not in told]
        return np.array(left, dtype=np.intp)

    def _held(self, how: Recalling, now: datetime) -> Rows:
        """The rows of the facts that may be returned, and that are sure enough.

        A membership is not among them: it brings the account's facts.
        """
        is_sure = self._numbers["confidence"] >= how.confidence_min
        is_sure &= ~self._numbers["is_membership"]
        is_told = holding if how.hides_expired else telling
        is_held = is_told(self._numbers, now) & is_sure
        is_held[self._suspended(is_held, now)] = False
        return np.flatnonzero(is_held)

    def _suspended(self, is_held: Flags, now: datetime) -> list[int]:
        """Rows of facts that a temporary value of their slot suspends."""
        asked = {*self._numbers["attribute"][is_held & self._numbers["is_passing"]].tolist()}
        may = [row for name in asked for row in self._filed.get(name, ()) if is_held[row]]
        facts = {self._numbers["fact_id"][row]: row for row in may}
        found = suspended_ids((self._facts[row] for row in may), now, self._disputes)
        return [facts[fact_id] for fact_id in found]

    def _fitting(self, rows: Rows, wanted: RecallFilter) -> Rows:
        if wanted.is_empty:
            return rows
        fits = [wanted.fits(self._facts[row]) for row in rows]
        return rows[np.array(fits, dtype=np.bool_)]

    def _closeness(self, question: RecallQuery) -> _Closeness:
        words = self._words.matches(question.text, self._own)
        if self._vectors is None or question.vector is None:
            return _Closeness(words, None)
        cosines = cosines_to(self._vectors, question.vector)[self._own]
        asked = self._asked(question.asks, set(words.asked))
        asked = np.where(words.named, np.maximum(asked, _NAMED), asked)
        meaning = np.clip(cosines, -1, 1).astype(np.float64)
        clearness = max(question.asks.values(), default=0.0)
        return _Closeness(words, meaning, asked, clearness, question.unread, question.strange)

    def _asked(self, asks: Mapping[str, float], words: set[str]) -> Scores:
        """How clearly a question asks for each fact, by attribute and subject."""
        asked = np.zeros(len(self._facts))
        for attribute, clearness in asks.items():
            asked[self._filed.get(attribute, [])] = clearness
        named = [rows for name, rows in self._others.items() if words.issuperset(name)]
        is_of = self._mask([row for rows in named or self._others.values() for row in rows])
        if named:
            return np.where(is_of, np.maximum(asked, _OF_SUBJECT), 0.0)
        return np.where(is_of, asked * _OTHERS_PART, asked)

    @cached_property
    def _filed(self) -> dict[str, list[int]]:
        """Rows of the facts of each attribute, without memberships."""
        return self._rows_by("attribute", MEMBERSHIP)

    def _rows_by(self, name: str, left_out: str) -> dict[str, list[int]]:
        names = enumerate(self._numbers[name].tolist())
        return grouped((each, row) for row, each in names if each not in (None, left_out))

    @cached_property
    def _others(self) -> dict[Strings, list[int]]:
        """The rows of the facts about each person or thing, by the words of its name.

        Without the contact.
        """
        rows_of = self._rows_by("subject", CONTACT_SUBJECT)
        named = {tuple(content_words(name.replace("_", " "))): name for name in rows_of}
        return {words: rows_of[name] for words, name in named.items() if words}

    def _known(self, held: Rows) -> list[str]:
        """The attributes of the facts that hold and do not deny their own value, in order."""
        is_held = self._mask(held)

        def holds(row: int) -> bool:
            fact = self._facts[row]
            return fact.slot is not None and not ends_own_value(fact.text, fact.slot)

        return [
            name
            for name in self.attributes
            if any(is_held[row] and holds(row) for row in self._filed[name])
        ]

    def everything(
        self,
        how: Recalling,
        now: datetime,
        opens: Collection[str],
        current: Collection[str],
        limit: int | None,
    ) -> Recalled:
        """All facts that may be returned, the most important first, up to a limit.

        The facts for the opening of each conversation come first, and no limit cuts them. Among
        equals the current values of slots come first. The limit does not count standing constraints
        and facts that no budget cuts.

        Args:
            how: how facts are ordered.
            now: the time now (UTC).
            opens: the ids of the facts that open each conversation.
            current: the ids of the facts with the current values.
            limit: at most so many others; None for all.
        """
        held = self._held(how, now)
        numbers = self._numbers[held]
        ids, is_standing = numbers["fact_id"].tolist(), numbers["is_standing"]
        best, hit = self._scored(held, None, how, now)
        standing = {
            place: self._facts[int(held[place])] for place in np.flatnonzero(is_standing).tolist()
        }
        stood = sorted(standing, key=lambda place: (standing[place].valid_from, ids[place]))
        ranks = np.empty(len(held), dtype=np.intp)
        ranks[best] = np.arange(len(held))
        ranks[stood] = np.arange(len(stood)) + len(held)
        is_open, is_current = (
            np.array([fact_id in among for fact_id in ids], dtype=np.bool_)
            for among in (opens, current)
        )
        order = np.lexsort((ranks, ~is_current, -numbers["importance"], ~is_open))
        stays = is_standing | numbers["is_never_cut"]
        is_kept = stays | is_open
        is_kept[order[~stays[order]][:limit]] = True
        hits = [hit(place) for place in order[is_kept[order]].tolist()]
        told, count = self._with_disputes(hits, held, now), len(held)
        return Recalled(told, fitting=count, standing=len(stood), held=count)

    def _ordered(
        self, page: Rows, near: _Closeness | None, how: Recalling, now: datetime
    ) -> Iterator[tuple[int, RankedFact]]:
        """Facts that were chosen together, with their rows, the one with the best score first."""
        if len(page):
            order, hit = self._scored(page, near, how, now)
            for place in order.tolist():
                yield int(page[place]), hit(place)

    def _scored(
        self, page: Rows, near: _Closeness | None, how: Recalling, now: datetime
    ) -> tuple[Rows, Callable[[int], RankedFact]]:
        """Places of facts that were chosen together, the best first, and what tells each."""
        numbers, policy = self._numbers[page], how.ranking
        if near is None:
            similarity, recency = np.zeros(len(page)), recency_now(numbers, policy, now)
        else:
            similarity = near.similarity(page, policy)
            words, like = near.words, self._likeness(page)
            shares, named = words.shares[page], words.named[page]
            recency = recency_among(numbers, like, similarity, shares, named, policy)
        upcoming = is_ahead(numbers, now)
        holds = holding(numbers, now) & ~upcoming
        recency = np.where(holds, recency, 0.0)  # what may have changed, or does not hold yet
        left = strengths(numbers, how.decay, now)
        scores = score(numbers, similarity, recency, policy, left)

        def hit(place: int) -> RankedFact:
            row = int(page[place])
            return RankedFact(
                fact=self._facts[row].as_of(now),
                score=float(scores[place]),
                similarity=None if near is None else float(similarity[place]),
                recency=float(recency[place]),
                strength=float(left[place]),
                cosine=None if near is None or near.cosines is None else float(near.cosines[row]),
                words=None if near is None else float(near.words.shares[row]),
                is_standing=bool(numbers["is_standing"][place]),
                is_upcoming=bool(upcoming[place]),
            )

        return np.lexsort((-numbers["last_confirmed_at"], -scores)), hit

    def _likeness(self, page: Rows) -> NDArray[np.floating[Any]]:
        """The cosine between each two facts; 1 without vectors."""
        if self._vectors is None:
            return np.ones((len(page), len(page)))
        vectors = self._vectors[page if self._rows is None else self._rows[page]]
        likeness: Floats = vectors @ vectors.T
        return likeness

    def _with_disputes(
        self, ranked: Iterable[RankedFact], held: Rows, now: datetime
    ) -> list[RankedFact]:
        """Facts, each with the other sides of its disputes that still hold."""
        hits = list(ranked)
        if not any(hit.fact.fact_id in self._disputes for hit in hits):
            return hits
        is_held = self._mask(held) & holding(self._numbers, now) & ~is_ahead(self._numbers, now)
        holds = {
            fact_id: self._facts[row] for fact_id, row in self._disputed.items() if is_held[row]
        }
        return [
            replace(
                hit,
                disputed_with=tuple(
                    holds[other].as_of(now)
                    for other in self._disputes.get(hit.fact.fact_id, ())
                    if other in holds
                ),
            )
            for hit in hits
        ]

    @cached_property
    def _disputed(self) -> dict[str, int]:
        """Rows of the facts in dispute: few of many."""
        others = {each for against in self._disputes.values() for each in against}
        ids = self._numbers["fact_id"].tolist()
        return {fact_id: row for row, fact_id in enumerate(ids) if fact_id in others}


@in_order
class _Closeness:
    """How close each fact is to a question: in words and, with vectors, in meaning."""

    words: WordMatches
    cosines: Scores | None
    asked: Scores | None = None
    clearness: float = 0.0
    """How clearly the question is about contacts, even if this contact has no such fact."""
    unread: float = 0.0
    """The share of the question that the model could not read."""
    strange: float = 0.0
    """How much nearer the nearest fact must be, and how much more clearly the question must ask for
    it."""

    def similarity(self, rows: Rows, policy: RankingPolicy) -> Scores:
        """Closeness in words and in meaning as one number, 0 to 1."""
        shares = self.words.shares[rows]
        if self.cosines is None:
            return shares
        meaning = np.maximum(self.cosines[rows], 0.0)
        weight_words = policy.weight_words + (1 - policy.weight_words) * self.unread
        near = (1 - weight_words) * meaning + weight_words * shares
        return near if self.asked is None else np.maximum(near, self.asked[rows])

    def fitting(self, rows: Rows, held: int, floor: RecallFloor | None) -> Rows:
        """The rows that fit: near enough, or their attribute is asked for.

        Some questions are not meant for this memory. So the nearest fact must be nearer than it
        would be by chance among so many facts. For a usual question about contacts it may be a
        little less near, and if the contact has few facts, unless the question is a general one.

        Args:
            rows: the facts that pass the filters.
            held: how many facts the contact has, also those that do not pass.
            floor: how near they must be; None if any may answer.
        """
        if self.cosines is None:
            return rows[self.words.scores[rows] > 0]
        if floor is None or not len(rows):
            return rows
        evidence = self.cosines[rows] + floor.words * self.words.shares[rows]
        fits = evidence >= floor.of_each(evidence.max())
        strange = self.strange * (1 - self.words.shares[rows])
        least = floor.of(len(rows), len(self.words.asked), self.clearness)
        least *= 1.0 if self.strange > 0 else floor.part(held)
        if np.max(evidence - strange) < least:
            fits = np.zeros(len(rows), dtype=np.bool_)
        return rows[fits if self.asked is None else fits | (self.asked[rows] > strange)]

    def chosen(
        self, rows: Rows, numbers: Numbers, how: Recalling, limit: int | None
    ) -> Iterator[Rows]:
        """Rows in pages, the nearest first; at least so many, or all."""
        joined = reciprocal_ranks(self.words.scores[rows], how.ranking)
        if self.cosines is not None:
            ranks = reciprocal_ranks(self.cosines[rows], how.ranking)
            joined += (1 - self.unread) * ranks
        if self.asked is not None:  # what is clearly asked for comes before what is near
            joined += _ASKED_RANKS * self.asked[rows] / how.ranking.rank_constant
        count = how.ranking.chosen_at_once
        enough = len(rows) if limit is None else -(-limit // count) * count
        if enough < len(rows):
            near = joined >= np.partition(joined, -enough)[-enough]
            rows, joined = rows[near], joined[near]
        # Among equals the one said last comes first.
        order = np.lexsort((-numbers["last_confirmed_at"][rows], -joined))
        for first in range(0, len(rows), count):
            yield rows[order[first : first + count]]


def _standing_order(ranked: RankedFact) -> tuple[float, datetime, str]:
    """Sort key of standing constraints: those that fit the question first, the best first."""
    fact = ranked.fact
    is_asked_for = ranked.fits and ranked.similarity is not None
    return -ranked.score if is_asked_for else 0.0, fact.valid_from, fact.fact_id
