"""What the rule links and ends inside full memories: real conversations, note after note.

Labelled pairs put one fact before a note. Here each note meets all that was said before about its
contact, as it does in use: the user turns of a conversation in their order, whole or sentence by
sentence, as far as the gate lets them in and all of them, one contact a conversation; and, as the
hardest case, the admitted sentences of all conversations of a half about one contact.

A note is made as the live door makes it, with the slot that its words give away and what the gate
says of it. The rule is called on exact cosines, without an arbiter, and what it decides may settle
a dispute, as in the store. What it linked and ended is drawn at random for judging by hand: no pair
twice, nor as a sentence and as the turn that the sentence is from, and no end by an exact
restatement, of which nobody need judge one.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import HALVES, half_of, rows, user_turns
from benchmarks.engines import Engines
from benchmarks.error_rate import ReadyVectors
from reconciler.bootstrap.chosen_models import build_judge, build_policy
from reconciler.config_files import load_attribute_book
from reconciler.domain.reconciling.disputes import settle
from reconciler.domain.reconciling.rule import decide
from reconciler.domain.reconciling.verdicts import (
    NEIGHBOUR_COUNT_MAX,
    is_rival,
    neighbour_of,
    neighbours_of,
)
from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.facts import Fact, Neighbour
from reconciler.domain.records.kinds import Action
from reconciler.domain.records.notes import TEXT_LENGTH_MAX, Note, Scope
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.reading.canonical import canonical_text
from reconciler.reading.guard import find_differences
from reconciler.reading.kinds import Category
from reconciler.service.writing.doors import as_candidate, note_of
from reconciler.settings import load_settings

PROFILES = ("seed", "minilm")
TURNS, SENTENCES = "turns", "sentences"
UNGATED, TOGETHER = "sentences, ungated", "sentences, one contact"
KINDS = (TURNS, SENTENCES, UNGATED, TOGETHER)
WORDS = range(4, 41)
"""How many words a sentence has that is kept as a note."""

LINKS_DRAWN, ENDS_DRAWN = 60, 40
SEED = 14
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")

Draw = dict[tuple[str, str], dict[str, Any]]
"""By the texts of fact and note, the line that is judged."""


@dataclass(frozen=True)
class Step:
    """What became of one note, and what it was decided on."""

    note: Note
    verdict: Verdict

    @property
    def ended(self) -> tuple[Neighbour, ...]:
        targets = self.verdict.targets if self.verdict.action is Action.UPDATE else ()
        return targets + self.verdict.settled

    def pairs(self, facts: Iterable[Neighbour], kind: str) -> Iterator[dict[str, Any]]:
        """The note beside each of the facts, as a line for whoever judges them."""
        for fact in facts:
            findings = find_differences(self.note.text, fact.text)
            yield {
                "notes": kind,
                "cosine": round(fact.cosine, 3),
                "decided_by": str(self.verdict.decided_by),
                "fact": fact.text,
                "note": self.note.text,
                "fact_slot": fact.slot.key if fact.slot else None,
                "note_slot": self.note.slot.key if self.note.slot else None,
                "findings": [str(each) for each in findings],
            }


def main(_: Engines) -> None:
    """Print what was decided, and write the draws where ``DRAWS`` names a folder."""
    conversations = rows("conversations.jsonl")
    if conversations is None:
        return
    memories = dict(zip(KINDS, notes_of(conversations), strict=True))
    vectors = ReadyVectors(note.text for notes in memories.values() for note in notes)
    draws: dict[str, Draw] = {}
    print("## full memories: what is linked and ended\n")
    print(
        "| profile | notes | half | count | slots read | links | ended | by an exact restatement "
        "| said once more | by rule |"
    )
    print("|---|---|---|--:|--:|--:|--:|--:|--:|---|")
    for profile in PROFILES:
        settings = load_settings(reconcile={"profile": profile})
        policy = build_policy(settings, vectors.model_id)
        for half in HALVES:
            for kind, notes in memories.items():
                steps = list(replay(of_half(notes, half), vectors, policy, kind))
                _print_row(profile, kind, half, steps)
                for step in steps:
                    links = draws.setdefault(f"{half}-links", {})
                    ends = draws.setdefault(f"{half}-ends", {})
                    _add(links, step.pairs(step.verdict.conflicts, kind), profile)
                    _add(ends, step.pairs(_ended_otherwise(step), kind), profile)
    print(flush=True)
    _write_draws(draws)


def notes_of(conversations: list[dict[str, Any]]) -> tuple[list[Note], ...]:
    """The notes of all conversations, in the order of ``KINDS``."""
    door = LiveDoor()
    turns, sentences, ungated = [], [], []
    for number, turn in enumerate(user_turns(conversations)):
        # The turns of a session bear one time.
        at = datetime.fromisoformat(turn["said_at"]) + timedelta(seconds=number)
        turns.append(door.note(turn["contact_id"], turn["text"][:TEXT_LENGTH_MAX], at)[0])
        for place, sentence in enumerate(sentences_of(turn["text"])):
            said_at = at + timedelta(milliseconds=place)
            note, is_admitted = door.note(turn["contact_id"], sentence, said_at)
            ungated.append(note)
            if is_admitted:
                sentences.append(note)
    together = sorted(sentences, key=lambda note: note.said_at)
    return turns, sentences, ungated, together


class LiveDoor:
    """Makes a note as the live door does, and has the gate judge it."""

    def __init__(self) -> None:
        self._judge = build_judge(load_settings())
        self._book = load_attribute_book(None)

    def note(self, contact: str, text: str, at: datetime) -> tuple[Note, bool]:
        """The note as the reconciler gets it, its text as it was said, and whether it would."""
        scope = Scope(tenant="default", agent_id="benchmark", contact_id=contact)
        note = note_of(scope, text, {"said_at": at}, self._book, datetime.now(UTC))
        judged = self._judge(as_candidate(note, "benchmark"))
        found = judged.candidate.note
        note = replace(note, category=found.category, is_hedged=found.is_hedged)
        return note, judged.is_admitted


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of a turn that have the length of a note."""
    for sentence in SENTENCE_END.split(text):
        if len(sentence.split()) in WORDS:
            yield sentence.strip()


