"""Trains the packaged judge out of ``judge/``, and writes ``reconciler/adapters/judge.onnx``.

    make judge        or: python -m tools.train_judge FOLDER [WRITERS ...]
    python -m tools.train_judge FOLDER --own PAIRS

FOLDER keeps a checkpoint every 200 steps: started again, the training goes on from there. WRITERS
are trained on, all but ``HELD_OUT`` and ``TESTED`` if none is named, so that a learning curve is a
few runs; with them the judge is written into FOLDER. Half an hour on two cores that do nothing
else, minutes on a GPU. It needs PyTorch and transformers (the extra ``dev``).

PAIRS are decisions of one's own, as ``reconciler calibrate`` takes them: JSON lines of fact, note
and label (same, update, distinct). The packaged judge is trained on with them for some minutes, and
``FOLDER/judge.onnx`` is what ``arbiter.model`` names. A fifth of them measures only.

* ``judge/relations.jsonl``: notes beside a fact, written for it.
* ``judge/neighbours.jsonl``: notes beside facts of other matters in the same memory, which an
  earlier judge took for ended, with what a reader says; and some that it did not.

Turned around and crossed, a group gives more pairs: two wordings of a fact are the same, and a note
that ends one of them ends the other. The packaged model's last four layers are trained, with a head
over the first token and the means of both sentences. The bounds are set on the writers that are
held out, which hold near negatives only.
"""

from __future__ import annotations

import os
import random
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from onnx import load, numpy_helper
from torch import nn
from transformers import AutoModel, AutoTokenizer

from benchmarks.data import json_lines
from reconciler.adapters.model_files import weights_folder
from reconciler.adapters.packaged_arbiter import ENDED, FILE, SAME
from reconciler.ops.calibration import PairLabel, read_pairs
from tools.build_judge_graph import write

DATA = Path(__file__).resolve().parents[1] / "judge"
WRITTEN, BESIDE = DATA / "relations.jsonl", DATA / "neighbours.jsonl"
RELATIONS = {
    "same": "S",
    "refines": "R",
    "replaces": "P",
    "ends": "E",
    "retracted": "X",
    "temporary": "T",
    "later": "L",
    "past": "O",
    "both": "B",
}
LETTERS = "".join(RELATIONS.values())
HELD_OUT = ("second_language", "companion")
"""The writers whose notes set the bounds, but for the one that ends a fact."""
HARD = ("hard_look", "hard_kept", "hostile")
"""Pairs that were written to mislead; they set the bound that ends a fact."""
TESTED = ("care",)
"""The writers whose notes only measure."""
VERSION = "3"
SEED = 7

STEPS = int(os.environ.get("STEPS", "8200"))
STEPS_OF_OWN = int(os.environ.get("STEPS", "300"))
OWN_LETTERS = {PairLabel.SAME: "S", PairLabel.UPDATE: "P", PairLabel.DISTINCT: "B"}
PAIRS_A_STEP = 32
WARM_UP_STEPS = 60
TRAINED_FROM_LAYER = 2
RATE, RATE_OF_HEAD = 1.5e-4, 7.5e-4
TOKENS_MAX = 80
WEIGHTS = {"written": 4.0, "picked": 4.0, "beside": 4.0, "crossed": 1.0}
OWN_SHARE = 0.25
"""Of a step's pairs, how many are one's own; the others keep what the judge knows."""
STEPS_A_CHECKPOINT = 200
UNSTOPPED = 0.3

ENDED_WRONGLY_MAX, ASKED_WRONGLY_MAX = 0.02, 0.035
"""Of pairs that hold, the share that may reach the bound to end, and the bound to ask. Those that
were picked because a judge was wrong about them are no share of anything, and are left out. At the
door a part of the former is stopped by the guard and the limits."""
SAME_WRONGLY_MAX = 0.003
ENDS_CLOSED_MAX = 0.004
"""Of changes, the share that may be called "both hold", which closes the rule's dispute."""


class Pair(NamedTuple):
    """A fact, a note, the letter of their relation, and where it comes from."""

    fact: str
    note: str
    letter: str
    source: str


