"""Queries and their rows: runs a query, and makes values from its rows. Names no query.

One reader for each kind of record (facts, decisions, evidence, vectors), so that a damaged record
is reported in the same way everywhere. A record may be cut short, altered by hand, or written by a
faulty program. An error names such a record by its id and never quotes it. The other records are
still read, and an erasure removes its words like those of any other.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any, Generic, TypeVar, get_type_hints

from pydantic import TypeAdapter

from reconciler.domain.recalling.history import Said
from reconciler.domain.records.candidates import EarlierDecision, Evidence, TakenBy
from reconciler.domain.records.decisions import Comparison, Decision
from reconciler.domain.records.facts import (
    ActionCount,
    Conflict,
    Contact,
    Fact,
    PlaceInHistory,
    Predecessor,
    Supersession,
)
from reconciler.domain.records.kinds import SPANS_JOINED, DecidedBy, FactState, Relation
from reconciler.domain.records.notes import Scope, first_of
from reconciler.errors import AbsorbedError, DamagedRecordError, ReconcilerError
from reconciler.floats import Floats
from reconciler.frozen import Strings, frozen, in_order, present
from reconciler.ports.graph import Graph, Row
from reconciler.reading.kinds import Category

T = TypeVar("T")


def batches(things: Iterable[T], size: int) -> Iterator[list[T]]:
    """Divide items, in their order, into batches of this size; the last batch may be smaller."""
    rest = iter(things)
    while batch := list(islice(rest, size)):
        yield batch


_log = logging.getLogger(__name__)

UNREADABLE = (ReconcilerError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError)
"""The errors of reading a damaged row; a JSON error is a ``ValueError``."""


@in_order
class RowReader(Generic[T]):
    """Makes values from the rows of one kind of record.

    Args:
        label: the kind of record.
        key: the column that names a record.
        make: makes the value of a row; it may raise any of ``UNREADABLE``.
    """

    label: str
    key: str
    make: Callable[[Row], T]

    def one(self, row: Row) -> T:
        """Make the value of a row.

        Raises:
            DamagedRecordError: the row cannot be read.
        """
        try:
            return self.make(row)
        except UNREADABLE:  # no cause is shown: its text would quote the record
            raise self._damaged([row]) from None

    def first(self, rows: Sequence[Row]) -> T | None:
        """Make the value of the first row; None without rows.

        Raises:
            DamagedRecordError: the row cannot be read.
        """
        return self.one(rows[0]) if rows else None

    def all(self, rows: Iterable[Row]) -> list[T]:
        """Make the values of the rows that can be read; the log names the others."""
        return [value for _, value in self.pairs(rows)]

    def pairs(self, rows: Iterable[Row]) -> list[tuple[Row, T]]:
        """Make values like ``all``, but each with its row."""
        read: list[tuple[Row, T]] = []
        damaged: list[Row] = []
        for row in rows:
            try:
                read.append((row, self.make(row)))
            except UNREADABLE:
                damaged.append(row)
        if damaged:
            _log.warning("%s", self._damaged(damaged))
        return read

    def _damaged(self, rows: Iterable[Row]) -> DamagedRecordError:
        ids = tuple(dict.fromkeys(str(row[self.key]) for row in rows))
        return DamagedRecordError(
            f"{self.label} {first_of(ids)} cannot be read: what is kept of it is damaged. "
            "`reconciler health --check-records` counts such records, and `reconciler forget` "
            "erases them"
        )


def reader_of(
    kind: type[T], label: str, key: str, also: Callable[[Row], Row] = lambda _: {}
) -> RowReader[T]:
    """Makes records of one kind from rows; the rows name the fields of that kind.

    Args:
        kind: the record.
        label: see ``RowReader``.
        key: see ``RowReader``.
        also: the fields that are computed from a row; they replace columns.
    """
    return RowReader(label, key, lambda row: validated(kind, row | also(row)))


def validated(kind: type[T], values: Any) -> T:
    """Make a record of these values, after a check of their types.

    Raises:
        ValueError: a value is missing, or has another type; the text quotes the values.
    """
    made: T = adapter_of(kind).validate_python(values)
    return made


adapter_of: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)
"""Validator of such records; it is made at first use, because that takes milliseconds."""


SLOT_COLUMNS = (
    "subject",
    "attribute",
    "value",
    "value_key",
    "is_single_valued",
    "is_known",
    "is_personal",
)


_KNOWN_CONTRADICTIONS = (
    DecidedBy.SLOT,
    DecidedBy.ARBITER,
    DecidedBy.AGENT,
    DecidedBy.EXTRACTOR,
)


def vectors_in(held: Sequence[bytes | None]) -> Floats:
    """Read the vectors in these bytes, float32, shape (rows, dimension).

    The dimension is 0 without a model.
    """
    import numpy as np

    vectors = np.frombuffer(b"".join(filter(None, held)), dtype=np.float32)
    return vectors.reshape(len(held), vectors.size // max(len(held), 1))


def told_by_contact(kind: type[T], rows: Sequence[Row]) -> dict[str, list[T]]:
    """Read facts from columns, by their contacts' keys; the log names damaged rows.

    Args:
        kind: a named tuple of those columns.
        rows: one row of columns, or none.
    """
    names = kind._fields  # type: ignore[attr-defined]
    reader = RowReader("Fact", "fact_id", lambda row: validated(kind, [row[n] for n in names]))
    whole: Any = tuple[tuple(list[held] for held in get_type_hints(kind).values())]  # type: ignore[misc, valid-type]
    told: dict[str, list[T]] = {}
    for columns in rows:
        keys = columns["contact_key"]
        try:  # column by column, in a fifth of the time
            facts = list(map(kind, *validated(whole, tuple(columns[n] for n in names))))
        except UNREADABLE:
            pairs = reader.pairs(rows_in(columns))
            keys, facts = [row["contact_key"] for row, _ in pairs], [fact for _, fact in pairs]
        for key, fact in zip(keys, facts, strict=True):
            told.setdefault(key, []).append(fact)
    return told


def rows_in(columns: Row) -> Iterator[Row]:
    """Make rows from columns that each hold a list of values."""
    return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


def no_vectors(*shape: int) -> Floats:
    """Make an empty array of a shape, float32."""
    import numpy as np

    return np.empty(shape, dtype=np.float32)


def _slot(row: Row) -> Row | None:
    """Return the columns of a row that has a slot; None if it has none."""
    return None if row["subject"] is None else row


def how_superseded(row: Row) -> Row:
    """Read how a fact was superseded."""
    is_known = not row["is_restatement"] and row["decided_by"] in _KNOWN_CONTRADICTIONS
    return {
        "was_contradicted": is_known,
        "was_live": row["decided_by"] != DecidedBy.ORDER,
    }


def _of_predecessor(row: Row) -> Row:
    return how_superseded(row) | {"slot": _slot(row), "is_void": bool(row["is_void"])}


def _fact(row: Row) -> Fact:
    # A value that was never written gets the record's default.
    return validated(Fact, present(row) | {"slot": _slot(row)})


def _counts(row: Row) -> Row:
    """Return the numbers of a contact's facts; the row has them by state."""
    facts: Mapping[str, int] = row["facts"]
    counts = {f"{state}_facts": facts.get(state, 0) for state in FactState}
    return {**counts, "facts": sum(facts.values())}


