"""Calibration: applies a rule to labelled pairs, and chooses thresholds from the results.

Pure; no model, graph or file. The result for a pair comes from ``decide`` and is never computed
here, so that the measured results are those of the engine.

Replay: decides recorded decisions again under other thresholds.

Pure; no graph, model or arbiter is asked, and nothing is written. A decision holds all input of the
rule, and the arbiter's answer if one was asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from itertools import takewhile
from math import sqrt
from statistics import NormalDist
from typing import Any

from reconciler.domain.reconciling.ahead import announced, of_today
from reconciler.domain.reconciling.by_slot import is_left_open
from reconciler.domain.reconciling.by_text import TAKES_BACK
from reconciler.domain.reconciling.limits import OBSERVATIONS_OF_FIRM
from reconciler.domain.reconciling.rule import check_judgement, decide, shown_to_judge
from reconciler.domain.reconciling.verdicts import Unread
from reconciler.domain.records.decisions import Decision, Judgement, Verdict
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import DecidedBy, Outcome, Relation
from reconciler.domain.records.notes import CLOCK_SKEW_MAX, Note, Scope, Slot
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.errors import ArbiterAnswerError, InvalidRequestError
from reconciler.frozen import frozen
from reconciler.reading.canonical import canonical_text
from reconciler.reading.findings import Difference

ALL_SOURCES = "all sources"
"""The row that holds every pair, each counted once."""

LABEL_COUNT_MIN = 20
"""The fewest pairs of each label: with 20 right pairs, Wilson's interval still allows for 16 %
wrong."""

TELLING_COUNT_MIN = 10
"""The fewest pairs of one label with which a source counts by itself; every such source must keep
its reach."""

STEP = 100
"""Thresholds are whole hundredths; finer ones would promise more than some thousand pairs can
show."""

_SCOPE = Scope("calibration", "calibration", "calibration")
_FACT_SAID_AT = datetime(2026, 1, 1, tzinfo=UTC)
_NOTE_SAID_AT = datetime(2026, 2, 1, tzinfo=UTC)


class PairLabel(StrEnum):
    """How the note of a pair really relates to the fact."""

    SAME = "same"
    """The note says the same as the fact."""

    UPDATE = "update"
    """The note gives another answer to the same question; both cannot hold now."""

    DISTINCT = "distinct"
    """Note and fact both hold."""


@frozen
class LabelledPair:
    """A fact, a note that came after it, and how the two really relate.

    Attributes:
        source: where the pair comes from; each source is also reported by itself.
        fact_slot, note_slot: the person and the question that each answers, normalised; None if
            unknown.
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

SEED_POLICY = ReconcilePolicy()
"""The shipped default, profile ``seed``: the thresholds for any model, and the guard."""


def label_of_relation(relation: Relation) -> PairLabel:
    """Return the label for an arbiter's or a person's word for the relation."""
    if relation in (Relation.SAME, Relation.REFINES):
        return PairLabel.SAME
    return PairLabel.UPDATE if relation is Relation.REPLACES else PairLabel.DISTINCT


def outcome_of(
    measured: MeasuredPair, policy: ReconcilePolicy, answer: Judgement | None = None
) -> Outcome:
    """Return the result of ``decide`` for the pair's note if only the pair's fact is known.

    Args:
        measured: the pair.
        policy: the thresholds.
        answer: an arbiter's answer, used if the rule asks an arbiter; None without an arbiter.
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
    return verdict.outcome


@frozen
class Rate:
    """A share of a sample, and what it says about all pairs that were not in the sample."""

    count: int
    of: int

    @property
    def share(self) -> float | None:
        """Return the share, 0 to 1; None of 0 pairs."""
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        """Return Wilson's 95 % interval, without continuity correction; (0, 1) for 0 pairs.

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

    def rate(self, error: str) -> Rate:
        """Return how often an error of ``ERRORS`` occurs among the pairs of its label."""
        label, wrong = ERRORS[error]
        count, of = (sum(self.counts[label, each] for each in some) for some in (wrong, Outcome))
        return Rate(count=count, of=of)


