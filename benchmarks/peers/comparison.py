"""The benchmark ``peers``: every system in turn, then the table, the figures and the picture."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.engines import Engines
from benchmarks.peers import measuring
from benchmarks.peers.environments import EnvironmentFailedError
from benchmarks.peers.model_server import model_server
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
    with model_server() as url:
        results = [_measured(system, url) for system in chosen]
    for line in (*table(results), "", *remarks(results), ""):
        print(line)
    loads = [result.load for result in results]
    print(f"The machine's load was {min(loads):.1f} to {max(loads):.1f} as the systems began.\n")
    _write(results, is_whole=len(chosen) == len(SYSTEMS))


def _chosen() -> Sequence[System]:
    asked = os.environ.get("PEERS", "")
    if not asked:
        return SYSTEMS
    keys = [key.strip() for key in asked.split(",")]
    if unknown := set(keys) - {system.key for system in SYSTEMS}:
        known = ", ".join(system.key for system in SYSTEMS)
        sys.exit(f"PEERS: {', '.join(sorted(unknown))} unknown; there are {known}")
    return [system for system in SYSTEMS if system.key in keys]


def _measured(system: System, url: str) -> Result:
    say(f"peers: {system.label} ...")
    try:
        return measuring.measure(system, url)
    except CANNOT_RUN as error:
        say(f"peers: {system.label} cannot run: {error}")
        result = Result(system.key, system.label, system.door, load=os.getloadavg()[0])
        result.not_measured["everything"] = str(error)
        return result


def _write(results: Sequence[Result], *, is_whole: bool) -> None:
    if path := os.environ.get("PEERS_JSON"):
        figures = [result.as_json for result in results]
        Path(path).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    path = os.environ.get("PEERS_PICTURE") or (str(PICTURE) if is_whole else "")
    if path:
        from benchmarks.peers.picture import draw  # matplotlib is an extra

        draw(results, Path(path))
