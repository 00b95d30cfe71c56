"""Ranking: chooses the facts for a question, orders them, and finds those that have faded. Pure.

Facts are compared by a few numbers each, as arrays, so that thousands are ranked at once. The same
numbers give the strength of a fact that is no longer said, which decays until the fact is
archived. Facts that are more important, or were recalled more often, last longer. The time now is
an argument.

Nothing is deleted: a fact below a floor is archived; if it is said again, it becomes live again.
Never here: the archiving itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import repeat
from operator import is_
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from reconciler.domain.recalling.recalled import (
    ALLERGY,
    is_never_cut,
    tells_of_allergy,
)
from reconciler.domain.records.facts import Fact, Facts
from reconciler.domain.records.kinds import FactState
from reconciler.domain.records.notes import CLOCK_SKEW_MAX, MEMBERSHIP
from reconciler.domain.records.policies import DecayPolicy, RankingPolicy
from reconciler.domain.values.attributes import MATTERS_MOST
from reconciler.floats import Flags, Floats, Rows, Scores
from reconciler.reading.kinds import Category, RecallSemantics

Numbers = NDArray[Any]
"""The numbers that rank facts, one row for each fact: importance, confidence, number of recalls and
kind. The times are in microseconds since 1970 (UTC): when the fact was last said, when it expires
and, if it was said ahead, from when it holds. The names are its id, and the attribute and subject
of its slot."""

_ROW = np.dtype(
    [
        ("importance", np.float64),
        ("confidence", np.float64),
        ("last_confirmed_at", np.int64),
        ("expires_at", np.int64),
        ("begins_at", np.int64),
        ("recall_count", np.int64),
        ("is_standing", np.bool_),
        ("is_never_cut", np.bool_),
        ("is_passing", np.bool_),
        ("is_outcome", np.bool_),
        ("is_membership", np.bool_),
        ("fact_id", np.object_),
        ("attribute", np.object_),
        ("subject", np.object_),
    ]
)
_OF_FACT = [
    "fact_id",
    "text",
    "importance",
    "confidence",
    "recall_count",
    "last_confirmed_at",
    "expires_at",
    "state",
    "valid_from",
    "valid_to",
    "recall_semantics",
    "category",
]
_OF_SLOT = ("attribute", "subject")
_LONG_AGO = np.iinfo(np.int64).min
_SILENT = _LONG_AGO + 1
"""The expiry of an archived fact: it ranks like a fact that expired long ago."""

NEVER: Final = np.iinfo(np.int64).max
"""The expiry of a fact that never expires."""

_AS_WELL = 0.1
"""Two facts fit a question equally well if their similarities differ by at most this. Source:
benchmarks/recall.py: with a larger number, later words that fit less well come before the evidence
that fits best."""

_SAME_WORDS_MIN = 0.75
_LESS_NEAR = 0.1
"""Facts with the same words of a question, at least this share of them, are rivals if they are this
much less near to each other than others. Source: benchmarks/consolidation.py."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MICROSECONDS_PER_DAY = 86_400 * 10**6


def cosines_to(vectors: Floats, vector: Floats) -> Floats:
    """Cosine of each row to a vector, all of unit length, in single precision.

    It runs in one thread: BLAS would share this small work among several threads, and on a busy
    machine each thread may wait ten milliseconds.
    """
    cosines: Floats = np.einsum("ij,j->i", vectors, vector)
    return cosines


def numbers_of(facts: Facts) -> Numbers:
    """Numbers that rank these facts, a row each, in their order.

    An archived fact ranks like a fact that expired long ago.
    """
    columns = {name: [getattr(fact, name) for fact in facts] for name in _OF_FACT}
    columns |= {name: [getattr(fact.slot, name, None) for fact in facts] for name in _OF_SLOT}
    return numbers_in(columns, facts.__getitem__)


