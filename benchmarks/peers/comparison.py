"""This project side by side with four other memory systems, each the real package.

Every system in turn, then the table, the figures and the picture; see the package.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.engines import Engines
from benchmarks.peers import measuring
from benchmarks.peers.environments import EnvironmentFailedError
from benchmarks.peers.model_server import model_server
from benchmarks.peers.neo4j_pair import Neo4jPair
from benchmarks.peers.results import Result, remarks, table
from benchmarks.peers.side_process import SideFailedError
from benchmarks.peers.systems import SYSTEMS, System
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
    chosen = _chosen()
    print("## side by side: the same notes, the same vectors, each system in its own store\n")
    results: list[Result] = []
    with model_server() as url, Neo4jPair() as servers:
        for line in table(_each(chosen, url, servers, results)):
            print(line, flush=True)
    for line in ("", *remarks(results), ""):
        print(line)
    loads = [load for result in results for load in (result.load, result.load_end)]
    print(f"The machine's load was {min(loads):.1f} to {max(loads):.1f} meanwhile.\n")
    is_whole = len(chosen) == len(SYSTEMS) and len(_columns()) == len(measuring.COLUMNS)
    if path := os.environ.get("PEERS_PICTURE") or (PICTURE if is_whole else ""):
        from benchmarks.peers.picture import draw  # matplotlib is an extra

        draw(results, Path(path))


def _each(
    chosen: Sequence[System], url: str, servers: Neo4jPair, results: list[Result]
) -> Iterator[Result]:
    """Each result as it comes; the file has all so far, for a run may be cut off."""
    for system in chosen:
        results.append(_measured(system, url, servers))
        if path := os.environ.get("PEERS_JSON"):
            figures = [result.as_json for result in results]
            Path(path).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        yield results[-1]


def _chosen() -> Sequence[System]:
    keys = _asked("PEERS", [system.key for system in SYSTEMS])
    return [system for system in SYSTEMS if system.key in keys]


def _columns() -> Sequence[str]:
    return _asked("PEERS_COLUMNS", measuring.COLUMNS)


def _asked(variable: str, known: Sequence[str]) -> Sequence[str]:
    """What the environment names of what is known, in its order; all where it names nothing."""
    asked = {name.strip() for name in os.environ.get(variable, "").split(",") if name.strip()}
    if unknown := asked - set(known):
        sys.exit(f"{variable}: {', '.join(sorted(unknown))} unknown; known: {', '.join(known)}")
    return [name for name in known if not asked or name in asked]


def _measured(system: System, url: str, servers: Neo4jPair) -> Result:
    say(f"peers: {system.label} ...")
    try:
        return measuring.measure(system, url, servers, _columns())
    except CANNOT_RUN as error:
        say(f"peers: {system.label} cannot run: {error}")
        result = Result(system.key, system.label, system.door, load=os.getloadavg()[0])
        result.not_measured["everything"] = str(error)
        return result
