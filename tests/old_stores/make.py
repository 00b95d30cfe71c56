"""Makes the stores of older schema versions again, with the code of their time, from a checkout.

    python -m tests.old_stores.make

For each version the last commit of it is unpacked, and ``life.py`` is told to it on the embedded
engine and on Neo4j. What comes out is kept packed: ``v1.lbug.xz``, the file of the store, and
``v1.json.xz``, every node and relationship of the graph.
"""

from __future__ import annotations

import io
import json
import lzma
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import neo4j

from tests.engines import DELETE_NODES, Choice, EngineUnderTest, Neo4jEngines, wipe_schema
from tests.old_stores import FOLDER, HASH_KEY, LAST_COMMITS
from tests.raw_store import query

NODES = "MATCH (n) RETURN elementId(n), labels(n), properties(n)"
LINKS = "MATCH (a)-[r]->(b) RETURN elementId(a), type(r), elementId(b), properties(r)"


def main() -> None:
    servers = Neo4jEngines(Choice({"ENGINES": "neo4j-2026"}))
    servers.fetch(["neo4j-2026"], print)
    try:
        for version, commit in LAST_COMMITS.items():
            with tempfile.TemporaryDirectory() as folder:
                code = Path(folder) / "code"
                unpack(commit, code)
                make_embedded(version, code, Path(folder) / "memory.lbug")
                make_neo4j(version, code, servers.engine("neo4j-2026"))
    finally:
        servers.close()


def unpack(commit: str, code: Path) -> None:
    packed = subprocess.run(["git", "archive", commit], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(code, filter="data")


def live(version: int, code: Path, settings: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as data:
        environment = os.environ | HASH_KEY | {"PYTHONPATH": str(code), "XDG_DATA_HOME": data}
        script = [sys.executable, str(FOLDER / "life.py"), str(version), json.dumps(settings)]
        subprocess.run(script, env=environment, cwd=code, check=True)


def make_embedded(version: int, code: Path, path: Path) -> None:
    live(version, code, {"graph": "embedded", "embedded_path": str(path)})
    keep(f"v{version}.lbug", path.read_bytes())


def make_neo4j(version: int, code: Path, engine: EngineUnderTest) -> None:
    query(engine, DELETE_NODES)
    wipe_schema(engine)
    server = engine.settings_arguments["neo4j"]
    known = ("uri", "username", "password", "database")
    live(version, code, {"graph": "neo4j", "neo4j": {name: server[name] for name in known}})
    nodes = query(engine, NODES)
    numbers = {row[0]: number for number, row in enumerate(nodes)}
    graph = {
        "nodes": [[labels[0], plain(held)] for _, labels, held in nodes],
        "links": [
            [numbers[start], kind, numbers[end], plain(held)]
            for start, kind, end, held in query(engine, LINKS)
        ],
    }
    keep(f"v{version}.json", json.dumps(graph).encode())


def plain(held: dict[str, Any]) -> dict[str, Any]:
    """As JSON holds it."""
    return {
        name: {"at": value.to_native().isoformat()}
        if isinstance(value, neo4j.time.DateTime)
        else {"hex": bytes(value).hex()}
        if isinstance(value, bytes | bytearray)
        else value
        for name, value in held.items()
    }


def keep(name: str, content: bytes) -> None:
    (FOLDER / f"{name}.xz").write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main()