def score(pairs: Iterable[MeasuredPair], policy: ReconcilePolicy) -> tuple[DecisionScores, ...]:
    """Score each source in alphabetical order, and all sources last; without an arbiter."""
    by_source: dict[str, DecisionScores] = {}
    everything = DecisionScores(source=ALL_SOURCES)
    for measured in pairs:
        pair = measured.pair
        scores = by_source.setdefault(pair.source, DecisionScores(source=pair.source))
        outcome = outcome_of(measured, policy)
        scores.counts[pair.label, outcome] += 1
        everything.counts[pair.label, outcome] += 1
    return (*(by_source[name] for name in sorted(by_source)), everything)


_GRID = tuple(step / STEP for step in range(-STEP, STEP + 1))


class BoundBasis(StrEnum):
    """The figure of a sample that is compared with the bound on errors."""

    WILSON_UPPER = "the upper end of Wilson's 95 % interval"
    NO_ERROR = "no error at all, as the pairs are too few for their interval to keep it"
    """No error is allowed: stricter than the measured share, so that fewer pairs never make a
    threshold bolder."""

    @classmethod
    def for_sample(cls, count: int, share_max: float) -> BoundBasis:
        """Choose the interval, if so many pairs without an error would keep the bound."""
        _, upper = _wilson(0, count)
        return cls.WILSON_UPPER if upper <= share_max else cls.NO_ERROR


FALSE_SUPERSESSION_MAX = 0.01
"""The usual bound on the share of distinct pairs with a superseded fact."""

_MISTAKEN_RESTATEMENT_MAX = 0.05
"""The bound on the share of updates that are taken for restatements. It is looser, because the
right fact remains, although with observations of another fact."""

_SAME_REACH_MIN = 0.98
"""The share of restatements that must be at or above ``cosine_add_max``, where a judge is asked."""

_UPDATE_REACH_MIN = 0.95
"""The share of updates that must be there. A higher share reaches more updates, but sends more
distinct pairs to the arbiter, or marks them if there is no arbiter."""


def choose_thresholds(
    pairs: Sequence[MeasuredPair], false_supersession_max: float = FALSE_SUPERSESSION_MAX
) -> tuple[ReconcilePolicy, BoundBasis]:
    """Choose the thresholds that keep the bounds and settle the most; also return the basis.

    Pairs of all sources count together, each once, because a source of two pairs is too small for
    an interval. Leave out a source that misleads every cosine by design.

    - ``cosine_cut`` is the lowest threshold at or above which the rule supersedes no more distinct
      pairs than the bound allows.
    - ``cosine_update_min`` is the lowest threshold, from the cut on, at or above which no more of
      the updates are taken for restatements than their bound allows; no judge is asked there.
    - ``cosine_add_max`` is the highest threshold, up to the cut, that the wanted shares of
      restatements and of updates reach in every source; so no more distinct pairs than necessary go
      to the arbiter.

    Args:
        pairs: 20 or more of each label.
        false_supersession_max: the bound on the share of distinct pairs with a superseded fact;
            above 0, below 1.

    Raises:
        InvalidRequestError: too few pairs of a label, or a bound that no threshold keeps.
    """
    if not 0 < false_supersession_max < 1:
        raise InvalidRequestError(
            "the bound on false supersessions is a share above 0 and below 1, not "
            f"{false_supersession_max}"
        )
    by_label = _by_label(pairs)
    distinct, updates = by_label[PairLabel.DISTINCT], by_label[PairLabel.UPDATE]
    cut = _lowest_safe(distinct, _FROM_CUT, false_supersession_max)
    if cut is None:
        raise InvalidRequestError(
            f"no threshold keeps false supersessions at {false_supersession_max:g}: too many "
            "of the distinct pairs have the same text twice; look at their labels"
        )
    top = _lowest_safe(updates, _FROM_UPDATE_MIN, _MISTAKEN_RESTATEMENT_MAX)
    update_min = max(cut, 1.0 if top is None else top)
    add_max = min(
        cut,
        _highest_reaching(by_label[PairLabel.SAME], _SAME_REACH_MIN),
        _highest_reaching(by_label[PairLabel.UPDATE], _UPDATE_REACH_MIN),
    )
    policy = ReconcilePolicy(cosine_update_min=update_min, cosine_add_max=add_max, cosine_cut=cut)
    return policy, BoundBasis.for_sample(len(distinct), false_supersession_max)


