"""A span is made where the program traces, and a half imported module is none that traces yet."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from reconciler.tracing import about, span


@span("upsert_memory")
def call(answer: str) -> str:
    about("record.id", answer)
    return answer


@pytest.mark.parametrize("module", [None, ModuleType("opentelemetry.trace")])
def test_while_another_thread_imports_the_module_nothing_is_traced(
    module: ModuleType | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", module)  # type: ignore[arg-type]
    assert call("done") == "done"
    with pytest.raises(KeyError), span("reconciler.gate"):
        raise KeyError
