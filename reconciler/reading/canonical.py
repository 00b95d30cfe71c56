"""The one form of a text in which it is embedded, compared and counted. Pure."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

remembered = lru_cache(maxsize=4096)
"""A cache for the reading of one text: a text that was read lately is not read again."""

_SPACES = re.compile(r"\s+")


@remembered
def canonical_text(text: str) -> str:
    """Return a text as it is embedded: one Unicode form, single spaces, no closing full stops.

    A closing full stop alone moves a cosine of all-MiniLM-L6-v2 by 0.05, half the width that
    separates an UPDATE from a guess. The stored text keeps every character.
    """
    folded = text  # which ASCII is already, and most texts are
    if not text.isascii():
        folded = unicodedata.normalize("NFC", "".join(map(_without_forms, text)))
    collapsed = _SPACES.sub(" ", folded).strip()
    return collapsed.rstrip(" .。…") or collapsed


def _without_forms(character: str) -> str:
    """Return the plain form, except for superscripts and fractions: 10² is not 102."""
    if unicodedata.category(character) == "No":
        return character
    return unicodedata.normalize("NFKC", character)


_PLAIN_LETTERS = str.maketrans("łŁøØđĐı", "lLoOdDi")


def unaccented(said: str) -> str:
    """Write Latin letters without accents, and plain ones for those that Unicode cannot split."""
    return without_marks(said.translate(_PLAIN_LETTERS))


def without_marks(said: str) -> str:
    """Write letters without their accents, as far as Unicode splits them: "ø" stays."""
    if said.isascii():
        return said
    decomposed = unicodedata.normalize("NFKD", said)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
