"""Row readers: make values of rows, and name the rows that cannot be read.

A record may be damaged: cut short, altered by hand, or written by a program with a mistake. An
error names such a record by its id and never quotes it. The other records are still read, and an
erasure removes its words like those of any other.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from reconciler.errors import DamagedRecordError, ReconcilerError
from reconciler.frozen import in_order
from reconciler.ports.graph import Row

T = TypeVar("T")

_log = logging.getLogger(__name__)
_NAMED_MAX = 5

_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}

UNREADABLE = (ReconcilerError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError)
"""The errors of reading a damaged row; a JSON error is a ``ValueError``."""


@in_order
class RowReader(Generic[T]):
    """Makes values of the rows of one kind of record.

    Args:
        label: the kind.
        key: the column that names a record.
        make: makes the value of a row; it may raise any of ``UNREADABLE``.
    """

    label: str
    key: str
    make: Callable[[Row], T]

    def one(self, row: Row) -> T:
        """The value of a row.

        Raises:
            DamagedRecordError: it cannot be read.
        """
        try:
            return self.make(row)
        except UNREADABLE:  # no cause is shown: its text would quote the record
            raise self._damaged([row]) from None

    def first(self, rows: Sequence[Row]) -> T | None:
        """The value of the first row; None without rows.

        Raises:
            DamagedRecordError: it cannot be read.
        """
        return self.one(rows[0]) if rows else None

    def all(self, rows: Iterable[Row]) -> list[T]:
        """The values of the rows that can be read; the log names the others."""
        return [value for _, value in self.pairs(rows)]

    def pairs(self, rows: Iterable[Row]) -> list[tuple[Row, T]]:
        """As ``all``, each value with its row."""
        read, damaged = self.apart(rows)
        if damaged:
            _log.warning("%s", self._damaged(damaged))
        return read

    def apart(self, rows: Iterable[Row]) -> tuple[list[tuple[Row, T]], list[Row]]:
        """The readable rows, each with its value, and the damaged ones."""
        read: list[tuple[Row, T]] = []
        damaged: list[Row] = []
        for row in rows:
            try:
                read.append((row, self.make(row)))
            except UNREADABLE:
                damaged.append(row)
        return read, damaged

    def key_of(self, row: Row) -> str:
        """The id of a row's record."""
        return str(row[self.key])

    def _damaged(self, rows: Iterable[Row]) -> DamagedRecordError:
        ids = tuple(dict.fromkeys(map(self.key_of, rows)))
        named = ", ".join(ids[:_NAMED_MAX]) + (", …" if len(ids) > _NAMED_MAX else "")
        return DamagedRecordError(
            f"{self.label} {named} cannot be read: what is kept of it is damaged. `reconciler "
            "health --check-records` counts such records, and `reconciler forget` erases them"
        )


def reader_of(
    kind: type[T], label: str, key: str, also: Callable[[Row], Row] = lambda _: {}
) -> RowReader[T]:
    """Makes records of one kind of rows that name its fields.

    Args:
        kind: the record.
        label: as in ``RowReader``.
        key: as in ``RowReader``.
        also: the fields that are made of a row; they take the place of columns.
    """
    return RowReader(label, key, lambda row: validated(kind, row | also(row)))


def validated(kind: type[T], values: Mapping[str, Any]) -> T:
    """A record of these values, after a check of their types.

    Raises:
        ValueError: one is missing, or of another type; its text quotes the values.
    """
    made: T = adapter_of(kind).validate_python(values)
    return made


def adapter_of(kind: type[T]) -> TypeAdapter[T]:
    """The validator of such records; it is made at first use, because that takes milliseconds."""
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]
