"""Doubles for tests: small, deterministic, without a model, and bound by the ports' contracts.

Here: what a user's own tests may put in place of a port. Each double passes the contract suite of
its port, so that a test with a double also holds for the real part. Never here: fixtures, or a fake
of the graph; the embedded engine is the fast real one.

Example::

    with Memory.open(embedded_path=":memory:", embedder=HashingEmbedder()) as memory:
        memory.contact("crm", "priya").note("Lives in Pune.")
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.notes import Note
from reconciler.domain.sessions.extraction import Extraction, Window
from reconciler.errors import (
    ArbiterAnswerError,
    ArbiterError,
    ArbiterUnavailableError,
    EmbedderClosedError,
    EmbeddingError,
    ExtractionError,
    ExtractionUnavailableError,
)
from reconciler.floats import Floats
from reconciler.reading.canonical import canonical_text

__all__ = ["HashingEmbedder", "ScriptedArbiter", "ScriptedExtractor", "TableEmbedder"]


class _Embedder:
    """The common part of the doubles of an embedder.

    Args:
        dimension: length of every vector.
    """

    _kind: str

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._is_closed = False

    @property
    def model_id(self) -> str:
        """``hashing-64@test`` for 64 dimensions, ``table-2@test`` for 2."""
        return f"{self._kind}-{self._dimension}@test"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    def warm_up(self) -> float:
        """Ready at once."""
        self._check_open()
        return 0.0

    def close(self) -> None:
        """Refuse to embed from now on, like a real embedder."""
        self._is_closed = True

    def _check_open(self) -> None:
        if self._is_closed:
            raise EmbedderClosedError(
                "the embedder was closed, as it is when its memory is closed; open it again"
            )


class HashingEmbedder(_Embedder):
    """A bag of words: every word has a fixed random direction, a text is the sum of its words.

    Texts that share words are near each other, texts without a common word nearly orthogonal. The
    order of words does not count, and neither does capitalisation.

    Args:
        dimension: length of a vector, 1 or more; few dimensions make unrelated texts less
            orthogonal.
    """

    _kind = "hashing"

    def __init__(self, dimension: int = 64) -> None:
        super().__init__(dimension)

    def embed(self, texts: Sequence[str]) -> Floats:
        """One unit vector for each text: float32, shape (n, dimension).

        Raises:
            EmbedderClosedError: the embedder is closed.
        """
        self._check_open()
        vectors = np.zeros((len(texts), self._dimension))
        for vector, text in zip(vectors, texts, strict=True):
            for word in canonical_text(text).casefold().split(" "):
                vector += _direction(word, self._dimension)
        return _unit(vectors)


class TableEmbedder(_Embedder):
    """Gives exactly the vectors that a test names, so that a test chooses its cosines.

    Args:
        vectors: text to vector of any length but zero; texts are looked up by ``canonical_text``.
        dimension: length of every vector.
        unread: letters that it claims not to read, in any place.

    Raises:
        EmbeddingError: a vector has another shape, or no direction.
    """

    _kind = "table"

    def __init__(
        self, vectors: Mapping[str, Sequence[float]], dimension: int, unread: str = ""
    ) -> None:
        super().__init__(dimension)
        self._unread = unread
        self._vectors = {
            canonical_text(text): _checked(text, vector, dimension)
            for text, vector in vectors.items()
        }

    def embed(self, texts: Sequence[str]) -> Floats:
        """Named vectors, at unit length: float32, shape (n, dimension).

        Raises:
            EmbeddingError: the table does not name a text, or the embedder is closed.
        """
        self._check_open()
        try:
            rows = [self._vectors[canonical_text(text)] for text in texts]
        except KeyError as error:
            raise EmbeddingError(f"the table has no vector for {error}") from error
        return np.array(rows, dtype=np.float32).reshape(len(texts), self._dimension)

    def unread(self, text: str) -> str:
        """Letters and digits of a text that it claims not to read, in their order.

        Raises:
            EmbeddingError: the embedder is closed.
        """
        self._check_open()
        return "".join(letter for letter in canonical_text(text) if letter in self._unread)


class ScriptedArbiter:
    """An arbiter that answers from a script, in turn; each answer once.

    Args:
        answers: judgements to return and errors to raise. After the last answer the arbiter is
            unavailable; it never invents a judgement. An answer with a confidence outside [0, 1] is
            not used, as with a real arbiter.

    Attributes:
        calls: the notes and neighbours it was asked about, oldest first.
    """

    name = "scripted/arbiter-v0"

    def __init__(self, answers: Iterable[Judgement | ArbiterError]) -> None:
        self.calls: list[tuple[Note, tuple[Neighbour, ...]]] = []
        self._answers = deque(answers)

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        """Next answer of the script."""
        self.calls.append((note, tuple(neighbours)))
        ended = ArbiterUnavailableError("the script has no further answer")
        answer = self._answers.popleft() if self._answers else ended
        if isinstance(answer, ArbiterError):
            raise answer
        if not 0 <= answer.confidence <= 1:
            raise ArbiterAnswerError(f"confidence {answer.confidence:g} is not from 0 to 1")
        return answer

    def close(self) -> None:
        """Nothing to close."""


class ScriptedExtractor:
    """An extractor that answers from a script, in turn; each answer once.

    Args:
        answers: extractions to return and errors to raise. After the last answer the extractor is
            unavailable; it never invents an extraction.

    Attributes:
        windows: the windows that it was asked to read, oldest first.
    """

    name = "scripted/extractor-v0"
    reads_known = True

    def __init__(self, answers: Iterable[Extraction | ExtractionError]) -> None:
        self.windows: list[Window] = []
        self._answers = deque(answers)

    def extract(self, window: Window) -> Extraction:
        """Next answer of the script.

        Raises:
            ExtractionError: the script says so, or has no further answer.
        """
        self.windows.append(window)
        ended = ExtractionUnavailableError("the script has no further answer")
        answer = self._answers.popleft() if self._answers else ended
        if isinstance(answer, ExtractionError):
            raise answer
        return answer

    def close(self) -> None:
        """Nothing to close."""


@lru_cache(maxsize=8192)  # each memory asks for the words of the same shipped questions
def _direction(word: str, dimension: int) -> NDArray[np.float64]:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])
    return np.random.default_rng(seed).standard_normal(dimension)


def _checked(text: str, vector: Sequence[float], dimension: int) -> Floats:
    if len(vector) != dimension or not np.any(vector) or not np.all(np.isfinite(vector)):
        raise EmbeddingError(
            f"{text!r} needs {dimension} numbers, of which one or more must not be zero; it has "
            f"{vector}"
        )
    return _unit(np.array([vector], dtype=np.float64)).reshape(dimension)


def _unit(vectors: NDArray[np.float64]) -> Floats:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)
