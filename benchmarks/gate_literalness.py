"""How often the write gate notices that a text is not meant literally, on labelled sentences.

Counterfactuals have a grammar, so words find most of them; sarcasm mostly lies in what is known
about the situation, and without a model only its set phrases are found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from benchmarks.data import rows
from benchmarks.rates import Rate
from reconciler.reading.cues.classification import Literalness, classify_literalness

SOURCES = {
    "amazon_counterfactual": "counterfactuals in reviews",
    "mustard": "sarcasm in dialogues",
}


def main(_engines: object) -> None:
    labelled = rows("literalness.jsonl")
    if labelled is None:
        return
    print("## literalness: what is not meant literally; in brackets Wilson's 95 % interval\n")
    print("| source | not literal | recall | precision | plain ones refused |")
    print("|---|--:|--:|--:|--:|")
    for source, name in SOURCES.items():
        _print_source(name, [row for row in labelled if row["source"] == source])
    print("\nSarcasm is not found by words alone: take its recall for what it is.\n", flush=True)
    _print_kinds(labelled)


def share(count: int, of: int) -> str:
    """``count/of`` in per cent, with its interval."""
    if not of:
        return "–"
    low, high = Rate(count=count, of=of).interval
    return f"{count}/{of}, {count / of:.1%} ({low:.1%} to {high:.1%})"


def _print_source(name: str, labelled: Sequence[dict[str, Any]]) -> None:
    found = Counter((row["literal"], _is_refused(row["text"])) for row in labelled)
    hits, misses, alarms = found[False, True], found[False, False], found[True, True]
    plain = alarms + found[True, False]
    print(
        f"| {name} | {hits + misses}/{len(labelled)} | {share(hits, hits + misses)} "
        f"| {share(hits, hits + alarms)} | {share(alarms, plain)} |"
    )


def _is_refused(text: str) -> bool:
    return classify_literalness(text).kind is not Literalness.LITERAL


def _print_kinds(labelled: Sequence[dict[str, Any]]) -> None:
    print("| source | label | " + " | ".join(Literalness) + " |")
    print("|---|---|" + "--:|" * len(Literalness))
    for source, name in SOURCES.items():
        for literal, label in ((False, "not literal"), (True, "plain")):
            texts = [
                row["text"]
                for row in labelled
                if row["source"] == source and row["literal"] is literal
            ]
            kinds = Counter(classify_literalness(text).kind for text in texts)
            print(
                f"| {name} | {label} | "
                + " | ".join(str(kinds[each]) for each in Literalness)
                + " |"
            )
    print(flush=True)
