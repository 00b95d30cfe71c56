"""``make bench``: every benchmark on every engine that can be had, in one run.

python -m benchmarks                     all of them but peers, which installs packages, and scale
python -m benchmarks core recall         some of them
ENGINES=embedded python -m benchmarks    on some engines
SHORT=1 python -m benchmarks             each in a short form, only to see that it runs
python -m benchmarks --help              what each measures
"""

from __future__ import annotations

import io
import os
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import redirect_stdout

from benchmarks import (
    agent_memory_benchmark,
    archive,
    async_lag,
    consolidation,
    context,
    conversations,
    core,
    costs,
    detail,
    devices,
    english,
    erasure,
    error_rate,
    finding,
    forget_eval,
    full_memory,
    gate,
    gate_in_languages,
    gate_injection,
    gate_literalness,
    gate_meaning,
    gate_pii,
    hand_over,
    judge,
    lag,
    languages,
    load,
    natural,
    page,
    poisoning,
    ray_backfill,
    recall,
    recorded_sessions,
    reembedding,
    scale,
    serve,
    sessions,
    slots,
    start,
    threads,
    use_trace,
)
from benchmarks.data import LEFT_OUT
from benchmarks.engines import Engines, engines
from benchmarks.peers import comparison
from benchmarks.sizes import IS_SHORT

BENCHMARKS = {
    "core": core.main,
    "start": start.main,
    "hand-over": hand_over.main,
    "threads": threads.main,
    "load": load.main,
    "async": async_lag.main,
    "lag": lag.main,
    "serve": serve.main,
    "page": page.main,
    "archive": archive.main,
    "ray": ray_backfill.main,
    "recall": recall.main,
    "context": context.main,
    "languages": languages.main,
    "find": finding.main,
    "erasure": erasure.main,
    "reembed": reembedding.main,
    "devices": devices.main,
    "scale": scale.main,
    "use-trace": use_trace.main,
    "conversations": conversations.main,
    "updates": conversations.updates,
    "sessions": sessions.main,
    "recorded-sessions": recorded_sessions.main,
    "slots": slots.main,
    "errors": error_rate.main,
    "detail": detail.main,
    "english": english.main,
    "full-memory": full_memory.main,
    "natural": natural.main,
    "judge": judge.main,
    "consolidation": consolidation.main,
    "agent-memory": agent_memory_benchmark.main,
    "forget-eval": forget_eval.main,
    "costs": costs.main,
    "gate": gate.main,
    "gate-pii": gate_pii.main,
    "gate-literalness": gate_literalness.main,
    "gate-meaning": gate_meaning.main,
    "gate-injection": gate_injection.main,
    "gate-languages": gate_in_languages.main,
    "poisoning": poisoning.main,
    "peers": comparison.main,
}
ONLY_WHEN_NAMED = set() if IS_SHORT else {"peers", "scale"}

OUTCOMES = ("ran", "left out", "FAILED")


def main() -> None:
    wanted = sys.argv[1:] or [name for name in BENCHMARKS if name not in ONLY_WHEN_NAMED]
    if "--help" in wanted:
        print(__doc__)
        for name, run in BENCHMARKS.items():
            about = run.__doc__ if name == "updates" else sys.modules[run.__module__].__doc__
            print(f"{name:17} {(about or '').partition(chr(10))[0]}")
        return
    unknown = [name for name in wanted if name not in BENCHMARKS]
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    print(f"{os.cpu_count()} cores; the machine's load was {os.getloadavg()[0]:.1f} at the start\n")
    with engines() as available:
        if IS_SHORT:
            sys.exit(_short(available, wanted))
        for name in wanted:
            BENCHMARKS[name](available)


def _short(available: Engines, wanted: Sequence[str]) -> int:
    """A line for each benchmark, what it printed only if it failed; 1 if one did."""
    became: dict[str, str] = {}
    for name in wanted:
        printed, began, processor = io.StringIO(), time.perf_counter(), _processor_seconds()
        try:
            with redirect_stdout(printed):
                BENCHMARKS[name](available)
            became[name] = _outcome(printed.getvalue())
        except (Exception, SystemExit):  # noqa: BLE001 (whatever fails is told, and the next one run)
            print(printed.getvalue())
            traceback.print_exc()
            became[name] = "FAILED"
        seconds, used = time.perf_counter() - began, _processor_seconds() - processor
        print(f"{name:17}{seconds:6.1f} s, processor{used:6.1f}  {became[name]}", flush=True)
    counts = [sum(each.startswith(word) for each in became.values()) for word in OUTCOMES]
    print("\n" + ", ".join(f"{n} {word}" for n, word in zip(counts, OUTCOMES, strict=True)))
    return min(1, counts[-1])


def _processor_seconds() -> float:
    """Of this process and of those that it started and that have ended."""
    return sum(os.times()[:4])


def _outcome(printed: str) -> str:
    """Whether it measured anything, and what it said that it lacks."""
    lines = [line for line in printed.splitlines() if line and not line.startswith("#")]
    lacks = dict.fromkeys(
        line.removeprefix(LEFT_OUT) for line in lines if line.startswith(LEFT_OUT)
    )
    if len(lines) > sum(line.startswith(LEFT_OUT) for line in lines):
        return "ran" + "".join(f"; but {lack}" for lack in lacks)
    return LEFT_OUT + ("; ".join(lacks) or "not for this engine")


main()
