"""The common part of finders of sensitive data: it reads a text as a person would.

A look-alike digit or an invisible character hides a number from a pattern, not from a reader; so a
text is folded before a search, and each find is mapped back to its place in the original. No
pattern lives here, and no library.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from reconciler.ports.sensitive_data_finder import SensitiveDataFinder
from reconciler.sensitive_data import SensitiveSpan, merge_spans

__all__ = ["CombinedFinder", "DeferredFinder", "FoldedText"]

_INVISIBLE = {"Cf", "Mn", "Me", "Cs", "Co", "Cn"}
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")


class CombinedFinder:
    """Several finders as one; a finder of sensitive data itself.

    Overlapping spans become one span of the gravest kind: a secret before anything else, a national
    id before a phone number. Everything that any of them found is covered.
    """

    def __init__(self, finders: Iterable[SensitiveDataFinder]) -> None:
        self._finders = tuple(finders)

    def find(self, text: str) -> list[SensitiveSpan]:
        """The spans of all finders, merged, first to last."""
        folded = FoldedText.of(text)
        spans = [span for finder in self._finders for span in finder.find(folded.text)]
        return merge_spans(map(folded.unfold, spans))


class DeferredFinder:
    """A finder that is made for the first text: a process that only reads loads no library.

    Args:
        make: makes the finder; threads that need it at the same time may each call it.
    """

    def __init__(self, make: Callable[[], SensitiveDataFinder]) -> None:
        self._finder = cache(make)

    def find(self, text: str) -> list[SensitiveSpan]:
        """The finder's spans."""
        return self._finder().find(text)


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A text in plain digits, dashes and spaces, without invisible characters.

    ``origins[i]`` is the place in the original of the folded text's character ``i``; None if the
    two texts are the same.
    """

    text: str
    origins: Sequence[int] | None

    @classmethod
    def of(cls, text: str) -> FoldedText:
        """The folded form; plain ASCII is returned as it is."""
        if text.isascii():
            return cls(text, None)
        pieces = [(_fold(character), at) for at, character in enumerate(text)]
        origins = [at for piece, at in pieces for _ in piece]
        return cls("".join(piece for piece, _ in pieces), origins)

    def unfold(self, span: SensitiveSpan) -> SensitiveSpan:
        """The span of the original text that a span of the folded one stands for."""
        if self.origins is None:
            return span
        start, last = self.origins[span.start], self.origins[span.end - 1]
        return SensitiveSpan(start, last + 1, span.kind)


@cache
def _fold(character: str) -> str:
    """The character as a reader sees it; the cache is bounded by the number of characters."""
    if character.isascii():
        return character
    category = unicodedata.category(character)
    if category == "Pd" or character == "\N{MINUS SIGN}":
        return "-"
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category in _INVISIBLE:
        return ""
    return _compatible(character, category)


def _compatible(character: str, category: str) -> str:
    """The plain form of a wide, small or raised character; letters keep their accents."""
    plain = unicodedata.normalize("NFKC", character)
    if category.startswith("L") and not plain.isascii():
        return character
    return plain if _is_worth_folding(plain) else character


def _is_worth_folding(plain: str) -> bool:
    """Whether it is more than a lone accent, which would become a space and split a word."""
    return plain.isascii() or bool(_LETTER_OR_DIGIT.search(plain))
