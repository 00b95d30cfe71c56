"""What each room weighs and other numbers of ARCHITECTURE.md: ``python -m tools.weigh --write``.

A token is what ``tokenize`` gives, without comments, docstrings, line ends and indentation, so that
a comment or a blank line costs nothing. ``tests/tidy/test_weight.py`` holds the bounds.
"""

from __future__ import annotations

import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import reconciler

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "ARCHITECTURE.md"
BEGIN, END = "<!-- python -m tools.weigh --write: {} -->", "<!-- end -->"
ROOMS = {
    "reading": "reads words: text in, findings out",
    "core": "the mission: writes, recall, sessions, erasure, both engines, the facade",
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


RUN = """
import sys
from reconciler import Memory
from reconciler.testing import HashingEmbedder
with Memory.open(embedded_path=":memory:", embedder=HashingEmbedder()) as memory:
    priya = memory.contact("crm", "priya")
    priya.note("Lives in Pune.")
    priya.recall("Where does she live?")
    priya.submit_session("call", [{"role": "user", "content": "Remember that I like tea."}])
    memory.drain()
print(sum(name.startswith("reconciler") for name in sys.modules))
"""


def _lines(*patterns: str) -> int:
    files = [file for pattern in patterns for file in ROOT.glob(pattern)]
    return sum(file.read_text(encoding="utf-8").count("\n") for file in files)


def numbers() -> str:
    """What else a reader may ask, as Markdown."""
    modules = len(list((ROOT / "reconciler").rglob("*.py")))
    run = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=True)
    names = [name for name in vars(reconciler.Memory) if not name.startswith("_")]
    loaded = run.stdout.strip()
    rows = {
        "modules; of them loaded by a note, a recall and a session": f"{modules}; {loaded}",
        "lines of `tests/`; of `docs/` and README": f"{_lines('tests/**/*.py'):,}; "
        f"{_lines('docs/*.md', 'README.md'):,}",
        "public names of `Memory`; of `reconciler`": f"{len(names)}; {len(reconciler.__all__)}",
    }
    return "\n".join(["| | |", "|---|--:|", *(f"| {name} | {rows[name]} |" for name in rows)])


def main() -> None:
    """Print the tables, or write them into the page."""
    text = PAGE.read_text(encoding="utf-8")
    for name, made in {"rooms": table(), "numbers": numbers()}.items():
        before, begin, rest = text.partition(BEGIN.format(name))
        text = f"{before}{begin}\n{made}\n{END}{rest.partition(END)[2]}"
        print(made, end="\n\n")
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
