"""What the write gate refuses as not worth recalling, and whether it lets ordinary notes pass.

``fillers.jsonl`` holds a hundred pleasantries, moods and passing states of our own making, written
before the rules were; notes and user turns are real ones that this project did not write.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.data import rows
from benchmarks.gate_literalness import share
from reconciler.domain.gate.literalness import Literalness, classify_literalness
from reconciler.domain.gate.meaning import Meaning, classify_meaning

FILLERS = Path(__file__).with_name("fillers.jsonl")
NOTES = ("longmemeval_ku", "longmemeval_ms", "synthetic_persona")
GREETING_WORDS_MAX = 4
ABOUT_200_CHARACTERS = range(150, 251)


def main(_engines: object) -> None:
    _print_fillers()
    pairs = rows("note_pairs.jsonl")
    if pairs is not None:
        _print_notes(pairs)
        _print_cost(pairs)
    turns = rows("injection.jsonl")
    if turns is not None:
        _print_turns([row["text"] for row in turns if row["kind"] == "benign_user_turn"])


def _print_fillers() -> None:
    lines = FILLERS.read_text(encoding="utf-8").splitlines()
    fillers = [json.loads(line) for line in lines]
    print("## meaning: fillers of our own making; in brackets Wilson's 95 % interval\n")
    print("| kind | refused | told by the same kind |")
    print("|---|--:|--:|")
    for kind in (*dict.fromkeys(row["kind"] for row in fillers), "all"):
        mine = [row for row in fillers if kind in (row["kind"], "all")]
        refused = sum(not _is_statement(row["text"]) for row in mine)
        same = sum(classify_meaning(row["text"]).kind.value == row["kind"] for row in mine)
        print(f"| {kind} | {share(refused, len(mine))} | {same}/{len(mine)} |")
    for row in fillers:
        if _is_statement(row["text"]):
            print(f"| kept: {row['text']} | | |")
    print(flush=True)


def _print_notes(pairs: Sequence[dict[str, Any]]) -> None:
    print("### ordinary notes that pass, both columns\n")
    print("| source | statement | literal | both |")
    print("|---|--:|--:|--:|")
    for source in NOTES:
        texts = _texts(pairs, source)
        stated = [_is_statement(text) for text in texts]
        literal = [classify_literalness(text).kind is Literalness.LITERAL for text in texts]
        both = sum(map(all, zip(stated, literal, strict=True)))
        cells = (share(count, len(texts)) for count in (sum(stated), sum(literal), both))
        print(f"| {source} | " + " | ".join(cells) + " |")
    print(flush=True)


def _print_turns(texts: Sequence[str]) -> None:
    greetings = [
        text for text in texts if len(text.split()) <= GREETING_WORDS_MAX and "?" not in text
    ]
    refused = sum(not _is_statement(text) for text in greetings)
    kinds = Counter(classify_meaning(text).kind for text in texts)
    print("### harmless user turns\n")
    print("| | |")
    print("|---|--:|")
    print(
        f"| of at most {GREETING_WORDS_MAX} words and no question: refused "
        f"| {share(refused, len(greetings)) if greetings else 'there is none'} |"
    )
    for kind in Meaning:
        print(f"| all {len(texts)}: {kind} | {kinds[kind]} |")
    print(flush=True)


def _print_cost(pairs: Sequence[dict[str, Any]]) -> None:
    texts = [
        text
        for source in NOTES
        for text in _texts(pairs, source)
        if len(text) in ABOUT_200_CHARACTERS
    ]
    taken = [_milliseconds(text) for text in texts]
    print(
        f"both classifiers on {len(texts)} notes of about 200 characters: median "
        f"{median(taken):.2f} ms, 95th percentile {quantiles(taken, n=20)[-1]:.2f} ms\n",
        flush=True,
    )


def _milliseconds(text: str) -> float:
    started = time.perf_counter()
    classify_meaning(text)
    classify_literalness(text)
    return (time.perf_counter() - started) * 1000


def _texts(pairs: Sequence[dict[str, Any]], source: str) -> list[str]:
    return [text for row in pairs if row["source"] == source for text in (row["a"], row["b"])]


def _is_statement(text: str) -> bool:
    return classify_meaning(text).kind is Meaning.STATEMENT
