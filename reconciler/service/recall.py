"""Recall: the facts that fit a query, now or at a past time, and the standing constraints.

``FactFinder`` finds facts by name, and across all contacts of an agent. Only reads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import chain, islice, starmap
from typing import TYPE_CHECKING, Any

import numpy as np

from reconciler.domain.recalling.filtering import EVERYTHING, FilterFields, RecallFilter
from reconciler.domain.recalling.history import true_at
from reconciler.domain.recalling.procedures import (
    found_in,
    longest_words,
    mentioning,
    mentions,
    names_in,
    needles,
)
from reconciler.domain.recalling.prompting import within_budget
from reconciler.domain.recalling.ranking import (
    Numbers,
    cosines_to,
    holding,
    numbers_of,
    telling,
)
from reconciler.domain.recalling.recallable import Recallable, Recalling, RecallQuery, told
from reconciler.domain.recalling.recalled import Recalled, with_accounts
from reconciler.domain.records.facts import Conflict, Fact, Facts, FactUse, FoundFact, RankedFact
from reconciler.domain.records.kinds import LASTING, Clock, FactState
from reconciler.domain.records.notes import ACCOUNT, CONTACT_SUBJECT, Scope
from reconciler.errors import EmbeddingError, InvalidRequestError, SchemaError
from reconciler.floats import Floats
from reconciler.frozen import Json, Strings, field_names, frozen, in_order, present
from reconciler.reading.question_words import ENGLISH, AskedWords, WordIndex, without_names
from reconciler.service.embedding import AskedAttributes, embed, question_of
from reconciler.service.stores.commits import OpenConflicts
from reconciler.service.stores.stored_facts import RecalledFacts

if TYPE_CHECKING:
    from reconciler.domain.values.attributes import AttributeBook
    from reconciler.ports.embedder import Embedder
    from reconciler.service.records import Records
    from reconciler.service.stores.contact_store import ContactStore
    from reconciler.service.stores.fact_store import FactStore, Near
    from reconciler.service.use_trace import UseTrace
    from reconciler.service.writing.neighbourhoods import Neighbourhoods


_SHARING_LOOKED_AT_MAX = 2_000
"""The most facts of a contact in which facts with the same subject or attribute are searched
for."""

_ORDINARY = "Where does she live?"
_NOWHERE = Scope("any", "any", "any")


@in_order
class Known:
    """A contact's stored facts.

    Attributes:
        facts: the facts that have not ended, the newest first, with their recalls.
        numbers: the numbers that rank the facts.
        conflicts: the open conflicts.
        uses: the recalls of all facts, ended ones too.
        lasting: returns a value computed from the facts, by a key and at a time; the value is kept
            while it is valid.
    """

    facts: Facts
    numbers: Numbers
    conflicts: Sequence[Conflict]
    uses: Sequence[Fact | FactUse]
    lasting: Callable[[object, datetime, Callable[[Facts], Any]], Any]

    @property
    def recallable(self) -> Recallable:
        """Return the facts as a recall chooses from them."""
        return Recallable(self.facts, disputes=open_disputes(self.conflicts), numbers=self.numbers)

    def lapsed(self, now: datetime) -> list[Fact]:
        """Return the facts that are still recalled although their lifetime has ended."""
        rows = np.flatnonzero(telling(self.numbers, now) & ~holding(self.numbers, now))
        return [self.facts[row] for row in rows.tolist()]

    def disputed(self) -> list[Fact]:
        """Return the facts in dispute."""
        ids = {fact_id for conflict in self.conflicts for fact_id in conflict.pair}
        held = enumerate(self.numbers["fact_id"].tolist())
        return [self.facts[row] for row, fact_id in held if fact_id in ids]


@frozen
class Recall:
    """Recalls the facts about a contact that hold now, or held at a past time.

    Args:
        fact_store: facts and their vectors, also of facts that have ended.
        neighbourhoods: the facts of contacts that this process has read, kept in memory.
        records: returns the facts believed at an instant.
        embedder: with ``dimension`` 0 recall compares words alone.
        asked_attributes: finds the attributes that a question asks for; None to skip that.
        how: the settings by which facts are chosen, ordered and left out.
        use_trace: counts recalls.
        clock: the time now, UTC-aware.
        own_questions: the memory's own questions with their vectors; each question is embedded
            once.
    """

    fact_store: FactStore
    neighbourhoods: Neighbourhoods
    records: Records
    embedder: Embedder
    how: Recalling
    use_trace: UseTrace
    clock: Clock
    asked_attributes: AskedAttributes | None = None
    own_questions: dict[str, RecallQuery] = field(default_factory=dict)

    @property
    def strict(self) -> Recalling:
        """How facts are chosen if few of them must be as near as many."""
        floor = self.how.floor
        return replace(self.how, floor=floor and replace(floor, few=1))

    def recall(
        self,
        scope: Scope,
        query: str,
        limit: int,
        wanted: RecallFilter = EVERYTHING,
        budget_tokens: int | None = None,
    ) -> Recalled:
        """Find certain, unexpired live facts in scope; see ``ContactMemory.recall``.

        Args:
            scope: the contact.
            query: the question; empty for all facts, by recency.
            limit: at most this many facts, not counting the standing constraints.
            wanted: the filters that facts must pass.
            budget_tokens: as many facts as fit a prompt of this many tokens; None for all.
        """
        recalled = self._answered(scope, query, limit, wanted)
        self.use_trace.note_recall(scope.contact_key, is_empty=not recalled.fitting)
        return recalled if budget_tokens is None else within_budget(recalled, budget_tokens)

    def own_answer(self, scope: Scope, question: str, limit: int) -> Recalled:
        """Answer a question that the memory itself asks; like ``recall``, but not counted.

        The answer is empty if the nearness of an answer is unknown, or if the model cannot be
        reached. In a memory of few facts they must be as near as in any other: a caller did not
        ask.
        """
        if self.how.floor is None:
            return Recalled()
        with suppress(EmbeddingError):
            if question not in self.own_questions:
                self.own_questions[question] = question_of(self.embedder, question)
            return replace(self, how=self.strict)._answered(scope, question, limit)
        return Recalled()

    def _answered(
        self, scope: Scope, query: str, limit: int, wanted: RecallFilter = EVERYTHING
    ) -> Recalled:
        has_vector = bool(query and self.embedder.dimension)
        held = self.neighbourhoods.used(scope) if has_vector else None
        seen = held.recallable() if held else None
        names, accounts = (seen.own_names, seen.accounts(self.clock())) if seen else ((), [])
        # The store answers while the question is embedded.
        begun = self._begin(scope, *map(scope.known_account, accounts), has_vector=has_vector)
        question = self.own_questions.get(query) or question_of(
            self.embedder, without_names(query, names)
        )
        known, *others = begun()
        if (told := without_names(query, known.own_names)) != question.text:  # by another process
            question = question_of(self.embedder, told)
        now = self.clock()
        if (current := known.accounts(now)) != accounts:
            accounts = current
            others = self._begin(*map(scope.known_account, accounts), has_vector=has_vector)()
        return self._joined(accounts, [known, *others], question, wanted, now, limit)

    def _joined(
        self,
        accounts: Collection[str],
        known: Iterable[Recallable],
        question: RecallQuery,
        wanted: RecallFilter,
        now: datetime,
        limit: int,
    ) -> Recalled:
        """Answer a question from the facts of the contact, and then of each account."""
        asked, hows = self.asked_attributes, chain([self.how], (self.strict for _ in accounts))
        own, *told = (
            of.answer(with_asked(question, of.attributes, asked), wanted, how, now, limit)
            for of, how in zip(known, hows, strict=True)
        )
        return with_accounts(own, accounts, told)

    def recall_past(
        self,
        scope: Scope,
        query: str,
        limit: int,
        wanted: RecallFilter,
        budget_tokens: int | None,
        *,
        as_of: datetime | None,
        valid_at: datetime | None,
    ) -> Recalled:
        """Find facts that fit a query about the past, as a recall at that time would have.

        Nothing is cached, and these recalls are not counted.

        Args:
            scope: the contact.
            query: the question; empty for all facts.
            limit: at most this many facts, not counting the standing constraints.
            wanted: the filters that facts must pass.
            budget_tokens: as many facts as fit a prompt of this many tokens; None for all.
            as_of: the time of the memory's knowledge (UTC); None for now.
            valid_at: the time at which the facts were true in the world (UTC), as far as the memory
                knows; None for the facts believed at ``as_of``.
        """
        knew_at = as_of or self.clock()
        then, at = partial(self._then, knew_at, valid_at, bool(query)), valid_at or knew_at
        own = then(scope)
        question = question_of(self.embedder, without_names(query, own.own_names))
        accounts = own.accounts(at)
        known = [own, *map(then, map(scope.known_account, accounts))]
        recalled = self._joined(accounts, known, question, wanted, at, limit)
        return recalled if budget_tokens is None else within_budget(recalled, budget_tokens)

    def _then(
        self, knew_at: datetime, valid_at: datetime | None, has_vector: bool, scope: Scope
    ) -> Recallable:
        """Return the facts to choose from then; if vectors are compared, those with one."""
        known, _ = self.records.held_at(scope, knew_at)
        if valid_at:  # also those that were archived since
            facts = [
                replace(fact, state=FactState.LIVE) if fact.state is FactState.ARCHIVED else fact
                for fact in true_at(valid_at, known.facts)
            ]
        else:
            facts = _held(known.facts)
        disputes = open_disputes(known.conflicts)
        if not (has_vector and self.embedder.dimension):
            return Recallable(facts, disputes=disputes)
        vectors = self.fact_store.load_vectors([scope], self.embedder.model_id)
        compared = [fact for fact in facts if fact.fact_id in vectors]
        rows = [vectors[fact.fact_id] for fact in compared]
        return Recallable(compared, np.array(rows, dtype=np.float32), disputes)

    def known(self, scope: Scope) -> Known:
        """Read a contact's stored facts; only the store knows when others recalled them."""
        with suppress(SchemaError, ValueError):  # facts of another model, or a damaged one
            uses = self.fact_store.list_uses(scope)
            own = [use for use in uses if use.state in LASTING]
            held = self.neighbourhoods.current(scope)
            if kept := held.kept([use.fact_id for use in own]):
                version, facts, numbers = kept
                numbers["recall_count"] = [use.recall_count for use in own]
                conflicts = self.fact_store.list_conflicts(scope) if held.linked_ids else []
                lasting = partial(held.lasting, version, facts)
                return Known(RecalledFacts(facts, own), numbers, conflicts, uses, lasting)
        found = self.fact_store.list_facts(scope)
        facts = _held(found)
        conflicts = self.fact_store.list_conflicts(scope)
        return Known(
            facts, numbers_of(facts), conflicts, found, lambda _key, _now, make: make(facts)
        )

    def everything(
        self,
        scope: Scope,
        known: Known,
        opens: Collection[str],
        current: Collection[str],
        limit: int | None,
    ) -> Recalled:
        """Return all known facts, and those of the accounts; see ``Recallable.everything``."""
        own, now = known.recallable, self.clock()
        accounts = own.accounts(now)
        recalled = with_accounts(
            own.everything(self.how, now, opens, current, limit),
            accounts,
            [
                self.known(each).recallable.everything(self.how, now, (), (), limit)
                for each in map(scope.known_account, accounts)
            ],
        )
        self.use_trace.note_recall(scope.contact_key, is_empty=not recalled.fitting)
        return recalled

    def warm_up(self) -> None:
        """Recall about a contact that does not exist, so that everything is loaded beforehand.

        An engine's first plan takes longer than a recall among a thousand facts.
        """
        question = question_of(self.embedder, _ORDINARY)
        with_asked(
            question,
            self._begin(_NOWHERE, has_vector=True)()[0].attributes,
            self.asked_attributes,
        )
        self.fact_store.list_conflicts(
            _NOWHERE, is_open=False
        )  # not asked of a contact without facts
        WordIndex(()).matches(_ORDINARY)  # its stemmer, and function words
        self.neighbourhoods.drop(_NOWHERE)

    def near(
        self,
        scope: Scope,
        texts: Sequence[str],
        limit: int,
        shares: Callable[[Fact], bool] = lambda _: False,
    ) -> list[Fact]:
        """Find the live facts nearest to any of the texts, even distant ones; not a recall.

        Near in meaning or in words, names and attributes included. The nearest fact of each text
        comes before the second nearest of any.

        Args:
            scope: the contact.
            texts: the texts to compare with.
            limit: at most this many.
            shares: True for a fact that comes after these at any distance; at most as many again.
        """
        if not texts:
            return []
        begun = self._begin(scope, has_vector=True)
        questions = [RecallQuery(text) for text in texts]
        if self.embedder.dimension:
            vectors = embed(self.embedder, texts)
            questions = list(starmap(RecallQuery, zip(texts, vectors, strict=True)))
        [known], now = begun(), self.clock()
        how = replace(self.how, floor=None)
        near: list[tuple[int, tuple[float, str], Fact]] = []
        for question in questions:
            hits = sorted(known.answer(question, EVERYTHING, how, now, limit), key=_nearness)
            near += ((place, _nearness(hit), hit.fact) for place, hit in enumerate(hits))
        near.sort(key=lambda found: found[:2])
        own = {fact.fact_id: fact for _, (distance, _), fact in near if distance < 0}
        nearest = list(own.values())[:limit]
        held = known.answer(RecallQuery(""), EVERYTHING, how, now, _SHARING_LOOKED_AT_MAX)
        sharing = (hit.fact for hit in held if hit.fact not in nearest and shares(hit.fact))
        return [*nearest, *islice(sharing, limit)]

    def _begin(self, *scopes: Scope, has_vector: bool) -> Callable[[], list[Recallable]]:
        """Return contacts' facts as they are now or soon; with vectors if a question has one."""
        if has_vector and self.embedder.dimension:
            current = self.neighbourhoods.begin(*scopes)
            return lambda: [held.recallable() for held in current()]
        return lambda: [
            Recallable(
                _held(self.fact_store.list_facts(each)),
                disputes=open_disputes(self.fact_store.list_conflicts(each)),
            )
            for each in scopes
        ]


