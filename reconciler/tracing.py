"""Spans of OpenTelemetry for the stages of a write, where the program traces; else nothing.

The program chooses: spans are made only if it has imported ``opentelemetry.trace`` itself, as every
program does that exports spans. So nothing is loaded for those who do not trace.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Answer = TypeVar("Answer")

_UNTRACED: AbstractContextManager[Any] = nullcontext()


def span(name: str) -> AbstractContextManager[Any]:
    """A span around the block: ``reconciler.door``, ``.gate``, ``.embed``, ``.look`` and so on."""
    # Another thread may be in the middle of the import: then the module has no such function yet.
    get_tracer = getattr(sys.modules.get("opentelemetry.trace"), "get_tracer", None)
    if get_tracer is None:
        return _UNTRACED
    tracer = get_tracer("reconciler")
    started: AbstractContextManager[Any] = tracer.start_as_current_span(
        f"reconciler.{name}", record_exception=False, set_status_on_exception=False
    )
    return started


def traced(name: str) -> Callable[[Callable[Given, Answer]], Callable[Given, Answer]]:
    """A decorator: a span around each call."""

    def decorate(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
        @wraps(function)
        def called(*args: Given.args, **kwargs: Given.kwargs) -> Answer:
            with span(name):
                return function(*args, **kwargs)

        return called

    return decorate
