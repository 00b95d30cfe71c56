r"""A text as a person reads it: in plain digits, dashes and spaces, nothing invisible.

A look-alike digit, an invisible character or an escape such as ``\u0077`` hides a secret from a
pattern, not from a reader; so a text is folded before a search, and each find is mapped back to its
place in the original. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from reconciler.frozen import Span, in_order
from reconciler.reading.sensitive_data import SensitiveSpan

_CHARACTER = re.compile(r"(?s)\\u00[2-7][0-9a-fA-F]|.")
_INVISIBLE = {"Cf", "Mn", "Me", "Cs", "Co", "Cn"}
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")


@in_order
class FoldedText:
    """A folded text; ``places[i]`` is where its character ``i`` begins and ends in the original.

    None of them if the two texts are the same.
    """

    text: str
    places: Sequence[Span] | None

    @classmethod
    def of(cls, text: str) -> FoldedText:
        """Fold a text; plain ASCII is returned as it is."""
        if text.isascii() and "\\u00" not in text:
            return cls(text, None)
        pieces = [(_fold(match[0]), match.span()) for match in _CHARACTER.finditer(text)]
        places = [place for piece, place in pieces for _ in piece]
        return cls("".join(piece for piece, _ in pieces), places)

    def unfold(self, span: SensitiveSpan) -> SensitiveSpan:
        """Return the span of the original text for a span of the folded one."""
        if self.places is None:
            return span
        start, end = self.places[span.start][0], self.places[span.end - 1][1]
        return SensitiveSpan(start, end, span.kind)


@cache
def _fold(character: str) -> str:
    """Return a character as a reader sees it; the number of characters bounds the cache."""
    if character.isascii():
        return character if len(character) == 1 else chr(int(character[2:], 16))
    category = unicodedata.category(character)
    if category == "Pd" or character == "\N{MINUS SIGN}":
        return "-"
    if category == "Nd":
        return str(unicodedata.decimal(character))
    return "" if category in _INVISIBLE else _compatible(character, category)


def _compatible(character: str, category: str) -> str:
    """Return the plain form of a wide, small or raised character; letters keep accents.

    A lone accent stays too: it would become a space, and split a word.
    """
    plain = unicodedata.normalize("NFKC", character)
    if plain.isascii():
        return plain
    is_letter = category.startswith("L")
    return plain if not is_letter and _LETTER_OR_DIGIT.search(plain) else character