def open_disputes(conflicts: Iterable[Conflict]) -> Mapping[str, Strings]:
    """Return for each fact in open dispute, by id, the ids of the other sides."""
    pairs = ((conflict.new_id, conflict.old_id) for conflict in conflicts if conflict.is_open)
    return OpenConflicts(pairs).as_mapping()


def with_asked(
    question: RecallQuery, attributes: Iterable[str], asked: AskedAttributes | None
) -> RecallQuery:
    """Add to a question the attributes that it asks for; its vector moves towards their facts."""
    if asked is None or question.vector is None:
        return question
    asks = asked.asked_by(question.vector, attributes)
    return replace(
        question,
        asks=asks,
        vector=asked.leaning(question.vector, asks),
        strange=asked.strangeness(question.vector),
    )


def _nearness(hit: RankedFact) -> tuple[float, str]:
    """Return the sort key of hits: the nearest first."""
    return -(hit.similarity or 0.0), hit.fact.fact_id


def filter_of(given: FilterFields, attributes: Callable[[], AttributeBook]) -> RecallFilter:
    """Make the filter that a caller describes; attribute and subject get the book's names.

    Args:
        given: the caller's filters; one that is None or left out lets all facts pass.
        attributes: returns the known attributes of slots.

    Raises:
        InvalidRequestError: a filter is unknown, or cannot be used.
    """
    asked: Json = present(given)
    known = field_names(RecallFilter)
    if unknown := sorted(asked.keys() - set(known)):
        raise InvalidRequestError(
            f"there is no filter {unknown[0]}; use {', '.join(known)}. The number of results is "
            "set by limit, and in a recall also by budget_tokens"
        )
    if "attribute" in asked or "subject" in asked:
        asked |= _slot_names(asked.get("subject"), asked.get("attribute"), attributes())
    return RecallFilter(**asked) if asked else EVERYTHING


