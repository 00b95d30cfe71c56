"""Shares of samples with their intervals, and how often the rule errs on labelled pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from math import sqrt
from statistics import NormalDist

from reconciler.domain.reconciling.rule import decide
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.kinds import Outcome
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.ops.calibration import MeasuredPair, PairLabel, posed

SETTLED = frozenset({Outcome.SUPERSEDED, Outcome.REPEATED})
"""The outcomes that leave one live fact: right for a restatement and for an update, wrong for a
distinct pair."""

ERRORS: Mapping[str, tuple[PairLabel, frozenset[Outcome]]] = {
    "false_supersessions": (PairLabel.DISTINCT, SETTLED),
    "silent_updates": (PairLabel.UPDATE, frozenset({Outcome.APART})),
    "same_stored_twice": (PairLabel.SAME, frozenset({Outcome.CONFLICT, Outcome.APART})),
    "distinct_marked": (PairLabel.DISTINCT, frozenset({Outcome.CONFLICT})),
}
"""The errors: pairs of a label with these outcomes.

A superseded distinct fact was true; a silent update leaves two live facts that nothing links.
"""


def outcome_of(
    measured: MeasuredPair, policy: ReconcilePolicy, answer: Judgement | None = None
) -> Outcome:
    """Return the result of ``decide`` for the pair's note if only the pair's fact is known.

    Args:
        measured: the pair.
        policy: the thresholds.
        answer: an arbiter's answer, used if the rule asks an arbiter; None without an arbiter.
    """
    note, facts = posed(measured)
    verdict = decide(note, facts, policy)
    if answer is not None and verdict.can_be_arbitrated:
        verdict = decide(note, facts, policy, answer)
    return verdict.outcome


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A share of a sample, and what it says about all pairs that were not in the sample."""

    count: int
    of: int

    @property
    def share(self) -> float | None:
        """The share, 0 to 1; None of 0 pairs."""
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval, without continuity correction; (0, 1) for 0 pairs.

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


@dataclass(frozen=True, kw_only=True)
class DecisionScores:
    """The outcomes of pairs, as quoted figures: how often each error occurs."""

    source: str
    counts: Counter[tuple[PairLabel, Outcome]] = field(default_factory=Counter)

    def rate(self, error: str) -> Rate:
        """How often an error of ``ERRORS`` occurs among the pairs of its label."""
        label, wrong = ERRORS[error]
        count, of = (sum(self.counts[label, each] for each in some) for some in (wrong, Outcome))
        return Rate(count=count, of=of)
