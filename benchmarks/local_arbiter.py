"""Whether a small model of its own could judge the band where no arbiter is configured.

Measured for the two kinds of band that the rule leaves open, with the pairs that the guard demoted
into them: a logistic regression over cosine, shared and foreign words, names and numbers, their
order, cue words of change and the guard's findings answers same, update or distinct. It is trained
on all sources but one and asked about that one, as it would be asked about notes that nobody has
seen, and held against the midpoint with and without the guard. Its answers count as an arbiter's
do, except that its "same" never overrules the guard; where it says distinct, the pair keeps the
mark that the rule gives it today.

Two rows limit its daring: it may supersede no more distinct pairs of the sources that it was
trained on than the rule does there, counted by cross-validation over single pairs or over whole
sources. Breaking NLI has no distinct pairs, so it shows what daring gains and not what it costs.

Verdict: left out, for either band. At its likeliest answer the model supersedes some ten times as
many distinct pairs of PAWS as the rule with the guard, and in the wide band half of ParaRel's and a
quarter of LongMemEval's, of which the rule supersedes none, for two more updates there that end
otherwise than as silent rows. A limit from other pairs does not hold on a new source. One from
other sources nearly does, and leaves the same stored twice and next to nothing settled. What is
gained, updates of ParaRel and Breaking NLI, is one phrase exchanged in an otherwise equal sentence.
Boosted trees on the same features transfer no better, and even with four fifths of the very source
to learn from they supersede a quarter of LongMemEval's distinct pairs.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache
from math import log, log1p
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import (  # type: ignore[import-untyped]
    HistGradientBoostingClassifier,
)
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.model_selection import StratifiedKFold  # type: ignore[import-untyped]

from benchmarks.data import rows
from benchmarks.engines import Engines
from benchmarks.error_rate import LONGMEMEVAL, ReadyVectors
from benchmarks.sizes import sized
from reconciler.domain.guard import Finding, find_differences
from reconciler.domain.records.findings import Difference
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.domain.review.calibration import (
    SETTLED,
    DecisionScores,
    LabelledPair,
    MeasuredPair,
    Outcome,
    PairLabel,
    Rate,
    outcome_of,
)

Vector = NDArray[np.float64]

FOLDS = 5
LABELS = (PairLabel.DISTINCT, PairLabel.SAME, PairLabel.UPDATE)
"""In the order of a model's columns."""


@dataclass(frozen=True)
class Band:
    """Thresholds between which an arbiter would be asked."""

    name: str
    policy: ReconcilePolicy

    def holds(self, example: Example) -> bool:
        """Whether an arbiter would be asked: between the thresholds, or demoted by the guard."""
        cosine = example.measured.cosine
        is_below = cosine < self.policy.cosine_update_min
        return cosine >= self.policy.cosine_add_max and (is_below or example.is_guarded)


SEED = Band("seed profile", ReconcilePolicy())
WIDE = Band(
    "wide profile",
    ReconcilePolicy(cosine_add_max=0.45, cosine_cut=0.90, cosine_update_min=0.97, profile="wide"),
)
"""Holds every pair that the seed's band holds; the models are trained on its pairs."""


@dataclass(frozen=True)
class Example:
    """A pair with what a model sees of it."""

    measured: MeasuredPair
    features: Vector
    is_guarded: bool

    @property
    def label(self) -> PairLabel:
        return self.measured.pair.label

    @property
    def group(self) -> str:
        """What is held out together: the sources of one origin."""
        source = self.measured.pair.source
        return "longmemeval" if source in LONGMEMEVAL else source


def main(_available: Engines) -> None:
    pairs = rows("note_pairs.jsonl")
    if pairs is None:
        return
    examples = list(filter(WIDE.holds, _examples(pairs))) * sized(1, FOLDS)
    linear = _held_out(Linear.train, examples)
    boosted = _held_out(_boosted, examples)
    seen = _source_seen(_boosted, examples)
    other_pairs = _held_back(_source_seen, examples)
    other_sources = _held_back(_held_out, examples)
    print("## a local arbiter: the band without a key, each source judged by what never saw it\n")
    for band in (SEED, WIDE):
        ways = {
            "midpoint": _by_rule(replace(band.policy, guard=False)),
            "midpoint + guard": _by_rule(band.policy),
            "model, likeliest answer": _by_model(band, linear),
            "model, limit from other pairs": _by_model(
                band, linear, _limits(band, examples, other_pairs)
            ),
            "model, limit from other sources": _by_model(
                band, linear, _limits(band, examples, other_sources)
            ),
            "boosted trees": _by_model(band, boosted),
            "boosted trees, source seen": _by_model(band, seen),
        }
        _print_band(band, list(filter(band.holds, examples)), ways)
    _print_cost(Linear.train(examples), examples)


