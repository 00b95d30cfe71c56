"""Calibration: labelled pairs from a file or from the graph's own decisions, and their thresholds.

Here: reading and checking the pairs, embedding them, choosing thresholds, and the text of the
resulting profile. What becomes of a pair comes from ``decide`` and is never computed here, so that
the thresholds fit the engine. Nothing here writes to a graph.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from itertools import takewhile
from math import sqrt
from statistics import NormalDist

import numpy as np

from reconciler.domain.reconciling.rule import decide
from reconciler.domain.records.decisions import Comparison, Decision
from reconciler.domain.records.erasures import ERASED
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Outcome, Progress, Relation
from reconciler.domain.records.notes import Note, Scope, Slot, check_text, one_of
from reconciler.domain.records.policies import Profile, ReconcilePolicy
from reconciler.errors import ConfigurationError, InvalidRequestError
from reconciler.floats import Floats
from reconciler.frozen import Values, frozen
from reconciler.service.json_lines import json_object
from reconciler.service.stores.rows import batches

Embed = Callable[[Sequence[str]], Floats]

LABEL_COUNT_MIN = 20
"""The fewest pairs of each label: with 20 right pairs, Wilson's interval still allows for 16 %
wrong."""

STEP = 100
"""Thresholds are whole hundredths; finer ones would promise more than some thousand pairs can
show."""

_BATCH_PAIRS = 128
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
        source: where the pair comes from, for a benchmark.
        fact_slot, note_slot: the person and the question that each answers, normalised; None if
            unknown.
    """

    pair_id: str
    fact_text: str
    note_text: str
    label: PairLabel
    source: str = ""
    fact_slot: Slot | None = None
    note_slot: Slot | None = None


@frozen
class MeasuredPair:
    """A pair with the raw cosine of its two texts under one model, in [-1, 1]."""

    pair: LabelledPair
    cosine: float


def read_pairs(lines: Iterable[str]) -> list[LabelledPair]:
    """Read labelled pairs from a file of JSON lines, in its order.

    A line has ``fact``, ``note`` and ``label``. Other keys and blank lines are ignored.

    Args:
        lines: JSON objects, one a line.

    Raises:
        InvalidRequestError: a line cannot be used, named by its number, or there is no line. No
            pair is skipped, because that would change the result.
    """
    pairs: list[LabelledPair] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            pairs.append(_pair(json_object(line), number))
        except InvalidRequestError as error:
            raise InvalidRequestError(f"line {number}: {error}") from None
    if not pairs:
        raise InvalidRequestError(
            "there is no labelled pair; write each pair on its own line, like "
            '{"fact": ..., "note": ..., "label": "same"}'
        )
    return pairs


def _pair(values: Values, number: int) -> LabelledPair:
    for name in ("fact", "note"):
        check_text(name, values.get(name))
    return LabelledPair(
        pair_id=f"line {number}",
        fact_text=values["fact"],
        note_text=values["note"],
        label=one_of(PairLabel, "label", values.get("label")),
    )


def measure_pairs(
    pairs: Sequence[LabelledPair], embed: Embed, on_progress: Progress
) -> list[MeasuredPair]:
    """Measure the pairs' cosines, in their order.

    Args:
        pairs: the pairs to measure.
        embed: texts to vectors of unit length, shape (n, dimension).
        on_progress: called with how many more pairs are done.

    Raises:
        EmbeddingError: the model failed.
        ConfigurationError: the embedder does not embed.
    """
    measured: list[MeasuredPair] = []
    for batch in batches(pairs, _BATCH_PAIRS):
        cosines = _cosines(batch, embed)
        measured += [
            MeasuredPair(pair=pair, cosine=float(cosine))
            for pair, cosine in zip(batch, cosines, strict=True)
        ]
        on_progress(len(batch))
    return measured


def _cosines(pairs: Sequence[LabelledPair], embed: Embed) -> Floats:
    """Return raw cosines, float32 of shape (n,), in [-1, 1].

    Rounding may put a cosine a little outside; it is then cut to the range.
    """
    texts = [pair.fact_text for pair in pairs] + [pair.note_text for pair in pairs]
    vectors = embed(texts)
    if vectors.shape[1] == 0:
        raise ConfigurationError(
            "the embedder makes no vectors, so no cosine can be measured; set "
            "RECONCILER_EMBEDDER__MODEL"
        )
    facts, notes = np.split(vectors, 2)
    cosines: Floats = np.clip(np.sum(facts * notes, axis=1), -1, 1)
    return cosines


