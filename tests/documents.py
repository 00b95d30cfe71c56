"""What a reader is told: the README, and the documents that it leads to; and the code as it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "DOCUMENTS",
    "MARKDOWN",
    "Example",
    "documents",
    "examples",
    "fenced",
    "nodes",
    "prints",
    "program",
    "prose",
]

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "benchmarks" / "RESULTS.md",
    *sorted((ROOT / "benchmarks" / "results").glob("*.md")),
    ROOT / "benchmarks" / "README.md",
]
MARKDOWN = [
    *DOCUMENTS,
    ROOT / "CHANGELOG.md",
    ROOT / "clients" / "typescript" / "README.md",
    ROOT / "cypher" / "README.md",
    ROOT / "examples" / "README.md",
    ROOT / "exam" / "README.md",
    ROOT / "findings" / "README.md",
    ROOT / "judge" / "gate_notes.md",
    ROOT / "judge" / "relations.md",
]
"""Every page that a person reads, those about the project's own insides included."""

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(
    r"^```python\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL
)
_PROGRAM = re.compile(r"^```py\n(.*?)^```$\n+```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHOWN = re.compile(r"^ *print\(.*\n((?: *# .*\n)+)", re.MULTILINE)


class Example(NamedTuple):
    """A block of Python on a page.

    Attributes:
        name: the page, and which of its blocks this is, from 1.
        code: what a reader copies.
        shown: what the page says that it prints: the block ``text`` that follows at once, or else
            the comments right under its calls of ``print``.
    """

    name: str
    code: str
    shown: str


def documents() -> str:
    """All of their words, in the order in which they are read."""
    return "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)


def fenced(path: Path, *languages: str) -> Iterator[str]:
    """The blocks of a page that are marked as one of these languages, in their order."""
    for language, block in _FENCE.findall(path.read_text(encoding="utf-8")):
        if language in languages:
            yield block


def examples() -> Iterator[Example]:
    """All blocks of Python that a reader may copy, page by page."""
    for path in DOCUMENTS:
        blocks = _EXAMPLE.findall(path.read_text(encoding="utf-8"))
        for number, (code, shown) in enumerate(blocks, 1):
            comments = "".join(_SHOWN.findall(code))
            beneath = re.sub(r"^ *# ", "", comments, flags=re.MULTILINE)
            yield Example(f"{path.name} {number}", code, shown or beneath)


def program(path: Path, package: str) -> Example:
    """The block ``py`` that imports the package: one that runs only where a test prepares it."""
    blocks = _PROGRAM.findall(path.read_text(encoding="utf-8"))
    [(code, shown)] = [each for each in blocks if f"from {package} import" in each[0]]
    return Example(f"{path.name} {package}", code, shown)


def prints(shown: str, printed: str) -> bool:
    """Whether this was printed; a … in what is shown stands for anything."""
    lines = (line.rstrip() for line in printed.strip("\n").splitlines())
    pattern = re.escape(shown.strip("\n")).replace("…", ".*?")
    return re.fullmatch(pattern, "\n".join(lines), re.DOTALL) is not None


def prose(path: Path) -> str:
    """A page without its blocks of code, in which a # is no heading and a bracket no link."""
    return _FENCE.sub("", path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module's syntax, the module first; parsed once a run, for many tests ask."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
