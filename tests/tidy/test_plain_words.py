"""Plain words: docstrings, comments and pages name who acts, in words that all readers know."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = re.compile(
    r"\b(?:nobody|somebody|whose|whoever|anew)\b|\bno\b[^.;|\n]*\bever\b", re.IGNORECASE
)
KINDS = {
    ("reconciler/**/*.py", "config/**/*.toml", "cypher/**/*.cypher"): 10,
    ("docs/*.md", "README.md"): 1,
    ("tests/**/*.py",): 0,
}
"""What is read together, and how many are left there: each makes a reader look for who acts."""


def _of_code(text: str) -> Iterator[str]:
    """A module's comments and docstrings, those of constants and fields included."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    yield from (token.string for token in tokens if token.type == tokenize.COMMENT)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield str(node.value.value)


def _prose(text: str, suffix: str) -> str:
    """What a file tells its reader, without what a program reads or shows."""
    if suffix == ".md" or not HEAVY.search(text):
        return text
    if suffix == ".py":
        return "\n".join(_of_code(text))
    mark = "//" if suffix == ".cypher" else "#"
    return "\n".join(line.partition(mark)[2] for line in text.splitlines())


@pytest.mark.parametrize("kinds", KINDS)
def test_no_more_heavy_words_come_into_the_prose(kinds: tuple[str, ...]) -> None:
    counts, lines = dict[str, int](), 0
    for path in sorted(path for kind in kinds for path in ROOT.glob(kind)):
        text = path.read_text(encoding="utf-8")
        lines += text.count("\n")
        if count := len(HEAVY.findall(_prose(text, path.suffix))):
            counts[str(path.relative_to(ROOT))] = count
    total = sum(counts.values())
    assert total <= KINDS[kinds], f"{total}, {1000 * total / lines:.2f} in 1,000 lines: {counts}"