def of_half(notes: Iterable[Note], half: str) -> Iterator[Note]:
    """The notes of the conversations of one half."""
    return (note for note in notes if half_of(note.scope.contact_id) == half)


def replay(
    notes: Iterable[Note], vectors: ReadyVectors, policy: ReconcilePolicy, kind: str
) -> Iterator[Step]:
    """Each note decided on what those before it left live, and then live itself."""
    memories: dict[str, Live] = {}
    for number, note in enumerate(notes):
        contact = kind if kind == TOGETHER else note.scope.contact_id
        live = memories.setdefault(contact, Live(vectors))
        verdict = decide(note, live.neighbours(note), policy)
        step = Step(note, settle(verdict, note, live.disputed))
        live.take_over(step, str(number))
        yield step


class Live:
    """What is live about one contact, and what of it is in dispute."""

    def __init__(self, vectors: ReadyVectors) -> None:
        self._vectors = vectors
        self._facts: dict[str, Fact] = {}
        self.disputed: dict[str, list[Fact]] = {}

    def neighbours(self, note: Note) -> Sequence[Neighbour]:
        """Those that the store would look at: what shares the slot first, then the nearest."""
        if not self._facts:
            return ()
        facts = list(self._facts.values())
        known = self._vectors.embed([fact.text for fact in facts])
        cosines = known @ self._vectors.embed([note.text])[0]
        nearest = [(facts[place], float(cosines[place])) for place in np.argsort(-cosines)]
        nearest.sort(key=lambda each: not is_rival(note, each[0]))
        found = [neighbour_of(fact, cosine) for fact, cosine in nearest[:NEIGHBOUR_COUNT_MAX]]
        return neighbours_of(note, found)

    def take_over(self, step: Step, fact_id: str) -> None:
        """Remember what was decided, as a commit does."""
        verdict, note = step.verdict, step.note
        known = verdict.target and self._facts[verdict.target.fact_id]
        for each in step.ended:
            self._forget(each.fact_id)
        if verdict.action is Action.SKIP:
            if known:
                self._facts[known.fact_id] = replace(known, observations=known.observations + 1)
            return
        is_again = known is not None and verdict.is_restatement
        fact = Fact(
            fact_id=fact_id,
            text=note.text,
            slot=note.slot or (known.slot if known and is_again else None),
            trust=note.trust,
            category=Category(note.category or Category.FACT),
            observations=known.observations + 1 if known and is_again else 1,
            recorded_at=note.said_at,
            valid_from=note.holds_from,
            last_confirmed_at=note.said_at,
        )
        self._facts[fact_id] = fact
        for each in verdict.conflicts:
            self.disputed.setdefault(each.fact_id, []).append(fact)
            self.disputed.setdefault(fact_id, []).append(self._facts[each.fact_id])

    def _forget(self, fact_id: str) -> None:
        self._facts.pop(fact_id, None)
        for other in self.disputed.pop(fact_id, ()):
            sides = self.disputed.get(other.fact_id, [])
            sides[:] = [each for each in sides if each.fact_id != fact_id]


def _ended_otherwise(step: Step) -> Iterator[Neighbour]:
    """What ended, but by its own words said again."""
    return (each for each in step.ended if not _is_exact(step.note.text, each.text))


def _is_exact(one: str, other: str) -> bool:
    return canonical_text(one).casefold() == canonical_text(other).casefold()


def _add(draw: Draw, pairs: Iterable[dict[str, Any]], profile: str) -> None:
    for pair in pairs:
        line = draw.setdefault((pair["fact"], pair["note"]), pair | {"profiles": []})
        if profile not in line["profiles"]:
            line["profiles"].append(profile)


def _print_row(profile: str, kind: str, half: str, steps: Sequence[Step]) -> None:
    slots = sum(step.note.slot is not None for step in steps)
    links = sum(len(step.verdict.conflicts) for step in steps)
    ended = sum(len(step.ended) for step in steps)
    exact = ended - sum(len(list(_ended_otherwise(step))) for step in steps)
    again = sum(step.verdict.action is Action.SKIP for step in steps)
    rules = Counter(f"{step.verdict.action} {step.verdict.decided_by}" for step in steps)
    listed = ", ".join(f"{rule} {count}" for rule, count in sorted(rules.items()))
    cells = (profile, kind, half, len(steps), slots, links, ended, exact, again, listed)
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def _write_draws(draws: dict[str, Draw]) -> None:
    """A fixed random draw of the links and of the ends of each half, to be judged by hand."""
    folder = os.environ.get("DRAWS")
    if folder is None:
        return
    for name, draw in draws.items():
        pairs = list(_each_once(draw))
        count = LINKS_DRAWN if name.endswith("links") else ENDS_DRAWN
        chosen = random.Random(SEED).sample(pairs, min(count, len(pairs)))
        print(f"{name}: {len(chosen)} of {len(pairs)} different pairs drawn")
        lines = (json.dumps(pair, ensure_ascii=False) for pair in chosen)
        path = Path(folder) / f"{name.replace(' ', '_')}.jsonl"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _each_once(draw: Draw) -> Iterator[dict[str, Any]]:
    """The pairs without the turns whose sentences are a pair already."""
    for fact, note in draw:
        if not any(
            (said, other) != (fact, note) and said in fact and other in note for said, other in draw
        ):
            yield draw[fact, note]