def _slot_names(
    subject: str | None, attribute: str | None, attributes: AttributeBook
) -> dict[str, str]:
    """Use the book's names for subject and attribute; "wife's birthday" is the wife's."""
    slot = attributes.slot(subject=subject, attribute=attribute)
    if slot is None:
        raise InvalidRequestError(
            "attribute and subject are blank; leave them out to recall facts of any attribute and "
            "subject"
        )
    names = {"attribute": slot.attribute} if slot.attribute else {}
    is_asked = subject is not None or slot.subject != CONTACT_SUBJECT
    return names | ({"subject": slot.subject} if is_asked else {})


def _held(facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts that had not ended then, also expired and archived ones."""
    return [fact for fact in facts if not fact.has_ended]


_PAGE_ROWS = 500
_OVERFETCH = 4
"""The number of facts that are first fetched for each wanted fact, because some have ended or do
not pass the filter."""

_INDEXED_MAX = 4_000
"""The most facts that an index is asked for; after that, all facts of the agent are compared."""

_NAME_WEIGHT = 0.3
"""Added to the cosine of a fact that mentions or is about all names of the question."""

_NAMED_MAX = 50
"""The most facts that are compared for a name, last said first; the model embeds each."""

_COMPARED_COUNT = 100
"""The number of facts for which the floor is chosen; the agent's facts are not counted."""


@dataclass(frozen=True)
class _Search:
    """A search for the facts nearest to a vector: the agent, the limit and the filter."""

    scope: Scope
    vector: Floats
    limit: int
    wanted: RecallFilter

    @property
    def least(self) -> float:
        return -1.0 if self.wanted.min_score is None else self.wanted.min_score


@dataclass(frozen=True)
class _Name:
    """A name in a query: its spellings, the contacts of that name, the facts that mention it."""

    text: str
    spellings: Strings
    contact_ids: Collection[str]
    facts: Sequence[tuple[str, Fact]]

    @property
    def is_known(self) -> bool:
        return bool(self.contact_ids or self.facts)

    def is_of(self, hit: FoundFact) -> bool:
        is_about = hit.contact_id in self.contact_ids
        return is_about or found_in(hit.fact, self.spellings) is not None


@frozen
class FactFinder:
    """Finds facts about a named person or thing, also across contacts.

    Args:
        fact_store: facts and their vectors.
        contact_store: the contacts and their names.
        embedder: the embedder; with ``dimension`` 0 only names can be searched for.
        how: the settings by which facts are left out.
        asked_attributes: finds the attributes that a question asks for; None to skip that.
        clock: the time now, UTC-aware.
    """

    fact_store: FactStore
    contact_store: ContactStore
    embedder: Embedder
    how: Recalling
    clock: Clock
    asked_attributes: AskedAttributes | None = None

    def about(self, scope: Scope, name: str, limit: int, *, all_contacts: bool) -> list[FoundFact]:
        """Find the live facts that mention a name: those about it first, then the last said first.

        Args:
            scope: the contact; with ``all_contacts`` any contact of the agent.
            name: the name as people write it.
            limit: at most this many.
            all_contacts: also facts of the agent's other contacts.

        Raises:
            InvalidRequestError: the name has no letter or digit.
        """
        if all_contacts:
            # All memberships have the word "account"; few have this account's name.
            # The engines write other small letters than Python for a few beyond ASCII.
            words = longest_words(name.removeprefix(ACCOUNT))
            if not (words and "".join(words).isascii()):
                words = longest_words(name)
            facts = self._mentioning(scope, words)
        else:
            facts = ((scope.contact_id, fact) for fact in self.fact_store.list_facts(scope))
        hits = mentioning(self._recallable(facts), name, lambda pair: pair[1])
        return [
            FoundFact(contact_id=contact_id, fact=fact, found_in=place)
            for (contact_id, fact), place in hits[:limit]
        ]

    def nearest(
        self, scope: Scope, query: str, limit: int, wanted: RecallFilter
    ) -> list[FoundFact]:
        """Find the live facts of all the agent's contacts nearest to a query, nearest first.

        A fact that mentions a name of the query, or is about a contact of that name, counts as
        nearer. Distant facts are left out. If all names of an English question are unknown, no fact
        is found: the homes of others do not answer "Where does Oscar live?".

        Args:
            scope: any contact of the agent.
            query: the question.
            limit: at most this many.
            wanted: the filters that facts must pass; ``min_score`` is a raw cosine.

        Raises:
            InvalidRequestError: there is no embedder.
        """
        if not self.embedder.dimension:
            raise InvalidRequestError(
                "this memory has no model to compare texts with; add a model with `reconciler "
                "reembed --model minilm`, or look for a name with `reconciler about` "
                "(recall_about)"
            )
        question = question_of(self.embedder, query)
        is_floored = wanted.min_score is None
        if is_floored:  # a score is compared with the plain cosine
            question = with_asked(question, (), self.asked_attributes)
        assert question.vector is not None  # noqa: S101  there is a model
        asked = _Search(scope, question.vector, limit, wanted)
        # It looks at all agents' facts, and an agent may have few among very many.
        hits, is_all = self._growing(self.fact_store.find_nearest, asked, is_exact=False)
        if not is_all:
            ids = [contact_id for contact_id, _ in self.contact_store.list_contact_ids(scope)]
            hits, _ = self._growing(partial(self.fact_store.list_nearest, contact_ids=ids), asked)
        names = [self._name(asked, name) for name in names_in(query)]
        if is_floored and _asks_of_unknown(query, names):
            return []
        found = {hit.fact.fact_id: hit for hit in hits}
        found |= {hit.fact.fact_id: hit for hit in self._named(asked, names, found)}
        # The cosine, with an addition for each name of the query.
        nearness = {
            fact_id: (hit.similarity or 0.0)
            + _NAME_WEIGHT * sum(name.is_of(hit) for name in names) / max(len(names), 1)
            for fact_id, hit in found.items()
        }
        ordered = sorted(found.values(), key=lambda hit: -nearness[hit.fact.fact_id])
        floor = self.how.floor
        if floor is None or not is_floored:
            return ordered[:limit]
        words = WordIndex([told(hit.fact) for hit in ordered]).matches(query)
        least = question.strange + floor.of(
            _COMPARED_COUNT, len(words.asked), max(question.asks.values(), default=0.0)
        )
        shares = floor.words * words.shares
        return [
            hit
            for hit, share in zip(ordered, shares.tolist(), strict=True)
            if nearness[hit.fact.fact_id] + share >= least
        ][:limit]

    def _name(self, asked: _Search, name: str) -> _Name:
        """Find the contacts of a name, and the facts that mention it."""
        words, spellings = longest_words(name), needles(name)
        facts = self._recallable(self.fact_store.list_mentions(asked.scope, words, 0, _NAMED_MAX))
        return _Name(
            text=name,
            spellings=spellings,
            contact_ids=[
                contact_id
                for contact_id, called in self.contact_store.find_named_contacts(
                    asked.scope, words[0], _NAMED_MAX
                )
                if mentions(contact_id, spellings) or mentions(called or "", spellings)
            ],
            facts=[pair for pair, _ in mentioning(facts, name, lambda pair: pair[1])],
        )

    def _named(
        self, asked: _Search, names: Sequence[_Name], known: Collection[str]
    ) -> Iterator[FoundFact]:
        """Find more facts that mention a name of the query, or are about a contact of that name."""
        contact_ids = sorted({contact_id for name in names for contact_id in name.contact_ids})
        if contact_ids:
            yield from self._growing(
                partial(self.fact_store.list_nearest, contact_ids=contact_ids), asked
            )[0]
        named = {
            fact.fact_id: (contact_id, fact)
            for name in names
            for contact_id, fact in name.facts
            if asked.wanted.fits(fact) and fact.fact_id not in known
        }
        if not named:
            return
        vectors = embed(self.embedder, [fact.text for _, fact in named.values()])
        cosines = cosines_to(vectors, asked.vector).tolist()
        for (contact_id, fact), cosine in zip(named.values(), cosines, strict=True):
            if cosine >= asked.least:
                yield FoundFact(contact_id=contact_id, fact=fact, similarity=cosine)

    def _growing(
        self, look: Callable[..., list[Near]], asked: _Search, *, is_exact: bool = True
    ) -> tuple[list[FoundFact], bool]:
        """Find the nearest facts that pass; fetch more until enough pass, or no more can.

        Also return False if a fact that passes may be missing.
        """
        rows = asked.limit * _OVERFETCH
        while True:
            near = look(asked.scope, self.embedder.model_id, asked.vector, rows)
            hits = self._passing(asked, near)
            is_exact = is_exact or any(each.is_exact for each in near)
            is_all = len(hits) == asked.limit or (
                is_exact and (len(near) < rows or near[-1].cosine < asked.least)
            )
            rows *= _OVERFETCH
            if is_all or not (is_exact or rows <= _INDEXED_MAX):
                return hits, is_all

    def _passing(self, asked: _Search, near: list[Near]) -> list[FoundFact]:
        cosines = {each.fact_id: each.cosine for each in near if each.cosine >= asked.least}
        found = self.fact_store.find_agents_facts(asked.scope, list(cosines))
        facts = self._recallable(filter(None, map(found.get, cosines)))
        hits = (
            FoundFact(contact_id=contact_id, fact=fact, similarity=cosines[fact.fact_id])
            for contact_id, fact in facts
            if asked.wanted.fits(fact)
        )
        return list(islice(hits, asked.limit))

    def _mentioning(self, scope: Scope, words: Strings) -> Iterator[tuple[str, Fact]]:
        """Find the facts that mention words, page by page: an agent may have very many."""
        offset = 0
        while page := self.fact_store.list_mentions(scope, words, offset, _PAGE_ROWS):
            yield from page
            offset += len(page)

    def _recallable(self, facts: Iterable[tuple[str, Fact]]) -> Iterator[tuple[str, Fact]]:
        now = self.clock()
        for contact_id, stored in facts:
            fact = stored.as_of(now)
            if fact.confidence >= self.how.confidence_min and fact.is_told(
                hides_expired=self.how.hides_expired
            ):
                yield contact_id, fact


def _asks_of_unknown(query: str, names: Sequence[_Name]) -> bool:
    """True if an English question names only unknown people or things.

    In English a capital marks a name; in German every noun has one. A number does not count as a
    name.
    """
    asked = [name for name in names if not any(map(str.isdigit, name.text))]
    if not asked or any(name.is_known for name in names):
        return False
    reading = AskedWords(query, lambda _: 0)
    return reading.is_sentence and reading.language == ENGLISH
