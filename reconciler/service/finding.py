"""Finding: what is known by name, and across all contacts of an agent. Never writes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from reconciler.domain.floats import Floats
from reconciler.domain.recalling.languages import ENGLISH, AskedWords
from reconciler.domain.recalling.mentions import (
    found_in,
    longest_word,
    mentioning,
    mentions,
    names_in,
    needles,
)
from reconciler.domain.recalling.ranking import cosines_to
from reconciler.domain.recalling.recallable import told
from reconciler.domain.recalling.words import WordIndex
from reconciler.domain.records.facts import FoundFact
from reconciler.errors import InvalidRequestError
from reconciler.frozen import frozen
from reconciler.service.embedding import embed, question_of
from reconciler.service.recall import with_asked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reconciler.domain.recalling.filtering import RecallFilter
    from reconciler.domain.records.facts import Fact
    from reconciler.domain.records.policies import RecallFloor
    from reconciler.domain.records.scope import Scope
    from reconciler.ports.embedder import Embedder
    from reconciler.service.attribute_questions import AskedAttributes
    from reconciler.service.stores.contact_store import ContactStore
    from reconciler.service.stores.fact_store import FactStore, Near

_PAGE_ROWS = 500
_OVERFETCH = 4
"""Facts that are first fetched for each wanted one, as some have ended or fit no filter."""

_INDEXED_MAX = 4_000
"""Facts that the index is asked for at most; after that, the agent's facts are all compared."""

_NAME_WEIGHT = 0.3
"""Added to the cosine of a fact that mentions or is about all names of the question."""

_NAMED_MAX = 50
"""Facts that are compared for a name, last said first; the model embeds each."""

_COMPARED_COUNT = 100
"""The number of facts that the floor is taken for: the agent's facts are not counted for that."""


@dataclass(frozen=True)
class _Search:
    """A search for the facts nearest to a vector: of which agent, how many, which ones."""

    scope: Scope
    vector: Floats
    limit: int
    wanted: RecallFilter


