"""Recall: the facts that fit a query, now or at a past time, and the standing constraints.

Only reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from itertools import islice, starmap
from typing import TYPE_CHECKING, Any

import numpy as np

from reconciler.domain.recalling.filtering import EVERYTHING, FilterFields, RecallFilter
from reconciler.domain.recalling.history import HeldFacts, true_at
from reconciler.domain.recalling.languages import without_names
from reconciler.domain.recalling.prompting import within_budget
from reconciler.domain.recalling.recallable import Recallable, Recalling, RecallQuery
from reconciler.domain.recalling.words import WordIndex
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import FactState
from reconciler.domain.records.scope import Scope
from reconciler.domain.records.slots import CONTACT_SUBJECT
from reconciler.errors import InvalidRequestError
from reconciler.frozen import frozen
from reconciler.service.embedding import embed, question_of
from reconciler.service.writing.open_conflicts import OpenConflicts

if TYPE_CHECKING:
    from reconciler.domain.recalling.recalled import Recalled
    from reconciler.domain.records.facts import Conflict, RankedFact
    from reconciler.domain.values.attributes import AttributeBook
    from reconciler.ports.embedder import Embedder
    from reconciler.service.attribute_questions import AskedAttributes
    from reconciler.service.records import Records
    from reconciler.service.stores.fact_store import FactStore
    from reconciler.service.use_trace import UseTrace
    from reconciler.service.writing.neighbourhoods import Neighbourhoods

_SHARING_LOOKED_AT_MAX = 2_000
"""Facts of a contact among which those with a subject or an attribute in common are looked for."""

_ORDINARY = "Where does she live?"
_NOWHERE = Scope("any", "any", "any")


@frozen
class Recall:
    """Recalls the facts about a contact that hold now, or held at a past time.

    Args:
        store: facts and their vectors, also of facts that have ended.
        neighbourhoods: the facts of contacts that this process has read, kept in memory.
        records: gives the facts believed at an instant.
        embedder: with ``dimension`` 0 recall compares words alone.
        asked: finds the attributes that a question asks for; None to skip that.
        how: the settings by which facts are chosen, ordered and left out.
        use: counts recalls.
        clock: the time now, UTC-aware.
    """

    store: FactStore
    neighbourhoods: Neighbourhoods
    records: Records
    embedder: Embedder
    how: Recalling
    use: UseTrace
    clock: Callable[[], datetime]
    asked: AskedAttributes | None = None

    def recall(
        self,
        scope: Scope,
        query: str,
        limit: int,
        wanted: RecallFilter = EVERYTHING,
        budget_tokens: int | None = None,
    ) -> Recalled:
        """Live facts in scope that are sure enough and not expired; see ``ContactMemory.recall``.

        Args:
            scope: the contact.
            query: what is asked; empty for everything, by recency.
            limit: at most this many facts, not counting the standing constraints.
            wanted: the filters that facts must pass.
            budget_tokens: as many facts as fit a prompt of this many tokens; None for all.
        """
        has_vector = bool(query and self.embedder.dimension)
        held = self.neighbourhoods.used(scope) if has_vector else None
        seen = held.recallable().own_names if held else ()
        # The store answers while the question is embedded.
        begun = self._begin(scope, has_vector=has_vector)
        question = question_of(self.embedder, without_names(query, seen))
        known = begun()
        if (told := without_names(query, known.own_names)) != question.text:  # by another process
            question = question_of(self.embedder, told)
        question = with_asked(question, known.attributes, self.asked)
        recalled = known.answer(question, wanted, self.how, self.clock(), limit)
        self.use.note_recall(scope.contact_key, is_empty=not recalled.fitting)
        return recalled if budget_tokens is None else within_budget(recalled, budget_tokens)

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
        """The facts that fit a query about the past, as a recall then would have found them.

        Nothing is cached, and these recalls are not counted.

        Args:
            scope: the contact.
            query: what is asked; empty for everything.
            limit: at most this many facts, not counting the standing constraints.
            wanted: the filters that facts must pass.
            budget_tokens: as many facts as fit a prompt of this many tokens; None for all.
            as_of: what the memory knew then (UTC); None for what it knows now.
            valid_at: what was true in the world then (UTC), as far as the memory knows; None for
                what it believed at ``as_of``.
        """
        knew_at = as_of or self.clock()
        known, _ = self.records.held_at(scope, knew_at)
        facts = _true(known.facts, valid_at) if valid_at else _held(known.facts)
        recallable = self._recallable_then(scope, facts, known, has_vector=bool(query))
        question = question_of(self.embedder, without_names(query, recallable.own_names))
        question = with_asked(question, recallable.attributes, self.asked)
        recalled = recallable.answer(question, wanted, self.how, valid_at or knew_at, limit)
        return recalled if budget_tokens is None else within_budget(recalled, budget_tokens)

    def everything(
        self, scope: Scope, facts: Sequence[Fact], conflicts: Iterable[Conflict]
    ) -> Recalled:
        """The answer to an empty query, from facts and open conflicts that are already read."""
        known = _recallable(facts, conflicts)
        recalled = known.answer(RecallQuery(""), EVERYTHING, self.how, self.clock(), len(facts))
        self.use.note_recall(scope.contact_key, is_empty=not recalled.fitting)
        return recalled

    def warm_up(self) -> None:
        """Recall about a contact that does not exist, so that everything is loaded beforehand.

        An engine's first plan takes longer than a recall among a thousand facts.
        """
        question = question_of(self.embedder, _ORDINARY)
        with_asked(question, self._begin(_NOWHERE, has_vector=True)().attributes, self.asked)
        self.store.list_conflicts(_NOWHERE, is_open=False)  # not asked of a contact without facts
        WordIndex(()).matches(_ORDINARY)  # its stemmer, and function words
        self.neighbourhoods.drop(_NOWHERE)

    def near(
        self,
        scope: Scope,
        texts: Sequence[str],
        limit: int,
        shares: Callable[[Fact], bool] = lambda _: False,
    ) -> list[Fact]:
        """The live facts that are nearest to any of the texts, even distant ones; not a recall.

        Near in meaning or in words, names and attributes included. The nearest fact of each text
        comes before the second nearest of any.

        Args:
            scope: the contact.
            texts: what was said.
            limit: at most this many.
            shares: which facts come behind these, however distant, at most as many again.
        """
        if not texts:
            return []
        begun = self._begin(scope, has_vector=True)
        questions = [RecallQuery(text) for text in texts]
        if self.embedder.dimension:
            vectors = embed(self.embedder, texts)
            questions = list(starmap(RecallQuery, zip(texts, vectors, strict=True)))
        known, now = begun(), self.clock()
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

    def _begin(self, scope: Scope, *, has_vector: bool) -> Callable[[], Recallable]:
        """The contact's facts as they are now or soon; with vectors if a question has one."""
        if has_vector and self.embedder.dimension:
            current = self.neighbourhoods.begin(scope)
            return lambda: current().recallable()
        return lambda: _recallable(self.store.list_facts(scope), self.store.list_conflicts(scope))

    def _recallable_then(
        self, scope: Scope, facts: Sequence[Fact], known: HeldFacts, *, has_vector: bool
    ) -> Recallable:
        """The facts to choose from; if vectors are compared, only facts that have one."""
        disputes = open_disputes(known.conflicts)
        if not (has_vector and self.embedder.dimension):
            return Recallable(facts, disputes=disputes)
        vectors = self.store.load_vectors([scope], self.embedder.model_id)
        compared = [fact for fact in facts if fact.fact_id in vectors]
        rows = [vectors[fact.fact_id] for fact in compared]
        return Recallable(compared, np.array(rows, dtype=np.float32), disputes)