def _decision(row: Row) -> Decision:
    """Read the decision in a row, without comparisons."""
    made: Decision = adapter_of(Decision).validate_json(row["record"])
    return replace(made, correction=Relation(row["correction"])) if row["correction"] else made


def with_comparisons(decision: Decision, compared: Iterable[Comparison]) -> Decision:
    """Add comparisons to a decision; a fact is marked as expired if it was so then."""
    expired_ids = decision.expired_ids
    as_then = [replace(fact, is_expired=fact.fact_id in expired_ids) for fact in compared]
    return replace(decision, compared_with=tuple(sorted(as_then, key=lambda fact: fact.rank)))


def _cited(row: Row) -> Row:
    """Return the cited words of a turn, and the place where it can be looked up."""
    spans = row["span"].split(SPANS_JOINED) if row["span"] else ()
    return {"spans": spans, "source_reference": row["source_reference"] or None}


FACTS = RowReader("Fact", "fact_id", _fact)
PREDECESSORS = reader_of(Predecessor, "Fact", "fact_id", _of_predecessor)
COMPARISONS = reader_of(
    Comparison,
    "Fact",
    "fact_id",
    lambda row: {"slot": _slot(row), "category": row["category"] or Category.FACT},
)
PLACES = reader_of(PlaceInHistory, "Fact", "fact_id")
DECISIONS = RowReader("Decision", "decision_id", _decision)
EARLIER = reader_of(
    EarlierDecision, "Decision", "decision_id", lambda row: {"reason": row["gate_reason"] or None}
)
EVIDENCE = reader_of(
    Evidence, "Episode", "episode_id", lambda row: _cited(row) | {"is_cleaned": True}
)
SAID = reader_of(Said, "Episode", "episode_id", _cited)
TAKEN = reader_of(TakenBy, "Decision", "decision_id")
ACTION_COUNTS = reader_of(ActionCount, "Decision of Contact", "contact_key")
CONTACTS = reader_of(Contact, "Contact", "contact_id", _counts)
CONFLICTS = reader_of(Conflict, "CONFLICTS_WITH of Fact", "new_id")
SUPERSESSIONS = reader_of(Supersession, "SUPERSEDES of Fact", "new_id")


