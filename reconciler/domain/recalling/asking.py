"""Asking: finds the attributes that a question asks for, by similar known questions. Pure.

"What can she not eat?" shares no word with "Sesame gives her a rash", and no model of sentences
brings the two together; but it is near other questions about allergies, and the fact is near other
facts about them. A linear map from questions to notes, trained on the same sentences, found fewer
facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from reconciler.domain.recalling.ranking import cosines_to
from reconciler.floats import Floats
from reconciler.frozen import StringSet, in_order

SPREADS = 2.3
"""Standard deviations by which a question must be nearer to a known question of an attribute than
questions of two attributes usually are to each other. Source: benchmarks/recall.py."""

_LEANING = 4.0
"""The weight by which a question is moved towards the facts of an attribute that it asks for.
Values from 2 to 5 find equally many facts. Source: benchmarks/recall.py."""

_NEAREST = 5
_STRANGE_FROM, _STRANGENESS, _STRANGEST = -0.05, 8.0, 0.6
"""A question is strange if the nearest questions about other things are about as near to it as the
nearest questions about contacts, by mean cosine. These numbers say how much the floor grows, and
its maximum. A plane between the two kinds of questions let through twice as many near a contact's
topics.
Source: the questions that ``config/profiles/minilm.toml`` names."""

_LEAST_MAX = 0.9
_COMPARED_MAX = 400


@in_order
class AttributeSentences:
    """The questions about an attribute, and facts that answer them."""

    questions: Sequence[str]
    facts: Sequence[str]


class AttributeQuestions:
    """Questions that ask for attributes, as vectors.

    Args:
        names: the attribute that each question asks for.
        vectors: the questions' vectors, float32, shape (len(names), dimension), unit length.
        least: how near a question must be to one of them, if that has been measured.
        leanings: by attribute the direction of its facts from the middle of all facts; float32,
            shape (dimension,). An attribute may be missing.
        in_languages: the same for other languages, each with its own measure.
        generic: vectors of questions that are not about a contact; None if no question is strange.
        personal: vectors of further questions about a contact, which ask for no attribute.
    """

    def __init__(
        self,
        names: Sequence[str],
        vectors: Floats,
        least: float | None = None,
        leanings: Mapping[str, Floats] | None = None,
        in_languages: Sequence[AttributeQuestions] = (),
        generic: Floats | None = None,
        personal: Floats | None = None,
    ) -> None:
        self._names, self._vectors, self._measured = names, vectors, least
        self._leanings, self._in_languages = leanings or {}, in_languages
        self._generic, self._personal = generic, vectors[:0] if personal is None else personal

    @cached_property
    def names(self) -> StringSet:
        """Attributes that have questions."""
        return frozenset(self._names)

    def asked_by(
        self, vector: Floats, among: AttributeQuestions | None = None
    ) -> Mapping[str, float]:
        """How clearly a question asks for each attribute, above 0 to 1.

        Args:
            vector: of the question, unit length.
            among: other questions with the same measure; None for these.
        """
        asked = self if among is None else among
        if not len(asked._names):
            return {}
        clear = (cosines_to(asked._vectors, vector) - self.least) / (1 - self.least)
        asks: dict[str, float] = {}
        for questions in self._in_languages if among is None else ():
            for name, clearness in questions.asked_by(vector).items():
                asks[name] = max(asks.get(name, 0.0), clearness)
        for row in np.flatnonzero(clear > 0).tolist():
            name = asked._names[row]
            asks[name] = max(asks.get(name, 0.0), min(float(clear[row]), 1.0))
        return asks

    def leaning(self, vector: Floats, asks: Mapping[str, float]) -> Floats:
        """Move the vector of a question towards the facts of the attributes that it asks for.

        Args:
            vector: of the question, unit length.
            asks: by attribute how clearly the question asks for it.
        """
        known = [name for name in asks if name in self._leanings]
        if not known:
            return vector
        weights = np.array([_LEANING * asks[name] for name in known], dtype=np.float32)
        moved = vector + weights @ np.array([self._leanings[name] for name in known])
        unit: Floats = moved / np.sqrt(moved @ moved)
        return unit

    def strangeness(self, vector: Floats) -> float:
        """How much nearer facts must be than for a question about a contact.

        So the contact's city does not answer "What is the capital of Peru?": this question is
        nearer to questions about other things than to questions about contacts. 0 or more, as a sum
        of cosine and words; 0 for a question about a contact.

        Args:
            vector: of the question, unit length.
        """
        if self._generic is None:
            return 0.0
        in_languages = (each._vectors for each in self._in_languages)
        of_contacts = [self._vectors, self._personal, *in_languages]
        nearer = _nearness([self._generic], vector) - _nearness(of_contacts, vector)
        return min(max(_STRANGENESS * (nearer - _STRANGE_FROM), 0.0), _STRANGEST)

    @cached_property
    def least(self) -> float:
        """The least cosine of a match. Models differ, so each is measured by its own vectors."""
        if self._measured is not None:
            return self._measured
        return least_of(self._names, self._vectors)


def least_of(names: Sequence[str], vectors: Floats, spreads: float = SPREADS) -> float:
    """The least cosine at which a question asks for the attribute of one of these questions.

    Args:
        names: the attribute that each question asks for.
        vectors: the questions' vectors, float32, shape (len(names), dimension), unit length.
        spreads: the standard deviations by which a question must be nearer.
    """
    step = -(-len(names) // _COMPARED_MAX)
    compared = np.array(names[::step])
    some = vectors[::step]
    others = (some @ some.T)[compared[:, None] != compared[None, :]]
    if not len(others):
        return _LEAST_MAX
    return float(np.clip(others.mean() + spreads * others.std(), 0.0, _LEAST_MAX))


def _nearness(vectors: Iterable[Floats], vector: Floats) -> float:
    """Mean cosine of the nearest few."""
    cosines = np.concatenate([cosines_to(each, vector) for each in vectors])
    return float(np.sort(cosines)[-_NEAREST:].mean())


def questions_of(name: str, questions: Sequence[str], description: str = "") -> Sequence[str]:
    """The questions for an attribute: its own, or questions made from its name and description."""
    if questions:
        return questions
    words = name.replace("_", " ")
    return [f"What is the {words}?", *([f"{words}: {description}"] if description else [])]