def numbers_in(columns: Mapping[str, Sequence[Any]], fact_at: Callable[[int], Fact]) -> Numbers:
    """Like ``numbers_of``, if the values of the facts and of their slots are given by column.

    Args:
        columns: the columns by name, with rows in one order.
        fact_at: returns the fact of a row; called for a few rows.
    """
    numbers = np.empty(len(columns["fact_id"]), dtype=_ROW)
    for name in ("importance", "confidence", "recall_count", "fact_id", *_OF_SLOT):
        numbers[name] = columns[name]
    for name in ("last_confirmed_at", "expires_at"):
        numbers[name] = list(map(_microseconds, columns[name]))
    numbers["expires_at"][_are(columns["state"], FactState.ARCHIVED)] = _SILENT
    begins_at = np.array(list(map(_microseconds, columns["valid_from"])), dtype=np.int64)
    is_ahead = begins_at > numbers["last_confirmed_at"] + CLOCK_SKEW_MAX // _MICROSECOND
    numbers["begins_at"] = np.where(is_ahead, begins_at, _LONG_AGO)
    numbers["is_standing"] = ~_are(columns["recall_semantics"], RecallSemantics.DEFAULT)
    numbers["is_outcome"] = _are(columns["category"], Category.OUTCOME)
    numbers["is_membership"] = numbers["attribute"] == MEMBERSHIP
    is_volatile = _are(columns["category"], Category.VOLATILE)
    numbers["is_passing"] = is_volatile | ~_are(columns["valid_to"], None)
    may_matter = numbers["is_standing"] | (numbers["importance"] >= MATTERS_MOST)
    may_matter |= numbers["attribute"] == ALLERGY
    if tells_of_allergy("\n".join(columns["text"])):
        may_matter |= np.fromiter(map(tells_of_allergy, columns["text"]), np.bool_, len(numbers))
    numbers["is_never_cut"] = False
    for row in np.flatnonzero(may_matter).tolist():
        numbers["is_never_cut"][row] = is_never_cut(fact_at(row))
    return numbers


def _are(values: Sequence[Any], value: Any) -> Flags:
    return np.fromiter(map(is_, values, repeat(value)), np.bool_, len(values))


def holding(numbers: Numbers, now: datetime) -> Flags:
    """A mask of the facts that have not expired by now (UTC)."""
    is_holding: Flags = numbers["expires_at"] > _microseconds(now)
    return is_holding


def said_since(numbers: Numbers, at: datetime) -> Flags:
    """A mask of the facts that were last said after a time (UTC)."""
    is_later: Flags = numbers["last_confirmed_at"] > _microseconds(at)
    return is_later


def telling(numbers: Numbers, now: datetime) -> Flags:
    """A mask of the facts that a recall may return, expired ones included (UTC)."""
    is_there = numbers["expires_at"] > _SILENT
    is_told: Flags = holding(numbers, now) | (is_there & ~numbers["is_passing"])
    return is_told


def is_ahead(numbers: Numbers, now: datetime) -> Flags:
    """A mask of the facts that hold from a later day on (UTC), like ``Fact.is_upcoming``."""
    begins_later: Flags = numbers["begins_at"] > _microseconds(now)
    return begins_later


def reciprocal_ranks(closeness: Scores, policy: RankingPolicy) -> Scores:
    """Reciprocal ranks of facts by their closeness; 0 for a closeness of 0 or less.

    Ranks can be added, scores cannot: a cosine and a BM25 score share no scale.

    Args:
        closeness: by one measure, shape (facts,).
        policy: the constant.
    """
    # Of equals each has the first's rank, so that no order in which facts were read decides.
    near = np.flatnonzero(closeness > 0)
    farness = -closeness[near]
    ranks = 1 + np.searchsorted(np.sort(farness), farness)
    shares = np.zeros(len(closeness))
    shares[near] = 1 / (policy.rank_constant + ranks)
    return shares


def recency_now(numbers: Numbers, policy: RankingPolicy, now: datetime) -> Scores:
    """The recency of each fact: half as much after each half-life; 1 for a time in the future."""
    age = np.maximum(_microseconds(now) - numbers["last_confirmed_at"], 0)
    halved: Scores = 0.5 ** (age / _MICROSECONDS_PER_DAY / policy.recency_half_life_days)
    return halved


