"""Calibration: what a rule makes of labelled pairs, and thresholds chosen from that.

Pure; no model, graph or file. What becomes of a pair is asked of ``decide`` and never worked out
here, so that what is measured is what the engine does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, field, replace
from datetime import UTC, datetime
from enum import IntEnum, StrEnum
from functools import cache
from itertools import takewhile
from math import sqrt
from statistics import NormalDist
from typing import Any

from reconciler.domain.reconciling.rule import decide
from reconciler.domain.records.decisions import Judgement, Verdict
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, Relation
from reconciler.domain.records.notes import Note
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.domain.records.profile import Profile
from reconciler.domain.records.scope import Scope
from reconciler.domain.records.slots import Slot
from reconciler.errors import InvalidRequestError
from reconciler.frozen import frozen

ALL_SOURCES = "all sources"
"""The row that holds every pair, each counted once."""

LABEL_COUNT_MIN = 20
"""Pairs of each label without which nothing is chosen: of 20 right ones, Wilson's interval still
allows for 16 % wrong."""

TELLING_COUNT_MIN = 10
"""Pairs of one label that make a source count by itself; a reach is kept in every such source."""

STEP = 100
"""Thresholds are whole hundredths; a finer one would promise more than some thousand pairs tell."""

_SCOPE = Scope("calibration", "calibration", "calibration")
_FACT_SAID_AT = datetime(2026, 1, 1, tzinfo=UTC)
_NOTE_SAID_AT = datetime(2026, 2, 1, tzinfo=UTC)


class PairLabel(StrEnum):
    """How the note of a pair really relates to the fact."""

    SAME = "same"
    """It says the same again."""

    UPDATE = "update"
    """It answers the same question otherwise; both cannot hold now."""

    DISTINCT = "distinct"
    """Both hold."""


@frozen
class LabelledPair:
    """A fact, a note that came after it, and how the two really relate.

    Attributes:
        source: where the pair comes from; each source is also reported by itself.
        fact_slot, note_slot: what they answer about whom, normalised; None if unknown.
    """

    pair_id: str
    source: str
    fact_text: str
    note_text: str
    label: PairLabel
    fact_slot: Slot | None = None
    note_slot: Slot | None = None


@frozen
class MeasuredPair:
    """A pair with the raw cosine of its two texts under one model, in [-1, 1]."""

    pair: LabelledPair
    cosine: float


class Outcome(StrEnum):
    """The note's outcome, seen from the fact that it was compared with."""

    SUPERSEDED = "superseded"
    """The note takes the fact's place."""

    REPEATED = "repeated"
    """The note is taken for the fact said again; nothing new is stored."""

    CONFLICT = "conflict"
    """Both are live, linked as a possible contradiction."""

    APART = "apart"
    """Both are live, and nothing says that they have to do with each other."""

    HISTORY = "history"
    """The note is written beneath a newer fact, not live."""


SETTLED = frozenset({Outcome.SUPERSEDED, Outcome.REPEATED})
"""One live fact is left: right for the same and for an update, wrong for what is distinct."""

STORED_TWICE = frozenset({Outcome.CONFLICT, Outcome.APART})
"""Two live facts are left."""

SEED_POLICY = ReconcilePolicy()
"""The shipped default, profile ``seed``: the thresholds for any model, and the guard."""


def label_of_relation(relation: Relation) -> PairLabel:
    """The label that an arbiter's or a person's word for the relation comes down to."""
    if relation in (Relation.SAME, Relation.REFINES):
        return PairLabel.SAME
    return PairLabel.UPDATE if relation is Relation.REPLACES else PairLabel.DISTINCT


def outcome_of_verdict(verdict: Verdict[Any]) -> Outcome:
    """A verdict's outcome for the fact that it was decided on."""
    if verdict.is_history:
        return Outcome.HISTORY
    if verdict.action in (Action.UPDATE, Action.REVOKE):
        return Outcome.SUPERSEDED
    if verdict.action is Action.SKIP:
        return Outcome.REPEATED
    return Outcome.CONFLICT if verdict.conflicts else Outcome.APART


