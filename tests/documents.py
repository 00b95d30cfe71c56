"""What a reader is told: the README, and the documents that it leads to; and the code as it is."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

__all__ = ["DOCUMENTS", "documents", "nodes"]

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "benchmarks" / "FIGURES.md",
    ROOT / "benchmarks" / "README.md",
]


def documents() -> str:
    """All of their words, in the order in which they are read."""
    return "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module's syntax, the module first; parsed once a run, for many tests ask."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
