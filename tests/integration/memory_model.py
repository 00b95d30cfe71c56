"""What a memory should hold of what it was told, said a second time and as plainly as can be.

Here: the rule as docs/what_decides.md words it, over dictionaries; and, as in every write, that a
note sees the five nearest facts and those of its own slot.
Never here: a call of the package's own rule, or of anything else in it that decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from typing import NamedTuple

import numpy as np

from reconciler import Decision
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.kinds import Action, DecidedBy, Relation
from reconciler.errors import ArbiterError

DIMENSION = 6
ADD_MAX, CUT, UPDATE_MIN = BOUNDS = (0.80, 0.875, 0.95)
NEAREST_COUNT = 5
CONTESTED_WINDOW = timedelta(days=7)
FROM_MOST_TRUSTED = ("user_explicit", "operator", "approved_doc")
SINGLE_VALUED = {"city"}


def _texts() -> dict[str, list[float]]:
    """Two topics, each told in five ways, from nearly the same to only just related."""
    drawn = np.random.default_rng(7)
    vectors = {}
    ways = {"likes": 0.0, "enjoys": 0.12, "adores": 0.2, "favours": 0.28, "cherishes": 0.36}
    for number, topic in enumerate(("tea", "music")):
        for way, spread in ways.items():
            vector = np.eye(DIMENSION)[number] + spread * drawn.standard_normal(DIMENSION)
            vectors[f"{way} {topic}"] = list(vector / np.linalg.norm(vector))
    return vectors


TEXTS = _texts()


def cosine(one: str, other: str) -> float:
    return float(np.dot(TEXTS[one], TEXTS[other]))


class Slot(NamedTuple):
    subject: str
    attribute: str
    value: str | None


class Said(NamedTuple):
    """A note, as far as the rule looks at it; without a date, ``said_at`` is the clock's."""

    text: str
    said_at: datetime
    source_kind: str
    slot: Slot | None
    is_dated: bool = True

    def is_repeated_by(self, other: Said) -> bool:
        """Whether a call with the same key may be a retry of this; it may come at another time."""
        return self == other._replace(said_at=self.said_at, is_dated=self.is_dated)


class Keyed(NamedTuple):
    """What was said under a key, and the decision about it."""

    said: Said
    decision: Decision


class Match(Enum):
    """What two slots say of a note and a fact."""

    NOTHING = auto()
    EQUAL = auto()
    CHANGED = auto()
    APART = auto()


def match(note: Slot | None, fact: Slot | None) -> Match:
    if (note.subject if note else "contact") != (fact.subject if fact else "contact"):
        return Match.APART
    if note is None or fact is None:
        return Match.NOTHING
    if note.value is None:
        return Match.APART if fact.value else Match.NOTHING
    if note.attribute != fact.attribute:
        return Match.APART
    if fact.value is None:
        return Match.NOTHING
    if note.value == fact.value:
        return Match.EQUAL
    return Match.CHANGED if note.attribute in SINGLE_VALUED else Match.APART


@dataclass
class KnownFact:
    """A fact as the model has it: live until another one is ``above`` it."""

    said: Said
    observations: int = 1
    is_contested: bool = False
    above: str | None = None
    was_contradicted: bool = field(default=False, compare=False)
    said_last_at: datetime = field(init=False, compare=False)

    def __post_init__(self) -> None:
        self.said_last_at = self.said.said_at


class Claim(NamedTuple):
    """What a note comes to before trust: which facts it is about, and how.

    ``repeats``: it says the first of them again.
    """

    action: Action
    decided_by: DecidedBy
    about: Sequence[str] = ()
    repeats: bool = False


@dataclass(frozen=True)
class Outcome:
    """What is to be written, as far as a decision tells it; and which fact gains from it."""

    action: Action
    decided_by: DecidedBy
    superseded: frozenset[str] = frozenset()
    conflicting: frozenset[str] = frozenset()
    beneath: str | None = None
    is_contested: bool = False
    repeated: str | None = field(default=None, compare=False)
    holds_from: datetime | None = None


