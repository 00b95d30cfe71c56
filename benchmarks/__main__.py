"""``make bench``: every benchmark on every engine that can be had, in one run.

python -m benchmarks                     all of them but peers, which installs packages, and scale
python -m benchmarks write import        some of them
ENGINES=embedded python -m benchmarks    on some engines
python -m benchmarks --help              what each measures
"""

from __future__ import annotations

import os
import sys

from benchmarks import (
    agent_memory_benchmark,
    archive,
    async_lag,
    consolidation,
    conversations,
    core,
    costs,
    detail,
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
    languages,
    load,
    local_arbiter,
    natural,
    note_import,
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
    write_cost,
)
from benchmarks.engines import engines
from benchmarks.peers import comparison

BENCHMARKS = {
    "core": core.main,
    "start": start.main,
    "write": write_cost.main,
    "hand-over": hand_over.main,
    "threads": threads.main,
    "load": load.main,
    "async": async_lag.main,
    "serve": serve.main,
    "page": page.main,
    "archive": archive.main,
    "import": note_import.main,
    "ray": ray_backfill.main,
    "recall": recall.main,
    "languages": languages.main,
    "find": finding.main,
    "erasure": erasure.main,
    "reembed": reembedding.main,
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
    "local-arbiter": local_arbiter.main,
    "natural": natural.main,
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
ONLY_WHEN_NAMED = {"peers", "scale"}


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
        for name in wanted:
            BENCHMARKS[name](available)


main()
