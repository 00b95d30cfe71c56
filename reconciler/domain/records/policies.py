"""Policies: the bounds and weights that can be set, each with its default and its source.

The settings take their defaults from here, and check the bounds of each; the code that acts by a
policy says how. Here are only values and simple calculations with them, such as the wait before a
job's next attempt, so that reading the settings does not load that code.

Two more kinds of values come from files under ``config/``. A profile names thresholds, and the
model that they were measured on. A question that tests a judge has a note, facts, and the expected
answers. Never here: a graph, a model, a clock, or the reading of a file.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge, Gt, Le

from reconciler.domain.records.kinds import Relation
from reconciler.errors import ConfigurationError
from reconciler.frozen import Strings, StringSet, Values, frozen

if TYPE_CHECKING:
    from reconciler.domain.records.decisions import Usage

_SECONDS_MAX = 31_536_000.0
"""A year. Timers and dates fail only at much larger numbers."""

Quantity = Annotated[int, Ge(0)]
Positive = Annotated[int, Ge(1)]
Amount = Annotated[float, Ge(0)]
AboveZero = Annotated[float, Gt(0)]
Share = Annotated[float, Ge(0), Le(1)]
Cosine = Annotated[float, Ge(-1), Le(1)]
Seconds = Annotated[float, Gt(0), Le(_SECONDS_MAX)]
Wait = Annotated[float, Ge(0), Le(_SECONDS_MAX)]

_FLOOR_WORDS_MAX = 5
_FLOOR_COUNT_MAX = 1_000


@frozen
class ReconcilePolicy:
    """The thresholds of the rule, in raw cosine.

    Invariant: -1 <= reach <= cosine_add_max <= cosine_cut <= cosine_update_min <= 1, so the band
    between the thresholds may be empty but never inverted.

    Args:
        cosine_update_min: at or above it a note supersedes; 0.95 in the profile ``seed``.
        cosine_add_max: below it a note is new; 0.80 in the profile ``seed``.
        cosine_cut: at or above it a note in the band supersedes if no arbiter decides; None for the
            middle of the band.
        reach: at or above it a judge is asked, and for some words also below it; None asks only
            between the thresholds. Without a judge it changes nothing.
        guard: whether differences between the texts keep a note from superseding.
        contested_window: after two contradictions within this time a value is contested.
        systems: the attributes in which a system of the builder outranks the contact, by the
            system's name.
        confirmed: attributes of which only an operator changes a value; another word is a dispute.
        profile: the name under which these thresholds are recorded.

    Raises:
        ConfigurationError: the invariant does not hold.
    """

    cosine_update_min: float = 0.95
    cosine_add_max: float = 0.80
    cosine_cut: float | None = None
    reach: float | None = None
    guard: bool = True
    contested_window: timedelta = timedelta(days=7)
    systems: Mapping[str, StringSet] = field(default_factory=dict, hash=False)
    confirmed: StringSet = frozenset()
    profile: str = "seed"

    def __post_init__(self) -> None:
        if not -1 <= self.cosine_add_max <= self.cosine_update_min <= 1:
            raise ConfigurationError(
                f"thresholds in the wrong order: cosine_add_max {self.cosine_add_max} must not "
                f"exceed cosine_update_min {self.cosine_update_min}, and both must be from -1 to 1"
            )
        if not self.cosine_add_max <= self.cut <= self.cosine_update_min:
            raise ConfigurationError(
                f"cosine_cut {self.cosine_cut} must be between cosine_add_max "
                f"{self.cosine_add_max} and cosine_update_min {self.cosine_update_min}"
            )
        if self.reach is not None and not -1 <= self.reach <= self.cosine_add_max:
            raise ConfigurationError(
                f"arbiter reach {self.reach} must be between -1 and cosine_add_max "
                f"{self.cosine_add_max}: from this cosine up a judge is asked"
            )

    @property
    def cut(self) -> float:
        """Return the cosine from which a note in the band supersedes if no judge decides."""
        if self.cosine_cut is not None:
            return self.cosine_cut
        return (self.cosine_update_min + self.cosine_add_max) / 2


@dataclass(frozen=True, kw_only=True)
class ArbitrationPolicy:
    """The limits for questions to an arbiter, for one process; a restart sets the counts to zero.

    Args:
        calls_per_minute_max: questions in any 60 seconds, 0 for none. An adapter's own retries and
            answers from the cache do not count.
        calls_per_day_max: questions in any 24 hours, 0 for none.
        breaker_failures_max: after so many failures in a row the arbiter is not asked for a while,
            1 or more.
        breaker_reset_seconds: the length of this pause, after which one question tries again; above
            0.
        cache_size_max: answers that are remembered, 0 for none.
        confidence_min: an answer that is less sure of itself is not used; 0 to 1.
        usd_per_million_input_tokens, usd_per_million_output_tokens: prices, 0 or more; None if
            they are not known.
    """

    calls_per_minute_max: Quantity = 60
    calls_per_day_max: Quantity = 5_000
    breaker_failures_max: Positive = 5
    breaker_reset_seconds: Seconds = 60.0
    cache_size_max: Quantity = 10_000
    confidence_min: Share = 0.5
    usd_per_million_input_tokens: Amount | None = None
    usd_per_million_output_tokens: Amount | None = None

    def cost_usd(self, usage: Usage | None) -> float | None:
        """Return the price of these tokens in US dollars; None if it is unknown."""
        price_in, price_out = self.usd_per_million_input_tokens, self.usd_per_million_output_tokens
        if usage is None or price_in is None or price_out is None:
            return None
        return (usage.input_tokens * price_in + usage.output_tokens * price_out) / 1_000_000


@frozen
class RetryPolicy:
    """How long to try again.

    Args:
        attempts_max: attempts in all, if other writers keep coming first. A writer loses at most
            once to each write of another writer, so it gives up only after that many writes.
        unavailable_seconds_max: how long to wait for an engine that is unavailable.
    """

    attempts_max: int = 100
    unavailable_seconds_max: float = 6.0


@dataclass(frozen=True, kw_only=True)
class RankingPolicy:
    """How facts are chosen, and the weights of a chosen fact's score.

    Args:
        weight_similarity: the weight of similarity to the question; 0.7, so that it counts most.
        weight_recency: the weight of recency: how few rivals were said later.
        weight_importance: the weight of importance.
        weight_strength: the weight of strength, by importance, age and use; with 0 only the other
            three count.
        weight_words: the part of similarity that the question's words have, 0 to 1; the rest is the
            cosine's; a negative cosine counts as 0. Source: benchmarks/recall.py.
        recency_half_life_days: after so many days recency is one half, without a question.
        rival_cosine_min: facts that are chosen together and are this near to each other are ordered
            by the times when they were said, even if those are only minutes apart. Source:
            benchmarks/recall.py.
        chosen_at_once: how many facts are chosen by closeness and then ordered by score, before the
            next batch; so a smaller limit shortens an answer and does not change it.
        rank_constant: the constant of the reciprocal ranks that join closeness in meaning and in
            words (Cormack, Clarke and Buettcher 2009, who take 60). Source: benchmarks/recall.py.
    """

    weight_similarity: Amount = 0.7
    weight_recency: Amount = 0.2
    weight_importance: Amount = 0.1
    weight_strength: Amount = 0.0
    weight_words: Share = 0.2
    recency_half_life_days: AboveZero = 30.0
    rival_cosine_min: Cosine = 0.7
    chosen_at_once: Annotated[int, Ge(1), Le(1_000)] = 8
    rank_constant: Amount = 20.0


@frozen
class RecallFloor:
    """How near a fact must be to answer a question, and how near the nearest must be.

    The more facts there are, the nearer the nearest one is by chance; and a long question is nearer
    to its answer than "Who signs?".

    Args:
        base: the least sum of cosine and words for the nearest fact, with one fact and no word of
            content in the question.
        growth: how much more for each e times as many facts.
        words: the weight of the share of the question's words, beside the cosine.
        question: how much more for each e times as many words of content in the question.
        share: the share of the nearest fact's sum that every other fact must reach; None for
            ``base``.
        usual: how much lower the bound is if the question clearly asks for a common attribute; a
            less clear question lowers it less.
        least: below this the bound never falls.
        few: if the contact has fewer facts, only a part of the bound holds, log(1 + facts) of
            log(1 + few): of few facts the nearest is rarely near by chance.
    """

    base: float
    growth: float = 0.0
    words: float = 0.0
    question: float = 0.0
    share: float | None = None
    usual: float = 1.0
    least: float = -1.0
    few: int = 1

    def of(self, count: int, asked: int = 0, clearness: float = 0.0) -> float:
        """Return the lowest sum that the nearest fact may have.

        Args:
            count: the number of facts, 1 or more; the bound stops growing at a thousand.
            asked: the question's words of content; the bound stops growing at five.
            clearness: how clearly it asks for an attribute, 0 to 1.
        """
        grown = self.growth * math.log(min(count, _FLOOR_COUNT_MAX))
        least = self.base + grown + self.question * math.log1p(min(asked, _FLOOR_WORDS_MAX))
        return max(least - self.usual * clearness, self.least)

    def part(self, held: int) -> float:
        """The part of the bound that holds if a contact has so many facts."""
        return math.log1p(held) / math.log1p(self.few) if held < self.few else 1.0

    def of_each(self, nearest: float) -> float:
        """The lowest sum that a fact of an answer may have, from the sum of the nearest fact."""
        return self.base if self.share is None else self.share * nearest


@frozen
class DecayPolicy:
    """How facts fade if they are not said again.

    Args:
        half_life_days: after so many days, a fact of importance 0.5 that was never recalled has
            half its strength.
        floor: the sweep archives a fact with less strength; 0 to 1.
    """

    half_life_days: float = 90.0
    floor: float = 0.1


@dataclass(frozen=True, kw_only=True)
class ExtractionPolicy:
    """How sessions are cut into windows, and which claims are not proposed at all.

    Args:
        window_characters: about so many characters are read at once.
        window_overlap_turns: turns that the next window shows again.
        importance_min: a claim of less importance is not proposed; a remark has 0.2.
        session_characters_max: a longer session is refused.
        session_turns_max: a session with more turns is refused.
    """

    window_characters: Annotated[int, Ge(1_000)] = 24_000
    window_overlap_turns: Quantity = 4
    importance_min: Share = 0.2
    session_characters_max: Positive = 1_000_000
    session_turns_max: Positive = 2_000


@dataclass(frozen=True, kw_only=True)
class JobPolicy:
    """How often a job is tried, and how long its worker may be silent.

    By default a job's waits add up to 10 to 20 minutes, so that a shorter outage of the extractor
    kills no job.

    Args:
        attempts_max: after so many unfinished attempts a job is dead.
        backoff_seconds: the wait before the second attempt; doubled before each further one.
        backoff_seconds_max: the longest wait.
        lease_seconds: a worker that is silent for so long loses its job to another.
    """

    attempts_max: Positive = 8
    backoff_seconds: Wait = 10.0
    backoff_seconds_max: Wait = 600.0
    lease_seconds: Seconds = 60.0

    def wait(
        self, attempts: int, retry_after_seconds: float | None, chance: float | None = None
    ) -> timedelta:
        """How long until the next attempt: doubling, with jitter, never sooner than a server asks.

        Args:
            attempts: how many there were.
            retry_after_seconds: what the server asked for, or None.
            chance: from 0 to 1, the jitter; None for a random one.
        """
        if chance is None:
            chance = random.random()  # noqa: S311  no secret
        full = min(self.backoff_seconds * 2 ** max(attempts - 1, 0), self.backoff_seconds_max)
        jittered = full * (0.5 + chance / 2)
        return timedelta(seconds=max(jittered, retry_after_seconds or 0.0))


@frozen
class JudgeQuestion:
    """One question and its expected answers.

    Attributes:
        about: the subject of the test.
        note: the note's text.
        facts: the texts of the facts, numbered from 1.
        relations: the expected ones; each of them is right.
        target: the expected fact; None if none is.
    """

    about: str
    note: str
    facts: Strings
    relations: frozenset[Relation]
    target: int | None = None

    @classmethod
    def from_mapping(cls, given: Values) -> JudgeQuestion:
        """Return the question that a file's table describes.

        Raises:
            ConfigurationError: a field is missing, or a word is not a relation.
        """
        from pydantic import TypeAdapter, ValidationError  # settings need none

        try:
            return TypeAdapter(cls).validate_python(given)
        except ValidationError as error:
            raise ConfigurationError(f"a question to the judge cannot be used: {error}") from error


@frozen
class Profile:
    """The thresholds of the rule, in raw cosine, for one embedding model.

    Attributes:
        name: as it is recorded on every decision.
        embedding_model: name and fingerprint of the model, for example
            ``all-MiniLM-L6-v2@53aa5117``; None for thresholds that are meant for any.
        cosine_update_min: at or above it a note supersedes.
        cosine_add_max: below it a note is new.
        cosine_cut: at or above it a note in the band supersedes if no arbiter decides.
    """

    name: str
    embedding_model: str | None
    cosine_update_min: float
    cosine_add_max: float
    cosine_cut: float

    def check_model(self, embedding_model: str) -> None:
        """Refuse any model but the one that the thresholds were measured on.

        Raises:
            ConfigurationError: it is another model; its cosines have another meaning.
        """
        if self.embedding_model not in (None, embedding_model):
            raise ConfigurationError(
                f"profile {self.name} was calibrated on {self.embedding_model}, but the embedder "
                f"is {embedding_model}; run `reconciler calibrate` for this embedder, or set "
                "RECONCILER_RECONCILE__PROFILE=seed"
            )
