"""Adapters whose framework is not installed: the error says which extra mends it."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("langchain", "langchain_core", "langchain"),
        ("langgraph", "langgraph", "langgraph"),
        ("openai_agents", "agents", "openai-agents"),
        ("ray_backfill", "ray", "ray"),
    ],
)
def test_an_adapter_without_its_framework_says_what_to_install(
    module: str, package: str, extra: str
) -> None:
    tried = f"import sys; sys.modules[{package!r}] = None; import reconciler.integrations.{module}"
    done = subprocess.run(
        [sys.executable, "-c", tried], capture_output=True, text=True, check=False
    )
    assert f"ConfigurationError: reconciler.integrations.{module} needs" in done.stderr
    assert f"pip install 'graph-memory-reconciler[{extra}]'" in done.stderr
