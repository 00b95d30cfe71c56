"""Tables of cases that make one test: a test of its own for each costs more than what it tries."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest

__all__ = ["every", "grouped"]


def every(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[..., Callable[..., None]]:
    """As ``pytest.mark.parametrize``, in one test, which tries all rows and names those that fail.

    The rows share the test's fixtures, so it is for what leaves nothing behind.
    """
    listed = names.split(",") if isinstance(names, str) else names
    keys = [name.strip() for name in listed]
    table = [row if len(keys) > 1 else (row,) for row in rows]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def all_rows(**fixtures: Any) -> None:
            assert table, "the table is empty"
            failed = [told for row in table if (told := _failure(test, keys, row, fixtures))]
            if failed:
                pytest.fail(f"{len(failed)} of {len(table)} rows fail:\n" + "\n".join(failed))

        wanted = inspect.signature(test).parameters
        all_rows.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [parameter for name, parameter in wanted.items() if name not in keys]
        )
        return all_rows

    return decorate


def grouped(table: Mapping[Any, Iterable[Any]]) -> list[tuple[Any, ...]]:
    """The rows of a table that is written by what is expected, each with its key as last value."""
    return [
        (*(row if isinstance(row, tuple) else (row,)), expected)
        for expected, rows in table.items()
        for row in rows
    ]


def _failure(
    test: Callable[..., None], keys: Sequence[str], row: Sequence[Any], fixtures: dict[str, Any]
) -> str:
    """What the row fails with; nothing where it passes."""
    case = dict(zip(keys, row, strict=True))
    try:
        test(**case, **fixtures)
    except (AssertionError, pytest.fail.Exception) as error:
        return f"{case}: {error}"
    except Exception as error:
        error.add_note(f"in the row {case}")
        raise
    return ""