def outcome_of(
    measured: MeasuredPair, policy: ReconcilePolicy, answer: Judgement | None = None
) -> Outcome:
    """The result of ``decide`` for the pair's note if only the pair's fact is known.

    Args:
        measured: the pair.
        policy: the thresholds.
        answer: an arbiter's, used where the rule asks one; None without an arbiter.
    """
    pair = measured.pair
    note = Note(scope=_SCOPE, text=pair.note_text, said_at=_NOTE_SAID_AT, slot=pair.note_slot)
    fact = Neighbour(
        fact_id=pair.pair_id,
        text=pair.fact_text,
        cosine=measured.cosine,
        valid_from=_FACT_SAID_AT,
        slot=pair.fact_slot,
    )
    verdict = decide(note, [fact], policy)
    if answer is not None and verdict.can_be_arbitrated:
        verdict = decide(note, [fact], policy, answer)
    return outcome_of_verdict(verdict)


class Zone(IntEnum):
    """Where a cosine lies among the three thresholds; within one of them ``decide`` is constant."""

    BELOW = 0
    LOWER = 1
    UPPER = 2
    TOP = 3


@frozen
class Thresholds:
    """The three thresholds of the rule, in raw cosine; their order is the policy's to check."""

    cosine_update_min: float
    cosine_add_max: float
    cosine_cut: float

    @classmethod
    def of(cls, policy: ReconcilePolicy) -> Thresholds:
        """Those of a policy."""
        return cls(
            cosine_update_min=policy.cosine_update_min,
            cosine_add_max=policy.cosine_add_max,
            cosine_cut=policy.cut,
        )

    def zone(self, cosine: float) -> Zone:
        """Where the cosine lies; a threshold belongs to the zone above it, as in the rule."""
        bounds = (self.cosine_add_max, self.cosine_cut, self.cosine_update_min)
        return Zone(sum(cosine >= bound for bound in bounds))

    def profile(self, name: str, embedding_model: str) -> Profile:
        """They as a profile for the model that they were measured on."""
        return Profile(name=name, embedding_model=embedding_model, **asdict(self))


@frozen
class ProbedPair:
    """A pair with what ``decide`` makes of it in every zone, so that thresholds can be tried.

    Attributes:
        outcomes: by zone, without an arbiter.
    """

    pair: LabelledPair
    cosine: float
    outcomes: tuple[Outcome, ...]

    def outcome(self, thresholds: Thresholds) -> Outcome:
        """The same as ``outcome_of`` under a policy with these thresholds."""
        return self.outcomes[thresholds.zone(self.cosine)]


_PROBE_COSINES = (-0.75, -0.25, 0.25, 0.75)
_PROBE_THRESHOLDS = (-0.5, 0.0, 0.5)


def probe(pairs: Iterable[MeasuredPair], *, guard: bool) -> list[ProbedPair]:
    """The pairs in their order, each decided once in every zone.

    Args:
        pairs: what to decide.
        guard: whether the guard is on.
    """
    add_max, cut, update_min = _PROBE_THRESHOLDS
    policy = ReconcilePolicy(
        cosine_add_max=add_max, cosine_cut=cut, cosine_update_min=update_min, guard=guard
    )
    return [_probed(pair, policy) for pair in pairs]


def _probed(measured: MeasuredPair, policy: ReconcilePolicy) -> ProbedPair:
    placed = [replace(measured, cosine=cosine) for cosine in _PROBE_COSINES]
    return ProbedPair(
        pair=measured.pair,
        cosine=measured.cosine,
        outcomes=tuple(outcome_of(pair, policy) for pair in placed),
    )


