"""Sentence ends are told in one module: no other looks for the marks that end a sentence."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "reconciler"
READING = PACKAGE / "reading" / "text_reading.py"
STOPS = re.compile(
    r"(?<!\\)\[(?!\^)(?=[^\]]*(?<!\\)\.)(?=[^\]]*[!?])[^\]]*\]"  # a set of a pattern
    r"|\A[.!?…。！？]{2,}\Z"  # marks, to look single ones up in
)
"""A full stop beside a "!" or "?": what a sentence ends with."""

NO_SENTENCE_ENDS = {
    "adapters/personal_data_finder.py": 1,  # the letters of a mail address
    "adapters/told_secrets_finder.py": 2,  # behind the value that was told
    "reading/guard/tokens.py": 1,  # of which ``TextReading.stops`` says whether they end one
    "domain/values/attributes.py": 1,  # the number of a thing, such as 4711.2
    "domain/sessions/explicit_statements.py": 1,  # taken off the end of a value
    "reading/named_secrets/grammar.py": 2,  # what masks a secret
}
"""How many such sets stand in a module for another purpose."""


def _sets(path: Path) -> int:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    texts = (node.value for node in nodes if isinstance(node, ast.Constant))
    return sum(isinstance(text, str) and bool(STOPS.search(text)) for text in texts)


def test_no_module_but_one_tells_where_a_sentence_ends() -> None:
    modules = set(PACKAGE.rglob("*.py")) - {READING}
    found = Counter({str(path.relative_to(PACKAGE)): _sets(path) for path in modules})
    assert not found - Counter(NO_SENTENCE_ENDS)