class Judge(nn.Module):
    """MiniLM over both texts, and a head."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.m = AutoModel.from_pretrained(folder, add_pooling_layer=False)
        self.drop = nn.Dropout(0.1)
        self.h = nn.Linear(4 * 384, len(LETTERS))

    def forward(self, ids: Any, mask: Any, kinds: Any) -> Any:
        """The scores of the letters, shape (pairs, 9)."""
        rows = self.m(input_ids=ids, attention_mask=mask, token_type_ids=kinds).last_hidden_state
        means = []
        for part in (mask * (1 - kinds), mask * kinds):
            part = part.unsqueeze(-1).float()
            means.append((rows * part).sum(1) / part.sum(1).clamp(min=1))
        apart = (means[0] - means[1]).abs()
        return self.h(self.drop(torch.cat([rows[:, 0], *means, apart], -1)))


def pairs_of(writers: Sequence[str], *, is_crossed: bool) -> list[Pair]:
    """What these writers wrote, and what was read of their memories."""
    groups: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in json_lines(WRITTEN):
        if row["writer"] in writers:
            groups[row["group"]].append(row)
    rng = random.Random(SEED)
    made = [pair for group in groups.values() for pair in _of_group(group, rng, is_crossed)]
    return made + [
        Pair(
            row["fact"],
            row["note"],
            RELATIONS[row["relation"]],
            "picked" if row["is_read"] else "beside",
        )
        for row in json_lines(BESIDE)
        if row["writer"] in writers
    ]


def _of_group(group: list[dict[str, Any]], rng: random.Random, is_crossed: bool) -> Iterator[Pair]:
    fact = group[0]["fact"]
    by: dict[str, list[str]] = defaultdict(list)
    for row in group:
        letter = RELATIONS[row["relation"]]
        by[letter].append(row["note"])
        yield Pair(fact, row["note"], letter, "written")
    if is_crossed:
        yield from _crossed(fact, by, rng)


def _crossed(fact: str, by: dict[str, list[str]], rng: random.Random) -> Iterator[Pair]:
    """More pairs of a group: what says the fact again relates to notes as it does."""
    for of, letters, share in (("S", "SPEXTLOB", 0.7), ("R", ENDED, 1.0), ("P", "B", 0.3)):
        for first, letter in product(by[of], letters):
            for note in by[letter]:
                if note != first and rng.random() < share:
                    yield Pair(first, note, letter, "crossed")
    yield from (Pair(same, fact, "S", "crossed") for same in by["S"])
    yield from (Pair(note, fact, "B", "crossed") for note in by["B"])


def encoded(tokenizer: Any, pairs: Sequence[Pair]) -> tuple[Any, Any, Any]:
    """The three inputs of a batch."""
    made = tokenizer(
        [pair.fact for pair in pairs],
        [pair.note for pair in pairs],
        truncation=True,
        max_length=TOKENS_MAX,
        padding=True,
        return_tensors="pt",
    )
    return made["input_ids"], made["attention_mask"], made["token_type_ids"]


def chances(judge: Judge, tokenizer: Any, pairs: Sequence[Pair]) -> Any:
    """The probabilities of the letters, shape (pairs, 9)."""
    judge.eval()
    found = np.zeros((len(pairs), len(LETTERS)), np.float32)
    order = sorted(range(len(pairs)), key=lambda at: len(pairs[at].fact + pairs[at].note))
    with torch.inference_mode():
        for start in range(0, len(order), 64):
            some = order[start : start + 64]
            scores = judge(*encoded(tokenizer, [pairs[at] for at in some]))
            found[some] = torch.softmax(scores.float(), -1).numpy()
    return found


def train(
    folder: Path, pairs: Sequence[Pair], judge: Judge, tokenizer: Any, steps: int = STEPS
) -> None:
    """Train, from a checkpoint if there is one; prints the loss and the speed."""
    for part in (judge.m.embeddings, *judge.m.encoder.layer[:TRAINED_FROM_LAYER]):
        for parameter in part.parameters():
            parameter.requires_grad = False
    body = [each for each in judge.m.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(
        [{"params": body, "lr": RATE}, {"params": list(judge.h.parameters()), "lr": RATE_OF_HEAD}],
        weight_decay=0.01,
    )
    kept = folder / "checkpoint.pt"
    step = _resumed(kept, judge, optimizer) if kept.exists() else 0
    weights = weights_of(pairs)
    rng = random.Random(SEED + step)
    torch.manual_seed(SEED + step)
    began, first, average = time.monotonic(), step, 0.0
    while step < steps:
        many = [_loosely(pair, rng) for pair in rng.choices(pairs, weights, k=PAIRS_A_STEP * 8)]
        for batch in _batches(many, rng):
            slope = min(1, (step + 1) / WARM_UP_STEPS) * max(0.02, 1 - step / steps)
            for group, rate in zip(optimizer.param_groups, (RATE, RATE_OF_HEAD), strict=True):
                group["lr"] = rate * slope
            loss = _learnt(judge, tokenizer, optimizer, batch)
            step += 1
            average = 0.98 * average + 0.02 * loss if average else loss
            if step % 50 == 0:
                speed = (step - first) * PAIRS_A_STEP / (time.monotonic() - began)
                print(f"{step} of {steps}: loss {average:.3f}, {speed:.0f} pairs/s", flush=True)
            if step % STEPS_A_CHECKPOINT == 0:
                _keep(kept, step, judge, optimizer)
    _keep(kept, step, judge, optimizer)


def weights_of(pairs: Sequence[Pair]) -> list[float]:
    """How often each pair is drawn, beside the others."""
    others = sum(WEIGHTS[pair.source] for pair in pairs if pair.source != "own")
    own = sum(pair.source == "own" for pair in pairs)
    share = OWN_SHARE / (1 - OWN_SHARE) * others / max(own, 1)
    return [share if pair.source == "own" else WEIGHTS[pair.source] for pair in pairs]


def _loosely(pair: Pair, rng: random.Random) -> Pair:
    """The pair, now and then without the full stops, which say nothing."""
    if rng.random() < UNSTOPPED:
        return pair._replace(fact=pair.fact.rstrip("."), note=pair.note.rstrip("."))
    return pair


def _batches(pairs: list[Pair], rng: random.Random) -> list[list[Pair]]:
    """Pairs of similar length together: little padding."""
    pairs.sort(key=lambda pair: len(pair.fact + pair.note))
    batches = [pairs[at : at + PAIRS_A_STEP] for at in range(0, len(pairs), PAIRS_A_STEP)]
    rng.shuffle(batches)
    return batches


def _learnt(judge: Judge, tokenizer: Any, optimizer: Any, batch: Sequence[Pair]) -> float:
    """The loss of a batch, from which the judge has learnt."""
    judge.train()
    wanted = torch.tensor([LETTERS.index(pair.letter) for pair in batch])
    loss = nn.functional.cross_entropy(
        judge(*encoded(tokenizer, batch)).float(), wanted, label_smoothing=0.05
    )
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 1.0)
    optimizer.step()
    return float(loss.item())


def _resumed(kept: Path, judge: Judge, optimizer: Any) -> int:
    found = torch.load(kept)
    judge.load_state_dict(found["judge"])
    optimizer.load_state_dict(found["optimizer"])
    print(f"goes on from step {found['step']}", flush=True)
    return int(found["step"])


def _keep(kept: Path, step: int, judge: Judge, optimizer: Any) -> None:
    made = {"step": step, "judge": judge.state_dict(), "optimizer": optimizer.state_dict()}
    unfinished = kept.with_suffix(".tmp")
    torch.save(made, unfinished)
    unfinished.replace(kept)


def bounds_of(found: Any, pairs: Sequence[Pair], hard: Any) -> dict[str, float]:
    """From which probability on the judge answers, by pairs that it was not trained on.

    Args:
        found: the probabilities of the letters of the pairs.
        pairs: what sets all bounds but the one that ends a fact.
        hard: how surely a fact is over, of the hard pairs that hold.
    """
    letters = np.array([pair.letter for pair in pairs])
    ended, same = _ended(found), found[:, [LETTERS.index(letter) for letter in SAME]].sum(1)
    is_change, is_same = (np.isin(letters, list(part)) for part in (ENDED, SAME))
    both = 1 - ended - same
    made = {
        "ends": float(np.quantile(hard, 1 - ENDED_WRONGLY_MAX)),
        "asks": float(np.quantile(ended[~is_change], 1 - ASKED_WRONGLY_MAX)),
        "same": float(np.quantile(same[~is_same], 1 - SAME_WRONGLY_MAX)),
        "both": float(np.quantile(both[is_change], 1 - ENDS_CLOSED_MAX)),
    }
    print(f"{len(pairs)} held out, {is_change.sum()} of them changes:")
    for name, rows, score in (
        ("ends", is_change, ended),
        ("asks", is_change, ended),
        ("same", is_same, same),
        ("both", ~is_change & ~is_same, both),
    ):
        reached = score >= made[name]
        wrong = (reached & ~rows).sum()
        print(f"  {name} from {made[name]:.3f}: {reached[rows].mean():.3f} found, {wrong} wrongly")
    return {name: round(bound, 3) for name, bound in made.items()}


def _ended(found: Any) -> Any:
    """How surely a fact is over, out of the probabilities of the letters."""
    return found[:, [LETTERS.index(letter) for letter in ENDED]].sum(1)


def own_pairs(file: Path) -> tuple[list[Pair], list[Pair]]:
    """One's own pairs: those to train on, and every fifth, which only measures."""
    with file.open(encoding="utf-8") as lines:
        read = read_pairs(lines)
    pairs = [Pair(row.fact_text, row.note_text, OWN_LETTERS[row.label], "own") for row in read]
    random.Random(SEED).shuffle(pairs)
    return [pair for at, pair in enumerate(pairs) if at % 5], pairs[::5]