def _recallable(facts: Iterable[Fact], conflicts: Iterable[Conflict]) -> Recallable:
    """The facts that have not ended, without vectors."""
    held = [fact for fact in facts if not fact.has_ended]
    return Recallable(held, disputes=open_disputes(conflicts))


def open_disputes(conflicts: Iterable[Conflict]) -> Mapping[str, tuple[str, ...]]:
    """For each fact in open dispute, by id, the ids of the other sides."""
    pairs = ((conflict.new_id, conflict.old_id) for conflict in conflicts if conflict.is_open)
    return OpenConflicts(pairs).as_mapping()


def with_asked(
    question: RecallQuery, attributes: Iterable[str], asked: AskedAttributes | None
) -> RecallQuery:
    """The question with the attributes that it asks for; its vector moves towards their facts."""
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
    """The sort key of hits: the nearest first."""
    return -(hit.similarity or 0.0), hit.fact.fact_id


def filter_of(given: FilterFields, attributes: Callable[[], AttributeBook]) -> RecallFilter:
    """The filter that a caller's words describe; attribute and subject get the book's names.

    Args:
        given: the caller's filters; one that is None or left out lets all facts pass.
        attributes: gives the attributes of slots that are known.

    Raises:
        InvalidRequestError: there is no such filter, or one cannot be used.
    """
    asked: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    known = [field.name for field in fields(RecallFilter)]
    if unknown := sorted(asked.keys() - set(known)):
        raise InvalidRequestError(
            f"there is no filter {unknown[0]}; use {', '.join(known)}. How many to return is said "
            "by limit, and in a recall also by budget_tokens"
        )
    if "attribute" in asked or "subject" in asked:
        asked |= _slot_names(asked.get("subject"), asked.get("attribute"), attributes())
    return RecallFilter(**asked) if asked else EVERYTHING


def _slot_names(
    subject: str | None, attribute: str | None, attributes: AttributeBook
) -> dict[str, str]:
    """Subject and attribute by the book's names; "wife's birthday" is the wife's."""
    slot = attributes.slot(subject=subject, attribute=attribute)
    if slot is None:
        raise InvalidRequestError(
            "attribute and subject name nothing; leave them out to ask for any"
        )
    names = {"attribute": slot.attribute} if slot.attribute else {}
    is_asked = subject is not None or slot.subject != CONTACT_SUBJECT
    return names | ({"subject": slot.subject} if is_asked else {})


def _true(facts: Iterable[Fact], at: datetime) -> list[Fact]:
    """The facts that were true then, also those that were archived since."""
    return [
        replace(fact, state=FactState.LIVE) if fact.state is FactState.ARCHIVED else fact
        for fact in true_at(at, facts)
    ]


def _held(facts: Iterable[Fact]) -> list[Fact]:
    """The facts that had not ended then, also expired and archived ones."""
    return [fact for fact in facts if not fact.has_ended]
