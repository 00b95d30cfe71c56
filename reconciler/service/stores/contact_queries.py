"""The common part of stores, and of queries about contacts. Names no query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from reconciler.domain.records.scope import Scope
from reconciler.frozen import in_order
from reconciler.ports.graph import Graph, Row
from reconciler.service.batches import batches

T = TypeVar("T")

EVERYTHING = 1_000_000_000
"""A limit that no answer reaches."""


_PAGE = 100
"""Contacts or decisions that one query reads, so that the answer always fits into memory."""


class Queries:
    """What runs queries by their names."""

    graph: Graph

    def rows(self, query: str, /, **given: Any) -> list[Row]:
        """The rows of a query. A closed memory and a failing engine are errors of the graph."""
        return self.graph.run(query, given)

    def rows_of(self, scope: Scope, query: str, /, **given: Any) -> list[Row]:
        """The rows of a query about one contact."""
        return self.rows(query, contact_key=scope.contact_key, **given)


@in_order
class Store(Queries):
    """The common part of stores.

    Attributes:
        graph: answers the queries.
        model: name and dimension of the model that the store must be bound to where no vector is
            found; None to take any.
    """

    graph: Graph
    model: tuple[str, int] | None = None


def of_contacts(scopes: Iterable[Scope]) -> dict[str, list[str]]:
    """The parameter of a query about several contacts."""
    return {"contact_keys": [scope.contact_key for scope in scopes]}


def pages(things: Iterable[T]) -> Iterator[list[T]]:
    """The contacts or decisions in their order, as many at a time as one query reads."""
    return batches(things, _PAGE)


def first_rows(
    run: Callable[[str, dict[str, Any]], list[Row]],
    query: str,
    scopes: Sequence[Scope],
    asked: dict[str, Any],
    order: Callable[[Row], Any],
    limit: int | None = None,
) -> list[Row]:
    """The first rows of a query about many contacts, which is run for some at a time.

    Args:
        run: runs a query.
        query: its name; it takes the contacts' keys.
        scopes: the contacts.
        asked: its other parameters.
        order: the key that the rows are sorted by.
        limit: at most this many; None for all.
    """
    rows: list[Row] = []
    for some in pages(scopes):
        rows += run(query, {**of_contacts(some), **asked})
        rows = sorted(rows, key=order)[:limit]
    return rows
