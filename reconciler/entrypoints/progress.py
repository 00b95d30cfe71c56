"""The progress of a long command, on the terminal's error output."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from reconciler.domain.visible_text import visible
from reconciler.entrypoints.rendering import terminal


@contextmanager
def progress(name: str, is_quiet: bool) -> Iterator[Callable[[int, int | None], Any]]:
    """A bar; call what it gives with the done part and the total, or None.

    Args:
        name: the counted things.
        is_quiet: show nothing.
    """
    with _shown(name, None, is_quiet) as update:
        yield lambda done, total: update(completed=done, total=total)


@contextmanager
def bar(
    name: str, total: int | None, is_quiet: bool, *, has_end: bool = False
) -> Iterator[Callable[[int], None]]:
    """A bar; call what it gives with how many more are done.

    Args:
        name: the counted things.
        total: how many there are; None while unknown.
        is_quiet: show nothing.
        has_end: also say how long it will take.
    """
    with _shown(name, total, is_quiet, has_end=has_end) as update:
        yield lambda count: update(advance=count)


@contextmanager
def _shown(
    name: str, total: int | None, is_quiet: bool, *, has_end: bool = False
) -> Iterator[Callable[..., None]]:
    """A bar; call what it gives like ``rich.progress.Progress.update``, without the task."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        *([TimeRemainingColumn()] if has_end else []),
    )
    with Progress(*columns, console=terminal(stderr=True), disable=is_quiet) as shown:
        yield partial(shown.update, shown.add_task(visible(name), total=total))
