"""Fits the head that tells introductions of others' words, and writes it into ``config/``.

Run it after a change of ``benchmarks/introductions.jsonl`` or of the packaged model:
``python -m tools.fit_introductions``. The texts are our own. The fit is a logistic regression with
a small penalty, both kinds of text weighing the same; it takes two seconds.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reconciler.bootstrap import build_embedder
from reconciler.config_files import INTRODUCTIONS
from reconciler.settings import load_settings

TEXTS = Path(__file__).parent.parent / "benchmarks" / "introductions.jsonl"
PENALTY = 0.3
STEPS = 30
BOUND = 0.4
"""Above it a turn's words are taken for another's: 2 in 100 plain turns, 95 in 100 others."""


def fitted(vectors: NDArray[np.float64], labels: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights and, last, the bias of the regression, by Newton's method."""
    given = np.hstack([vectors, np.ones((len(vectors), 1))])
    share = labels.mean()
    balance = np.where(labels > 0, 0.5 / share, 0.5 / (1 - share))
    penalty = np.full(given.shape[1], PENALTY)
    penalty[-1] = 0
    found = np.zeros(given.shape[1])
    for _ in range(STEPS):
        sure = 1 / (1 + np.exp(-given @ found))
        slope = given.T @ (balance * (sure - labels)) + penalty * found
        curve = (given.T * (balance * sure * (1 - sure))) @ given + np.diag(penalty)
        found -= np.linalg.solve(curve, slope)
    return found


def main() -> None:
    """Fit the head and write it."""
    rows = [json.loads(line) for line in TEXTS.read_text("utf-8").splitlines()]
    embedder = build_embedder(load_settings())
    vectors = embedder.embed([row["text"] for row in rows]).astype(np.float64)
    found = fitted(vectors, np.array([float(row["introduces"]) for row in rows]))
    step = float(np.abs(found[:-1]).max()) / 127
    weights = np.rint(found[:-1] / step).astype(np.int8)
    head = {
        "embedding_model": embedder.model_id,
        "bias": round(float(found[-1]), 4),
        "bound": BOUND,
        "step": round(step, 6),
        "weights": base64.b64encode(weights.tobytes()).decode(),
    }
    INTRODUCTIONS.write_text(json.dumps(head, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
