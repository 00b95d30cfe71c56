"""The whole write gate on real texts: what it admits, holds and refuses, and what it costs.

Every text is judged as a note at the live door, as the user's own word, under the shipped policy.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.data import json_lines, rows
from benchmarks.gate_literalness import share
from reconciler.bootstrap.chosen_models import build_judge, build_sensitive_data_finder
from reconciler.bound_memory import note_to_check
from reconciler.domain.records.candidates import Assessment
from reconciler.domain.records.kinds import Disposal, GateReason
from reconciler.reading.cues.classification import classify_literalness
from reconciler.reading.cues.injection import find_directives
from reconciler.reading.cues.meaning import classify_meaning
from reconciler.settings import load_settings

FILLERS = Path(__file__).with_name("fillers.jsonl")
ORDINARY = ("longmemeval_ku", "longmemeval_ms", "synthetic_persona")
ABOUT_200_CHARACTERS = range(180, 221)
GREETING = re.compile(r"(?i)^(?:hi|hello|hey|good (?:morning|evening)|thanks|thank you)\b")
GREETING_WORDS_MAX = 8
BAR_WIDTH = 20

Judge = Callable[[str], Assessment]


def main(_engines: object) -> None:
    judge = _judge()
    pairs, harmless = rows("note_pairs.jsonl"), rows("injection.jsonl")
    print("## the whole gate: notes as the user's own word; in brackets Wilson's 95 % interval\n")
    if pairs is not None:
        _print_ordinary(judge, pairs)
    turns = [row["text"] for row in harmless or [] if row["kind"] == "benign_user_turn"]
    _print_refused(judge, turns)
    if turns:
        _print_turns(judge, turns)
    if pairs is not None:
        _print_cost(judge, list(_notes(pairs, "all")))


def _judge() -> Judge:
    judged = build_judge(load_settings())

    def judge(text: str) -> Assessment:
        candidate = note_to_check(
            text, agent_id="any", source_kind="user_explicit", category=None, topic=None
        )
        return judged(candidate).assessment

    return judge


def _print_ordinary(judge: Judge, pairs: Sequence[dict[str, Any]]) -> None:
    print("| ordinary notes | admitted | held | refused | what stopped them |")
    print("|---|--:|--:|--:|---|")
    for source in (*ORDINARY, "LongMemEval updates, both notes"):
        found = [judge(text) for text in _notes(pairs, source)]
        counts = Counter(each.disposal for each in found)
        held = counts[Disposal.CONFIRM] + counts[Disposal.CONSENT]
        print(
            f"| {source} | {share(counts[Disposal.ADMIT], len(found))} | {held} "
            f"| {counts[Disposal.REJECT]} | {_reasons(found)} |"
        )
    print(flush=True)


def _print_refused(judge: Judge, turns: Sequence[str]) -> None:
    fillers = [row["text"] for row in json_lines(FILLERS)]
    sets = {"100 fillers, moods and pleasantries of our own making": fillers}
    if greetings := list(_greetings(turns)):
        sets[f"greetings that open harmless turns, at most {GREETING_WORDS_MAX} words"] = greetings
    print("| not worth a place | refused |")
    print("|---|--:|")
    for name, texts in sets.items():
        refused = sum(judge(text).disposal is Disposal.REJECT for text in texts)
        print(f"| {name} | {share(refused, len(texts))} |")
    print(flush=True)


def _print_turns(judge: Judge, turns: Sequence[str]) -> None:
    found = [judge(text) for text in turns]
    print(f"{len(turns)} harmless user turns, each as one note:\n")
    for reason, count in Counter(each.reason for each in found).most_common():
        bar = "█" * max(round(BAR_WIDTH * count / len(turns)), 1)
        print(f"    {reason:<18}{count:>5}  {bar}")
    secrets = sum(each.reason is GateReason.SECRET for each in found)
    quarantined = sum(each.reason is GateReason.DIRECTIVE for each in found)
    print(f"\nrefused as secrets: {share(secrets, len(turns))}")
    print(f"held as directives: {share(quarantined, len(turns))}\n", flush=True)


def _print_cost(judge: Judge, notes: Sequence[str]) -> None:
    about = [text for text in notes if len(text) in ABOUT_200_CHARACTERS]
    texts = (about or notes)[:200]  # a short form may have none of that length
    finder = build_sensitive_data_finder()
    stages: dict[str, Callable[[str], object]] = {
        "the whole gate": judge,
        "personal data and secrets": finder.find,
        "directives": find_directives,
        "literalness": classify_literalness,
        "meaning": classify_meaning,
    }
    print(f"{len(texts)} notes of 180 to 220 characters, warm, milliseconds a note:\n")
    print("| stage | median | 95th percentile |")
    print("|---|--:|--:|")
    for name, stage in stages.items():
        spent = [_milliseconds(stage, text) for text in (*texts, *texts)][len(texts) :]
        print(f"| {name} | {median(spent):.2f} | {quantiles(spent, n=20)[-1]:.2f} |")
    print(flush=True)


def _milliseconds(call: Callable[[str], object], text: str) -> float:
    started = time.perf_counter()
    call(text)
    return (time.perf_counter() - started) * 1000


def _notes(pairs: Iterable[dict[str, Any]], source: str) -> Iterable[str]:
    wanted = {"all": ORDINARY, "LongMemEval updates, both notes": ORDINARY[:2]}.get(
        source, (source,)
    )
    only_updates = source.startswith("LongMemEval")
    chosen = (
        row
        for row in pairs
        if row["source"] in wanted and (not only_updates or row["label"] == "update")
    )
    return dict.fromkeys(row[side] for row in chosen for side in ("a", "b"))


def _greetings(turns: Iterable[str]) -> Iterable[str]:
    openings = (re.split(r"(?<=[.!?])\s", text.strip())[0] for text in turns)
    return dict.fromkeys(
        opening
        for opening in openings
        if GREETING.match(opening) and len(opening.split()) <= GREETING_WORDS_MAX
    )


def _reasons(found: Iterable[Assessment]) -> str:
    counts = Counter(each.reason for each in found if each.disposal is not Disposal.ADMIT)
    return ", ".join(f"{reason} {count}" for reason, count in counts.most_common())