def pairs_from_decisions(decisions: Iterable[Decision]) -> list[LabelledPair]:
    """Find pairs that the graph's own decisions label: by a person's correction, else the arbiter.

    A pair of the same two texts counts once, and a correction wins. An arbiter is asked in the band
    only, so these pairs say little about cosines outside it. Thresholds that are chosen from these
    pairs alone do not widen the band well.

    Args:
        decisions: the decisions, each with the facts that it was compared with.
    """
    labelled: dict[tuple[str, str], LabelledPair] = {}
    for decision in decisions:
        if (pair := _labelled_by(decision)) is None:
            continue
        texts = (pair.fact_text, pair.note_text)
        if texts not in labelled or decision.correction is not None:
            labelled[texts] = pair
    return list(labelled.values())


def _labelled_by(decision: Decision) -> LabelledPair | None:
    opinion = decision.opinion
    is_used = opinion.error is None and opinion.relation is not Relation.UNSURE
    relation = decision.correction or (opinion.relation if is_used else None)
    fact = min(decision.compared_with, key=partial(_distance, decision), default=None)
    if relation is None or fact is None or ERASED in (fact.text, decision.text):
        return None
    return LabelledPair(
        pair_id=decision.decision_id,
        fact_text=fact.text,
        note_text=decision.text,
        label=label_of_relation(relation),
        fact_slot=fact.slot,
        note_slot=decision.note.slot,
    )


def _distance(decision: Decision, fact: Comparison) -> tuple[bool, bool, bool, int]:
    """Return the fact that the arbiter named, else a touched fact, else the nearest fact."""
    is_named = decision.opinion.error is None and fact.rank == decision.opinion.target
    is_touched = fact.fact_id in (decision.verdict.target, decision.fact_id)
    return not is_named, not is_touched, fact.fact_id not in decision.conflicting_ids, fact.rank


def label_of_relation(relation: Relation) -> PairLabel:
    """Return the label for an arbiter's or a person's word for the relation."""
    if relation in (Relation.SAME, Relation.REFINES):
        return PairLabel.SAME
    return PairLabel.UPDATE if relation is Relation.REPLACES else PairLabel.DISTINCT


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

COSINE_CUT_FLOOR = 0.4
"""Two texts with a lower cosine are never taken for one fact. Source: the lowest labelled pair with
one meaning has 0.69."""


def check_profile_name(name: str) -> None:
    """Check that a name can be a file's name.

    Raises:
        InvalidRequestError: it holds other characters, or more than 100.
    """
    if not re.fullmatch(r"[\w-]{1,100}", name):
        raise InvalidRequestError(
            "a profile's name has 1 to 100 letters, digits, hyphens and underscores, not "
            f"{name[:120]!r}"
        )


def calibrate(
    pairs: Sequence[MeasuredPair],
    *,
    embedding_model: str,
    bound: float = FALSE_SUPERSESSION_MAX,
    name: str,
) -> Profile:
    """Choose the profile that keeps the bound.

    Args:
        pairs: the pairs with their cosines under the model; 20 or more of each label.
        embedding_model: the model's id, which the profile will name.
        bound: the bound on the share of distinct pairs with a superseded fact.
        name: the profile's name: letters, digits, hyphens and underscores.

    Raises:
        InvalidRequestError: too few pairs of a label, an unusable name, or a bound that no
            threshold keeps.
    """
    check_profile_name(name)
    chosen = choose_thresholds(pairs, bound)
    if chosen.cut < COSINE_CUT_FLOOR:
        raise InvalidRequestError(
            f"these pairs give the limit {chosen.cut:g}: from this cosine up every note would end "
            "the fact. The distinct pairs are too few, or too unlike each other. Add distinct "
            "pairs that sound alike: for each note, the nearest fact that is about something else"
        )
    return Profile(
        name=name,
        embedding_model=embedding_model,
        cosine_update_min=chosen.cosine_update_min,
        cosine_add_max=chosen.cosine_add_max,
        cosine_cut=chosen.cut,
    )


_DEVIATIONS = NormalDist().inv_cdf(0.975)
_GRID = tuple(step / STEP for step in range(-STEP, STEP + 1))


