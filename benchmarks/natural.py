"""What becomes of natural changes: ordinary notes, and what follows them, as whole memories.

Each row of ``natural_changes.jsonl``, and each LongMemEval pair of ``note_pairs.jsonl``, is told to
a contact of its own through the live door, its notes a day apart, with the default settings:

- without a judge;
- with the packaged judge;
- with a judge that is always right about the row's label, so that what is still missed was not put
  to it, or not shown;
- with recorded answers of a large language model to the shipped prompt (``tests/recordings.py``).

The rows of ``natural_changes.jsonl`` were written before anybody saw a cue of the rule. Our own
stories, in ``stories.jsonl``, were written before anybody here read those; what stands ``beside``
one stays true after its reversal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.data import json_lines, rows
from benchmarks.engines import Engines
from benchmarks.error_rate import with_interval
from benchmarks.rates import Rate
from benchmarks.sizes import sized
from reconciler import Memory
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, Relation
from reconciler.domain.records.notes import Note
from reconciler.settings import load_settings
from tests.recordings import RecordedJudge

AGENT = "benchmark"
BEGAN = datetime(2026, 1, 1, 9, tzinfo=UTC)
CHANGES, BOTH = ("change", "end", "change_of_a_part", "update"), ("both", "distinct")
LABELS = (*CHANGES, *BOTH)
PACKAGED = "packaged"
UNBOUNDED = {
    "mode": "keyed",
    "calls_per_minute_max": 1_000_000,
    "calls_per_day_max": 1_000_000,
}
"""Without the packaged judge, which would judge where none is given."""
HASH_KEY = "the key of a benchmark"
"""So that what stands for personal data, and with it a question, is the same in each run."""
OWN_STORIES = Path(__file__).parent / "stories.jsonl"
RECORDED = Path(__file__).parent / "recorded_verdicts.jsonl"
"""Verdicts about data that is not shipped, by the hash of the question."""


@dataclass
class PerfectJudge:
    """Answers by the row's label, and counts how often it was asked.

    Attributes:
        row: what is being told.
        asked: how often it was asked so far.
    """

    row: dict[str, Any] = field(default_factory=dict)
    asked: int = 0
    name: str = field(default="perfect/label", init=False)

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        self.asked += 1
        first, *others = range(1, len(neighbours) + 1)
        if self.row["label"] in BOTH:
            return Judgement(
                reasoning="", relation=Relation.COEXISTS, target=None, action=Action.ADD
            )
        is_same = note.text in self.row.get("wordings", ())
        return Judgement(
            reasoning="",
            relation=Relation.SAME if is_same else Relation.REPLACES,
            target=first,
            also=tuple(others),
            action=Action.UPDATE,
        )

    def close(self) -> None:
        """Nothing to close."""


Judge = PerfectJudge | RecordedJudge | None


def main(engines: Engines) -> None:
    """Print what was ended, disputed and silent, by set, without and with a judge."""
    told = natural_rows()[:: sized(1, 6)]
    if not told:
        return
    print("## natural changes\n")
    for title, judge in _judges().items():
        asked = {"provider": "packaged"} if judge == PACKAGED else UNBOUNDED
        chosen = {"arbiter": asked, "gate": {"hash_key": HASH_KEY}}
        judge = None if judge == PACKAGED else judge
        settings = load_settings(**engines.fresh("embedded"), **chosen)
        with Memory.open(settings, arbiter=judge, clock=lambda: BEGAN) as memory:
            _report(memory, told, judge, title)


def natural_rows() -> list[dict[str, Any]]:
    """The rows that are told: natural changes and stories, then LongMemEval's pairs."""
    natural = rows("natural_changes.jsonl") or []
    pairs = rows("note_pairs.jsonl") or []
    return [row | {"set": row.get("set", row.get("source"))} for row in natural] + [
        row | {"set": row["source"]} for row in pairs if row["source"].startswith("longmemeval")
    ]


def _judges() -> dict[str, Any]:
    judges: dict[str, Any] = {
        "no judge": None,
        "the packaged judge": PACKAGED,
        "a perfect judge": PerfectJudge(),
    }
    if RECORDED.is_file():
        judges["recorded answers of a large language model"] = RecordedJudge(RECORDED)
    return judges