@dataclass
class KnownContact:
    """A contact as the model has it."""

    facts: dict[str, KnownFact] = field(default_factory=dict)
    conflicts: set[frozenset[str]] = field(default_factory=set)
    decisions: list[Decision] = field(default_factory=list)
    by_key: dict[str, Keyed] = field(default_factory=dict)

    # What it holds

    @property
    def said_last_at(self) -> datetime:
        """When it was last told anything; before that, long ago."""
        times = (fact.said_last_at for fact in self.facts.values())
        return max(times, default=datetime.min.replace(tzinfo=UTC))

    def live(self) -> set[str]:
        return {fact_id for fact_id, fact in self.facts.items() if fact.above is None}

    def tree(self, head: str) -> dict[str, KnownFact]:
        return {each: self.facts[each] for each in (head, *self.beneath(head))}

    def open_conflicts(self, fact_id: str) -> set[frozenset[str]]:
        return {pair for pair in self.conflicts if fact_id in pair and pair <= self.live()}

    def beneath(self, fact_id: str) -> set[str]:
        """All that it took the place of, sooner or later."""
        below = {each for each, fact in self.facts.items() if fact.above == fact_id}
        return below.union(*map(self.beneath, below))

    # What becomes of a note

    def in_sight(self, said: Said, near: Sequence[str]) -> bool:
        """Whether a note may be compared with just these: the five nearest, then its own slot.

        What is apart is none. Which of two equally near facts comes first is the memory's
        choice.
        """
        cosine_to = self._cosine_to(said)
        neighbours = set(self.live()) - set(self._matching(said, self.live(), Match.APART))
        rivals = set(self._matching(said, self.live(), Match.EQUAL, Match.CHANGED))
        seen = [each for each in near if each in neighbours]
        nearest = sorted(map(cosine_to, neighbours), reverse=True)[:NEAREST_COUNT]
        return list(map(cosine_to, seen))[: len(nearest)] == nearest and rivals <= set(near)

    def expected(
        self, said: Said, answer: Judgement | ArbiterError, near: Sequence[str]
    ) -> Outcome:
        """What becomes of a note that is compared with these facts, the nearest first."""
        claim = self._by_slot(said, near) or self._by_text(said, near, answer)
        if claim.action is not Action.UPDATE:
            return Outcome(
                claim.action,
                claim.decided_by,
                repeated=next(iter(claim.about), None),
                holds_from=self._holds_from(said, claim.about),
            )
        return self._by_trust(said, claim)

    def apply(self, said: Said, decision: Decision, outcome: Outcome) -> None:
        self.decisions.insert(0, decision)
        if decision.note.idempotency_key:
            self.by_key[decision.note.idempotency_key] = Keyed(said, decision)
        said = said._replace(said_at=outcome.holds_from, is_dated=True)
        repeated = self.facts[outcome.repeated] if outcome.repeated else None
        if repeated and outcome.action is not Action.UPDATE:
            repeated.observations += 1
            repeated.said_last_at = max(repeated.said_last_at, said.said_at)
        if outcome.action is Action.SKIP:
            for each in outcome.superseded:
                self.facts[each].above = outcome.repeated
            return
        new = KnownFact(said, is_contested=outcome.is_contested, above=outcome.beneath)
        self.facts[decision.fact_id] = new
        open_pairs = [pair for pair in self.conflicts if pair & set(outcome.superseded)]
        beside = set(outcome.conflicting).union(*open_pairs) - set(outcome.superseded)
        if repeated and outcome.action is Action.UPDATE:
            new.observations += repeated.observations
            new.said = said._replace(slot=said.slot or repeated.said.slot)
        self.conflicts |= {frozenset({decision.fact_id, each}) for each in beside}
        for each in outcome.superseded:
            self.facts[each].above = decision.fact_id
            self.facts[each].was_contradicted = each != outcome.repeated and _contradicts(outcome)

    def _by_slot(self, said: Said, near: Sequence[str]) -> Claim | None:
        equal = self._matching(said, near, Match.EQUAL)
        about = equal + self._matching(said, near, Match.CHANGED)
        return Claim(Action.UPDATE, DecidedBy.SLOT, about, bool(equal)) if about else None

    def _by_text(self, said: Said, near: Sequence[str], answer: Judgement | ArbiterError) -> Claim:
        near, cosine_to = self._matching(said, near, Match.NOTHING), self._cosine_to(said)
        best = cosine_to(near[0]) if near else -1.0
        if best < ADD_MAX:
            return Claim(Action.ADD, DecidedBy.THRESHOLD)
        alike = [each for each in near if not self._is_filed_apart(said, each)]
        if alike and cosine_to(alike[0]) >= UPDATE_MIN:
            return Claim(Action.UPDATE, DecidedBy.THRESHOLD, alike[:1], repeats=True)
        if isinstance(answer, Judgement) and answer.relation is not Relation.UNRELATED:
            if answer.target is None:
                return Claim(Action.ADD, DecidedBy.ARBITER)
            if answer.target <= len(near):
                repeats = answer.relation is not Relation.REPLACES
                about = near[answer.target - 1]
                rank, known = FROM_MOST_TRUSTED.index, self._said(about)
                confirms = rank(said.source_kind) < rank(known.source_kind)
                action = Action.UPDATE if confirms else answer.action
                return Claim(action, DecidedBy.ARBITER, [about], repeats)
        if best >= CUT and near[0] in alike:
            return Claim(Action.UPDATE, DecidedBy.MIDPOINT, near[:1])
        return Claim(Action.ADD, DecidedBy.MIDPOINT)

    def _holds_from(self, said: Said, about: Iterable[str]) -> datetime:
        """Its own date; without one, a date not before its subject's."""
        known = [] if said.is_dated else [self._said(each).said_at for each in about]
        return max([said.said_at, *known])

    def _by_trust(self, said: Said, claim: Claim) -> Outcome:
        """A less trusted word ends no more trusted one: it repeats it, or stands beside it."""
        rank = FROM_MOST_TRUSTED.index
        above_it = frozenset(
            each
            for each in claim.about
            if rank(self._said(each).source_kind) < rank(said.source_kind)
        )
        if claim.repeats and claim.about[0] in above_it:
            repeated = claim.about[0]
            settled = self._settled(said, repeated)
            return Outcome(
                Action.SKIP,
                DecidedBy.TRUST,
                settled,
                repeated=repeated,
                holds_from=self._holds_from(said, [repeated, *settled]),
            )
        superseded = frozenset(claim.about) - above_it
        holds_from = self._holds_from(said, claim.about)
        if not superseded:
            return Outcome(Action.ADD, DecidedBy.TRUST, conflicting=above_it, holds_from=holds_from)
        said = said._replace(said_at=holds_from)
        return Outcome(
            Action.UPDATE,
            claim.decided_by,
            superseded,
            above_it,
            is_contested=not claim.repeats and self._is_contested(said, claim, superseded),
            repeated=claim.about[0] if claim.repeats else None,
            holds_from=holds_from,
        )

    def _settled(self, said: Said, repeated: str) -> frozenset[str]:
        """What was in dispute with a fact, and ends as a word not less trusted says that again."""
        rank = FROM_MOST_TRUSTED.index
        disputed = set().union(*self.open_conflicts(repeated)) - {repeated}
        return frozenset(
            each
            for each in self._matching(said, disputed, Match.CHANGED)
            if rank(said.source_kind) <= rank(self._said(each).source_kind)
            and not (said.is_dated and said.said_at <= self.facts[each].said_last_at)
        )

    def _is_contested(self, said: Said, claim: Claim, superseded: Iterable[str]) -> bool:
        """Whether it comes back to what was before, or contradicts twice within the window."""
        before = [self.facts[each] for each in set().union(*map(self.beneath, superseded))]
        if any(_says_again(said, each.said) for each in before):
            return True
        flips = [self._said(each.above).said_at for each in before if each.was_contradicted]
        return _contradicts(claim) and any(said.said_at - at <= CONTESTED_WINDOW for at in flips)

    def _said(self, fact_id: str | None) -> Said:
        return self.facts[fact_id or ""].said

    def _cosine_to(self, said: Said) -> Callable[[str], float]:
        return lambda fact_id: cosine(said.text, self._said(fact_id).text)

    def _is_filed_apart(self, said: Said, fact_id: str) -> bool:
        """Whether the two have another attribute, so that no cosine makes them the same."""
        slots = (said.slot, self._said(fact_id).slot)
        return len({slot.attribute for slot in slots if slot}) > 1

    def _matching(self, said: Said, fact_ids: Iterable[str], *wanted: Match) -> list[str]:
        return [each for each in fact_ids if match(said.slot, self._said(each).slot) in wanted]


def _contradicts(decided: Claim | Outcome) -> bool:
    """Whether what it ends without repeating it is known to be wrong by then."""
    return decided.decided_by in (DecidedBy.SLOT, DecidedBy.ARBITER)


def _says_again(said: Said, earlier: Said) -> bool:
    how = match(said.slot, earlier.slot)
    if how is not Match.NOTHING:
        return how is Match.EQUAL
    return cosine(said.text, earlier.text) >= UPDATE_MIN


def _value(said: Said) -> str | None:
    return said.slot.value if said.slot else None