EVERYTHING = 1_000_000_000
"""A limit that no answer reaches."""


_PAGE = 100
"""The number of contacts or decisions that one query reads, so that the answer always fits into
memory."""


FEW = 400
"""Up to so many contacts are read by their links. One query of the whole store takes as long as
for 200 contacts of 100 facts among a million."""

Scopes = Scope | Sequence[Scope]
"""Some contacts; or any contact of an agent, for all of its contacts."""


@frozen
class ContactState:
    """A contact's version, whether it was or is being erased, and its merges.

    Attributes, beside those:
        absorbed_into: the id of the contact that it was merged into.
        absorbed: the ids of all contacts that were merged into it.
    """

    version: int = 0
    is_erasing: bool | None = None
    has_forgotten: bool | None = None
    absorbed_into: str | None = None
    absorbed: Strings = ()


class Queries:
    """Runs queries by their names."""

    graph: Graph

    def rows(self, query: str, /, **given: Any) -> list[Row]:
        """Return the rows of a query; a closed memory and a failing engine raise graph errors."""
        return self.graph.run(query, given)

    def rows_of(self, scope: Scope, query: str, /, **given: Any) -> list[Row]:
        """Return the rows of a query about one contact."""
        return self.rows(query, contact_key=scope.contact_key, **given)


def of_its_own(scope: Scope, state: ContactState) -> ContactState:
    """Return the state of a contact that was not merged into another.

    Raises:
        AbsorbedError: it was.
    """
    if state.absorbed_into is None:
        return state
    raise AbsorbedError(
        f"contact {scope.contact_id} was merged into {state.absorbed_into}; call again"
    )


def of_contacts(scopes: Iterable[Scope]) -> dict[str, list[str]]:
    """Return the parameter of a query about several contacts."""
    return {"contact_keys": [scope.contact_key for scope in scopes]}


def pages(things: Iterable[T]) -> Iterator[list[T]]:
    """Divide contacts or decisions, in their order, into the pages that one query reads."""
    return batches(things, _PAGE)