def _by_label(pairs: Iterable[MeasuredPair]) -> dict[PairLabel, list[MeasuredPair]]:
    by_label: dict[PairLabel, list[MeasuredPair]] = {label: [] for label in PairLabel}
    for measured in pairs:
        by_label[measured.pair.label].append(measured)
    if short := [label for label in PairLabel if len(by_label[label]) < LABEL_COUNT_MIN]:
        counts = ", ".join(f"{len(by_label[label])} {label}" for label in short)
        raise InvalidRequestError(
            f"{counts} are too few pairs for a choice of thresholds; {LABEL_COUNT_MIN} of each "
            f"label ({', '.join(PairLabel)}) are needed"
        )
    return by_label


_FAR_APART = ReconcilePolicy(cosine_update_min=0.5, cosine_add_max=-0.5, cosine_cut=0.0)
_FROM_CUT, _FROM_UPDATE_MIN = 0.25, 0.75
"""Cosines between its thresholds; between two thresholds ``decide`` is constant."""


def _lowest_safe(pairs: Sequence[MeasuredPair], within: float, share_max: float) -> float | None:
    """Find the lowest threshold that supersedes few enough of the pairs; None if there is none.

    Args:
        pairs: the pairs.
        within: a cosine of ``_FAR_APART`` on the tested side of the threshold.
        share_max: the share of them that may be superseded.
    """
    allowed = _errors_max(len(pairs), share_max)
    wrong = [
        measured.cosine
        for measured in pairs
        if outcome_of(replace(measured, cosine=within), _FAR_APART) in SETTLED
    ]
    bounds = (
        threshold for threshold in _GRID if sum(cosine >= threshold for cosine in wrong) <= allowed
    )
    return next(bounds, None)


def _errors_max(count: int, share_max: float) -> int:
    """Return how many of so many pairs may be wrong."""
    if BoundBasis.for_sample(count, share_max) is BoundBasis.NO_ERROR:
        return 0
    kept = takewhile(lambda wrong: _wilson(wrong, count)[1] <= share_max, range(count + 1))
    return max(kept)


def _highest_reaching(pairs: Sequence[MeasuredPair], share_min: float) -> float:
    """Find the highest threshold that this share reaches, in each source with enough pairs."""
    by_source: dict[str, list[float]] = {}
    for measured in pairs:
        by_source.setdefault(measured.pair.source, []).append(measured.cosine)
    telling = [cosines for cosines in by_source.values() if len(cosines) >= TELLING_COUNT_MIN]
    groups = telling or [[measured.cosine for measured in pairs]]
    return min(_highest_of(group, share_min) for group in groups)


def _highest_of(cosines: Sequence[float], share_min: float) -> float:
    return max(
        threshold
        for threshold in _GRID
        if sum(cosine >= threshold for cosine in cosines) / len(cosines) >= share_min
    )


@frozen
class Replayed:
    """A recorded decision, and what would be decided today.

    Attributes:
        decision: the record.
        verdict: today's verdict; with ``would_ask``, the verdict without an arbiter.
        is_same: whether the same facts would be superseded, repeated, linked or placed below. The
            name of the rule does not count.
        would_ask: whether an arbiter would be asked today, but was not asked then because of the
            old thresholds; its answer may differ from the verdict.
    """

    decision: Decision
    verdict: Verdict
    is_same: bool
    would_ask: bool

    @property
    def before(self) -> Outcome:
        """Return the note's old outcome."""
        return self.decision.verdict.outcome

    @property
    def after(self) -> Outcome:
        """Return the note's outcome today."""
        return self.verdict.outcome


