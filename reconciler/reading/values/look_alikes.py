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
    """Replace each letter that looks like a Latin one; remove what is invisible.

    A mark goes if it makes no letter of its own with a Latin one before it: no one spells so, and a
    line under a letter hides nothing from a reader. ASCII is what it looks like.
    """
    if words.isascii():
        return words
    known, seen = _look_alikes(), list[str]()
    for letter in unicodedata.normalize("NFC", words):
        is_mark = unicodedata.category(letter)[0] == "M"
        is_on_latin = bool(seen) and unicodedata.name(seen[-1], "").startswith("LATIN ")
        if not (_is_unseen(letter) or (is_mark and is_on_latin)):
            seen.append(known.get(letter) or known.get(letter.casefold(), letter))
    return "".join(seen)


@cache
def _look_alikes() -> dict[str, str]:
    return lexicon("values").by_word("look_alike") | dict.fromkeys(_BLANKS, " ")


def _is_unseen(letter: str) -> bool:
    is_variation = "VARIATION SELECTOR" in unicodedata.name(letter, "")
    return letter in _UNSEEN or is_variation or unicodedata.category(letter) == "Cf"
