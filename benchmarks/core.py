"""The core's speed, every figure a ratio within one run, over interleaved runs.

``make bench ARGS=core`` takes less than ten minutes. ``BASELINE=/path/to/checkout`` measures that
checkout beside this one, run by run, each side in a process of its own and on a server of its own.
``NOTES`` is how many notes are imported, ``RUNS`` how many runs there are.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.data import rows
from benchmarks.engines import Engines
from benchmarks.sizes import sized
from tests.engines import Neo4jEngines

ROOT = Path(__file__).resolve().parents[1]
RUNS = sized(5, 1, "RUNS")
NOTES = sized(5_000, 40, "NOTES")
CONTACTS = [f"contact-{number}" for number in range(4)]
IMPORT_CONTACTS = 100
OTHERS = sized(30_000, 200)
LARGE = (sized(1_000, 150), sized(10_000, 300))
BLOCK = 5
THREADS, NOTES_A_THREAD = 32, 8


class Side:
    """A checkout that is measured: its process, and the settings of the stores it is given."""

    def __init__(
        self,
        checkout: Path,
        fresh: Callable[[str], dict[str, Any]],
        script: str = "core_side.py",
    ) -> None:
        self.fresh = fresh
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(ROOT / "benchmarks" / script)],
            # An older checkout knows no "keyed".
            env={**os.environ, "PYTHONPATH": str(checkout), "RECONCILER_ARBITER__MODE": "off"},
            cwd=checkout,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, do: str, **given: Any) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps({"do": do, **given}, default=str), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the side that was asked to {do} ended; see its error above")
        return json.loads(answer)

    def open(self, engine: str, store: str, **given: Any) -> None:
        self.ask("open", store=store, settings=self.fresh(engine), **given)

    def close(self) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait(60)


@dataclass
class Figure:
    """One line of the table: a figure a run and side, and the milliseconds behind it."""

    name: str
    asked: str
    figures: dict[str, list[float]] = field(default_factory=dict)
    milliseconds: dict[str, list[float]] = field(default_factory=dict)

    def add(self, side: str, figure: float, milliseconds: float) -> None:
        self.figures.setdefault(side, []).append(figure)
        self.milliseconds.setdefault(side, []).append(milliseconds)

    def show(self, engine: str) -> None:
        cells = [engine, self.name, self.asked, _interval(self.figures["this"])]
        cells.append(f"{median(self.milliseconds['this']):.2f}")
        if "baseline" in self.figures:
            pairs = zip(self.milliseconds["this"], self.milliseconds["baseline"], strict=True)
            cells.append(_interval(self.figures["baseline"]))
            cells.append(_interval([this / before for this, before in pairs]))
        print(f"| {' | '.join(cells)} |", flush=True)


def main(available: Engines) -> None:
    baseline = os.environ.get("BASELINE")
    print(f"## the core, {RUNS} interleaved runs; median, and from the least to the most\n")
    print(
        "Bare: an auto-commit CREATE of one fact with its embedding, through the same driver.\n"
        "A write comes without its embedding. Recalls are counted in bare CREATEs; cold is a\n"
        f"process's first look at the contact. An import has {NOTES:,} notes.\n"
    )
    columns = ["engine", "figure", "asked", "this", "ms"]
    columns += ["baseline", "ms of this / of the baseline"] if baseline else []
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    started, load = time.monotonic(), os.getloadavg()[0]
    for engine in available.names:
        with _sides(available, engine, baseline) as sides:
            for figures in (_embedded if engine == "embedded" else _neo4j)(sides, engine):
                figures.show(engine)
    print(
        f"\nThe machine's load was {load:.1f} before and {os.getloadavg()[0]:.1f} after, on "
        f"{os.cpu_count()} cores; {time.monotonic() - started:.0f} s in all.\n"
    )


@contextmanager
def _sides(available: Engines, engine: str, baseline: str | None) -> Iterator[dict[str, Side]]:
    with ExitStack() as stack:
        sides = {"this": Side(ROOT, available.fresh)}
        if baseline:
            servers = Neo4jEngines(available.servers.choice, full_speed=True)
            stack.callback(servers.close)
            if engine != "embedded":
                servers.fetch([engine], print)
            own = Engines(names=[engine], servers=servers, folder=available.folder)
            sides["baseline"] = Side(Path(baseline).resolve(), own.fresh)
        for side in sides.values():
            stack.callback(side.close)
        yield sides


def _neo4j(sides: dict[str, Side], engine: str) -> Iterator[Figure]:
    for side in sides.values():
        side.open(engine, "store")
        for contact in CONTACTS:
            side.ask("fill", store="store", contact=contact, count=100)
        for count in LARGE:
            side.ask("fill", store="store", contact=f"large-{count}", count=count)
        side.ask("bare", store="store", count=400)
        side.ask("write", store="store", contacts=CONTACTS, count=100)
    yield from _writes(sides, "≤ 2.5")
    for count, asked, blocks in zip(LARGE, ("≤ 3", "≤ 5"), (3, 1), strict=True):
        yield _write(sides, "ADD", f"{count:,} facts", asked, [f"large-{count}"], blocks)
    yield from _recalls(sides)
    yield _threads(sides)
    for side in sides.values():
        side.ask("close", store="store")
    yield from _import(sides, engine)


def _embedded(sides: dict[str, Side], engine: str) -> Iterator[Figure]:
    for side in sides.values():
        for store in ("store", "among others"):
            side.open(engine, store)
            for contact in CONTACTS:
                side.ask("fill", store=store, contact=contact, count=100)
            side.ask("write", store=store, contacts=CONTACTS, count=20)
        side.ask("bare", store="store", count=50)
        side.ask("add_others", store="among others", contact=CONTACTS[0], count=OTHERS)
    yield from _writes(sides, "≤ 4")
    yield _among_others(sides)
    for side in sides.values():
        side.ask("close", store="among others")
        for count in LARGE:
            side.ask("fill", store="store", contact=f"large-{count}", count=count)
    yield from _recalls(sides)
    for side in sides.values():
        side.ask("close", store="store")
    yield from _import(sides, engine)


KINDS = ("ADD", "UPDATE", "restatement")
"""The side looks into the store, so that each figure is of what it names."""


def _writes(sides: dict[str, Side], asked: str) -> Iterator[Figure]:
    """Each kind of write about contacts of a hundred facts; only an ADD has a target."""
    for kind in KINDS:
        target = asked if kind == "ADD" else "-"
        yield _write(sides, kind, "100 facts in the contact", target, CONTACTS, 5)


def _write(
    sides: dict[str, Side], kind: str, among: str, asked: str, contacts: list[str], blocks: int
) -> Figure:
    """Bare CREATEs and writes in turn, block by block; the ratio of their medians."""
    figure = Figure(f"write, {kind}, {among}", asked)
    bare_job = {"do": "bare", "store": "store", "count": BLOCK}
    write = {"store": "store", "contacts": contacts, "kind": kind}
    write_job = {"do": "write", "count": BLOCK, "is_checked": True, **write}
    for side in sides.values():
        side.ask("write", count=len(contacts), **write)
    for _ in range(RUNS):
        for which, side in sides.items():
            bare, write = side.ask("in_turn", jobs=[bare_job, write_job], blocks=blocks)
            figure.add(which, median(write) / median(bare), median(write))
    return figure


def _among_others(sides: dict[str, Side]) -> Figure:
    """Writes among facts of others that the same process wrote, against a store without them."""
    figure = Figure(f"write among {OTHERS:,} facts of others / of an empty store", "≤ 1.2")
    jobs = [
        {"do": "write", "store": store, "contacts": CONTACTS, "count": BLOCK}
        for store in ("store", "among others")
    ]
    for _ in range(RUNS):
        for which, side in sides.items():
            few, many = side.ask("in_turn", jobs=jobs, blocks=5)
            figure.add(which, median(many) / median(few), median(many))
    return figure


def _recalls(sides: dict[str, Side]) -> Iterator[Figure]:
    for count in LARGE:
        cold = Figure(f"recall among {count:,}, cold, in bare CREATEs", "a tenth; embedded 1/4")
        warm = Figure(f"recall among {count:,}, warm, in bare CREATEs", "a fiftieth")
        for _ in range(RUNS):
            for which, side in sides.items():
                bare = median(side.ask("bare", store="store", count=10)[1:])
                given = {"contact": f"large-{count}", "other": CONTACTS[0], "count": 3}
                first, *again = side.ask("recall", store="store", **given)
                cold.add(which, first / bare, first)
                warm.add(which, median(again) / bare, median(again))
        yield cold
        yield warm


def _threads(sides: dict[str, Side]) -> Figure:
    figure = Figure(f"{THREADS} threads, as many contacts, notes a second", "≥ 2 × the baseline")
    for run in range(RUNS + 1):
        for which, side in sides.items():
            given = {"threads": THREADS, "notes": NOTES_A_THREAD}
            rate = side.ask("threads", store="store", **given)
            if run:  # the first run made the contacts
                figure.add(which, rate, 1000 / rate)
    return figure


def _import(sides: dict[str, Side], engine: str) -> Iterator[Figure]:
    """As many chunks as runs; the model alone goes before each."""
    pairs = rows("note_pairs.jsonl")
    if pairs is None:
        return
    texts = [text for pair in pairs for text in (pair["a"], pair["b"])][:NOTES]
    figure = Figure("import, share of the model's own batched speed", "≥ 0.55")
    for side in sides.values():
        side.open(engine, "import", has_model=True)
        side.ask("model", store="import", texts=texts[:200])
    size = len(texts) // RUNS
    for first in range(0, size * RUNS, size):
        chunk = texts[first : first + size]
        for which, side in sides.items():
            alone = side.ask("model", store="import", texts=chunk)
            given = {"texts": chunk, "contacts": IMPORT_CONTACTS}
            seconds = side.ask("import_notes", store="import", **given)
            figure.add(which, alone / seconds, seconds / len(chunk) * 1000)
    yield figure


def _interval(values: list[float]) -> str:
    return f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"
