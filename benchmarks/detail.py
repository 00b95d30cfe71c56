"""Whether a vaguer restatement retires the richer fact: a number or a name deleted from real notes.

Each note of ``note_pairs.jsonl`` that holds a number or a name is the fact; the same text without
it is the note, and the rule decides with the fact as the only neighbour. The texts are split in two
by a hash: the rule was written looking at one half, and the other was kept aside.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from benchmarks.data import HALVES, half_of, rows
from benchmarks.engines import Engines
from benchmarks.error_rate import with_interval
from benchmarks.rates import Rate
from reconciler.bootstrap.chosen_models import build_embedder, build_policy
from reconciler.domain.reconciling.rule import decide
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action
from reconciler.domain.records.notes import Note, Scope
from reconciler.reading.guard.reading import read
from reconciler.settings import load_settings

SAID_AT = datetime(2026, 1, 1, tzinfo=UTC)
NUMBER_KINDS = ("number", "ordinal", "year", "day", "time")


def vaguer(text: str) -> Iterator[tuple[str, str]]:
    """The text without one of its numbers, and without one of its names."""
    reading = read(text)
    numbers = [said for kind in NUMBER_KINDS for said in reading.values.get(kind, {}).values()]
    for kind, details in (("number", numbers), ("name", list(reading.names.values()))):
        if details:
            shorter = re.sub(rf"[$€£]?(?<!\w){re.escape(details[0])}(?!\w)%?", " ", text, count=1)
            shorter = " ".join(shorter.split())
            if shorter != " ".join(text.split()) and len(shorter.split()) > 2:
                yield kind, shorter


def cases() -> list[tuple[str, str, str]]:
    """Kind of detail, fact and note; empty where the data is not there."""
    pairs = rows("note_pairs.jsonl") or []
    texts = sorted({row[side] for row in pairs for side in ("a", "b")})
    return [(kind, text, shorter) for text in texts for kind, shorter in vaguer(text)]


def main(_: Engines) -> None:
    """Print how often the richer fact is retired, by profile, detail and half."""
    found = cases()
    if not found:
        return
    settings = load_settings()
    embedder = build_embedder(settings)
    texts = sorted({text for _, fact, note in found for text in (fact, note)})
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    scope = Scope(tenant="default", agent_id="benchmark", contact_id="one")
    print("| profile | detail | half | richer fact retired | kept as said once more | both live |")
    print("|---|---|---|--:|--:|--:|")
    for profile in ("seed", "minilm"):
        policy = build_policy(load_settings(reconcile={"profile": profile}), embedder.model_id)
        counts: Counter[tuple[str, str, Action]] = Counter()
        for kind, fact, text in found:
            old = Neighbour(
                fact_id="fact",
                text=fact,
                cosine=float(vectors[fact] @ vectors[text]),
                valid_from=SAID_AT,
            )
            note = Note(scope=scope, text=text, said_at=SAID_AT + timedelta(days=1))
            counts[kind, half_of(fact), decide(note, [old], policy).action] += 1
        for kind in ("number", "name"):
            for half in HALVES:
                total = sum(counts[kind, half, action] for action in Action)
                cells = [
                    Rate(count=counts[kind, half, action], of=total)
                    for action in (Action.UPDATE, Action.SKIP, Action.ADD)
                ]
                print(
                    f"| {profile} | {kind} | {half} | "
                    + " | ".join(map(with_interval, cells))
                    + " |"
                )
