"""What a reader is told: the README, and the documents that it leads to."""

from __future__ import annotations

from pathlib import Path

__all__ = ["DOCUMENTS", "documents"]

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
