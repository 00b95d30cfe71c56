"""Stored facts: a contact's facts in columns; each becomes a record at its first use.

A recall ranks ten thousand facts by a few numbers and by their words, and returns eight. Never
here: a query.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, fields, replace
from functools import cache, cached_property
from typing import Any, get_type_hints

from reconciler.domain.recalling.ranking import Numbers, numbers_in
from reconciler.domain.recalling.recallable import search_text
from reconciler.domain.records.facts import Fact, Facts, FactUse
from reconciler.domain.records.notes import Slot
from reconciler.frozen import Strings
from reconciler.ports.graph import Row
from reconciler.service.stores.rows import FACTS, SLOT_COLUMNS, adapter_of, rows_in

Columns = dict[str, list[Any]]

_FLAGS = ("is_single_valued", "is_known", "is_personal")


class LazyFacts(Sequence[Fact]):
    """Facts in an order; each fact is made when it is needed."""

    def __getitem__(self, place: Any) -> Any:
        """Return a fact, or the facts of a slice in a list."""
        if isinstance(place, slice):
            return [self.at(each) for each in range(len(self))[place]]
        return self.at(place)

    @abstractmethod
    def at(self, place: int) -> Fact:
        """Return the fact at a place."""


class StoredFacts(LazyFacts):
    """Facts of ``readable`` columns; ``called`` is the contact's name, if it has one."""

    def __init__(self, columns: Columns) -> None:
        self.called: Strings = tuple(filter(None, columns.get("contact_name", ())[:1]))
        self._columns = {name: columns[name] for name in _kinds()}
        self._made: dict[int, Fact] = {}

    def __len__(self) -> int:
        return len(self._columns["fact_id"])

    def at(self, place: int) -> Fact:
        """Return the fact at a place, made at its first use."""
        if place not in self._made:
            self._made[place] = self._fact(place)
        return self._made[place]

    def slot_at(self, place: int) -> Slot | None:
        """Return the slot of the fact at a place."""
        if self._columns["subject"][place] is None:
            return None
        return Slot(**{name: self._columns[name][place] for name in SLOT_COLUMNS})

    @cached_property
    def numbers(self) -> Numbers:
        """Return the numbers that rank the facts, in their order."""
        return numbers_in(self._columns, self.at)

    @property
    def texts(self) -> Iterator[str]:
        """Return the facts' search texts, in their order."""
        names = ("text", "subject", "attribute", "tags")
        return map(search_text, *(self._columns[name] for name in names))

    def _fact(self, place: int) -> Fact:
        values = {name: self._columns[name][place] for name in _own_columns()}
        return Fact(**values, slot=self.slot_at(place))


class RecalledFacts(LazyFacts):
    """Facts with the recalls that are on record."""

    def __init__(self, facts: Facts, uses: Sequence[FactUse]) -> None:
        self._facts, self._uses = facts, uses

    def __len__(self) -> int:
        return len(self._facts)

    def at(self, place: int) -> Fact:
        """Return the fact at a place."""
        fact, (*_, count, last) = self._facts[place], self._uses[place]
        if (fact.recall_count, fact.last_recalled_at) == (count, last):
            return fact
        return replace(fact, recall_count=count, last_recalled_at=last)


def facts_in(columns: Columns) -> StoredFacts:
    """Make the facts in columns.

    Raises:
        ValueError: a fact cannot be read.
    """
    return StoredFacts(_read(columns))


def readable(rows: Sequence[Row]) -> Columns:
    """Return the columns of the facts that can be read, with their values as records have them.

    A fact can be read if each of its values can. So whole columns are read, and single facts only
    if that fails; the log names the unreadable ones.

    Args:
        rows: one row of columns, or none.
    """
    columns = rows[0] if rows else {name: [] for name in (*_kinds(), "embedding_bytes")}
    try:
        return columns | _read(columns)
    except ValueError:
        good = [row for row, _ in FACTS.pairs(rows_in(columns))]
        kept = {name: [row[name] for row in good] for name in columns}
        return kept | _read(kept)


def _read(columns: Columns) -> Columns:
    """Read the values of facts and slots; a missing value gets the default of the record.

    Raises:
        ValueError: a value cannot be read.
    """
    read = values_in(columns, _kinds())
    flags = zip(*(read[name] for name in _FLAGS), strict=True)
    if any(
        subject is not None and None in said
        for subject, said in zip(read["subject"], flags, strict=True)
    ):
        raise ValueError(f"a slot lacks one of {', '.join(_FLAGS)}")
    return read


def values_in(columns: Columns, names: Iterable[str]) -> Columns:
    """Read the values of some columns; a missing value gets the default of the record.

    Raises:
        ValueError: a value cannot be read.
    """
    read: Columns = {}
    for name in names:
        kind, default = _kinds()[name]
        held = adapter_of(list[kind]).validate_python(columns[name])  # type: ignore[valid-type]  # known at run time
        if default is not None:
            held = [default if value is None else value for value in held]
        read[name] = held
    return read


@cache
def _kinds() -> dict[str, tuple[Any, Any]]:
    """Return each column with the type of its values, and the default of a missing value."""
    facts, slots = get_type_hints(Fact), get_type_hints(Slot)
    kinds: dict[str, tuple[Any, Any]] = {name: (slots[name] | None, None) for name in SLOT_COLUMNS}
    for field in fields(Fact):
        if field.name == "slot":
            continue
        is_needed = field.default is MISSING
        kind = facts[field.name] if is_needed else facts[field.name] | None
        kinds[field.name] = (kind, None if is_needed else field.default)
    return kinds


@cache
def _own_columns() -> Strings:
    """Return the columns that do not belong to a slot."""
    return tuple(name for name in _kinds() if name not in SLOT_COLUMNS)
