"""Asking: which attributes a question asks for, by questions that are known to ask for them. Pure.

"What can she not eat?" shares no word with "Sesame gives her a rash", and no model of sentences
brings the two together; but it is near other questions about allergies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reconciler.domain.recalling.ranking import cosines_to

__all__ = ["AttributeQuestions", "questions_of"]

_SPREADS = 2.7
"""A question asks for an attribute where it is nearer to one of its questions than that of two
attributes are to each other, by so many standard deviations. Source: benchmarks/recall.py."""

_LEAST_MAX = 0.9
_COMPARED_MAX = 400


class AttributeQuestions:
    """Questions that ask for attributes, as vectors.

    Args:
        names: the attribute that each asks for.
        vectors: theirs, float32, shape (len(names), dimension), unit length.
        least: how near a question must be to one of them, if that was measured already.
    """

    def __init__(
        self, names: Sequence[str], vectors: NDArray[np.float32], least: float | None = None
    ) -> None:
        self._names, self._vectors, self._measured = names, vectors, least

    def asked_by(
        self, vector: NDArray[np.float32], among: AttributeQuestions | None = None
    ) -> Mapping[str, float]:
        """By attribute how clearly a question asks for it, above 0 to 1; what it does not is out.

        Args:
            vector: of the question, unit length.
            among: other questions that are judged by the same measure; None for these.
        """
        asked = self if among is None else among
        if not len(asked._names):
            return {}
        clear = (cosines_to(asked._vectors, vector) - self.least) / (1 - self.least)
        found: dict[str, float] = {}
        for row in np.flatnonzero(clear > 0).tolist():
            name = asked._names[row]
            found[name] = max(found.get(name, 0.0), min(float(clear[row]), 1.0))
        return found

    @cached_property
    def least(self) -> float:
        """How near a question must be. Models differ, so each is measured by its own vectors."""
        if self._measured is not None:
            return self._measured
        step = -(-len(self._names) // _COMPARED_MAX)
        names = np.array(self._names[::step])
        vectors = self._vectors[::step]
        others = (vectors @ vectors.T)[names[:, None] != names[None, :]]
        if not len(others):
            return _LEAST_MAX
        return float(np.clip(others.mean() + _SPREADS * others.std(), 0.0, _LEAST_MAX))


def questions_of(name: str, questions: Sequence[str], description: str = "") -> Sequence[str]:
    """What asks for an attribute: its questions, or its name's and its description's words."""
    if questions:
        return questions
    words = name.replace("_", " ")
    return [f"What is the {words}?", *([f"{words}: {description}"] if description else [])]
