"""What a reader is told: the README, and the documents that it leads to; and the code as it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

__all__ = ["DOCUMENTS", "MARKDOWN", "documents", "fenced", "nodes", "prose"]

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "benchmarks" / "RESULTS.md",
    ROOT / "benchmarks" / "FIGURES.md",
    ROOT / "benchmarks" / "README.md",
]
MARKDOWN = [
    *DOCUMENTS,
    ROOT / "CHANGELOG.md",
    ROOT / "cypher" / "README.md",
    ROOT / "examples" / "README.md",
]
"""Every page that a person reads, those about the project's own insides included."""

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def documents() -> str:
    """All of their words, in the order in which they are read."""
    return "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)


def fenced(path: Path, *languages: str) -> Iterator[str]:
    """The blocks of a page that are marked as one of these languages, in their order."""
    for language, block in _FENCE.findall(path.read_text(encoding="utf-8")):
        if language in languages:
            yield block


def prose(path: Path) -> str:
    """A page without its blocks of code, in which a # is no heading and a bracket no link."""
    return _FENCE.sub("", path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module's syntax, the module first; parsed once a run, for many tests ask."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
