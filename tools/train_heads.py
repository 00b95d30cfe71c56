"""Trains the linear heads over the packaged model's vectors, and writes them into ``config/``.

    python -m tools.train_heads [notes] [ends] [consent]

Run it after a change of a task's texts or of the packaged model; all three take some minutes on two
cores. Each is a logistic regression. No network but for the model.

* ``notes`` tells what a note resembles, of ``judge/gate_notes.jsonl``. Its bounds come from
  five-fold cross-validation: a kind counts from the probability on that no more than its share of
  the notes that should be kept as they are reaches.
* ``ends`` tells a note of an end from a plain statement, of ``benchmarks/holding.jsonl`` (ended or
  never held, holds) and the states of ``benchmarks/slot_sentences.jsonl``.
* ``consent`` tells permissions, and what takes one back, of ``judge/consent.jsonl``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from benchmarks.data import json_lines
from reconciler.adapters.note_head import features
from reconciler.bootstrap.chosen_models import build_embedder
from reconciler.reading.linear_head import LinearHead
from reconciler.settings import load_settings

ROOT = Path(__file__).resolve().parents[1]
VERSION, NOTES_VERSION = "1", "3"

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
Rows = NDArray[np.float32]
Names = NDArray[np.str_]

PLAIN = "plain"
KIND_OF = {
    "health_self": "health",
    "health_third": "health",
    "not_health": PLAIN,
    "order_like": PLAIN,
    "short_fact": PLAIN,
    "durable": PLAIN,
    "report": PLAIN,
}
KEPT = frozenset(
    {"durable", "short_fact", "report", "order_like", "not_health", "standing", "correction"}
)
"""Classes of notes that nothing but their own kind may touch."""

HARM_MAX = {
    "nothing": 0.006,
    "this_time": 0.004,
    "price_or_stock": 0.001,
    "guess_or_venting": 0.0035,
    "health": 0.007,
    "order": 0.004,
    "standing": 0.03,
    "correction": 0.01,
}
"""The share of notes to be kept that may be taken for each kind. Larger where it costs a question,
or only a longer life. World knowledge is left out: it took plain notes of recorded agents."""

ORDERS_LOST_MAX = 0.04
FOLDS = 5
STRENGTH, STRENGTH_OF_ENDS = 5.0, 10.0
"""How freely each may fit its texts: the inverse of the penalty."""

STATE_WEIGHT = 0.3
END_MIN = 0.2
"""The probability of an end from which on a note may tell of one. Of plain statements kept aside
one in ten is above it; of ends one in eight below."""

OTHERS_WEIGHT = 0.5
CONSENT_MIN = {"permission": 0.4, "withdrawal": 0.6}
"""From which probability on a text is one. Five-fold, seven of ten withdrawals are above it, and 2
in 1,000 notes of other matters. A permission is asked for only where a withdrawal is near to it."""


def features_of(texts: Sequence[str], embed: Embed) -> Rows:
    """What a head over vectors and words reads of each text, shape (n, features)."""
    return np.stack([features(*each) for each in zip(texts, embed(texts), strict=True)])


def notes(embed: Embed) -> LinearHead:
    """The head of the notes; it prints what its bounds find."""
    given = list(json_lines(ROOT / "judge" / "gate_notes.jsonl"))
    texts = [each["text"] for each in given]
    classes = np.array([each["class"] for each in given])
    kinds = np.array([KIND_OF.get(each, each) for each in classes])
    rows = features_of(texts, embed)
    names = sorted(set(kinds))
    shares = np.zeros((len(rows), len(names)), np.float32)
    for train, held in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(rows, classes):
        model = fitted(rows[train], kinds[train], rare_first(kinds[train]), STRENGTH)
        shares[held] = model.predict_proba(rows[held])
    bounds = [bound(name, shares[:, n], classes, kinds) for n, name in enumerate(names)]
    orders = shares[kinds == "order", names.index("order")]
    floors = np.where(np.array(names) == "order", np.quantile(orders, ORDERS_LOST_MAX), -1)
    report(names, bounds, shares, kinds, classes)
    model = fitted(rows, kinds, rare_first(kinds), STRENGTH)
    made = (model.coef_.T, model.intercept_, names, bounds, floors.tolist())
    return LinearHead(*made, NOTES_VERSION)


def ends(embed: Embed) -> LinearHead:
    """The head of the ends: its value is above 0 where a note may tell of one."""
    said = list(json_lines(ROOT / "benchmarks" / "holding.jsonl"))
    states = [
        each["text"]
        for each in json_lines(ROOT / "benchmarks" / "slot_sentences.jsonl")
        if each["kind"] == "state" and each["set"] == "written on"
    ]
    rows = embed([each["text"] for each in said] + states)
    is_end = np.array([each["says"] == "ended" for each in said] + [False] * len(states))
    weights = np.array([1.0] * len(said) + [STATE_WEIGHT] * len(states))
    return one_kind("end", fitted(rows, is_end, weights, STRENGTH_OF_ENDS), END_MIN)


def consent(embed: Embed) -> LinearHead:
    """The head of permissions, and of the words that take one back."""
    told = list(json_lines(ROOT / "judge" / "consent.jsonl"))
    others = [
        each
        for each in json_lines(ROOT / "judge" / "gate_notes.jsonl")
        if each["class"] != "standing"  # some of those are permissions
    ]
    texts = [each["text"] for each in (*told, *others)]
    kinds = np.array([each["class"] for each in told] + ["neither"] * len(others))
    weights = np.array([1.0] * len(told) + [OTHERS_WEIGHT] * len(others))
    rows = features_of(texts, embed)
    model = fitted(rows, kinds, weights, STRENGTH)
    bounds = [CONSENT_MIN.get(kind, 2.0) for kind in model.classes_]
    floors = [-1.0] * len(bounds)
    return LinearHead(model.coef_.T, model.intercept_, model.classes_, bounds, floors, VERSION)


TASKS: Mapping[str, Callable[[Embed], LinearHead]] = {
    "notes": notes,
    "ends": ends,
    "consent": consent,
}


def fitted(rows: Rows, labels: NDArray[Any], weights: Rows, strength: float) -> LogisticRegression:
    """A logistic regression.

    Args:
        rows: shape (n, features).
        labels: the kind of each row.
        weights: how much each row counts.
        strength: the inverse of the penalty.
    """
    model = LogisticRegression(C=strength, max_iter=150)
    return model.fit(rows, labels, sample_weight=weights)


def rare_first(kinds: Names) -> NDArray[np.float64]:
    """How much each note counts: one of a rare kind for more."""
    counts = {name: int((kinds == name).sum()) for name in set(kinds)}
    return np.array([(len(kinds) / (len(counts) * counts[kind])) ** 0.5 for kind in kinds])


def one_kind(kind: str, model: LogisticRegression, share_min: float) -> LinearHead:
    """The head of a yes or no, whose value is above 0 from a probability of ``share_min`` on."""
    bias = model.intercept_ - np.log(share_min / (1 - share_min))
    return LinearHead(model.coef_.T, bias, [kind], [0.0], [-np.inf], VERSION)


def bound(name: str, shares: Rows, classes: Names, kinds: Names) -> float:
    """From which probability on the kind counts; 2 for what never does."""
    if name not in HARM_MAX:
        return 2.0
    others = np.sort(shares[np.isin(classes, list(KEPT)) & (kinds != name)])[::-1]
    return float(others[int(len(others) * HARM_MAX[name])]) + 1e-4


def report(
    names: Sequence[str], bounds: Sequence[float], shares: Rows, kinds: Names, classes: Names
) -> None:
    """Print what the bounds find, and what they take of the notes that should be kept."""
    for number, (name, least) in enumerate(zip(names, bounds, strict=True)):
        if name != PLAIN:
            found = shares[kinds == name, number] >= least
            print(f"{name:18} from {least:.2f}: {found.sum()} of {found.size} found")
    harmful = [n for n, name in enumerate(names) if name not in (PLAIN, "standing", "correction")]
    is_taken = (shares[:, harmful] >= np.array(bounds)[harmful]).any(axis=1)
    for name in sorted(KEPT):
        print(f"{name:18} {is_taken[classes == name].sum()} of {(classes == name).sum()} taken")


def trained(task: str) -> LinearHead:
    """The head of a task."""
    model = build_embedder(load_settings(embedder={"model": "minilm"}))
    try:
        return TASKS[task](model.embed)
    finally:
        model.close()


def write(task: str, head: LinearHead) -> None:
    """Write a head for ``load_head``: weights from -127 to 127, and their scale."""
    scale = np.abs(head.weights).max(axis=0) / 127
    np.savez_compressed(
        ROOT / "config" / "profiles" / f"minilm.{task}.npz",
        weights=np.round(head.weights / scale).astype(np.int8),
        scale=scale.astype(np.float32),
        bias=np.asarray(head.bias, np.float32),
        kinds=np.array(head.kinds),
        bounds=np.array(head.bounds, np.float32),
        floors=np.array(head.floors, np.float32),
        version=np.array(head.version),
    )


if __name__ == "__main__":
    for named in sys.argv[1:] or TASKS:
        write(named, trained(named))
