"""The JSON Schema of a line of an export, which lies beside this module."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def load_export_schema() -> dict[str, Any]:
    """The schema as it is shipped; ``tools/export_schema.py`` writes it from the tables."""
    text = files(__package__).joinpath("export.schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))
