"""What the rule links and ends inside full memories: real conversations, note after note.

Labelled pairs put one fact before a note. Here each note meets all that was said before about its
contact, as it does in use: the user turns of a conversation in their order, whole or sentence by
sentence as far as the gate lets them in, one contact a conversation; and, as the hardest case, the
sentences of all conversations of a half about one contact. The rule is called on exact cosines,
with no slot and no arbiter. What it linked and ended is drawn at random for judging by hand.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import HALVES, half_of, rows, user_turns
from benchmarks.engines import Engines
from benchmarks.error_rate import ReadyVectors
from reconciler.bootstrap import build_judge, build_policy
from reconciler.domain.guard import find_differences
from reconciler.domain.reconciling.neighbours import neighbours_of
from reconciler.domain.reconciling.rule import decide
from reconciler.domain.records.assessment import Disposal
from reconciler.domain.records.decisions import Action, Verdict
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.notes import Note
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.domain.records.scope import Scope
from reconciler.memory import note_to_check
from reconciler.settings import load_settings

PROFILES = ("seed", "minilm")
TURNS, SENTENCES, TOGETHER = "turns", "sentences", "sentences, one contact"
KINDS = (TURNS, SENTENCES, TOGETHER)
WORDS = range(4, 41)
"""How many words a sentence has that is kept as a note."""

LINKS_DRAWN, ENDS_DRAWN = 100, 60
SEED = 14
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
NEAREST_COUNT = 10


@dataclass(frozen=True)
class Said:
    """A note, about whom it is, and when it was said."""

    contact: str
    text: str
    at: datetime


@dataclass(frozen=True)
class Step:
    """What became of one note."""

    said: Said
    verdict: Verdict

    def pairs(self, facts: Iterable[Neighbour], kind: str) -> Iterator[dict[str, Any]]:
        """The note beside each of the facts, as a line for whoever judges them."""
        for fact in facts:
            yield {
                "kind": kind,
                "contact": self.said.contact,
                "cosine": round(fact.cosine, 3),
                "decided_by": str(self.verdict.decided_by),
                "fact": fact.text,
                "note": self.said.text,
                "findings": [str(each) for each in find_differences(self.said.text, fact.text)],
            }


def main(_: Engines) -> None:
    """Print what was decided, and write the draws where ``DRAWS`` names a folder."""
    conversations = rows("conversations.jsonl")
    if conversations is None:
        return
    memories = dict(zip(KINDS, notes_of(conversations), strict=True))
    vectors = ReadyVectors(said.text for notes in memories.values() for said in notes)
    print("## full memories: what is linked and ended\n")
    print("| profile | notes | half | count | links | ended | said once more | by rule |")
    print("|---|---|---|--:|--:|--:|--:|---|")
    for profile in PROFILES:
        settings = load_settings(reconcile={"profile": profile})
        policy = build_policy(settings, vectors.model_id)
        for half in HALVES:
            drawn: dict[str, list[dict[str, Any]]] = {"links": [], "ends": []}
            for kind, notes in memories.items():
                steps = list(replay(of_half(notes, half), vectors, policy, kind))
                _print_row(profile, kind, half, steps)
                for step in steps:
                    drawn["links"] += step.pairs(step.verdict.conflicts, kind)
                    drawn["ends"] += step.pairs(_ended(step.verdict), kind)
            _write_draws(drawn, f"{profile}-{half.replace(' ', '_')}")
    print(flush=True)


def notes_of(
    conversations: list[dict[str, Any]],
) -> tuple[list[Said], list[Said], list[Said]]:
    """The notes of all conversations, in the order of ``KINDS``."""
    is_admitted = _gate()
    turns = [
        Said(turn["contact_id"], turn["text"], datetime.fromisoformat(turn["said_at"]))
        for turn in user_turns(conversations)
    ]
    sentences = [
        Said(turn.contact, sentence, turn.at)
        for turn in turns
        for sentence in sentences_of(turn.text)
        if is_admitted(sentence)
    ]
    return turns, sentences, sorted(sentences, key=lambda said: said.at)


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of a turn that have the length of a note."""
    for sentence in SENTENCE_END.split(text):
        if len(sentence.split()) in WORDS:
            yield sentence.strip()


def of_half(notes: Iterable[Said], half: str) -> Iterator[Said]:
    """The notes of the conversations of one half."""
    return (said for said in notes if half_of(said.contact) == half)


def replay(
    notes: Iterable[Said], vectors: ReadyVectors, policy: ReconcilePolicy, kind: str
) -> Iterator[Step]:
    """Each note decided on what those before it left live, and then live itself."""
    live: dict[str, dict[str, Said]] = {}
    for number, said in enumerate(notes):
        at = said.at + timedelta(seconds=number)  # the turns of a session bear one time
        contact = kind if kind == TOGETHER else said.contact
        facts = live.setdefault(contact, {})
        scope = Scope(tenant="default", agent_id="benchmark", contact_id=contact)
        note = Note(scope=scope, text=said.text[:2000], said_at=at)
        verdict = decide(note, _neighbours(note, facts, vectors), policy)
        for target in _ended(verdict):
            del facts[target.fact_id]
        if verdict.action is not Action.SKIP:
            facts[str(number)] = Said(said.contact, said.text, at)
        yield Step(said, verdict)


def _neighbours(note: Note, facts: dict[str, Said], vectors: ReadyVectors) -> Sequence[Neighbour]:
    if not facts:
        return ()
    known = vectors.embed([fact.text for fact in facts.values()])
    cosines = known @ vectors.embed([note.text])[0]
    nearest = np.argsort(-cosines)[:NEAREST_COUNT]
    ids, said = list(facts), list(facts.values())
    return neighbours_of(
        note,
        [
            Neighbour(
                fact_id=ids[place],
                text=said[place].text,
                cosine=float(cosines[place]),
                valid_from=said[place].at,
            )
            for place in nearest
        ],
    )


def _ended(verdict: Verdict) -> tuple[Neighbour, ...]:
    return verdict.targets if verdict.action is Action.UPDATE else ()


def _gate() -> Callable[[str], bool]:
    judge = build_judge(load_settings())

    def is_admitted(text: str) -> bool:
        candidate = note_to_check(
            text, agent_id="any", source_kind="user_explicit", category=None, topic=None
        )
        return judge(candidate).assessment.disposal is Disposal.ADMIT

    return is_admitted


def _print_row(profile: str, kind: str, half: str, steps: Sequence[Step]) -> None:
    links = sum(len(step.verdict.conflicts) for step in steps)
    ended = sum(len(_ended(step.verdict)) for step in steps)
    again = sum(step.verdict.action is Action.SKIP for step in steps)
    rules = Counter(f"{step.verdict.action} {step.verdict.decided_by}" for step in steps)
    listed = ", ".join(f"{rule} {count}" for rule, count in sorted(rules.items()))
    cells = (profile, kind, half, len(steps), links, ended, again, listed)
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def _write_draws(drawn: dict[str, list[dict[str, Any]]], name: str) -> None:
    """A fixed random draw of the links and of the ends, to be judged by hand."""
    folder = os.environ.get("DRAWS")
    if folder is None:
        return
    for what, count in (("links", LINKS_DRAWN), ("ends", ENDS_DRAWN)):
        pairs = [pair for pair in drawn[what] if pair["kind"] != TOGETHER]
        chosen = random.Random(SEED).sample(pairs, min(count, len(pairs)))
        lines = (json.dumps(pair, ensure_ascii=False) for pair in chosen)
        path = Path(folder) / f"{name}-{what}.jsonl"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
