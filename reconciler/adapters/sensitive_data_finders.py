"""The finder of sensitive data: one loop over the finders of each kind.

Patterns and libraries are elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from reconciler.reading.named_secrets.folding import FoldedText
from reconciler.reading.sensitive_data import SensitiveSpan, merge_spans

Find = Callable[[str], Iterable[SensitiveSpan]]
"""The spans of some kinds in a folded text; they may overlap, and are in no order."""


class CombinedFinder:
    """A finder of sensitive data.

    Overlapping spans become one span of the gravest kind: a secret before anything else, a national
    id before a phone number. Everything that any of the parts found is covered.

    Args:
        finds: makes the finders at the first text, so that a process that only reads loads no
            library. Several threads may call it at the same time.
    """

    def __init__(self, finds: Callable[[], Sequence[Find]]) -> None:
        self._finds = cache(finds)

    def find(self, text: str) -> list[SensitiveSpan]:
        """Spans of all parts, merged, first to last."""
        folded = FoldedText.of(text)
        return merge_spans(
            folded.unfold(span) for find in self._finds() for span in find(folded.text)
        )
