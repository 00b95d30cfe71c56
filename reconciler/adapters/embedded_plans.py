"""A connection to an embedded database that keeps planned statements for a while.

The engine plans a statement once, for the present sizes of its tables: a plan from a small store
reads whole tables when the store is large. Never here: a transaction.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import ladybug

from reconciler.ports.graph import Row

_GROWTH = 2
"""Plans are renewed when the store has grown by this factor since they were made: a plan for half
the rows is as good. So they are renewed some twenty times in a store's life."""

_GROWTH_START_BYTES = 1 << 15

_OF_EVERY_WRITE = ("BEGIN TRANSACTION", "COMMIT")
"""Without a value, and planned once all the same: to read them costs as much as a small write."""

_PLANS_MAX = 100
"""A plan takes 0.7 MB, one of a write 1.5 MB: 60 after a minute of agents. Source: measured."""

_WIDTHS = (7, 8, 15, 16, 31, 32)
"""Bits at which the engine chooses another type for an integer, which it then keeps in a plan."""


_ROWS_AT_ONCE = 256
"""Rows that are there at once, where they are put into columns: with more than 700 new lists the
garbage collector begins, and with 10,000 it takes longer than the engine. Source: measured."""

_EPOCH, _EPOCH_UTC = datetime(1970, 1, 1), datetime(1970, 1, 1, tzinfo=UTC)

_OF_PROPERTIES = ("NODE", "REL", "STRUCT")
"""How the types of columns begin that hold the properties of a node or a link."""


class UnreadableRowsError(RuntimeError):
    """A row holds an impossible value: text that is not UTF-8, or a time out of range.

    It checks no page of its file, so that bytes of it that were altered are read as they are.
    """


class PlanningConnection(ladybug.Connection):
    """Runs statements, each planned once for its text and its parameters' types.

    The package's own ``execute`` does so too, but it looks into every value to tell the types: a
    millisecond for a decision. And what it planned stays, as long as the connection.
    """

    def __init__(self, database: ladybug.Database) -> None:
        super().__init__(database)
        self._plans: dict[tuple[Any, ...], Any] = {}
        self._planned_at_bytes = _GROWTH_START_BYTES

    def plan_for(self, written_bytes: int) -> None:
        """Forget plans that were made when the store was much smaller."""
        if written_bytes >= self._planned_at_bytes * _GROWTH:
            self._plans.clear()
            self._planned_at_bytes = written_bytes

    def rows(self, text: str, given: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of one statement; times are UTC.

        Raises:
            UnreadableRowsError: the store's file is damaged where they are.
            RuntimeError: the engine failed.
        """
        with closing(self._result(text, dict(given or {}))) as result:
            columns: list[str] = result.get_column_names()
            lists = list(chain.from_iterable(_pages_of(result)))
            if lists:
                _say_utc(lists, result.get_column_data_types())
            return [dict(zip(columns, row, strict=True)) for row in lists]

    def columns(self, text: str, given: Mapping[str, Any]) -> list[Row]:
        """As ``rows``, with all rows as one that has a list for each column; none without rows."""
        with closing(self._result(text, dict(given))) as result:
            names = result.get_column_names()
            columns: dict[str, list[Any]] = {name: [] for name in names}
            for page in _pages_of(result):
                for column, values in zip(columns.values(), zip(*page, strict=True), strict=True):
                    column.extend(values)
            for name, kind in zip(names, result.get_column_data_types(), strict=True):
                if kind == "TIMESTAMP":
                    columns[name] = [at and _utc(at) for at in columns[name]]
            return [columns] if result.get_num_tuples() else []

    def close(self) -> None:
        """Interrupt what runs on it, and give its plans back."""
        super().close()
        self._plans.clear()

    def _result(self, text: str, given: dict[str, Any]) -> ladybug.QueryResult:
        if not given and text not in _OF_EVERY_WRITE:
            result = self.execute(text)
        else:
            key = (text, *given, *map(_type, given.values()))
            plan = self._plans.get(key) or self._prepare(text, given)
            result = self.execute(plan, given)
            self._keep(key, plan)
        assert not isinstance(result, list), "one statement gives one result"  # noqa: S101
        return result

    def _keep(self, key: tuple[Any, ...], plan: Any) -> None:
        self._plans.pop(key, None)  # the one that was used last comes last
        self._plans[key] = plan
        if len(self._plans) > _PLANS_MAX:
            del self._plans[next(iter(self._plans))]


def _pages_of(result: ladybug.QueryResult) -> Iterator[list[Any]]:
    """All rows, some at a time."""
    left = result.get_num_tuples()
    try:
        while left > 0:
            yield [result.get_next() for _ in range(min(left, _ROWS_AT_ONCE))]
            left -= _ROWS_AT_ONCE
    except (ValueError, OverflowError) as error:
        raise UnreadableRowsError(str(error)) from error


def _type(value: Any) -> Any:
    """A value's type, as the engine sees it when it plans; of maps with their names in order."""
    if isinstance(value, list):
        first = next((element for element in value if element is not None), None)
        return (list, *_type(first)) if isinstance(first, dict) else (list, type(first))
    if isinstance(value, dict):
        return (dict, *value, *(_type(held) for held in value.values() if isinstance(held, dict)))
    if type(value) is not int:
        return type(value)
    return (value < 0, bisect_left(_WIDTHS, (~value if value < 0 else value).bit_length()))


def _say_utc(rows: list[list[Any]], types: list[str]) -> None:
    """Give the times their zone; only their columns are looked at, since rows may be many."""
    for place in (place for place, name in enumerate(types) if name == "TIMESTAMP"):
        for row in rows:
            if row[place] is not None:
                row[place] = _utc(row[place])
    for place in (place for place, name in enumerate(types) if name.startswith(_OF_PROPERTIES)):
        for row in rows:
            row[place] = _properties(row[place])


def _utc(at: datetime) -> datetime:
    """The time with its zone; ``replace`` takes ten times as long."""
    return _EPOCH_UTC + (at - _EPOCH)


def _properties(entity: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of a node or a link, without the engine's own and without nulls."""
    return {
        name: _utc(held) if isinstance(held, datetime) else held
        for name, held in entity.items()
        if held is not None and not name.startswith("_")
    }
