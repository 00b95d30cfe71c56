"""Finders of sensitive data made of others: several as one, and one that is made when it is needed.

No pattern lives here, and no library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from reconciler.named_secrets.folding import FoldedText
from reconciler.ports.sensitive_data_finder import SensitiveDataFinder
from reconciler.sensitive_data import SensitiveSpan, merge_spans

__all__ = ["CombinedFinder", "DeferredFinder"]


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
