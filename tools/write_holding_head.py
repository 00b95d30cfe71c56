"""Writes the head that tells a plain statement from a note of an end, for the packaged model.

    python -m tools.write_holding_head

A logistic regression over the note's embedding, fitted on ``benchmarks/holding.jsonl`` (ended or
never held, holds) and on the states of ``benchmarks/slot_sentences.jsonl``. The score is above 0
from a probability of an end of ``PROBABILITY_MAX`` on. Run it when these sentences have changed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import json_lines
from reconciler.bootstrap import build_embedder
from reconciler.settings import load_settings

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "config" / "profiles" / "minilm.holding"
PROBABILITY_MAX = 0.2
"""Of plain statements that were kept aside one in ten is above it; of ends one in eight below."""

_STATE_WEIGHT = 0.3
_RIDGE = 0.1
_STEPS = 30


def written() -> bytes:
    """The file: the weights and, last, the bias, as 32-bit floats."""
    said = list(json_lines(ROOT / "benchmarks" / "holding.jsonl"))
    states = [
        each["text"]
        for each in json_lines(ROOT / "benchmarks" / "slot_sentences.jsonl")
        if each["kind"] == "state" and each["set"] == "written on"
    ]
    model = build_embedder(load_settings(embedder={"model": "minilm"}))
    try:
        vectors = model.embed([each["text"] for each in said] + states)
    finally:
        model.close()
    ended = np.array([each["says"] == "ended" for each in said] + [False] * len(states))
    weights = np.array([1.0] * len(said) + [_STATE_WEIGHT] * len(states))
    head = fitted(vectors.astype(np.float64), ended.astype(np.float64), weights)
    head[-1] -= np.log(PROBABILITY_MAX / (1 - PROBABILITY_MAX))
    kept: bytes = head.astype("<f4").tobytes()
    return kept


def fitted(
    rows: NDArray[np.float64], is_one: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The weights and the bias of a logistic regression, by Newton's method.

    Args:
        rows: shape (n, dim).
        is_one: 0 or 1 for each row.
        weights: how much each row counts.
    """
    inputs = np.hstack([rows, np.ones((len(rows), 1))])
    ridge = np.full(inputs.shape[1], _RIDGE)
    ridge[-1] = 0.0
    head = np.zeros(inputs.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-inputs @ head))
        slope = inputs.T @ (weights * (chance - is_one)) + ridge * head
        curve = (inputs.T * (weights * chance * (1 - chance))) @ inputs + np.diag(ridge + 1e-9)
        head = head - np.linalg.solve(curve, slope)
    return head


if __name__ == "__main__":
    TARGET.write_bytes(written())