def recency_among(
    numbers: Numbers,
    likeness: NDArray[np.floating[Any]],
    similarity: Scores,
    words: Scores,
    named: Rows,
    policy: RankingPolicy,
) -> Scores:
    """Recency of each fact among rivals: half as much for each rival that was said later.

    So a stale value comes after the new one. Rivals are facts near to each other that fit the
    question equally well. If they have the same words of it, they may be less near to each other,
    and fit less well: they differ in what is not asked, such as the value. Only their order counts,
    not their age: in a memory of months most facts have a newer one that is like them. A fact
    without a later rival counts as new.

    A rival with more of the question's numbers and names counts as later, and one with fewer never
    does: invoice 1043 is not the newer value of invoice 1042.

    Args:
        numbers: the numbers of facts that were chosen together.
        likeness: the cosine between each two facts, shape (facts, facts).
        similarity: the similarity of each fact to the question, shape (facts,).
        words: the share of the question's words that each fact has, shape (facts,).
        named: how many numbers and names of the question each fact has, shape (facts,).
        policy: the cosine from which facts are rivals.
    """
    # Complex numbers are compared by their real part, and then by the other.
    said_at = named + 1j * numbers["last_confirmed_at"]
    is_later = np.less.outer(said_at, said_at)
    fits_as_well = np.less_equal.outer(similarity - _AS_WELL, similarity)
    are_rivals = (likeness >= policy.rival_cosine_min) & fits_as_well
    has_same_words = np.isclose(words[None, :], words[:, None]) & (words >= _SAME_WORDS_MIN)
    are_rivals |= (likeness >= policy.rival_cosine_min - _LESS_NEAR) & has_same_words
    recency: Scores = 0.5 ** (are_rivals & is_later).sum(axis=1)
    return recency


def strengths(numbers: Numbers, decay: DecayPolicy, now: datetime) -> Scores:
    """Strength of each fact, in [0, 1]: 1 when it is said, and half of it after each half-life.

    The half-life doubles if importance rises from 0.5 to 1, halves if it falls from 0.5 to 0, and
    grows by its own length with each doubling of the number of recalls. A fact that was said six
    sessions ago and never recalled is worth less than one that was said last week and recalled
    since. The numbers are ours.
    """
    age_days = (_microseconds(now) - numbers["last_confirmed_at"]) / _MICROSECONDS_PER_DAY
    use = 1 + np.log2(1 + numbers["recall_count"])
    half_lives = decay.half_life_days * 2 ** (2 * numbers["importance"] - 1) * use
    halved: Scores = 0.5 ** (np.maximum(age_days, 0.0) / half_lives)
    return halved


def score(
    numbers: Numbers,
    similarity: Scores,
    recency: Scores,
    policy: RankingPolicy,
    strength: Scores | float = 0.0,
) -> Scores:
    """Weighed sum of the parts."""
    scores: Scores = (
        policy.weight_similarity * similarity
        + policy.weight_recency * recency
        + policy.weight_importance * numbers["importance"]
        + policy.weight_strength * strength
    )
    return scores


def _microseconds(at: datetime | None) -> int:
    """Microseconds since 1970 as a whole number, which is exact, unlike a float."""
    return NEVER if at is None else (at - _EPOCH) // _MICROSECOND


def is_protected(fact: Fact) -> bool:
    """True if a fact is never archived: standing, confirmed, a decision, procedure, membership."""
    return (
        fact.is_confirmed_by_user
        or fact.account is not None
        or fact.category in (Category.DECISION, Category.PROCEDURE)
        or fact.is_standing
    )


def faded(
    facts: Iterable[Fact], disputed_ids: Iterable[str], now: datetime, policy: DecayPolicy
) -> list[Fact]:
    """Facts that are weaker than the floor, the weakest first.

    Expired facts count, too: a recall returns them with a mark. Protected facts, facts in dispute,
    and facts that hold from a later day on are left out.

    Args:
        facts: of one contact, in any state.
        disputed_ids: the ids of the facts that are in dispute.
        now: the time now (UTC).
        policy: the half-life and the floor.
    """
    waiting = set(disputed_ids)
    may_fade = [
        fact
        for fact in facts
        if fact.as_of(now).is_told()
        and not fact.is_upcoming(now)
        and fact.fact_id not in waiting
        and not is_protected(fact)
    ]
    left = zip(strengths(numbers_of(may_fade), policy, now).tolist(), may_fade, strict=True)
    weak = [(share, fact.fact_id, fact) for share, fact in left if share < policy.floor]
    return [fact for *_, fact in sorted(weak, key=lambda one: one[:2])]
