"""Calibration: labelled pairs from a file or from the graph's own decisions, measured and reported.

Here: reading and checking the pairs, embedding them, and writing the resulting profile.
``reconciler.ops.review.calibration`` applies the rules to the pairs and chooses the thresholds;
nothing here writes to a graph.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from reconciler.domain.records.decisions import Comparison, Decision
from reconciler.domain.records.erasures import ERASED
from reconciler.domain.records.kinds import Relation
from reconciler.domain.records.notes import TEXT_LENGTH_MAX, check_text, one_of
from reconciler.domain.records.policies import Profile, ReconcilePolicy
from reconciler.errors import ConfigurationError, InvalidRequestError
from reconciler.floats import Floats
from reconciler.frozen import frozen
from reconciler.ops.review.calibration import (
    ERRORS,
    FALSE_SUPERSESSION_MAX,
    SEED_POLICY,
    BoundBasis,
    DecisionScores,
    LabelledPair,
    MeasuredPair,
    PairLabel,
    Rate,
    choose_thresholds,
    label_of_relation,
    score,
)
from reconciler.service.json_lines import json_object
from reconciler.service.stores.rows import batches

Embed = Callable[[Sequence[str]], Floats]

_BATCH_PAIRS = 128
_ERRORS_SHOWN_MAX = 10


@frozen
class Measurement:
    """One rule's results on the pairs.

    Attributes:
        name: ``seed, no guard``, ``seed``, or the calibrated profile's.
        policy: its thresholds and guard.
        scores: the scores by source, those of all sources last.
    """

    name: str
    policy: ReconcilePolicy
    scores: tuple[DecisionScores, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; a rate as count, of, share and its 95 % interval."""
        return {
            "name": self.name,
            "cosine_update_min": self.policy.cosine_update_min,
            "cosine_add_max": self.policy.cosine_add_max,
            "cosine_cut": self.policy.cut,
            "guard": self.policy.guard,
            "scores": [
                {
                    "source": scores.source,
                    **{name: _rate(scores.rate(name)) for name in ERRORS},
                }
                for scores in self.scores
            ],
        }


