"""Frozen: the decorators of this package's records, and what many of them have.

Every layer may use them; they import none.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeGuard, TypeVar, dataclass_transform

T = TypeVar("T")
KeyT = TypeVar("KeyT", bound=Hashable)

Strings = tuple[str, ...]
"""Ids or words in an order, as records keep them; never changed."""

StringSet = frozenset[str]
"""Ids or words in no order; never changed."""

Json = dict[str, Any]
"""Plain values by name: a JSON object."""

Values = Mapping[str, Any]
"""Values by name, which the reader does not change."""

Span = tuple[int, int]
"""Where a part of a text or list starts and ends."""

Pattern = re.Pattern[str]
"""A compiled expression for texts."""

Match = re.Match[str]
"""What such an expression found."""

StringMap = Mapping[str, str]
"""Words by name, which the reader does not change."""


def present(values: Mapping[str, T | None]) -> dict[str, T]:
    """Return the values that are not None, by name."""
    return {name: value for name, value in values.items() if value is not None}


def grouped(pairs: Iterable[tuple[KeyT, T]]) -> dict[KeyT, list[T]]:
    """Return the values of each key, keys and values in the order in which they came."""
    groups: dict[KeyT, list[T]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def field_names(record: Any) -> Strings:
    """Return the names of the fields of a record, or of a kind of records, in their order."""
    return tuple(described.name for described in fields(record))


def picked(record: object, names: Iterable[str]) -> Json:
    """Return the values of a record under these names."""
    return {name: getattr(record, name) for name in names}


def is_number(value: object, most: float = 1e15) -> TypeGuard[int | float]:
    """True if it is a number of at most this size, which neither a boolean nor NaN is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -most <= value <= most


def uncompared(default: Any) -> Any:
    """A field of a record that does not count when records are compared or shown."""
    return field(default=default, compare=False, repr=False)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def frozen(record: type[T]) -> type[T]:
    """A dataclass with fields that are given by name and never change, and with no others."""
    return dataclass(frozen=True, slots=True, kw_only=True)(record)


@dataclass_transform(frozen_default=True)
def in_order(record: type[T]) -> type[T]:
    """The same, but fields may be given in their order, because there are few or all know them."""
    return dataclass(frozen=True, slots=True)(record)
