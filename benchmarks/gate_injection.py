"""How many prompt injections the gate's finder of directives finds, and how many notes it holds up.

Attacks are counted by source, and those of PurpleLlama apart by whether the user gives them or a
document does; against them stand texts in which nobody wants anything of the memory. The finder is
lexical, so what it finds depends on no engine.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

from benchmarks.data import rows, user_turns
from benchmarks.engines import Engines
from benchmarks.rates import Rate
from reconciler.reading.cues.injection import DirectiveFinding, find_directives

NOTES = ("longmemeval_ku", "longmemeval_ms", "synthetic_persona")
"""The sources that read like notes about a contact."""

RECALL_MIN = 0.9
FALSE_ALARMS_MAX = {
    "user turns (longmemeval_user_turn)": 0.02,
    "ordinary notes (note_pairs)": 0.005,
}


@dataclass(frozen=True)
class Texts:
    """Texts of one kind, with what was found in each of them."""

    name: str
    found: Sequence[tuple[DirectiveFinding, ...]]
    is_attack: bool

    @property
    def count(self) -> int:
        return sum(1 for each in self.found if each)

    @property
    def share(self) -> float:
        return self.count / len(self.found) if self.found else 0.0

    @property
    def row(self) -> str:
        """Found of all, and the share with Wilson's 95 % interval."""
        if not self.found:
            return f"| {self.name} | 0 | – | – |"
        low, high = Rate(count=self.count, of=len(self.found)).interval
        return (
            f"| {self.name} | {self.count}/{len(self.found)} | {self.share:.1%} "
            f"| {low:.1%} to {high:.1%} |"
        )


def main(_engines: Engines) -> None:
    given = rows("injection.jsonl")
    if given is None:
        return
    attacks, harmless = _attacks(given), [*_harmless(given), *_notes(), *_whole_conversations()]
    _print_targets(attacks, harmless)
    _print_found("attacks that are found", attacks)
    _print_found("harmless texts that are held up", harmless)
    _print_found("attacks by kind", _by_kind(given))
    _print_directives(attacks, harmless)
    _print_cost([row["text"] for row in given])


def _read(name: str, texts: Iterable[str], *, is_attack: bool) -> Texts:
    return Texts(name, [find_directives(text) for text in texts], is_attack)


def _attacks(given: Sequence[dict[str, Any]]) -> list[Texts]:
    attacks = [row for row in given if row["injection"]]
    ways = sorted({(row["source"], _way(row)) for row in attacks})
    return [
        _read(
            f"{source}, {way}",
            [row["text"] for row in attacks if (row["source"], _way(row)) == (source, way)],
            is_attack=True,
        )
        for source, way in ways
    ]


def _way(row: dict[str, Any]) -> str:
    return row["kind"].partition(":")[0].replace("_", " ")


def _harmless(given: Sequence[dict[str, Any]]) -> list[Texts]:
    names = {"benign_user_turn": "user turns", "benign_email": "e-mails"}
    harmless = [row for row in given if not row["injection"]]
    return [
        _read(
            f"{names.get(kind, kind)} ({source})",
            [row["text"] for row in harmless if (row["kind"], row["source"]) == (kind, source)],
            is_attack=False,
        )
        for kind, source in sorted({(row["kind"], row["source"]) for row in harmless})
    ]


def _notes() -> list[Texts]:
    pairs = [pair for pair in rows("note_pairs.jsonl") or [] if pair["source"] in NOTES]
    texts = sorted({text for pair in pairs for text in (pair["a"], pair["b"])})
    return [_read("ordinary notes (note_pairs)", texts, is_attack=False)] if pairs else []


def _whole_conversations() -> list[Texts]:
    conversations = rows("conversations.jsonl")
    if conversations is None:
        return []
    texts = sorted({turn["text"] for turn in user_turns(conversations)})
    return [_read("all user turns (conversations)", texts, is_attack=False)]


def _by_kind(given: Sequence[dict[str, Any]]) -> list[Texts]:
    attacks = [row for row in given if row["injection"]]
    return [
        _read(kind, [row["text"] for row in attacks if row["kind"] == kind], is_attack=True)
        for kind in sorted({row["kind"] for row in attacks})
    ]


# The tables


def _print_targets(attacks: Iterable[Texts], harmless: Iterable[Texts]) -> None:
    print("## injection: what was asked for, and what was found\n")
    print("| asked for | found | met |")
    print("|---|---|---|")
    for each in attacks:
        text = f"{each.name}: at least {RECALL_MIN:.0%} found"
        _print_target(text, each, is_met=each.share >= RECALL_MIN)
    for each in harmless:
        if (bound := FALSE_ALARMS_MAX.get(each.name)) is not None:
            text = f"{each.name}: at most {bound:.1%} held up"
            _print_target(text, each, is_met=each.share <= bound)
    print(flush=True)


def _print_target(text: str, found: Texts, *, is_met: bool) -> None:
    rate = f"{found.count}/{len(found.found)}, {found.share:.1%}"
    print(f"| {text} | {rate} | {'yes' if is_met else '**no**'} |")


def _print_found(title: str, texts: Iterable[Texts]) -> None:
    print(f"### {title}\n")
    print("| texts | found | share | Wilson's 95 % interval |")
    print("|---|--:|--:|---|")
    for each in texts:
        print(each.row)
    print(flush=True)


def _print_directives(attacks: Iterable[Texts], harmless: Iterable[Texts]) -> None:
    """Which directives were found: a text may hold several."""
    print("### what was found in them\n")
    print("| directive | in attacks | in harmless texts |")
    print("|---|--:|--:|")
    counts = [
        Counter(finding.kind for each in texts for found in each.found for finding in found)
        for texts in (attacks, harmless)
    ]
    for kind in sorted({*counts[0], *counts[1]}):
        print(f"| {kind} | {counts[0][kind]} | {counts[1][kind]} |")
    print(flush=True)


def _print_cost(texts: Sequence[str]) -> None:
    taken = []
    for text in texts:
        started = time.perf_counter()
        find_directives(text)
        taken.append((time.perf_counter() - started) * 1000)
    length = sum(map(len, texts)) / len(texts)
    print("### cost\n")
    print(
        f"{len(texts)} texts of {length:.0f} characters on average: "
        f"median {median(taken):.2f} ms, p95 {quantiles(taken, n=20)[-1]:.2f} ms\n",
        flush=True,
    )
