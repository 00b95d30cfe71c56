"""Writes the OpenAPI document of the HTTP API again, which the client for TypeScript is made from.

Run it after the API changed: ``python tools/export_openapi.py``; then `make typescript` makes the
client again. A test holds the file to what this would write.
"""

from __future__ import annotations

import json
from pathlib import Path

from reconciler.memory import Memory
from reconciler.serve.http_api.app import api

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "clients" / "typescript" / "openapi.json"


def as_text() -> str:
    """The file as it is kept."""
    with Memory.open(embedded_path=":memory:") as memory:
        return json.dumps(api(memory).openapi(), indent=1) + "\n"


if __name__ == "__main__":
    TARGET.write_text(as_text(), encoding="utf-8")
