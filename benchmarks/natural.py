"""What becomes of natural changes: ordinary notes, and what follows them, as a whole memory.

Each row of ``natural_changes.jsonl`` is told to a contact of its own, through the live door, its
notes a day apart: without a judge, and with a judge that is always right about the row's label. So
the second column says what is lost because the judge is not asked, or is not shown the right fact.
The rows were written before anybody saw a cue of the rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from benchmarks.data import rows
from benchmarks.engines import Engines
from benchmarks.error_rate import with_interval
from reconciler import Memory
from reconciler.domain.records.decisions import Action, Judgement, Relation
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.notes import Note
from reconciler.domain.review.calibration import Rate
from reconciler.settings import load_settings

AGENT = "benchmark"
BEGAN = datetime(2026, 1, 1, 9, tzinfo=UTC)
CHANGES, BOTH = ("change", "end", "change_of_a_part"), ("both",)
LABELS = (*CHANGES, *BOTH)


@dataclass
class PerfectJudge:
    """Answers by the row's label, and counts how often it was asked.

    Attributes:
        label: the row's that is being told.
        wordings: the texts that say one thing, of a story.
        asked: how often it was asked so far.
    """

    label: str = ""
    wordings: Sequence[str] = ()
    asked: int = 0
    name: str = field(default="perfect/label", init=False)

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        self.asked += 1
        first, *others = range(1, len(neighbours) + 1)
        if self.label == "both":
            return Judgement(
                reasoning="", relation=Relation.COEXISTS, target=None, action=Action.ADD
            )
        is_same = self.label == "story" and note.text in self.wordings
        return Judgement(
            reasoning="",
            relation=Relation.SAME if is_same else Relation.REPLACES,
            target=first,
            also=tuple(others),
            action=Action.UPDATE,
        )

    def close(self) -> None:
        """Nothing to close."""


def main(engines: Engines) -> None:
    """Print what was ended, disputed and silent, by set, without and with a judge."""
    told = rows("natural_changes.jsonl")
    if told is None:
        return
    print("## natural changes\n")
    for profile in ("seed", "minilm"):
        for name, judge in (("no judge", None), ("a perfect judge", PerfectJudge())):
            settings = load_settings(
                **engines.fresh("embedded"),
                reconcile={"profile": profile},
                arbiter={"calls_per_minute_max": 1_000_000, "calls_per_day_max": 1_000_000},
            )
            with Memory.open(settings, arbiter=judge, clock=lambda: BEGAN) as memory:
                _report(memory, told, judge, f"{name}, profile {profile}")


def _report(
    memory: Memory, told: Sequence[dict[str, Any]], judge: PerfectJudge | None, title: str
) -> None:
    print(f"### {title}\n")
    print("| set | label | rows | ended | disputed | silent | said again |")
    print("|---|---|--:|--:|--:|--:|--:|")
    became = {row["id"]: _became(memory, row, judge) for row in told if row["label"] in LABELS}
    by_set: dict[tuple[str, str], Counter[str]] = {}
    for row in told:
        if row["id"] in became:
            by_set.setdefault((row["set"], row["label"]), Counter())[became[row["id"]]] += 1
    for (of, label), counts in sorted(by_set.items()):
        cells = [counts[what] for what in ("ended", "disputed", "silent", "said again")]
        print(f"| {of} | {label} | {counts.total()} | {' | '.join(map(str, cells))} |")
    for labels, what in ((CHANGES, "changes and ends"), (BOTH, "pairs that both hold")):
        counts = sum((found for (_, label), found in by_set.items() if label in labels), Counter())
        rates = (
            f"{key} {with_interval(Rate(count=counts[key], of=counts.total()))}"
            for key in ("ended", "disputed")
        )
        print(f"\n{what}: {counts.total()}, {', '.join(rates)}, silent {counts['silent']}")
    live = list(_stories(memory, told, judge))
    print(f"\nstories: {sum(live) / max(len(live), 1):.1f} live facts on average, {live}")
    if judge:
        print(f"\nasked: {judge.asked}")
    print()
    for row in told:
        if row["id"] in became and (became[row["id"]] != "ended") is (row["label"] in CHANGES):
            print(f"- {became[row['id']]}: {row['a']} / {row['b']}")
    print(flush=True)


def _became(memory: Memory, row: dict[str, Any], judge: PerfectJudge | None) -> str:
    contact_id = row["id"]
    if judge:
        judge.label = row["label"]
    memory.add_contact_note(AGENT, contact_id, row["a"], said_at=BEGAN - timedelta(days=2))
    made = memory.add_contact_note(AGENT, contact_id, row["b"], said_at=BEGAN - timedelta(days=1))
    if made.superseded_ids:
        return "ended"
    if made.conflicting_ids:
        return "disputed"
    return "said again" if made.action is Action.SKIP else "silent"


def _stories(
    memory: Memory, told: Sequence[dict[str, Any]], judge: PerfectJudge | None
) -> Iterator[int]:
    """How many facts are live after four wordings and a reversal, a number a story."""
    for row in told:
        if row["label"] != "story":
            continue
        if judge:
            judge.label, judge.wordings = "story", row["wordings"]
        for number, text in enumerate((*row["wordings"], row["reversal"])):
            at = BEGAN - timedelta(days=9 - number)
            memory.add_contact_note(AGENT, row["id"], text, said_at=at)
        yield sum(chain.facts[0].is_live for chain in memory.history(AGENT, row["id"]))
