"""Writes ``export.schema.json`` again from the tables of the embedded engine.

Run it after a migration gave a table a column: ``python tools/export_schema.py``. A test holds the
shipped file to what this would write.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import Any

from reconciler.adapters.embedded_graph import EmbeddedGraph
from reconciler.domain.records.candidates import Role
from reconciler.domain.records.erasures import ErasureKind, ErasureState
from reconciler.domain.records.kinds import (
    Action,
    DecidedBy,
    Disposal,
    FactState,
    GateReason,
    JobState,
    Relation,
    Sensitivity,
    SourceKind,
)
from reconciler.domain.tasks.tasks import TaskState
from reconciler.reading.kinds import Category, RecallSemantics
from reconciler.service.checking.lines import FORMAT, KEY_OF, LINKS, VERSION

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "reconciler" / "service" / "checking" / "export.schema.json"
NOT_EXPORTED: Mapping[str, frozenset[str]] = {
    "Contact": frozenset({"locked_by"}),
    "Session": frozenset({"title"}),
    "Episode": frozenset({"title"}),
    "Fact": frozenset(
        {
            *("name", "contact_key", "embedding", "embedding_bytes"),
            *("next_embedding", "next_embedding_bytes", "next_embedding_model"),
        }
    ),
    "Decision": frozenset({"title", "contact_key", "place"}),
    "Erasure": frozenset({"place"}),
    "COMPARED_WITH": frozenset({"title"}),
    "SUPERSEDES": frozenset({"contact_key"}),
    "CONFLICTS_WITH": frozenset({"contact_key"}),
    "Job": frozenset({"locked_by", "leased_by"}),
}
"""Properties that have a place of their own in a line, follow from others (captions, a contact's
key), or mean nothing in another store (locks, leases, places of changes, next vectors)."""

TIME = {"type": "string", "format": "date-time"}
TYPES: dict[str, dict[str, Any]] = {
    "STRING": {"type": "string"},
    "INT64": {"type": "integer"},
    "DOUBLE": {"type": "number"},
    "BOOL": {"type": "boolean"},
    "TIMESTAMP": TIME,
    "STRING[]": {"type": "array", "items": {"type": "string"}},
}
_STATES: dict[str, type[StrEnum]] = {
    "Fact": FactState,
    "Job": JobState,
    "Task": TaskState,
    "Erasure": ErasureState,
}
_WORDS: dict[str, type[StrEnum]] = {
    "action": Action,
    "category": Category,
    "correction": Relation,
    "decided_by": DecidedBy,
    "disposal": Disposal,
    "gate_reason": GateReason,
    "recall_semantics": RecallSemantics,
    "role": Role,
    "sensitivity": Sensitivity,
    "source_kind": SourceKind,
    "target_kind": ErasureKind,
    "trust": SourceKind,
}
"""Properties that hold one word of a few, wherever they stand."""

TEXT = {"type": "string"}
MAYBE_TEXT = {"type": ["string", "null"]}
COUNTS = {"type": "object", "additionalProperties": {"type": "integer"}}


def schema() -> dict[str, Any]:
    """The schema of a line of an export."""
    columns = _columns([*KEY_OF, *LINKS])
    lines = {"header": _header(), "end": _end()}
    lines |= {label: _node(label, columns[label]) for label in KEY_OF}
    lines |= {kind: _link(kind, columns[kind]) for kind in LINKS}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{FORMAT}:{VERSION}",
        "title": f"A line of a {FORMAT} file, version {VERSION}",
        "description": (
            "The first line is a header, the last one an end, which counts what stands between. "
            "There each contact is followed by what belongs to it: nodes, then links."
        ),
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in lines],
        "$defs": lines,
    }


def _columns(tables: list[str]) -> dict[str, dict[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.lbug"
        with closing(EmbeddedGraph(path)) as graph:
            graph.migrate(8)
            with graph._connection() as connection:
                return {
                    table: {
                        row["name"]: row["type"]
                        for row in connection.rows(f"CALL table_info('{table}') RETURN name, type")
                    }
                    for table in tables
                }


def _header() -> dict[str, Any]:
    properties: dict[str, Any] = {
        "format": {"const": FORMAT},
        "version": {"const": VERSION},
        "export_id": TEXT,
        "schema_version": {"type": "integer"},
        "engine": TEXT,
        "exported_at": TIME,
        "tenant": MAYBE_TEXT,
        "agent_id": MAYBE_TEXT,
        "contact_id": MAYBE_TEXT,
        "embedding_model": TEXT,
        "embedding_dimension": {"type": "integer"},
        "with_vectors": {"type": "boolean"},
        "id_key_check": TEXT,
        "hash_key_check": MAYBE_TEXT,
        "id_key": TEXT,
        "hash_key": TEXT,
    }
    return _object(properties, [name for name in properties if name not in ("id_key", "hash_key")])


def _end() -> dict[str, Any]:
    properties = {"end": {"const": True}, "nodes": COUNTS, "links": COUNTS, "sha256": TEXT}
    return _object(properties, list(properties))


def _node(label: str, columns: dict[str, str]) -> dict[str, Any]:
    left_out = NOT_EXPORTED.get(label, frozenset())
    kept = {
        name: _type(label, name, kind) for name, kind in columns.items() if name not in left_out
    }
    properties = {"node": {"const": label}, "properties": _object(kept, [KEY_OF[label]])}
    if label == "Fact":
        properties["vector"] = {"type": "string", "contentEncoding": "base64"}
    return _object(properties, ["node", "properties"])


def _link(kind: str, columns: dict[str, str]) -> dict[str, Any]:
    held = {name: _type(kind, name, each) for name, each in columns.items()}
    properties = {
        "link": {"const": kind},
        "from": TEXT,
        "to": TEXT,
        "properties": _object(held, []),
    }
    return _object(properties, ["link", "from", "to"] + (["properties"] if held else []))


def _type(table: str, name: str, kind: str) -> dict[str, Any]:
    words = _STATES.get(table) if name == "state" else _WORDS.get(name)
    return {"type": "string", "enum": [str(each) for each in words]} if words else TYPES[kind]


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": properties,
    }


def as_text() -> str:
    """The file as it is shipped."""
    return json.dumps(schema(), indent=2, sort_keys=False) + "\n"


if __name__ == "__main__":
    TARGET.write_text(as_text(), encoding="utf-8")
