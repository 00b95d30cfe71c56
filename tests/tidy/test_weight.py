"""The package's weight: a reader's time is counted in tokens, and may not grow unnoticed.

A token is what ``tokenize`` gives, without comments, docstrings, line ends and indentation, so that
a comment or a blank line costs nothing.
"""

from __future__ import annotations

import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOKENS_MAX = 429_500
LEXICON_BYTES_MAX = 231_000

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


SOURCE = b'''"""What it is."""

# why
def one():
    "Gives it."

    return (
        1
    )
'''


def test_a_docstring_a_comment_and_a_blank_line_weigh_nothing() -> None:
    assert tokens(iter(SOURCE.splitlines(keepends=True))) == 9  # def one ( ) : return ( 1 )


def test_the_package_weighs_no_more_than_its_bound() -> None:
    files = sorted((ROOT / "reconciler").rglob("*.py"))
    weights = {file: tokens(iter(file.read_bytes().splitlines(keepends=True))) for file in files}
    assert sum(weights.values()) <= TOKENS_MAX


def test_the_word_lists_weigh_no_more_than_their_bound() -> None:
    files = (ROOT / "config" / "lexicon").glob("*.toml")
    assert sum(file.stat().st_size for file in files) <= LEXICON_BYTES_MAX
