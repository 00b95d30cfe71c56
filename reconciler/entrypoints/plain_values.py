"""Plain values: records as JSON has them, and the same fields as lines for a person."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any


def json_text(record: Any, indent: int | None = None) -> str:
    """Plain values or records as JSON; times as ISO 8601."""
    return json.dumps(record, allow_nan=False, indent=indent, default=_plain)


def _plain(value: object) -> Any:
    """The JSON form of a value that JSON does not know.

    A time is ISO 8601, a record is its ``to_dict`` or its fields, and anything else its words.
    """
    if isinstance(value, datetime):
        return value.isoformat()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return str(value)


def field_lines(record: Any) -> Iterator[str]:
    """The fields of a record as its JSON has them, one a line, without those that are empty."""
    return _field_lines(json.loads(json_text(record)), "")


def _field_lines(plain: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, value in plain.items():
        words = f"{indent}{name.replace('_', ' ')}:"
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                lines = [*_field_lines(part, f"{indent}  ")]
                yield from [words, *lines] if lines else []
            elif part not in (None, ""):
                yield f"{words} {part}"
