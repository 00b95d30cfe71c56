"""What each room of the package weighs, for ``ARCHITECTURE.md``: ``python -m tools.weigh --write``.

A token is what ``tokenize`` gives, without comments, docstrings, line ends and indentation, so that
a comment or a blank line costs nothing. ``tests/tidy/test_weight.py`` holds the bounds.
"""

from __future__ import annotations

import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "ARCHITECTURE.md"
BEGIN, END = "<!-- python -m tools.weigh --write -->", "<!-- end -->"
ROOMS = {
    "reading": "reads words: text in, findings out",
    "core": "the mission: doors to commit, recall, sessions, erasure, both engines, the facade",
    "ops": "keeps a memory in order: moves, health, metrics, reports, calibration",
    "serve": "HTTP API, page for people, MCP server, their access",
    "integrations": "agents' frameworks, Ray",
    "entrypoints": "the command line",
}
"""What each room is for; the core is all that lies in no other."""

LAYOUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}
BEFORE_A_STATEMENT = LAYOUT - {tokenize.COMMENT, tokenize.ENDMARKER}


def tokens(source: Iterator[bytes]) -> int:
    """How many tokens a reader has to read."""
    count, before = 0, tokenize.NEWLINE
    for token in tokenize.tokenize(lambda: next(source, b"")):
        is_docstring = token.type == tokenize.STRING and before in BEFORE_A_STATEMENT
        count += token.type not in LAYOUT and not is_docstring
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            before = token.type
    return count


def weights() -> Counter[str]:
    """The tokens of each room."""
    counted: Counter[str] = Counter()
    package = ROOT / "reconciler"
    for file in package.rglob("*.py"):
        folder = file.relative_to(package).parts[0]
        room = folder if folder in ROOMS else "core"
        counted[room] += tokens(iter(file.read_bytes().splitlines(keepends=True)))
    return counted


def table() -> str:
    """The rooms and their weights, as Markdown."""
    counted = weights()
    rows = [f"| {room} | {text} | {counted[room]:,} |" for room, text in ROOMS.items()]
    last = f"| all | | {counted.total():,} |"
    return "\n".join(["| room | what it is for | tokens |", "|---|---|--:|", *rows, last])


def main() -> None:
    """Print the table, or write it into the page."""
    if sys.argv[1:] != ["--write"]:
        print(table())
        return
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