def replay(decision: Decision, policy: ReconcilePolicy) -> Replayed:
    """Make a decision again from its record, under the policy.

    A note that was remembered without an embedder was compared with nothing; its decision stays the
    same. A value that changed back and forth is not recognised, because the older facts are not on
    record.

    Args:
        decision: the record, with the facts that the note was compared with.
        policy: the thresholds to try.
    """
    note, neighbours = _note(decision), _neighbours(decision)
    unread, policy = _unread_in(decision), _reaching(policy, decision.policy.reach)
    shown = _shown(decision, note, neighbours or (), policy)
    told = _told_in(decision) | {"is_state": not _was_left_open(decision)}
    if decision.reason.startswith(TAKES_BACK):
        told["taken_back"] = decision.verdict.targets
    verdict = decide(note, neighbours, policy, shown=shown, unread=unread, **told)
    would_ask = verdict.can_be_arbitrated and not _was_open(decision, note, neighbours)
    judgement = _judgement(decision, shown) if verdict.can_be_arbitrated else None
    if judgement is not None:
        verdict = decide(note, neighbours, policy, judgement, shown=shown, unread=unread)
    verdict = _in_time(verdict, note, decision, policy)
    return Replayed(
        decision=decision,
        verdict=verdict,
        is_same=_effect(verdict.by_id()) == _effect(decision.verdict),
        would_ask=would_ask,
    )


def _in_time(verdict: Verdict, note: Note, decision: Decision, policy: ReconcilePolicy) -> Verdict:
    """Limit the verdict to the decision's day: a planned fact ends nothing before its day."""
    if note.is_ahead(decision.at):
        return announced(verdict, note)[0]
    relations = decision.proposal.relations
    return of_today(verdict, note, policy, relations.named_ids if relations else ())[0]


def policy_of(decision: Decision) -> ReconcilePolicy:
    """Return the thresholds of the decision, as far as they are on record."""
    return ReconcilePolicy(
        cosine_update_min=decision.policy.cosine_update_min,
        cosine_add_max=decision.policy.cosine_add_max,
        cosine_cut=decision.policy.cosine_cut,
        guard=decision.policy.guard,
        reach=decision.policy.reach,
    )


def _reaching(policy: ReconcilePolicy, reach: float | None) -> ReconcilePolicy:
    """Return the policy; if a judge was asked below the band then, its answer counts again."""
    if policy.reach is not None or reach is None:
        return policy
    return replace(policy, reach=min(reach, policy.cosine_add_max))


def _unread_in(decision: Decision) -> Unread:
    """Return the parts that the model could not read, if that kept note and fact apart."""
    unread_findings = [
        finding for finding in decision.verdict.findings if finding.kind is Difference.UNREAD
    ]
    known = canonical_text(decision.text).casefold()

    def unread(text: str) -> str:
        is_note = canonical_text(text).casefold() == known
        return next((each.in_note if is_note else each.in_fact for each in unread_findings), "")

    return unread


def _note(decision: Decision) -> Note:
    # Whether a start was given is not on record: only then is what repeats a newer fact history.
    said_at, holds_from = decision.note.said_at, decision.note.holds_from
    is_start_given = holds_from != said_at or decision.verdict.is_history
    return Note(
        scope=decision.scope,
        text=decision.text,
        said_at=said_at,
        valid_from=holds_from if is_start_given else None,
        source_kind=decision.note.trust,
        slot=decision.note.slot,
        slot_read_from=decision.note.slot_read_from,
        category=decision.gate.category if decision.gate else None,
        is_hedged=decision.note.is_hedged,
        is_cleaned=True,
    )


def _neighbours(decision: Decision) -> list[Neighbour] | None:
    if decision.decided_by is DecidedBy.NOOP:
        return None
    ranked = [
        replace(fact, is_upcoming=fact.valid_from - decision.at > CLOCK_SKEW_MAX)
        for fact in sorted(decision.compared_with, key=lambda fact: fact.rank)
    ]
    spared = {*decision.conflicting_ids, *decision.verdict.targets}
    return [_as_spared(fact, decision) if fact.fact_id in spared else fact for fact in ranked]


