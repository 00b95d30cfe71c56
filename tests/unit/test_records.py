"""A record leaves out what is null, so whatever may be null is null where it is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, fields, is_dataclass
from types import NoneType
from typing import Any, get_args, get_type_hints

from reconciler import Decision


def _records(kind: Any, found: set[type]) -> set[type]:
    """Every dataclass that one is made of, itself included."""
    if is_dataclass(kind) and isinstance(kind, type) and kind not in found:
        found.add(kind)
        for hint in get_type_hints(kind).values():
            _records(hint, found)
    for part in get_args(kind):
        _records(part, found)
    return found


def _nullable() -> Iterator[tuple[str, Field[Any]]]:
    for kind in _records(Decision, set()):
        hints = get_type_hints(kind)
        for field in fields(kind):
            if NoneType in get_args(hints[field.name]):
                yield f"{kind.__name__}.{field.name}", field


def test_whatever_may_be_null_in_a_record_is_null_where_it_is_left_out() -> None:
    found = dict(_nullable())
    assert {name for name, field in found.items() if field.default is not None} == set()
    assert {"Slot.value", "Note.slot", "Assessment.topic"} <= set(found)
