"""From the start of a process to its first decision, and what a note's embedding costs.

``BASELINE=/path/to/checkout`` measures that checkout's commands beside this one's, run by run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.data import rows
from benchmarks.engines import Engines
from benchmarks.sizes import sized
from reconciler.adapters.local_embedder import LoadedModel, SentenceTransformerModel
from reconciler.adapters.model_files import weights_folder
from reconciler.adapters.onnx_minilm import OnnxMinilm

RUNS = sized(5, 1, "RUNS")
ROOT = Path(__file__).resolve().parents[1]
SCOPE = ("--agent", "crm", "--contact", "priya")
ADD = ("-m", "reconciler", "add", "Prefers to be contacted by email.", *SCOPE)
NOTES = sized(320, 20)
LAUNCHER = """
import json, os, sys, time
began = time.perf_counter()
reading, writing = os.pipe()
child = os.posix_spawn(
    sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, writing, 1)]
)
os.close(writing)
output = os.fdopen(reading)
output.readline()
seconds = time.perf_counter() - began
output.read()
_, status, used = os.wait4(child, 0)
print(json.dumps([seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""In a small process of its own: a child counts the memory of the process that it came from."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one process took; ``seconds`` until it printed its first line."""

    seconds: float
    processor_seconds: float
    mebibytes: float


@dataclass(frozen=True, slots=True)
class Start:
    """A way to start a process, from a checkout, on a store of its own."""

    name: str
    words: Sequence[str]
    checkout: Path = ROOT
    has_store: bool = False


def main(available: Engines) -> None:
    print(f"## start, embedded, {RUNS} interleaved runs; median (least to most)\n")
    starts = list(_starts(os.environ.get("BASELINE")))
    costs: dict[str, list[Cost]] = {start.name: [] for start in starts}
    for number in range(RUNS):
        for start in starts:
            store = available.folder / f"{starts.index(start)}-{number}" / "memory.lbug"
            costs[start.name].append(_cost(start, store))
    _print_costs(costs)
    notes = rows("note_pairs.jsonl")
    texts = (
        [note["a"] for note in notes] if notes else [f"Invoice {n} is due" for n in range(NOTES)]
    )
    _print_embedding(texts[:NOTES])


def _starts(baseline: str | None) -> Iterator[Start]:
    history = ("-m", "reconciler", "history", *SCOPE)
    yield Start("first decision", ADD)
    if baseline:
        yield Start("first decision, baseline", ADD, Path(baseline))
    yield Start("import reconciler", ("-c", "import reconciler; print()"))
    yield Start("reconciler --help", ("-m", "reconciler", "--help"))
    yield Start("reconciler history", history, has_store=True)
    if baseline:
        yield Start("reconciler --help, baseline", ("-m", "reconciler", "--help"), Path(baseline))
        yield Start("reconciler history, baseline", history, Path(baseline), has_store=True)


def _cost(start: Start, store: Path) -> Cost:
    store.parent.mkdir()
    environment = os.environ | {
        "RECONCILER_EMBEDDED_PATH": str(store),
        "PYTHONPATH": str(start.checkout),
    }
    if start.has_store:
        _run(Start("", ADD, start.checkout), environment)
    return _run(start, environment)


def _run(start: Start, environment: Mapping[str, str]) -> Cost:
    command = [sys.executable, "-S", "-c", LAUNCHER, sys.executable, *start.words]
    ended = subprocess.run(
        command, cwd=start.checkout, env=environment, capture_output=True, text=True, check=True
    )
    return Cost(*json.loads(ended.stdout))


def _print_costs(costs: Mapping[str, Sequence[Cost]]) -> None:
    print("| what | s to the first line | of the baseline | processor s | of the baseline | MiB |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, measured in costs.items():
        before = costs.get(f"{name}, baseline", ())
        cells = [
            cell
            for figure in (lambda cost: cost.seconds, lambda cost: cost.processor_seconds)
            for cell in _beside(list(map(figure, measured)), list(map(figure, before)))
        ]
        peak = max(each.mebibytes for each in measured)
        print(f"| {name} | {' | '.join(cells)} | {peak:.0f} |", flush=True)
    print()


def _beside(figures: Sequence[float], baseline: Sequence[float]) -> tuple[str, str]:
    """The figures, and what share of the baseline's of the same run each is."""
    shares = [this / that for this, that in zip(figures, baseline, strict=False)]
    return _interval(figures), _interval(shares)


def _print_embedding(texts: Sequence[str]) -> None:
    """Each model in turn, in one process; torch is what the packaged model is held against."""
    models = {"onnx": OnnxMinilm().load(), "torch": _with_torch()}
    alone: dict[str, list[float]] = {name: [] for name in models}
    batched: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(RUNS):
        for name, model in models.items():
            alone[name].append(_alone(model, texts))
            batched[name].append(_milliseconds(lambda m=model: m.encode(list(texts))) / len(texts))
    print(f"{len(texts)} notes, the packaged weights\n")
    print("| model | one note, ms | of torch | in a batch, ms a note | of torch |")
    print("|---|--:|--:|--:|--:|")
    for name in models:
        cells = [
            cell
            for figures in (alone, batched)
            for cell in _beside(figures[name], figures["torch"])
        ]
        print(f"| {name} | {' | '.join(cells)} |")
    print()


def _with_torch() -> LoadedModel:
    return SentenceTransformerModel(str(weights_folder())).load()


def _alone(model: LoadedModel, texts: Sequence[str]) -> float:
    return median(_milliseconds(lambda t=text: model.encode([t])) for text in texts[:40])


def _milliseconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def _interval(values: Sequence[float]) -> str:
    if not values:
        return ""
    return f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"