def take_packaged(judge: Judge) -> None:
    """Give the judge the layers and the head of ``judge.onnx``."""
    packaged = load(FILE, load_external_data=False).graph.initializer
    known = {tensor.name: tensor for tensor in packaged}
    for name, rows in _trained(judge).items():
        taken = numpy_helper.to_array(known[f"half.{_in_graph(name)}"])
        rows.copy_(torch.tensor(taken, dtype=torch.float32))


def _trained(judge: Judge) -> dict[str, Any]:
    """The tensors that are trained, by their names in the judge."""
    return {
        name: rows
        for name, rows in judge.state_dict().items()
        if name.startswith("h.") or _layer(name) >= TRAINED_FROM_LAYER
    }


def _in_graph(name: str) -> str:
    """The name of one of the judge's tensors in the graph: the model's own, or the head's."""
    return f"head.{name[2:]}" if name.startswith("h.") else name[2:]


def main() -> None:
    """Train, set the bounds, and write the judge."""
    asked = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    asked.add_argument("folder", type=Path)
    asked.add_argument("writers", nargs="*")
    asked.add_argument("--own", type=Path, metavar="PAIRS")
    given = asked.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    known = sorted({row["writer"] for row in json_lines(WRITTEN)})
    writers = given.writers or [
        writer for writer in known if writer not in (*HELD_OUT, *HARD, *TESTED)
    ]
    source = weights_folder()
    tokenizer, judge = AutoTokenizer.from_pretrained(source), Judge(source)
    own, measured = own_pairs(given.own) if given.own else ([], [])
    if own:
        take_packaged(judge)
    pairs = pairs_of(writers, is_crossed=True) + own
    print(f"{len(pairs):,} pairs of {len(writers)} writers, {len(own)} of your own", flush=True)
    train(given.folder, pairs, judge, tokenizer, STEPS_OF_OWN if own else STEPS)
    held_out = [pair for pair in pairs_of(HELD_OUT, is_crossed=False) if pair.source != "picked"]
    held_out += measured
    hard = [pair for pair in pairs_of(HARD, is_crossed=False) if pair.letter not in ENDED]
    found, misled = (chances(judge, tokenizer, some) for some in (held_out, hard))
    bounds = bounds_of(found, held_out, _ended(misled))
    about = {"version": VERSION, "relations": LETTERS} | {k: str(v) for k, v in bounds.items()}
    trained = {_in_graph(name): rows.numpy() for name, rows in _trained(judge).items()}
    write(trained, about, given.folder / "judge.onnx" if own or given.writers else None)


def _layer(name: str) -> int:
    """The number of the layer that a tensor belongs to; -1 for the embeddings."""
    parts = name.split(".")
    return int(parts[3]) if "layer" in parts else -1


if __name__ == "__main__":
    main()
