"""Real input: the user turns of 141 conversations, imported with the real model."""

from __future__ import annotations

import json
import time

from benchmarks.data import rows, user_turns
from benchmarks.engines import Engines
from reconciler import Memory


def main(available: Engines) -> None:
    conversations = rows("conversations.jsonl")
    if conversations is None:
        return
    lines = [json.dumps(turn, ensure_ascii=False) for turn in user_turns(conversations)]
    print(f"## {len(lines)} user turns of {len(conversations)} conversations, one contact each\n")
    print("| engine | outcome | decided by | notes |\n|---|---|---|--:|")
    for name in available.names:
        with Memory.open(**available.fresh(name)) as memory:
            memory.warm_up()
            started = time.perf_counter()
            report = memory.import_notes(lines)
            seconds = time.perf_counter() - started
        for (action, rule), count in sorted(report.decisions.items()):
            print(f"| {name} | {action} | {rule} | {count} |")
        print(f"| {name} | errors | | {len(report.errors)} |")
        print(f"| {name} | **wall time** | | **{seconds:.1f} s** |", flush=True)
    print()