@dataclass(frozen=True)
class _Name:
    """A name in a query: its spellings, the contacts of that name, the facts that mention it."""

    text: str
    spellings: tuple[str, ...]
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
    """Finds what is known about a named person or thing, also across contacts.

    Args:
        fact_store: facts and their vectors.
        contact_store: the contacts and their names.
        embedder: with ``dimension`` 0 only names can be looked for.
        floor: how near a fact must be to be found; None for no floor.
        asked: finds the attributes that a question asks for; None to skip that.
        confidence_min: facts with less confidence are left out, 0 to 1.
        hides_expired: whether expired facts are left out, instead of marked.
        clock: the time now, UTC-aware.
    """

    fact_store: FactStore
    contact_store: ContactStore
    embedder: Embedder
    confidence_min: float
    hides_expired: bool
    clock: Callable[[], datetime]
    floor: RecallFloor | None = None
    asked: AskedAttributes | None = None

    def about(self, scope: Scope, name: str, limit: int, *, all_contacts: bool) -> list[FoundFact]:
        """The live facts that mention a name, those about it first, then last said first.

        Args:
            scope: the contact, or with ``all_contacts`` any of the agent's.
            name: as people write it.
            limit: at most this many.
            all_contacts: also facts of the agent's other contacts.

        Raises:
            InvalidRequestError: the name holds no letter or digit.
        """
        if all_contacts:
            facts = self._mentioning(scope, longest_word(name))
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
        """The live facts of all contacts of the agent that are nearest to a query, nearest first.

        A fact that mentions what the query names, or is about a contact of that name, counts as
        nearer. What is not near is left out. If nothing that an English question names is known,
        nothing is found: "Where does Oscar live?" is not answered by where others live.

        Args:
            scope: any contact of the agent.
            query: what is asked.
            limit: at most this many.
            wanted: the filters that facts must pass; ``min_score`` is a raw cosine.

        Raises:
            InvalidRequestError: there is no embedder.
        """
        if not self.embedder.dimension:
            raise InvalidRequestError(
                "this memory has no model to compare texts with; give it one with `reconciler "
                "reembed --model minilm`, or look for a name with `reconciler about` (recall_about)"
            )
        question = question_of(self.embedder, query)
        if wanted.min_score is None:  # it is compared with the plain cosine
            question = with_asked(question, (), self.asked)
        assert question.vector is not None  # noqa: S101  there is a model
        asked = _Search(scope, question.vector, limit, wanted)
        # The index looks at all agents' facts, and an agent may have few among very many.
        hits = self._growing(self.fact_store.find_nearest, asked, _INDEXED_MAX)
        if len(hits) < limit:
            ids = [contact_id for contact_id, _ in self.contact_store.list_contact_ids(scope)]
            look = partial(self.fact_store.list_nearest, contact_ids=ids)
            hits = self._growing(look, asked, None)
        names = [self._name(asked, name) for name in names_in(query)]
        if wanted.min_score is None and _asks_of_unknown(query, names):
            return []
        found = {hit.fact.fact_id: hit for hit in hits}
        found |= {hit.fact.fact_id: hit for hit in self._named(asked, names, found)}
        nearness = {fact_id: _nearness(hit, names) for fact_id, hit in found.items()}
        ordered = sorted(found.values(), key=lambda hit: -nearness[hit.fact.fact_id])
        if self.floor is None or wanted.min_score is not None:
            return ordered[:limit]
        words = WordIndex([told(hit.fact) for hit in ordered]).matches(query)
        least = question.strange + self.floor.of(
            _COMPARED_COUNT, len(words.asked), max(question.asks.values(), default=0.0)
        )
        shares = self.floor.words * words.shares
        return [
            hit
            for hit, share in zip(ordered, shares.tolist(), strict=True)
            if nearness[hit.fact.fact_id] + share >= least
        ][:limit]

    def _name(self, asked: _Search, name: str) -> _Name:
        """A name with the contacts that it may be of, and the facts that mention it."""
        word, spellings = longest_word(name), needles(name)
        contacts = self.contact_store.find_named_contacts(asked.scope, word, _NAMED_MAX)
        page = self.fact_store.list_mentions(asked.scope, word, 0, _NAMED_MAX)
        facts = mentioning(self._recallable(page), name, lambda pair: pair[1])
        return _Name(
            text=name,
            spellings=spellings,
            contact_ids=[
                contact_id
                for contact_id, called in contacts
                if mentions(contact_id, spellings) or mentions(called or "", spellings)
            ],
            facts=[pair for pair, _ in facts],
        )

    def _named(
        self, asked: _Search, names: Sequence[_Name], known: Collection[str]
    ) -> Iterator[FoundFact]:
        """More facts that mention a name of the query, or are about a contact of that name."""
        contact_ids = sorted({contact_id for name in names for contact_id in name.contact_ids})
        if contact_ids:
            look = partial(self.fact_store.list_nearest, contact_ids=contact_ids)
            yield from self._growing(look, asked, None)
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
        least = -1.0 if asked.wanted.min_score is None else asked.wanted.min_score
        for (contact_id, fact), cosine in zip(named.values(), cosines, strict=True):
            if cosine >= least:
                yield FoundFact(contact_id=contact_id, fact=fact, similarity=cosine)

    def _growing(
        self, look: Callable[..., list[Near]], asked: _Search, rows_max: int | None
    ) -> list[FoundFact]:
        """The nearest facts that pass; more are fetched until enough pass, or no more come."""
        rows = asked.limit * _OVERFETCH
        while True:
            near = look(asked.scope, self.embedder.model_id, asked.vector, rows)
            hits = self._passing(asked, near)
            is_all = len(near) < rows if rows_max is None else rows * _OVERFETCH > rows_max
            if len(hits) == asked.limit or is_all:
                return hits
            rows *= _OVERFETCH

    def _passing(self, asked: _Search, near: list[Near]) -> list[FoundFact]:
        now = self.clock()
        found_facts = self.fact_store.find_agents_facts(
            asked.scope, [near_fact.fact_id for near_fact in near]
        )
        facts = {fact_id: fact.as_of(now) for fact_id, fact in found_facts.items()}
        least = -1.0 if asked.wanted.min_score is None else asked.wanted.min_score
        passing = (
            FoundFact(contact_id=near_fact.contact_id, fact=fact, similarity=near_fact.cosine)
            for near_fact in near
            if (fact := facts.get(near_fact.fact_id)) and self._is_told(fact)
            if asked.wanted.fits(fact) and near_fact.cosine >= least
        )
        return list(islice(passing, asked.limit))

    def _mentioning(self, scope: Scope, word: str) -> Iterator[tuple[str, Fact]]:
        """The facts that mention a word, read page by page: an agent may have very many."""
        offset = 0
        while page := self.fact_store.list_mentions(scope, word, offset, _PAGE_ROWS):
            yield from page
            offset += len(page)

    def _recallable(self, facts: Iterable[tuple[str, Fact]]) -> Iterator[tuple[str, Fact]]:
        now = self.clock()
        as_now = ((contact_id, fact.as_of(now)) for contact_id, fact in facts)
        return ((contact_id, fact) for contact_id, fact in as_now if self._is_told(fact))

    def _is_told(self, fact: Fact) -> bool:
        is_sure = fact.confidence >= self.confidence_min
        return is_sure and fact.is_told(hides_expired=self.hides_expired)


def _nearness(hit: FoundFact, names: Sequence[_Name]) -> float:
    """The cosine, with an addition for each name of the query."""
    named = sum(name.is_of(hit) for name in names)
    return (hit.similarity or 0.0) + _NAME_WEIGHT * named / max(len(names), 1)


def _asks_of_unknown(query: str, names: Sequence[_Name]) -> bool:
    """Whether an English question names someone or something of which nothing is known.

    In English a capital marks a name; in German every noun has one. A number is no name.
    """
    asked = [name for name in names if not any(map(str.isdigit, name.text))]
    if not asked or any(name.is_known for name in names):
        return False
    reading = AskedWords(query, lambda _: 0)
    return reading.is_sentence and reading.language == ENGLISH
