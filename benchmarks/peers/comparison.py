"""This project side by side with other memory systems, each the real package.

Rounds in which the systems take turns, then what is counted, the tables and the picture; see the
package.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.engines import Engines
from benchmarks.peers import measuring
from benchmarks.peers.environments import EnvironmentFailedError, requirements
from benchmarks.peers.measuring import Bench
from benchmarks.peers.model_server import model_server
from benchmarks.peers.neo4j_pair import Neo4jPair
from benchmarks.peers.results import Result, remarks, tables
from benchmarks.peers.side_process import SideFailedError
from benchmarks.peers.systems import SYSTEMS, System
from benchmarks.sizes import IS_SHORT
from tests.neo4j_server import ServerFailedError, ServerNotAvailableError, say

PICTURE = Path(__file__).parents[2] / "docs" / "peers.png"
CANNOT_RUN = (
    EnvironmentFailedError,
    ServerFailedError,
    ServerNotAvailableError,
    SideFailedError,
)


def main(_: Engines) -> None:
    """The engines of the other benchmarks are not used: every system gets stores of its own."""
    chosen, columns = _chosen(), _columns()
    print("## side by side: the same notes, the same vectors, each system in its own store\n")
    results = [Result(each.key, each.label, each.door, load=os.getloadavg()[0]) for each in chosen]
    with (
        model_server() as url,
        Neo4jPair() as servers,
        TemporaryDirectory(prefix="reconciler-peers-") as folder,
    ):
        benches = []
        for system, result in zip(chosen, results, strict=True):
            with _telling(result, "made ready"):
                benches.append(Bench(system, url, Path(folder), servers, result))
        for number in range(measuring.ROUNDS + 1):
            for bench in _in_turn(benches, number):
                is_warm_up = number == 0
                with _telling(bench.result, "warm-up" if is_warm_up else f"round {number}"):
                    measuring.measure_round(bench, columns, is_warm_up=is_warm_up)
                _keep(results)
        for bench in _in_turn(benches, 0):
            with _telling(bench.result, "what is counted"):
                measuring.measure_once(bench, columns)
            bench.result.load_end = os.getloadavg()[0]
            _keep(results)
    for line in (*tables(results), *remarks(results), ""):
        print(line)
    print(f"{measuring.ROUNDS} rounds, {date.today()}; {', '.join(_versions(chosen))}.")
    loads = [load for result in results for load in (result.load, result.load_end)]
    print(f"The machine's load was {min(loads):.1f} to {max(loads):.1f} meanwhile.\n")
    is_whole = len(chosen) == len(SYSTEMS) and len(columns) == len(measuring.COLUMNS)
    if path := os.environ.get("PEERS_PICTURE") or (PICTURE if is_whole else ""):
        from benchmarks.peers.picture import draw

        draw(results, Path(path))


def _in_turn(benches: Sequence[Bench], number: int) -> Sequence[Bench]:
    """Those that still run; with each round another one begins."""
    running = [each for each in benches if "everything" not in each.result.not_measured]
    first = number % max(1, len(running))
    return [*running[first:], *running[:first]]


@contextmanager
def _telling(result: Result, step: str) -> Iterator[None]:
    """A system that cannot run says why, and is left out of what follows."""
    say(f"peers: {result.label}: {step} ...")
    try:
        yield
    except CANNOT_RUN as error:
        say(f"peers: {result.label} cannot run: {error}")
        result.not_measured["everything"] = str(error)


def _keep(results: Sequence[Result]) -> None:
    """The file has all so far, for a run may be cut off."""
    if path := os.environ.get("PEERS_JSON"):
        figures = [result.as_json for result in results]
        Path(path).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def _versions(chosen: Sequence[System]) -> Iterator[str]:
    names = dict.fromkeys(each.environment for each in chosen if each.environment)
    for name in names:
        yield requirements(name).splitlines()[0].replace("==", " ")


def _chosen() -> Sequence[System]:
    """A short form takes ours alone, for it needs neither an index of packages nor Neo4j."""
    if IS_SHORT and "PEERS" not in os.environ:
        return [system for system in SYSTEMS if system.key == "ours-embedded"]
    keys = _asked("PEERS", [system.key for system in SYSTEMS])
    return [system for system in SYSTEMS if system.key in keys]


def _columns() -> Sequence[str]:
    known = measuring.SHORT_COLUMNS if IS_SHORT else measuring.COLUMNS
    return _asked("PEERS_COLUMNS", known)


def _asked(variable: str, known: Sequence[str]) -> Sequence[str]:
    """What the environment names of what is known, in its order; all where it names nothing."""
    asked = {name.strip() for name in os.environ.get(variable, "").split(",") if name.strip()}
    if unknown := asked - set(known):
        sys.exit(f"{variable}: {', '.join(sorted(unknown))} unknown; known: {', '.join(known)}")
    return [name for name in known if not asked or name in asked]
