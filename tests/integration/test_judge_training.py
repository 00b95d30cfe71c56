"""Training the packaged judge on with decisions of one's own: where it starts, what it takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reconciler.adapters.model_files import weights_folder
from reconciler.adapters.packaged_arbiter import ENDED, SAME, PackagedArbiter
from reconciler.errors import InvalidRequestError

pytestmark = pytest.mark.torch

PAIRS = (
    ("Is on the Basic plan.", "Upgraded to the Pro plan."),
    ("Has a dog.", "The dog died last week."),
    ("Has locker 12.", "Locker 12 is hers."),
    ("Is allergic to peanuts.", "Prefers a window seat."),
)


@pytest.fixture(scope="module")
def train_judge() -> Any:
    """The tool, which needs PyTorch."""
    from tools import train_judge

    return train_judge


def test_the_training_goes_on_from_the_judge_that_ships(train_judge: Any) -> None:
    from transformers import AutoTokenizer

    source = weights_folder()
    judge = train_judge.Judge(source)
    train_judge.take_packaged(judge)
    pairs = [train_judge.Pair(fact, note, "B", "own") for fact, note in PAIRS]
    found = train_judge.chances(judge, AutoTokenizer.from_pretrained(source), pairs)
    columns = [[train_judge.LETTERS.index(each) for each in part] for part in (ENDED, SAME)]
    shipped = PackagedArbiter().load()
    for row, (fact, note) in zip(found, PAIRS, strict=True):
        [read] = shipped.read(note, [fact])
        assert read is not None
        wanted = [float(row[part].sum()) for part in columns]
        assert np.allclose([read.ended, read.same], wanted, atol=0.01)


def test_every_fifth_of_ones_own_pairs_only_measures(train_judge: Any, tmp_path: Path) -> None:
    labels = ["same", "update", "distinct"] * 10
    rows = [
        {"fact": f"Fact {n}.", "note": "A note.", "label": each} for n, each in enumerate(labels)
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    own, measured = train_judge.own_pairs(file)
    assert (len(own), len(measured)) == (24, 6)
    given = {
        row["fact"]: {"same": "S", "update": "P", "distinct": "B"}[row["label"]] for row in rows
    }
    assert {pair.fact: pair.letter for pair in (*own, *measured)} == given


def test_ones_own_pairs_are_a_quarter_of_what_is_read(train_judge: Any) -> None:
    ours = [train_judge.Pair("a", "b", "S", "own")] * 3
    others = [train_judge.Pair("a", "b", "B", source) for source in ("written", "crossed")] * 50
    weights = train_judge.weights_of([*ours, *others])
    assert sum(weights[:3]) / sum(weights) == pytest.approx(0.25)


def test_a_wrong_pair_is_named_by_its_line(train_judge: Any, tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text('{"fact": "Has a dog."}\n', encoding="utf-8")
    with pytest.raises(InvalidRequestError, match="line 1: note must be a string"):
        train_judge.own_pairs(file)