def choose_thresholds(
    pairs: Sequence[MeasuredPair], false_supersession_max: float = FALSE_SUPERSESSION_MAX
) -> ReconcilePolicy:
    """Choose the thresholds that keep the bounds and settle the most.

    A bound is held against the upper end of Wilson's 95 % interval. If the pairs are too few for
    it, no error is allowed at all, so that fewer pairs never make a threshold bolder. Leave out
    pairs that mislead every cosine by design.

    - ``cosine_cut`` is the lowest threshold at or above which the rule supersedes no more distinct
      pairs than the bound allows.
    - ``cosine_update_min`` is the lowest threshold, from the cut on, at or above which no more of
      the updates are taken for restatements than their bound allows; no judge is asked there.
    - ``cosine_add_max`` is the highest threshold, up to the cut, that the wanted shares of
      restatements and of updates reach; so no more distinct pairs than necessary go to the arbiter.

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
        _highest_reaching(updates, _UPDATE_REACH_MIN),
    )
    return ReconcilePolicy(cosine_update_min=update_min, cosine_add_max=add_max, cosine_cut=cut)


def _by_label(pairs: Sequence[MeasuredPair]) -> dict[PairLabel, list[MeasuredPair]]:
    by_label = {
        label: [measured for measured in pairs if measured.pair.label is label]
        for label in PairLabel
    }
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


_SETTLED = (Outcome.SUPERSEDED, Outcome.REPEATED)
"""The outcomes that leave one live fact: right for a restatement and for an update, wrong for a
distinct pair."""


def posed(measured: MeasuredPair) -> tuple[Note, list[Neighbour]]:
    """Return the pair as the rule gets it: the note, and its fact as the only one that is known."""
    pair = measured.pair
    note = Note(scope=_SCOPE, text=pair.note_text, said_at=_NOTE_SAID_AT, slot=pair.note_slot)
    fact = Neighbour(
        fact_id=pair.pair_id,
        text=pair.fact_text,
        cosine=measured.cosine,
        valid_from=_FACT_SAID_AT,
        slot=pair.fact_slot,
    )
    return note, [fact]


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
        if decide(*posed(replace(measured, cosine=within)), _FAR_APART).outcome in _SETTLED
    ]
    bounds = (
        threshold for threshold in _GRID if sum(cosine >= threshold for cosine in wrong) <= allowed
    )
    return next(bounds, None)


def _errors_max(count: int, share_max: float) -> int:
    """Return how many of so many pairs may be wrong."""
    kept = takewhile(lambda wrong: _wilson_upper(wrong, count) <= share_max, range(count))
    return max(kept, default=0)


def _wilson_upper(count: int, of: int) -> float:
    """Return the upper end of Wilson's 95 % interval of a share, without continuity correction.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference,
    JASA 22 (1927).
    """
    share = count / of
    reach = _DEVIATIONS * sqrt(share * (1 - share) / of + (_DEVIATIONS / (2 * of)) ** 2)
    return (share + _DEVIATIONS**2 / (2 * of) + reach) / (1 + _DEVIATIONS**2 / of)


def _highest_reaching(pairs: Sequence[MeasuredPair], share_min: float) -> float:
    """Find the highest threshold that this share of the pairs reaches."""
    return max(
        threshold
        for threshold in _GRID
        if sum(measured.cosine >= threshold for measured in pairs) / len(pairs) >= share_min
    )


def profile_file(profile: Profile, *, measured_on: str, pair_count: int, bound: float) -> str:
    """Return the text of a profile's file, which ``RECONCILER_RECONCILE__PROFILE`` can name.

    Args:
        profile: the profile.
        measured_on: the pairs in words, for example the file's name without a path.
        pair_count: how many pairs were measured.
        bound: the bound that the profile keeps.
    """
    on = f"{_one_line(measured_on)}, {pair_count:,} labelled pairs"
    lines = [
        f"# Chosen by `reconciler calibrate` on {on}.",
        f"# Bound on false supersessions: {bound:.1%}, held against Wilson's 95 % interval.",
    ]
    for name, value in asdict(profile).items():
        told = json.dumps(_one_line(value), ensure_ascii=False) if isinstance(value, str) else value
        lines.append(f"{name} = {told}")
    return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    """Put a text on one line, so that nothing in it can become a setting."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