@frozen
class CalibrationReport:
    """The measurements on the pairs, and the profile that was chosen.

    Attributes:
        profile: the thresholds that keep the bound, for the model that was measured.
        bound: the bound on the share of false supersessions.
        basis: the figure that was compared with the bound.
        pairs: how many pairs were measured.
        measurements: seed without the guard, seed, and the profile; no arbiter is asked.
    """

    profile: Profile
    bound: float
    basis: BoundBasis
    pairs: int
    measurements: tuple[Measurement, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; no text of a pair is in them."""
        return {
            "profile": asdict(self.profile),
            "bound": self.bound,
            "bound_held_against": str(self.basis),
            "pairs": self.pairs,
            "measurements": [measurement.to_dict() for measurement in self.measurements],
        }


def read_pairs(lines: Iterable[str]) -> list[LabelledPair]:
    """Read labelled pairs from a file of JSON lines, in its order.

    A line has ``fact`` (or ``a``), ``note`` (or ``b``) and ``label``, and may have ``source`` and
    ``id``. Other keys and blank lines are ignored.

    Args:
        lines: JSON objects, one a line.

    Raises:
        InvalidRequestError: a line cannot be used, or there is no line; the text has every faulty
            line by its number, up to ten. No pair is skipped, because that would change the result.
    """
    pairs: list[LabelledPair] = []
    errors: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            pairs.append(_pair(line, number))
        except InvalidRequestError as error:
            errors.append(f"line {number}: {error}")
    if errors:
        raise InvalidRequestError(_listed(errors))
    if not pairs:
        raise InvalidRequestError(
            "there is no labelled pair; write each pair on its own line, like "
            '{"fact": ..., "note": ..., "label": "same"}'
        )
    return pairs


def measure_pairs(
    pairs: Sequence[LabelledPair], embed: Embed, on_progress: Callable[[int], None]
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


def pairs_from_decisions(
    decisions: Iterable[Decision], embedding_model: str | None = None
) -> list[MeasuredPair]:
    """Find pairs that the graph's own decisions label: by a person's correction, else the arbiter.

    A pair of the same two texts counts once, and a correction wins. The cosine is the recorded one.
    An arbiter is asked in the band only, so these pairs say little about cosines outside it.
    Thresholds that are chosen from these pairs alone do not widen the band well.

    Args:
        decisions: the decisions, each with the facts that it was compared with.
        embedding_model: only decisions made with this model; None for all.
    """
    labelled: dict[tuple[str, str], MeasuredPair] = {}
    for decision in decisions:
        measured = _labelled_by(decision)
        if measured is None or embedding_model not in (None, decision.policy.embedding_model):
            continue
        key = (measured.pair.fact_text, measured.pair.note_text)
        if key not in labelled or decision.correction is not None:
            labelled[key] = measured
    return list(labelled.values())


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
    name: str = "calibrated",
) -> CalibrationReport:
    """Measure the rules on the pairs, and choose a profile that keeps the bound.

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
    chosen, basis = choose_thresholds(pairs, bound)
    if chosen.cut < COSINE_CUT_FLOOR:
        raise InvalidRequestError(
            f"these pairs give the limit {chosen.cut:g}: from this cosine up every note would end "
            "the fact. The distinct pairs are too few, or too unlike each other. Add distinct "
            "pairs that sound alike: for each note, the nearest fact that is about something else"
        )
    rules = {
        "seed, no guard": replace(SEED_POLICY, guard=False),
        "seed": SEED_POLICY,
        name: chosen,
    }
    return CalibrationReport(
        profile=Profile(
            name=name,
            embedding_model=embedding_model,
            cosine_update_min=chosen.cosine_update_min,
            cosine_add_max=chosen.cosine_add_max,
            cosine_cut=chosen.cut,
        ),
        bound=bound,
        basis=basis,
        pairs=len(pairs),
        measurements=tuple(
            Measurement(name=rule, policy=policy, scores=score(pairs, policy))
            for rule, policy in rules.items()
        ),
    )


def provenance_of(report: CalibrationReport, measured_on: str) -> list[str]:
    """List what a profile's file says about the source of its thresholds, line by line.

    Args:
        report: the calibration.
        measured_on: the pairs in words, for example the file's name without a path.
    """
    return [
        f"Chosen by `reconciler calibrate` on {measured_on}, {report.pairs:,} labelled pairs.",
        f"Bound on false supersessions: {report.bound:.1%}, held against {report.basis}.",
    ]


def _pair(line: str, number: int) -> LabelledPair:
    values = json_object(line)
    return LabelledPair(
        pair_id=str(values.get("id", f"line {number}")),
        source=str(values.get("source") or "unnamed"),
        fact_text=_text(values, "fact", "a"),
        note_text=_text(values, "note", "b"),
        label=one_of(PairLabel, "label", values.get("label")),
    )


def _text(values: Mapping[str, Any], name: str, short_name: str) -> str:
    given = [values[key] for key in (name, short_name) if values.get(key) is not None]
    if len(given) != 1:
        raise InvalidRequestError(f"give either {name!r} or {short_name!r}")
    check_text(name, given[0], TEXT_LENGTH_MAX)
    return str(given[0])


def _listed(errors: Sequence[str]) -> str:
    shown = "\n".join(errors[:_ERRORS_SHOWN_MAX])
    more = len(errors) - _ERRORS_SHOWN_MAX
    return f"{shown}\nand {more} more lines" if more > 0 else shown


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


def _labelled_by(decision: Decision) -> MeasuredPair | None:
    is_used = decision.opinion.error is None and decision.opinion.relation is not Relation.UNSURE
    relation = decision.correction or (decision.opinion.relation if is_used else None)
    fact = min(decision.compared_with, key=partial(_distance, decision), default=None)
    if relation is None or fact is None or ERASED in (fact.text, decision.text):
        return None
    pair = LabelledPair(
        pair_id=decision.decision_id,
        source="corrections" if decision.correction else "arbiter",
        fact_text=fact.text,
        note_text=decision.text,
        label=label_of_relation(relation),
        fact_slot=fact.slot,
        note_slot=decision.note.slot,
    )
    return MeasuredPair(pair=pair, cosine=max(-1.0, min(1.0, fact.cosine)))


def _distance(decision: Decision, fact: Comparison) -> tuple[bool, bool, bool, int]:
    """Return the fact that the arbiter named, else a touched fact, else the nearest fact."""
    is_named = decision.opinion.error is None and fact.rank == decision.opinion.target
    is_touched = fact.fact_id in (decision.verdict.target, decision.fact_id)
    return not is_named, not is_touched, fact.fact_id not in decision.conflicting_ids, fact.rank


def profile_file(profile: Profile, provenance: Sequence[str]) -> str:
    """Return the text of a profile's file, which ``RECONCILER_RECONCILE__PROFILE`` can name.

    Args:
        profile: the profile.
        provenance: comment lines, as ``provenance_of`` gives them.
    """
    lines = [f"# {_one_line(line)}" for line in provenance]
    for name, value in asdict(profile).items():
        if value is not None:
            lines.append(f"{name} = {_quoted(value) if isinstance(value, str) else float(value)}")
    return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    """Put a comment on one line, so that nothing in it can become a setting."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _quoted(text: str) -> str:
    return json.dumps(_one_line(text), ensure_ascii=False)


def _rate(rate: Rate) -> dict[str, Any]:
    return {"count": rate.count, "of": rate.of, "share": rate.share, "interval": rate.interval}
