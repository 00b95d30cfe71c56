"""Batches: many things, some at a time, so that no query and no transaction takes them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batches(things: Iterable[T], size: int) -> Iterator[list[T]]:
    """The things in their order, so many at a time; the last batch may be smaller."""
    rest = iter(things)
    while batch := list(islice(rest, size)):
        yield batch