def _examples(pairs: Iterable[dict[str, Any]]) -> Iterator[Example]:
    pairs = list(pairs)
    vectors = ReadyVectors(text for pair in pairs for text in (pair["a"], pair["b"]))
    for row in pairs:
        cosine = vectors.cosine(row["a"], row["b"])
        findings = find_differences(row["b"], row["a"])
        pair = LabelledPair(
            pair_id=row["id"],
            source=row["source"],
            fact_text=row["a"],
            note_text=row["b"],
            label=PairLabel(row["label"]),
        )
        yield Example(
            measured=MeasuredPair(pair=pair, cosine=cosine),
            features=_features(row["a"], row["b"], cosine, findings),
            is_guarded=bool(findings),
        )


# What a model sees

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def _listed(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.split(","))


_FUNCTION_WORDS = frozenset(
    _listed(
        "a, an, the, of, in, on, at, to, for, by, with, from, and, or, but, is, are, was, were, be,"
        "been, am, i, i'm, i've, my, me, it, its, it's, that, this, as, has, have, had, do, did, so"
    )
)
_CUES = _listed(
    "now, currently, just, recently, lately, new, no longer, anymore, any more, moved, changed,"
    "switched, started, instead, used to, already, actually, so far, finally, another, also,"
    "different, last, other"
)


def _features(fact: str, note: str, cosine: float, findings: Sequence[Finding]) -> Vector:
    in_fact, in_note = ([*map(str.casefold, _WORD.findall(each))] for each in (fact, note))
    values = (
        *(cosine, cosine**2),
        *_overlap(in_fact, in_note),
        *_names_and_numbers(fact, note),
        *_cues(in_fact, in_note),
        *_order(in_fact, in_note),
        *_edits(in_fact, in_note),
        *_guard(findings),
    )
    return np.array(values, dtype=np.float64)


def _overlap(in_fact: Sequence[str], in_note: Sequence[str]) -> Iterator[float]:
    """How much of each text the other has, with and without function words, and their lengths."""
    for ignored in (frozenset[str](), _FUNCTION_WORDS):
        fact, note = set(in_fact) - ignored, set(in_note) - ignored
        shared = len(fact & note)
        yield from (shared / max(1, len(fact)), shared / max(1, len(note)))
        yield shared / max(1, len(fact | note))
        yield from (log1p(len(fact - note)), log1p(len(note - fact)))
    yield log((len(in_note) + 1) / (len(in_fact) + 1))
    yield log(len(in_note) + len(in_fact) + 1)


def _names_and_numbers(fact: str, note: str) -> Iterator[float]:
    """Shared, of one text only, and one in the place of another."""
    for find in (_names, _numbers):
        in_fact, in_note = find(fact), find(note)
        only_fact, only_note = in_fact - in_note, in_note - in_fact
        yield from (log1p(len(each)) for each in (in_fact & in_note, only_fact, only_note))
        yield float(bool(only_fact and only_note))


def _names(text: str) -> set[str]:
    return {word for word in _WORD.findall(text)[1:] if word[0].isupper() and word != "I"}


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+", text))


def _cues(in_fact: Iterable[str], in_note: Iterable[str]) -> Iterator[float]:
    """Each cue of change in the note, and how many more it has than the fact."""
    fact, note = (f" {' '.join(each)} " for each in (in_fact, in_note))
    found = [f" {cue} " in note for cue in _CUES]
    yield from map(float, found)
    yield float(sum(found) - sum(f" {cue} " in fact for cue in _CUES))


