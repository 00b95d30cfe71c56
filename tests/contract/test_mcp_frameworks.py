"""Frameworks that reach the memory by MCP: their programs of the page, each with its real library.

The libraries are part of no extra: ``pip install 'google-adk[mcp]' llama-index-tools-mcp``.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reconciler import Memory
from reconciler.testing import HashingEmbedder
from tests.documents import ROOT, prints, program
from tests.mcp_server import granted, serving

PAGE = ROOT / "docs" / "mcp_clients.md"
URL = "http://127.0.0.1:8765/mcp"


@pytest.mark.parametrize("package", ["google.adk.tools.mcp_tool", "llama_index.tools.mcp"])
def test_a_frameworks_program_prints_what_its_page_shows(package: str, tmp_path: Path) -> None:
    pytest.importorskip(package, reason="not installed, and part of no extra")
    example = program(PAGE, package)
    with (
        Memory.open(embedded_path=tmp_path / "memory.lbug", embedder=HashingEmbedder()) as memory,
        serving(memory, tmp_path) as server,
    ):
        ran = subprocess.run(
            [sys.executable, "-c", example.code.replace(URL, server.url)],
            env={"MEMORY_TOKEN": server.token(granted(contact_id="priya"))},
            capture_output=True,
            text=True,
            check=False,
        )
    assert prints(example.shown, ran.stdout), ran.stdout + ran.stderr
