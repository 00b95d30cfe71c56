"""Train the note head: ``python judge/train_note_head.py``; some minutes on two cores.

Reads ``gate_notes.jsonl``, and writes the weights beside ``reconciler/adapters/note_head.py``. The
bounds come from five-fold cross-validation: a kind counts from the probability on that no more than
its share of the notes that should be kept as they are reaches. No network but for the model.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from reconciler.adapters.local_embedder import LocalEmbedder
from reconciler.adapters.note_head import FILE, MODEL, features
from reconciler.adapters.onnx_minilm import OnnxMinilm

VERSION = "2"
FOLDER = Path(__file__).parent
OUT = FOLDER.parent / "reconciler" / "adapters" / FILE
PLAIN = "plain"
KIND_OF = {
    "health_self": "health",
    "health_third": "health",
    "not_health": PLAIN,
    "order_like": PLAIN,
    "short_fact": PLAIN,
    "durable": PLAIN,
}
KEPT = frozenset({"durable", "short_fact", "order_like", "not_health", "standing", "correction"})
"""Classes of notes that nothing but their own kind may touch."""

HARM_MAX = {
    "nothing": 0.006,
    "this_time": 0.004,
    "price_or_stock": 0.001,
    "guess_or_venting": 0.004,
    "health": 0.007,
    "order": 0.0065,
    "standing": 0.03,
    "correction": 0.01,
}
"""The share of notes to be kept that may be taken for each kind. Larger where it costs a question,
or only a longer life. World knowledge is left out: it took plain notes of recorded agents."""

ORDERS_LOST_MAX = 0.04
STRENGTH = 5.0
ROUNDS = 150
FOLDS = 5


def main() -> None:
    """Train, choose the bounds, and write the file."""
    lines = (FOLDER / "gate_notes.jsonl").read_text(encoding="utf-8").splitlines()
    notes = [json.loads(line) for line in lines]
    texts = [note["text"] for note in notes]
    classes = np.array([note["class"] for note in notes])
    kinds = np.array([KIND_OF.get(each, each) for each in classes])
    model = OnnxMinilm()
    if model.model_id != MODEL:
        raise SystemExit(f"the head is for {MODEL}, and the packaged model is {model.model_id}")
    embedder = LocalEmbedder(model, 32)
    rows = np.stack([features(*each) for each in zip(texts, embedder.embed(texts), strict=True)])
    embedder.close()
    names = sorted(set(kinds))
    shares = np.zeros((len(notes), len(names)), np.float32)
    for train, held in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(rows, classes):
        shares[held] = fitted(rows[train], kinds[train]).predict_proba(rows[held])
    bounds = [bound(name, shares[:, n], classes, kinds) for n, name in enumerate(names)]
    order = shares[:, names.index("order")]
    no_order_max = float(np.quantile(order[kinds == "order"], ORDERS_LOST_MAX))
    report(names, bounds, shares, kinds, classes)
    final = fitted(rows, kinds)
    weights = final.coef_.T.astype(np.float32)
    scale = np.abs(weights).max(axis=0) / 127
    np.savez_compressed(
        OUT,
        weights=np.round(weights / scale).astype(np.int8),
        scale=scale.astype(np.float32),
        bias=final.intercept_.astype(np.float32),
        kinds=np.array(names),
        bounds=np.array(bounds, np.float32),
        no_order_max=np.float32(no_order_max),
        version=np.array(VERSION),
    )


def fitted(rows: NDArray[np.float32], kinds: NDArray[np.str_]) -> LogisticRegression:
    """The model of some notes; a rare kind counts for more."""
    counts = {name: int((kinds == name).sum()) for name in set(kinds)}
    weights = {name: (len(kinds) / (len(counts) * count)) ** 0.5 for name, count in counts.items()}
    return LogisticRegression(C=STRENGTH, max_iter=ROUNDS, class_weight=weights).fit(rows, kinds)


def bound(
    name: str, shares: NDArray[np.float32], classes: NDArray[np.str_], kinds: NDArray[np.str_]
) -> float:
    """From which probability on the kind counts; 2 for what never does."""
    if name not in HARM_MAX:
        return 2.0
    others = np.sort(shares[np.isin(classes, list(KEPT)) & (kinds != name)])[::-1]
    return float(others[int(len(others) * HARM_MAX[name])]) + 1e-4


def report(
    names: list[str],
    bounds: list[float],
    shares: NDArray[np.float32],
    kinds: NDArray[np.str_],
    classes: NDArray[np.str_],
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


if __name__ == "__main__":
    main()
