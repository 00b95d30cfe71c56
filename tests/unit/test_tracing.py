"""A span is made where the program traces, and a half imported module is none that traces yet."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from types import ModuleType

import pytest

from reconciler.tracing import span


def test_while_another_thread_imports_the_module_nothing_is_traced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", ModuleType("opentelemetry.trace"))
    with span("door") as made:
        assert made is None
    assert isinstance(span("door"), nullcontext)
