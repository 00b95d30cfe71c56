"""Batches: all that is given comes, in its order, so many at a time."""

from __future__ import annotations

from reconciler.service.stores.rows import batches
from tests.tables import every


@every(("count", "expected"), [(0, []), (1, [[0]]), (3, [[0, 1, 2]]), (4, [[0, 1, 2], [3]])])
def test_the_last_batch_alone_may_be_smaller(count: int, expected: list[list[int]]) -> None:
    assert list(batches(range(count), 3)) == expected