@frozen
class Rate:
    """So many of so many, with what that says about all that were not looked at."""

    count: int
    of: int

    @property
    def share(self) -> float | None:
        """The share, 0 to 1; None of nothing."""
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval, without continuity correction; (0, 1) of nothing.

        Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference,
        JASA 22 (1927).
        """
        return _wilson(self.count, self.of)


@cache
def _wilson(count: int, of: int) -> tuple[float, float]:
    if not of:
        return (0.0, 1.0)
    share, deviations = count / of, NormalDist().inv_cdf(0.975)
    middle = share + deviations**2 / (2 * of)
    reach = deviations * sqrt(share * (1 - share) / of + (deviations / (2 * of)) ** 2)
    divisor = 1 + deviations**2 / of
    low = 0.0 if count == 0 else (middle - reach) / divisor  # rounding would leave 1e-17
    high = 1.0 if count == of else (middle + reach) / divisor
    return (low, high)


@frozen
class DecisionScores:
    """The outcomes of one source's pairs, as quoted figures: how often each error occurs.

    Attributes:
        counts: pairs by label and outcome.
    """

    source: str
    counts: Counter[tuple[PairLabel, Outcome]] = field(default_factory=Counter)

    @property
    def false_supersessions(self) -> Rate:
        """Of the distinct, those that lost their fact: a true one was retired."""
        return self._rate(PairLabel.DISTINCT, SETTLED)

    @property
    def silent_updates(self) -> Rate:
        """Of the updates, those left as two live facts that nothing links."""
        return self._rate(PairLabel.UPDATE, {Outcome.APART})

    @property
    def same_stored_twice(self) -> Rate:
        """Of the same, those stored a second time, marked or not."""
        return self._rate(PairLabel.SAME, STORED_TWICE)

    @property
    def distinct_marked(self) -> Rate:
        """Of the distinct, those marked as a possible contradiction."""
        return self._rate(PairLabel.DISTINCT, {Outcome.CONFLICT})

    def _rate(self, label: PairLabel, outcomes: Iterable[Outcome]) -> Rate:
        count, of = (sum(self.counts[label, each] for each in some) for some in (outcomes, Outcome))
        return Rate(count=count, of=of)


def score(pairs: Iterable[ProbedPair], thresholds: Thresholds) -> tuple[DecisionScores, ...]:
    """The scores of each source in alphabetical order, and of all of them last."""
    by_source: dict[str, DecisionScores] = {}
    everything = DecisionScores(source=ALL_SOURCES)
    for probed in pairs:
        scores = by_source.setdefault(probed.pair.source, DecisionScores(source=probed.pair.source))
        outcome = probed.outcome(thresholds)
        scores.counts[probed.pair.label, outcome] += 1
        everything.counts[probed.pair.label, outcome] += 1
    return (*(by_source[name] for name in sorted(by_source)), everything)


_GRID = tuple(step / STEP for step in range(-STEP, STEP + 1))


class BoundBasis(StrEnum):
    """How a sample is held against a bound on errors."""

    WILSON_UPPER = "the upper end of Wilson's 95 % interval"
    NO_ERROR = "no error at all, as the pairs are too few for their interval to keep it"
    """Stricter than the measured share, so that fewer pairs never make a threshold bolder."""

    @classmethod
    def for_sample(cls, count: int, share_max: float) -> BoundBasis:
        """The interval, where not a single error in so many pairs would keep within the bound."""
        _, upper = _wilson(0, count)
        return cls.WILSON_UPPER if upper <= share_max else cls.NO_ERROR


@frozen
class CalibrationGoal:
    """What the chosen thresholds have to keep; shares from 0 to 1.

    Args:
        false_supersession_max: the bound on the share of distinct pairs with a superseded fact;
            above 0, below 1.
        mistaken_restatement_max: the bound on the share of updates that are taken for
            restatements. Looser: the right fact is left, only with observations that are not its
            own.
        same_reach_min: the share of the same that has to lie at or above ``cosine_add_max``,
            where an arbiter is asked.
        update_reach_min: that of the updates. Higher reaches more of them, and sends more
            distinct pairs to the arbiter, or has them marked where there is none.
        sources: the sources that the thresholds are chosen on; the others are only reported. None
            for all.

    Raises:
        InvalidRequestError: a share is out of its range.
    """

    false_supersession_max: float = 0.01
    mistaken_restatement_max: float = 0.05
    same_reach_min: float = 0.98
    update_reach_min: float = 0.95
    sources: frozenset[str] | None = None

    def __post_init__(self) -> None:
        if not 0 < self.false_supersession_max < 1:
            raise InvalidRequestError(
                "the bound on false supersessions is a share above 0 and below 1, not "
                f"{self.false_supersession_max}"
            )
        for name in ("mistaken_restatement_max", "same_reach_min", "update_reach_min"):
            if not 0 <= getattr(self, name) <= 1:
                raise InvalidRequestError(
                    f"{name} is a share from 0 to 1, not {getattr(self, name)}"
                )


def choose_thresholds(
    pairs: Sequence[ProbedPair], goal: CalibrationGoal
) -> tuple[Thresholds, BoundBasis]:
    """The thresholds that keep the goal and settle the most, and what the bound was held against.

    Pairs of all chosen sources count together, each once: an interval needs a count, and a source
    of two pairs has none worth the name. If you measure a source that fools every cosine by design,
    leave it out of ``goal.sources`` and read its row.

    - ``cosine_cut`` is the lowest at or above which the rule supersedes no more distinct pairs
      than the bound allows.
    - ``cosine_update_min`` is the lowest, from the cut on, at or above which no more of the updates
      are taken for restatements than their bound allows; no judge is asked there.
    - ``cosine_add_max`` is the highest, up to the cut, at or above which the wanted shares of the
      same and of the updates lie in every source: no distinct pair more than that goes to the
      arbiter.

    Args:
        pairs: probed with the guard on, 20 or more of each label in the chosen sources.
        goal: what to keep.

    Raises:
        InvalidRequestError: too few pairs of a label, an unknown source, or a bound that no
            threshold keeps.
    """
    by_label = _by_label(pairs, goal)
    distinct, updates = by_label[PairLabel.DISTINCT], by_label[PairLabel.UPDATE]
    cut = _lowest_safe(distinct, Zone.UPPER, goal.false_supersession_max)
    if cut is None:
        raise InvalidRequestError(
            f"no threshold keeps false supersessions at {goal.false_supersession_max:g}: too many "
            "of the distinct pairs have the same text twice; look at their labels"
        )
    top = _lowest_safe(updates, Zone.TOP, goal.mistaken_restatement_max)
    update_min = max(cut, 1.0 if top is None else top)
    add_max = min(
        cut,
        _highest_reaching(by_label[PairLabel.SAME], goal.same_reach_min),
        _highest_reaching(by_label[PairLabel.UPDATE], goal.update_reach_min),
    )
    thresholds = Thresholds(cosine_update_min=update_min, cosine_add_max=add_max, cosine_cut=cut)
    return thresholds, BoundBasis.for_sample(len(distinct), goal.false_supersession_max)


def _by_label(
    pairs: Iterable[ProbedPair], goal: CalibrationGoal
) -> dict[PairLabel, list[ProbedPair]]:
    known: set[str] = set()
    by_label: dict[PairLabel, list[ProbedPair]] = {label: [] for label in PairLabel}
    for probed in pairs:
        known.add(probed.pair.source)
        if goal.sources is None or probed.pair.source in goal.sources:
            by_label[probed.pair.label].append(probed)
    if unknown := sorted((goal.sources or frozenset()) - known):
        raise InvalidRequestError(f"no pair is of source {unknown}; there are {sorted(known)}")
    if short := [label for label in PairLabel if len(by_label[label]) < LABEL_COUNT_MIN]:
        counts = ", ".join(f"{len(by_label[label])} {label}" for label in short)
        raise InvalidRequestError(
            f"{counts} are too few pairs to choose thresholds from; {LABEL_COUNT_MIN} of each "
            f"label ({', '.join(PairLabel)}) are needed"
        )
    return by_label


def _lowest_safe(pairs: Sequence[ProbedPair], zone: Zone, share_max: float) -> float | None:
    """The lowest threshold from which on few enough of the pairs are superseded; None without."""
    allowed = _errors_max(len(pairs), share_max)
    wrong = [probed.cosine for probed in pairs if probed.outcomes[zone] in SETTLED]
    bounds = (
        threshold for threshold in _GRID if sum(cosine >= threshold for cosine in wrong) <= allowed
    )
    return next(bounds, None)


def _errors_max(count: int, share_max: float) -> int:
    """How many of so many pairs may be wrong."""
    if BoundBasis.for_sample(count, share_max) is BoundBasis.NO_ERROR:
        return 0
    kept = takewhile(lambda wrong: _wilson(wrong, count)[1] <= share_max, range(count + 1))
    return max(kept)


def _highest_reaching(pairs: Sequence[ProbedPair], share_min: float) -> float:
    """The highest threshold at or above which that share lies, in each source that can tell."""
    by_source: dict[str, list[float]] = {}
    for probed in pairs:
        by_source.setdefault(probed.pair.source, []).append(probed.cosine)
    telling = [cosines for cosines in by_source.values() if len(cosines) >= TELLING_COUNT_MIN]
    groups = telling or [[probed.cosine for probed in pairs]]
    return min(_highest_of(group, share_min) for group in groups)


def _highest_of(cosines: Sequence[float], share_min: float) -> float:
    return max(
        threshold
        for threshold in _GRID
        if sum(cosine >= threshold for cosine in cosines) / len(cosines) >= share_min
    )