def _order(in_fact: Sequence[str], in_note: Sequence[str]) -> tuple[float, float]:
    """How many of the shared words stand in one order: the longest rising run of their places."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(in_note):
        places.setdefault(word, []).append(place)
    shared = [places[word].pop(0) for word in in_fact if places.get(word)]
    ends: list[int] = []
    for place in shared:
        at = bisect_left(ends, place)
        ends[at : at + 1] = [place]
    return len(ends) / max(1, len(shared)), log1p(len(shared) - len(ends))


def _edits(in_fact: Sequence[str], in_note: Sequence[str]) -> Iterator[float]:
    """How many pieces differ; of a single exchanged piece, where it stands and how long it is."""
    matcher = SequenceMatcher(None, in_fact, in_note, autojunk=False)
    edits = [each for each in matcher.get_opcodes() if each[0] != "equal"]
    yield log1p(len(edits))
    is_single = len(edits) == 1 and edits[0][0] == "replace"
    _, start, end, other_start, other_end = edits[0] if edits else ("", 0, 0, 0, 0)
    length = max(1, len(in_fact))
    single = (1.0, start / length, end / length, max(end - start, other_end - other_start))
    yield from single if is_single else (0.0, 0.0, 0.0, 0.0)
    yield float(in_fact[:1] == in_note[:1])
    yield float(in_fact[-1:] == in_note[-1:])


def _guard(findings: Sequence[Finding]) -> Iterator[float]:
    kinds = {each.kind for each in findings}
    yield from (float(kind in kinds) for kind in Difference)
    yield float(len(findings))
    yield float(any(each.is_change for each in findings))
    yield float(bool(findings))


# The models

Model = Callable[[Vector], Vector]
"""Features, shape (n, k), to the probability of each of ``LABELS``, shape (n, 3)."""

Train = Callable[[Sequence[Example]], Model]


@dataclass(frozen=True)
class Linear:
    """What would be shipped: a logistic regression as its coefficients, in numpy alone."""

    means: Vector
    scales: Vector
    weights: Vector
    biases: Vector

    def __call__(self, features: Vector) -> Vector:
        scores = (features - self.means) / self.scales @ self.weights + self.biases
        exponents = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(exponents / exponents.sum(axis=1, keepdims=True), dtype=np.float64)

    @classmethod
    def train(cls, examples: Sequence[Example]) -> Model:
        features, labels, weights = _training_set(examples)
        means, scales = features.mean(axis=0), features.std(axis=0)
        scales = np.where(scales > 0, scales, 1.0)
        fitted = LogisticRegression(C=0.1, max_iter=500)
        fitted.fit((features - means) / scales, labels, weights)
        return cls(means, scales, fitted.coef_.T, fitted.intercept_)


def _boosted(examples: Sequence[Example]) -> Model:
    """The yardstick: what else could be had of these features."""
    features, labels, weights = _training_set(examples)
    fitted = HistGradientBoostingClassifier(max_iter=50, max_leaf_nodes=8, random_state=0)
    predict: Model = fitted.fit(features, labels, sample_weight=weights).predict_proba
    return predict


def _training_set(examples: Sequence[Example]) -> tuple[Vector, NDArray[np.int64], Vector]:
    """Features, label numbers and weights; each label of each source weighs as much as another."""
    sizes = Counter((each.group, each.label) for each in examples)
    weights = np.array([1 / sizes[each.group, each.label] for each in examples])
    labels = np.array([LABELS.index(each.label) for each in examples])
    return _matrix(examples), labels, weights / weights.mean()


def _matrix(examples: Iterable[Example]) -> Vector:
    return np.stack([each.features for each in examples])


Predictions = Mapping[str, Vector]
"""By pair, the probability of each of ``LABELS``."""


def _held_out(train: Train, examples: Sequence[Example]) -> Predictions:
    """Each source as a model sees it that was trained on the others."""
    predictions: dict[str, Vector] = {}
    for group in _groups(examples):
        model = train([each for each in examples if each.group != group])
        predictions |= _predict(model, [each for each in examples if each.group == group])
    return predictions


def _source_seen(train: Train, examples: Sequence[Example]) -> Predictions:
    """Each pair as a model sees it that was trained on four fifths of all: no fair test."""
    predictions: dict[str, Vector] = {}
    cells = [f"{each.group} {each.label}" for each in examples]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(cells, cells)
    for trained, asked in folds:
        model = train([examples[number] for number in trained])
        predictions |= _predict(model, [examples[number] for number in asked])
    return predictions


def _held_back(
    judge: Callable[[Train, Sequence[Example]], Predictions], examples: Sequence[Example]
) -> dict[str, Predictions]:
    """By source, what its model can learn about itself from the other sources alone."""
    return {
        group: judge(Linear.train, [each for each in examples if each.group != group])
        for group in _groups(examples)
    }


def _predict(model: Model, examples: Sequence[Example]) -> dict[str, Vector]:
    found = model(_matrix(examples))
    return {each.measured.pair.pair_id: row for each, row in zip(examples, found, strict=True)}


def _groups(examples: Iterable[Example]) -> list[str]:
    return sorted({each.group for each in examples})


# What comes of it

Way = Callable[[Example], Outcome]

_outcome_of = cache(outcome_of)
"""Several ways ask the rule the same."""


def _by_rule(policy: ReconcilePolicy) -> Way:
    return lambda example: _outcome_of(example.measured, policy)


def _by_model(
    band: Band, predictions: Predictions, limits: Mapping[str, float] | None = None
) -> Way:
    """By its likeliest answer; with limits, never distinct below the limit and always from it."""

    def judged(example: Example) -> Outcome:
        found = predictions[example.measured.pair.pair_id]
        answer = LABELS[int(found.argmax())]
        if limits is not None:
            is_distinct = found[0] >= limits[example.group]
            answer = LABELS[0] if is_distinct else _related(found)
        return _answered(band, example, answer)

    return judged


def _related(found: Vector) -> PairLabel:
    """Same or update, whichever is likelier."""
    return LABELS[1 + int(found[1:].argmax())]


def _answered(band: Band, example: Example, answer: PairLabel) -> Outcome:
    if answer is PairLabel.DISTINCT:
        today = _outcome_of(example.measured, band.policy)
        return Outcome.APART if today in SETTLED else today
    if answer is PairLabel.SAME and example.is_guarded:
        # An LLM may know better who did what to whom; a model of form and order may not.
        return Outcome.CONFLICT
    pair = replace(example.measured.pair, label=answer)
    return _outcome_of(replace(example.measured, pair=pair), band.policy, is_arbitrated=True)


def _limits(
    band: Band, examples: Iterable[Example], held_back: Mapping[str, Predictions]
) -> dict[str, float]:
    """By source, from which probability of distinct on a note of it is added."""
    distinct = [each for each in examples if each.label is PairLabel.DISTINCT and band.holds(each)]
    return {
        group: _limit(band, [each for each in distinct if each.group != group], predictions)
        for group, predictions in held_back.items()
    }


def _limit(band: Band, distinct: Sequence[Example], predictions: Predictions) -> float:
    """The highest with which no more of these pairs are superseded than by the rule."""
    allowed = sum(_outcome_of(each.measured, band.policy) in SETTLED for each in distinct)
    found = [(each, predictions[each.measured.pair.pair_id]) for each in distinct]
    wrong = sorted(
        float(row[0]) for each, row in found if _answered(band, each, _related(row)) in SETTLED
    )
    return wrong[allowed] if allowed < len(wrong) else 2.0


# The tables


def _print_band(band: Band, examples: Sequence[Example], ways: Mapping[str, Way]) -> None:
    policy = band.policy
    bounds = f"{policy.cosine_add_max:g} to {policy.cosine_update_min:g}, cut {policy.cut:g}"
    print(f"### {band.name}, {bounds}, and what the guard demotes: {len(examples)} pairs\n")
    print(
        "| source held out | judged by | distinct: superseded | distinct: marked "
        "| updates: superseded | updates: superseded or marked | same: stored twice "
        "| than midpoint + guard |"
    )
    print("|---|---|--:|--:|--:|--:|--:|---|")
    for group in _groups(examples):
        asked = [each for each in examples if each.group == group]
        scores = {name: _scores(way, asked) for name, way in ways.items()}
        for name, each in scores.items():
            against = _compared(each, scores["midpoint + guard"])
            print(f"| {group} | {name} | {' | '.join(map(_of, _rates(each)))} | {against} |")
    print(flush=True)


def _scores(way: Way, examples: Iterable[Example]) -> DecisionScores:
    return DecisionScores(source="", counts=Counter((each.label, way(each)) for each in examples))


def _rates(scores: DecisionScores) -> tuple[Rate, ...]:
    silent, marked = scores.silent_updates, scores.conflict_recall
    loud = silent.of - silent.count
    return (
        scores.false_supersessions,
        scores.distinct_marked,
        Rate(count=loud - marked.count, of=silent.of),
        Rate(count=loud, of=silent.of),
        scores.same_stored_twice,
    )


def _compared(scores: DecisionScores, rule: DecisionScores) -> str:
    """Better or worse in what counts: true facts retired, updates silent, the same twice."""
    pairs = (
        (scores.false_supersessions.count, rule.false_supersessions.count),
        (scores.silent_updates.count, rule.silent_updates.count),
        (scores.same_stored_twice.count, rule.same_stored_twice.count),
    )
    is_better = any(count < by_rule for count, by_rule in pairs)
    is_worse = any(count > by_rule for count, by_rule in pairs)
    if is_better and is_worse:
        return "mixed"
    return "better" if is_better else "worse" if is_worse else "equal"


def _of(rate: Rate) -> str:
    return f"{rate.count}/{rate.of}" if rate.of else "–"


def _print_cost(model: Model, examples: Sequence[Example]) -> None:
    """What one judgement would take beside the guard, which reads every such pair anyway."""
    features, answers = [], []
    for example in examples[:500]:
        pair = example.measured.pair
        findings = find_differences(pair.note_text, pair.fact_text)
        started = time.perf_counter()
        found = _features(pair.fact_text, pair.note_text, example.measured.cosine, findings)
        read = time.perf_counter()
        model(found[None])
        features.append((read - started) * 1000)
        answers.append((time.perf_counter() - read) * 1000)
    print(
        f"One judgement takes {median(features):.2f} ms for the {len(found)} features and "
        f"{median(answers):.3f} ms for the model in numpy (medians).\n"
    )
