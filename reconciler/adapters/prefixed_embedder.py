"""Prefixes that some models want before each text, such as e5's ``query: `` and ``passage: ``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from reconciler.floats import Floats
from reconciler.ports.embedder import Embedder, KnowsUnread


class PrefixedEmbedder:
    """An embedder that puts a prefix before facts and notes, and another before questions.

    The prefixes are part of ``model_id``, because other prefixes make other vectors.

    Args:
        embedder: the embedder; it is closed with this one.
        query_prefix: the prefix of questions.
        passage_prefix: the prefix of stored texts.
    """

    def __init__(self, embedder: Embedder, query_prefix: str, passage_prefix: str) -> None:
        self._embedder = embedder
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        prefixes = json.dumps([query_prefix, passage_prefix])
        self._fingerprint = hashlib.sha256(prefixes.encode()).hexdigest()[:8]

    @property
    def model_id(self) -> str:
        """The model's id, with the first eight digits of the prefixes' sha256."""
        return f"{self._embedder.model_id}+{self._fingerprint}"

    @property
    def dimension(self) -> int:
        """Model's."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> Floats:
        """One unit vector for each fact or note."""
        return self._embedder.embed([self._passage_prefix + text for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        """One unit vector for each question."""
        return self._embedder.embed([self._query_prefix + text for text in texts])

    def unread(self, text: str) -> str:
        """Letters that the model cannot read; empty if it cannot tell."""
        return self._embedder.unread(text) if isinstance(self._embedder, KnowsUnread) else ""

    def warm_up(self) -> float:
        """Model's."""
        return self._embedder.warm_up()

    def close(self) -> None:
        """Close the embedder."""
        self._embedder.close()
