"""Attribute questions: which attributes a question asks for, by the meaning of its words."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from reconciler.domain.recalling.asking import AttributeQuestions, questions_of
from reconciler.service.embedding import embed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.ports.embedder import Embedder

__all__ = ["AskedAttributes"]

_OWN_COUNT_MAX = 1_000
"""Attributes without a known question whose names are kept as vectors."""


class AskedAttributes:
    """Tells the attributes that a question asks for; for any number of threads.

    Questions are embedded once in a process, when a contact with an attribute is first asked about,
    unless their vectors are shipped for the model.

    Args:
        embedder: with a dimension above 0.
        questions: gives the questions of each attribute.
        shipped: gives how near one must be, and their vectors in the same order, where that is
            shipped; else None.
    """

    def __init__(
        self,
        embedder: Embedder,
        questions: Callable[[], Mapping[str, Sequence[str]]],
        shipped: Callable[[Sequence[str]], tuple[float, NDArray[np.float32]] | None],
    ) -> None:
        self._embedder, self._questions, self._shipped = embedder, questions, shipped
        self._lock = threading.Lock()
        self._known: AttributeQuestions | None = None
        self._names: frozenset[str] = frozenset()
        self._own: dict[str, NDArray[np.float32]] = {}

    def asked_by(
        self, vector: NDArray[np.float32], attributes: Iterable[str]
    ) -> Mapping[str, float]:
        """By attribute how clearly a question asks for it, above 0 to 1.

        Args:
            vector: of the question, unit length.
            attributes: those that something is known of. One without questions is asked for by the
                words of its name.
        """
        listed = tuple(attributes)
        if not listed:
            return {}
        with self._lock:
            known = self._read()
            own = self._named([name for name in listed if name not in self._names])
        asked = known.asked_by(vector)
        return asked if own is None else {**asked, **known.asked_by(vector, own)}

    def _read(self) -> AttributeQuestions:
        if self._known is None:
            given = self._questions()
            texts = [text for questions in given.values() for text in questions]
            least, vectors = self._shipped(texts) or (None, embed(self._embedder, texts))
            names = [name for name, questions in given.items() for _ in questions]
            self._known, self._names = AttributeQuestions(names, vectors, least), frozenset(given)
        return self._known

    def _named(self, names: Sequence[str]) -> AttributeQuestions | None:
        """What asks for attributes that have no questions; embedded when they are first met."""
        if not names:
            return None
        if missing := [name for name in names if name not in self._own]:
            if len(self._own) + len(missing) > _OWN_COUNT_MAX:
                self._own.clear()
                missing = list(names)
            texts = [questions_of(name, ())[0] for name in missing]
            self._own |= dict(zip(missing, embed(self._embedder, texts), strict=True))
        return AttributeQuestions(names, np.array([self._own[name] for name in names]))
