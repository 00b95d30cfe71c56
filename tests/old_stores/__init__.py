"""Stores of older schema versions, made by the code of their time: see ``make.py``."""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from tests import raw_store
from tests.engines import EngineUnderTest, wipe_schema

__all__ = ["FOLDER", "HASH_KEY", "LAST_COMMITS", "put_store"]

FOLDER = Path(__file__).resolve().parent
LAST_COMMITS: Mapping[int, str] = {
    1: "2ba7d39",
    2: "eb3bc7a",
    3: "3916f7b",
    4: "17ad54c",
    5: "1a4effa",
    6: "eb1d2aa",
    7: "4cfc16e",
    8: "9659b14",
    9: "e40cdd4",
}
"""The last commit of each schema version."""

HASH_KEY = {"RECONCILER_GATE__HASH_KEY": "the key of the old stores"}
"""The setting that they were made with; from the ninth version on a store opens with no other."""


def put_store(engine: EngineUnderTest, version: int) -> None:
    """Have an engine hold the store of an older version, and nothing else."""
    if engine.name == "embedded":
        path = engine.settings_arguments["embedded_path"]
        path.write_bytes(lzma.decompress((FOLDER / f"v{version}.lbug.xz").read_bytes()))
        return
    wipe_schema(engine)
    graph = json.loads(lzma.decompress((FOLDER / f"v{version}.json.xz").read_bytes()))
    numbered = sorted((each[0], number, each[1]) for number, each in enumerate(graph["nodes"]))
    for label, nodes in groupby(numbered, lambda each: each[0]):
        rows = [{"held": _read(held), "number": number} for _, number, held in nodes]
        raw_store.query(engine, NODE.replace("LABEL", label), rows=rows)
    for kind, links in groupby(sorted(graph["links"], key=_kind), _kind):
        rows = [{"one": one, "two": two, "held": _read(held)} for one, _, two, held in links]
        raw_store.query(engine, LINK.replace("KIND", kind), rows=rows)
    raw_store.query(engine, "MATCH (node) REMOVE node.number")


NODE = """
UNWIND $rows AS row
CREATE (node:LABEL) SET node = row.held, node.number = row.number
"""
LINK = """
UNWIND $rows AS row
MATCH (one {number: row.one}) MATCH (two {number: row.two})
CREATE (one)-[link:`KIND`]->(two) SET link = row.held
"""


def _kind(link: list[Any]) -> str:
    return str(link[1])


def _read(held: dict[str, Any]) -> dict[str, Any]:
    return {name: _value(value) for name, value in held.items()}


def _value(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return datetime.fromisoformat(value["at"]) if "at" in value else bytes.fromhex(value["hex"])
