"""Frozen: the decorator of this package's records. Every layer may use it; it imports none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def frozen(record: type[T]) -> type[T]:
    """A dataclass with fields that are given by name and never change, and with no others."""
    return dataclass(frozen=True, slots=True, kw_only=True)(record)
