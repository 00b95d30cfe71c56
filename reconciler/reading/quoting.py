"""A remembered text beside our own marks, shown so that it cannot be taken for one of them. Pure.

A line of a prompt says of a fact ``[city=Pune] (since 2020-01-01, tool's word, said 2 times)``,
and a text may hold the same words. Its square brackets become braces, which no mark has, and so do
the round ones of a text that uses a mark's words. An ordinary text stays as it is.
"""

from __future__ import annotations

import re

from reconciler.reading.sensitive_data import VALUE_TOKEN

_SQUARE = str.maketrans("[]\uff3b\uff3d\u27e6\u27e7\u301a\u301b\u2045\u2046", "{}" * 5)
_ROUND = str.maketrans("()\uff08\uff09\ufe59\ufe5a", "{}" * 3)
_SAYS_A_MARK = re.compile(
    r"\w{1,20}.s word\b|\bunconfirmed\b|\bsaid \d+ times|\b(?:since|from|until) \d{4}-\d\d-\d\d"
    r"|[(\uff08\ufe59]\s*(?:see\b|\w{1,30}: )",
    re.IGNORECASE,
)
_STRAIGHT = str.maketrans('"\uff02', "''")
_CURLY = str.maketrans("\u201c\u201d\u201e\u201f", "\u2018\u2019\u201a\u2018")


def unmarked(text: str) -> str:
    """Return a text without parts that look like a mark; a token in place of a value stays."""
    if _SAYS_A_MARK.search(text):
        text = text.translate(_ROUND)
    return in_braces(text)


def in_braces(text: str) -> str:
    """Return a text with braces for square brackets."""
    parts = re.split(f"({VALUE_TOKEN.pattern})", text)
    parts[::2] = (part.translate(_SQUARE) for part in parts[::2])
    return "".join(parts)


def in_quotes(text: str) -> str:
    """Put a text in straight quotation marks, which it cannot close."""
    return f'"{text.translate(_STRAIGHT)}"'


def in_marks(text: str) -> str:
    """Put a text in curly quotation marks, which it cannot close."""
    return f"\u201c{text.translate(_CURLY)}\u201d"