def _as_spared(fact: Neighbour, decision: Decision) -> Neighbour:
    """Return the fact; if it was spared as repeated too often for a guess, with that many repeats.

    Three things are not on record: how often the fact was said then, whether it was standing, and
    whether its start was given.
    """
    if decision.decided_by is DecidedBy.HEDGE:
        return replace(fact, observations=OBSERVATIONS_OF_FIRM)
    if decision.decided_by is DecidedBy.ORDER:
        return replace(fact, is_start_given=True)
    return replace(fact, is_standing=decision.decided_by is DecidedBy.STANDING)


def _was_left_open(decision: Decision) -> bool:
    """True if a note of a known value did not say that it still holds; its vector is not kept."""
    compared = decision.compared_with
    return any(is_left_open(decision.note, decision.verdict, fact) for fact in compared)


def _told_in(decision: Decision) -> dict[str, Any]:
    """Return a model's relations to facts that are still on record, as ``decide`` takes them."""
    relations = decision.proposal.relations
    ids = {fact.fact_id for fact in decision.compared_with}
    if relations is None or not ids.issuperset(relations.named_ids):
        return {}
    is_extractors = decision.decided_by is DecidedBy.EXTRACTOR
    by = DecidedBy.EXTRACTOR if is_extractors else DecidedBy.AGENT
    return {"relations": relations, "related_by": by}


def _was_open(decision: Decision, note: Note, neighbours: Sequence[Neighbour] | None) -> bool:
    """True if the decision was an arbiter's then, or would have been if there was one."""
    then = decide(note, neighbours, policy_of(decision), unread=_unread_in(decision))
    return decision.opinion.arbiter is not None or then.can_be_arbitrated


def _shown(
    decision: Decision, note: Note, neighbours: Sequence[Neighbour], policy: ReconcilePolicy
) -> list[Neighbour]:
    """Return the facts that an arbiter would be shown, and the target of its earlier answer.

    That target may have been shown because of its words, which is not on record.
    """
    shown = shown_to_judge(note, neighbours, policy)
    if policy.reach is not None and decision.opinion.target is not None:
        ranks = (decision.opinion.target, *decision.opinion.also)
        named = (neighbours[rank - 1] for rank in ranks if 1 <= rank <= len(neighbours))
        shown += [fact for fact in named if fact not in shown]
    return shown


def _judgement(decision: Decision, shown: Sequence[Neighbour]) -> Judgement | None:
    """Return the answer of then; its target is counted in the order of the shown facts."""
    if (
        decision.opinion.relation is None
        or decision.opinion.action is None
        or decision.opinion.error is not None
    ):
        return None
    neighbours = _neighbours(decision) or []
    judgement = Judgement(
        reasoning=decision.opinion.reasoning or "",
        relation=decision.opinion.relation,
        target=_number_shown(decision.opinion.target, neighbours, shown),
        also=tuple(
            number
            for rank in decision.opinion.also
            if (number := _number_shown(rank, neighbours, shown)) is not None
        ),
        action=decision.opinion.action,
        confidence=1.0 if decision.opinion.confidence is None else decision.opinion.confidence,
    )
    try:
        check_judgement(judgement, len(shown))
    except ArbiterAnswerError:  # the rules of today would not have shown it that fact
        return None
    return judgement


def _number_shown(
    rank: int | None, neighbours: Sequence[Neighbour], shown: Sequence[Neighbour]
) -> int | None:
    """Return the number of a fact among those that the arbiter was shown, from 1."""
    if rank is None or rank not in range(1, len(neighbours) + 1):
        return None
    fact_id = neighbours[rank - 1].fact_id
    ids = [fact.fact_id for fact in shown]
    return ids.index(fact_id) + 1 if fact_id in ids else None


Effect = tuple[Outcome, frozenset[str], frozenset[str]]


def _effect(verdict: Verdict[str]) -> Effect:
    return verdict.outcome, frozenset(verdict.targets), frozenset(verdict.conflicts)
