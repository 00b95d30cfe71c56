"""Introduced words: marks claims that rest on words that their turn introduces as another person's.

``reading/cues/introductions.py`` finds the parts of a turn that may introduce words. Here the
store's own model measures their meaning. The gate decides about such a claim.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import exp

from reconciler.domain.records.candidates import Role
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction, Window
from reconciler.reading.cues.classification import is_asked_to_keep
from reconciler.reading.cues.introductions import is_marked_at, parts_around
from reconciler.reading.guard import is_foreign

Measure = Callable[[Sequence[str]], Sequence[float]]
"""How much the meaning of each text introduces another person's words; above 0 it does."""

_VALUE_MAX = 50.0
"""The largest sum of odds that is needed."""


class Introduced:
    """Finds the claims of one session that rest on introduced words; no text is embedded twice.

    Args:
        measure: reads the meaning of parts; without it only marks of quotation and colons count.
    """

    def __init__(self, measure: Measure | None) -> None:
        self._measure = measure
        self._values: dict[str, float] = {}

    def marked(self, window: Window, extraction: Extraction) -> Extraction:
        """Return an extraction; claims that rest only on the contact's introduced words are marked.

        A claim that also rests on plain words of the contact rests only on those. If the extractor
        was asked about quotations, only its own marks count: in real conversations the head takes a
        quarter of the contact's own sentences for another person's.
        """
        return replace(
            extraction,
            candidates=tuple(
                self._marked(window, each, only_marks=extraction.tells_quotes)
                for each in extraction.candidates
            ),
        )

    def _marked(self, window: Window, extracted: Extracted, *, only_marks: bool) -> Extracted:
        texts = {
            number: episode.text
            for number, episode in enumerate(window.episodes, start=1)
            if episode.role is Role.CONTACT
        }
        own = [each for each in extracted.citations if each.episode in texts]
        material = {
            each
            for each in own
            if self._is_introduced(texts[each.episode], each, only_marks=only_marks)
        }
        if not material:
            return extracted
        if len(material) == len(own):
            return replace(extracted, is_introduced=True)
        plain = tuple(each for each in extracted.citations if each not in material)
        return replace(extracted, citations=plain)

    def _is_introduced(self, text: str, citation: Citation, *, only_marks: bool) -> bool:
        start = text.find(citation.span)
        end = start + len(citation.span)
        is_asked = is_asked_to_keep(text, (citation.span,))  # it may quote what is to be kept
        if start >= 0 and is_marked_at(text, start, start + 1 if is_asked else end):
            return True
        if is_asked or only_marks:
            return False
        parts = list(parts_around(text, citation.span))
        # The head reads English; of another language only a colon says something.
        read = [part for part in parts if self._measure and not is_foreign(part.text)]
        if any(each.text.endswith(":") for each in parts if each not in read):
            return True
        new = [part.text for part in read if part.text not in self._values]
        self._values |= zip(new, self._measure(new) if new and self._measure else (), strict=True)
        odds = [exp(min(self._values[part.text] + part.form, _VALUE_MAX)) for part in read]
        return sum(odds) > 1  # two parts that hint at it count as one that says
