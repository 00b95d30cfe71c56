"""Embedding: checks an embedder's vectors once, before they are used."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from reconciler.domain.floats import Floats
from reconciler.domain.recalling.languages import about_her
from reconciler.domain.recalling.recallable import RecallQuery
from reconciler.errors import EmbeddingError
from reconciler.ports.embedder import Embedder, EmbedsQueries
from reconciler.sensitive_data import without_hashes

UNIT_LENGTH_TOLERANCE = 1e-3


def embed(embedder: Embedder, texts: Sequence[str]) -> Floats:
    """Vectors that can be compared: float32, (n, dimension), unit length; n may be 0.

    A token for personal data is embedded without its hash, so that no cosine depends on the key.

    Raises:
        EmbeddingError: the model failed, or its vectors have another shape or no direction. One
            engine takes a vector of NaNs for equal to every other.
    """
    return _checked(embedder, embedder.embed, texts)


def embed_queries(embedder: Embedder, texts: Sequence[str]) -> Floats:
    """The vectors of questions, which some models embed in another way than facts; see ``embed``.

    Raises:
        EmbeddingError: as ``embed``.
    """
    asks = embedder.embed_queries if isinstance(embedder, EmbedsQueries) else embedder.embed
    return _checked(embedder, asks, texts)


def _checked(
    embedder: Embedder,
    make: Callable[[Sequence[str]], Floats],
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
    """The parts of a text that the model could not read; empty if the embedder cannot tell."""
    # isinstance() with a protocol takes longer than most models take to answer.
    read: Callable[[str], str] = getattr(embedder, "unread", lambda _: "")
    return read(text)


def question_of(embedder: Embedder, query: str) -> RecallQuery:
    """A query with its vector, and how much of it the model could not read.

    Raises:
        EmbeddingError: as ``embed``.
    """
    if not query or not embedder.dimension:
        return RecallQuery(query)
    letters = sum(map(str.isalnum, query))
    # Any model reads ASCII, and most questions are written in it.
    lost = 0 if query.isascii() else len(unread(embedder, query))
    share = min(lost / max(letters, 1), 1.0)
    return RecallQuery(query, embed_queries(embedder, [about_her(query)])[0], unread=share)
