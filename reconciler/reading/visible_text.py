"""Text as a person may be shown it: every character in it can be seen. Pure."""

from __future__ import annotations

import re
import unicodedata

HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode's categories of characters that a reader does not see."""

_EMPTY_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that leave no trace, so that words can be hidden in them."""

_EMOJI_STYLE = "\ufe0f"


_WIDTHLESS = re.compile(
    "[\u200b\u2060\ufeff]|[\u200c\u200d](?=[\0-\u024f]|\\Z)|(?<![^\0-\u024f])[\u200c\u200d]"
)
"""What an editor or a web page leaves behind: no width, no meaning. Between Arabic or Indic
letters, and within an emoji, a joiner is spelling, and stays."""


def without_widthless(text: str) -> str:
    """Return a text without marks that have no width and no meaning, at any place.

    Directions of writing, tags and blank letters stay: words can be hidden in them.
    """
    return text if text.isascii() else _WIDTHLESS.sub("", text)


def visible(text: str) -> str:
    r"""Return a text with an escape such as ``\u202e`` for each invisible character.

    Those are controls, line breaks, directions of writing, what joins or has no width, variations,
    and what is no character at all. The mark that has a symbol shown as a picture may follow one.
    """
    if text.isascii() and text.isprintable():
        return text
    before = (" ", *text)
    return "".join(map(_visible, before, text))


def shortened(text: str, length_max: int) -> str:
    """Return a text of at most so many characters; "…" stands for the part that was cut off."""
    return text if len(text) <= length_max else f"{text[: length_max - 1].rstrip()}…"


def _visible(before: str, character: str) -> str:
    if character == _EMOJI_STYLE and unicodedata.category(before) == "So":
        return character
    name = unicodedata.name(character, "")
    is_hidden = (
        unicodedata.category(character) in HIDDEN_CATEGORIES
        or character in _EMPTY_LETTERS
        or name.partition("-")[0].endswith("VARIATION SELECTOR")
    )
    return character.encode("unicode_escape").decode("ascii") if is_hidden else character
