"""Embedding: checks vectors before they are used, and finds what a question asks for.

The attributes that a question asks for are found by the meaning of its words.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from reconciler.domain.recalling.asking import AttributeQuestions, questions_of
from reconciler.domain.recalling.recallable import RecallQuery
from reconciler.errors import EmbeddingError
from reconciler.floats import Embed, Floats
from reconciler.ports.embedder import Embedder
from reconciler.reading.question_words import about_her
from reconciler.reading.sensitive_data import without_hashes

UNIT_LENGTH_TOLERANCE = 1e-3


def embed(embedder: Embedder, texts: Sequence[str]) -> Floats:
    """Make vectors that can be compared: float32, (n, dimension), unit length; n may be 0.

    A token for personal data is embedded without its hash, so that no cosine depends on the key.

    Raises:
        EmbeddingError: the model failed, or its vectors have another shape or no direction. One
            engine finds a vector of NaNs equal to every other vector.
    """
    return _checked(embedder, embedder.embed, texts)


def embed_queries(embedder: Embedder, texts: Sequence[str]) -> Floats:
    """Embed questions, which some models embed in another way than facts; see ``embed``.

    Raises:
        EmbeddingError: as in ``embed``.
    """
    # isinstance() with a protocol takes longer than some models take to answer.
    return _checked(embedder, getattr(embedder, "embed_queries", embedder.embed), texts)


def _checked(
    embedder: Embedder,
    make: Embed,
    texts: Sequence[str],
) -> Floats:
    vectors = make([without_hashes(text) for text in texts])
    wanted = (len(texts), embedder.dimension)
    if vectors.shape != wanted:
        raise EmbeddingError(
            f"{embedder.model_id} returned vectors of shape {vectors.shape}, not {wanted}; "
            "nothing was written"
        )
    lengths = np.linalg.norm(vectors, axis=1)
    if embedder.dimension and not np.all(np.abs(lengths - 1) < UNIT_LENGTH_TOLERANCE):
        raise EmbeddingError(
            f"{embedder.model_id} returned a vector that is not of unit length; nothing was written"
        )
    return vectors


def unread(embedder: Embedder, text: str) -> str:
    """Return the parts of a text that the model cannot read; empty if the embedder cannot tell."""
    read: Callable[[str], str] = getattr(embedder, "unread", lambda _: "")
    return read(text)


def question_of(embedder: Embedder, query: str) -> RecallQuery:
    """Return a query with its vector, and the length of the parts that the model cannot read.

    Raises:
        EmbeddingError: as in ``embed``.
    """
    if not query or not embedder.dimension:
        return RecallQuery(query)
    letters = sum(map(str.isalnum, query))
    # Any model reads ASCII, and most questions are written in it.
    lost = 0 if query.isascii() else len(unread(embedder, query))
    share = min(lost / max(letters, 1), 1.0)
    return RecallQuery(query, embed_queries(embedder, [about_her(query)])[0], unread=share)


Kept: TypeAlias = Callable[[Sequence[str], Embed], Floats]

_OWN_COUNT_MAX = 1_000
"""The number of the user's attributes with question vectors in memory."""


@dataclass(eq=False)
class AskedAttributes:
    """Finds the attributes that a question asks for; for any number of threads.

    The known questions are embedded once per process, at the first recall about a contact with an
    attribute, unless their vectors are shipped for the model, or kept from an earlier process.

    Attributes:
        embedder: an embedder with a dimension above 0.
        questions: returns the known questions of each attribute, if no vectors are shipped.
        own: returns the questions of the attributes that the user described.
        shipped: returns the shipped vectors of the known questions; None if there are none.
        kept: returns the kept vectors of the known questions, or makes them with the function.
    """

    embedder: Embedder
    questions: Callable[[], Mapping[str, Sequence[str]]]
    own: Callable[[], Mapping[str, Sequence[str]]]
    shipped: Callable[[], AttributeQuestions | None]
    kept: Kept = lambda texts, make: make(texts)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._known: AttributeQuestions | None = None
        self._described: Mapping[str, Sequence[str]] = {}
        self._own: dict[str, Floats] = {}

    def asked_by(self, vector: Floats, attributes: Iterable[str]) -> Mapping[str, float]:
        """Return how clearly a question asks for each attribute, above 0 to 1.

        Args:
            vector: the question's vector, unit length.
            attributes: the attributes with known values. The words of its name ask for an attribute
                without questions.
        """
        listed = tuple(attributes)
        with self._lock:
            known = self._embed_questions(is_worth_embedding=bool(listed))
            if known is None:
                return {}
            own = self._named([name for name in listed if self._is_own(name, known)])
        asked = known.asked_by(vector)
        if own is None:
            return asked
        shipped = {name: clearness for name, clearness in asked.items() if name not in own.names}
        return shipped | dict(known.asked_by(vector, own))

    def leaning(self, vector: Floats, asks: Mapping[str, float]) -> Floats:
        """Move the question's vector towards the facts asked for; see ``AttributeQuestions``."""
        return self._known.leaning(vector, asks) if self._known else vector

    def strangeness(self, vector: Floats) -> float:
        """Return how far the question is from a contact's memory; see ``AttributeQuestions``."""
        return self._known.strangeness(vector) if self._known else 0.0

    def _embed_questions(self, *, is_worth_embedding: bool) -> AttributeQuestions | None:
        if self._known is None and (shipped := self.shipped()) is not None:
            self._known, self._described = shipped, self.own()
        if self._known is None and is_worth_embedding:
            given = self.questions()
            names = [name for name, questions in given.items() for _ in questions]
            texts = [about_her(text) for questions in given.values() for text in questions]
            self._known = AttributeQuestions(names, self.kept(texts, self._embed))
            self._described = self.own()
        return self._known

    def _embed(self, texts: Sequence[str]) -> Floats:
        return embed_queries(self.embedder, texts)

    def _is_own(self, name: str, known: AttributeQuestions) -> bool:
        return name in self._described or name not in known.names

    def _named(self, names: Sequence[str]) -> AttributeQuestions | None:
        """Return the questions for the user's own attributes; they are embedded at first use."""
        if not names:
            return None
        if missing := [name for name in names if name not in self._own]:
            if len(self._own) + len(missing) > _OWN_COUNT_MAX:
                self._own.clear()
                missing = list(names)
            texts = {name: self._described.get(name) or questions_of(name, ()) for name in missing}
            vectors = self._embed([about_her(text) for each in texts.values() for text in each])
            ends = np.cumsum([len(each) for each in texts.values()])[:-1]
            self._own |= dict(zip(missing, np.split(vectors, ends), strict=True))
        rows = [name for name in names for _ in self._own[name]]
        return AttributeQuestions(rows, np.concatenate([self._own[name] for name in names]))
