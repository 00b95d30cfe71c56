"""Look-alikes: words as a reader sees them, whatever characters they are written with.

Here: what is told apart by a machine alone. Never here: what a reader tells apart, too, such as an
accent, a digit in the place of a letter, or another word.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from reconciler.reading.lexicon import lexicon

_BLANKS = frozenset("\u2800\u3164\uffa0")
"""What no space is, and looks like one."""

_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5")
"""Letters and marks that leave no trace, beside those of a category of their own."""


def as_seen(words: str) -> str:
    """Words with each letter that looks like a Latin one as that, and nothing unseen.

    A mark goes if it makes no letter of its own with a Latin one before it: no one spells so, and a
    line under a letter hides nothing from a reader. ASCII is what it looks like.
    """
    if words.isascii():
        return words
    seen: list[str] = []
    for letter in unicodedata.normalize("NFC", words):
        if not (_is_unseen(letter) or (_is_mark(letter) and seen and _is_latin(seen[-1]))):
            seen.append(_as_latin(letter))
    return "".join(seen)


def _as_latin(letter: str) -> str:
    known = _look_alikes()
    return " " if letter in _BLANKS else known.get(letter) or known.get(letter.casefold(), letter)


@cache
def _look_alikes() -> dict[str, str]:
    return lexicon("values").by_word("look_alike")


def _is_unseen(letter: str) -> bool:
    is_variation = "VARIATION SELECTOR" in unicodedata.name(letter, "")
    return letter in _UNSEEN or is_variation or unicodedata.category(letter) == "Cf"


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter)[0] == "M"


def _is_latin(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith("LATIN ")
