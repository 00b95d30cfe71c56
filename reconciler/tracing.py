"""Spans of OpenTelemetry for calls of a memory and for the stages of a write; else nothing.

The program chooses: spans are made only if it has imported ``opentelemetry.trace`` itself, as every
program does that exports spans. So nothing is loaded for those who do not trace.

A call has the name and the attributes of OpenTelemetry's conventions for generative AI, as of
schema ``gen-ai-dev/1.42.0-dev`` (``docs/gen-ai/gen-ai-spans.md``, "Memory"). A stage of a write is
no operation of theirs, and is called ``reconciler.gate``, ``reconciler.embed`` and so on. No span
holds a word of a note, of a question or of an error, and none the id of a contact.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def span(name: str) -> Iterator[None]:
    """A span around the block, or, as a decorator, around each call."""
    # Another thread may be in the middle of the import: then the module has no such function yet.
    trace = sys.modules.get("opentelemetry.trace", sys)
    if not hasattr(trace, "get_tracer"):
        yield
        return
    with trace.get_tracer("reconciler").start_as_current_span(
        name,
        attributes={} if "." in name else {"gen_ai.operation.name": name},
        record_exception=False,  # its message may quote a note
        set_status_on_exception=False,
    ) as made:
        try:
            yield
        except BaseException as error:
            made.set_attribute("error.type", type(error).__name__)
            made.set_status(trace.StatusCode.ERROR)
            raise


def about(name: str, value: object) -> None:
    """Give the span of this call an attribute of a memory operation."""
    trace = sys.modules.get("opentelemetry.trace", sys)
    if value is not None and hasattr(trace, "get_current_span"):
        trace.get_current_span().set_attribute(f"gen_ai.memory.{name}", value)