def _report(memory: Memory, told: Sequence[dict[str, Any]], judge: Judge, title: str) -> None:
    print(f"### {title}\n")
    print("| set | label | rows | ended | disputed | silent | said again |")
    print("|---|---|--:|--:|--:|--:|--:|")
    pairs = [row for row in told if row["label"] in LABELS]
    outcomes = {row["id"]: became(memory, row, judge) for row in pairs}
    by_set: dict[tuple[str, str], Counter[str]] = {}
    for row in pairs:
        by_set.setdefault((row["set"], row["label"]), Counter())[outcomes[row["id"]]] += 1
    for (of, label), counts in sorted(by_set.items()):
        cells = [counts[what] for what in ("ended", "disputed", "silent", "said again")]
        print(f"| {of} | {label} | {counts.total()} | {' | '.join(map(str, cells))} |")
    for labels, what in ((CHANGES, "changes and ends"), (BOTH, "pairs that both hold")):
        _sum_up(what, by_set, labels, is_pair=False)
        _sum_up(f"LongMemEval: {what}", by_set, labels, is_pair=True)
    _report_stories(memory, told, judge)
    if judge:
        print(f"\nasked: {judge.asked}")
    if isinstance(judge, RecordedJudge):
        print(f"\nwithout a recorded answer: {len(judge.missing)}")
    print()
    for row in pairs:
        if (outcomes[row["id"]] != "ended") is (row["label"] in CHANGES):
            print(f"- {outcomes[row['id']]}: {row['a'][:99]} / {row['b'][:99]}")
    print(flush=True)


def _report_stories(memory: Memory, told: Sequence[dict[str, Any]], judge: Judge) -> None:
    own = json_lines(OWN_STORIES)
    # No model has answered about our own.
    sets = {"": told} if isinstance(judge, RecordedJudge) else {"": told, "our own ": own}
    for whose, stories in sets.items():
        live = list(_stories(memory, stories, judge))
        average = sum(live) / max(len(live), 1)
        print(f"\n{whose}stories: {average:.1f} live facts on average, {live}")
    if judge is None:
        beside = sum(len(row["beside"]) for row in own)
        print(f"\nof {beside} facts beside them {sum(_ended_beside(memory, own))} ended")


def _sum_up(
    what: str,
    by_set: dict[tuple[str, str], Counter[str]],
    labels: Sequence[str],
    *,
    is_pair: bool,
) -> None:
    chosen = (
        found
        for (of, label), found in by_set.items()
        if label in labels and of.startswith("longmemeval") is is_pair
    )
    counts: Counter[str] = sum(chosen, Counter())
    rates = (
        f"{key} {with_interval(Rate(count=counts[key], of=counts.total()))}"
        for key in ("ended", "disputed")
    )
    print(f"\n{what}: {counts.total()}, {', '.join(rates)}, silent {counts['silent']}")


def became(memory: Memory, row: dict[str, Any], judge: Judge) -> str:
    contact_id = row["id"]
    if isinstance(judge, PerfectJudge):
        judge.row = row
    memory.add_contact_note(AGENT, contact_id, row["a"], said_at=BEGAN - timedelta(days=2))
    made = memory.add_contact_note(AGENT, contact_id, row["b"], said_at=BEGAN - timedelta(days=1))
    if made.superseded_ids:
        return "ended"
    if made.conflicting_ids:
        return "disputed"
    return "said again" if made.action is Action.SKIP else "silent"


def _stories(memory: Memory, told: Sequence[dict[str, Any]], judge: Judge) -> Iterator[int]:
    """How many facts are live after four wordings and a reversal, a number a story."""
    for row in told:
        if row["label"] != "story":
            continue
        if isinstance(judge, PerfectJudge):
            judge.row = row
        yield len(_left_live(memory, row["id"], (*row["wordings"], row["reversal"])))


def _ended_beside(memory: Memory, told: Sequence[dict[str, Any]]) -> Iterator[int]:
    """How many facts that a story leaves true have ended, a number a story."""
    for row in told:
        texts = (*row["beside"], *row["wordings"], row["reversal"])
        live = _left_live(memory, f"{row['id']}:beside", texts)
        yield len({*row["beside"]} - live)


def _left_live(memory: Memory, contact_id: str, texts: Sequence[str]) -> set[str]:
    """The texts that are live after all were told, a day apart."""
    for number, text in enumerate(texts):
        at = BEGAN - timedelta(days=len(texts) + 4 - number)
        memory.add_contact_note(AGENT, contact_id, text, said_at=at)
    chains = memory.contact(AGENT, contact_id).history()
    return {chain.facts[0].text for chain in chains if chain.facts[0].is_live}
