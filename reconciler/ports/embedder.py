"""The embedder port: texts in, unit vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from reconciler.floats import Floats


class Embedder(Protocol):
    """Turns texts into unit vectors: their dot product is their cosine.

    Obligations, each with a test in ``tests/contract/test_embedder.py``:

    1. ``embed`` returns float32 of shape (n, dimension), unit length, in the order of the texts;
       n may be 0.
    2. The same text gives the same vector to 1e-5, alone or in a batch, from any thread.
    3. Texts are compared in the form of ``canonical_text``: white space and a closing full stop do
    not count. 4. ``dimension`` 0 means that it makes no vectors; then the shape is (n, 0) and every
    note is an ADD. 5. ``model_id`` changes whenever the vectors do; facts of another id are not
    compared. 6. Safe to share between threads.

    An embedder that knows which part of a text it could not read is also a ``KnowsUnread``; any
    other embedder counts as able to read all texts. An embedder that embeds questions differently
    from facts is also an ``EmbedsQueries``; any other embeds both in the same way.
    """

    @property
    def model_id(self) -> str:
        """Name and fingerprint of the weights, for example ``all-MiniLM-L6-v2@53aa5117``."""

    @property
    def dimension(self) -> int:
        """Length of a vector; 0 for an embedder that does not embed."""

    def embed(self, texts: Sequence[str]) -> Floats:
        """One unit vector for each text: float32, shape (n, dimension).

        Raises:
            EmbeddingError: the model failed; nothing is returned for any of the texts.
        """

    def warm_up(self) -> float:
        """Load the model and embed once; returns the seconds until it was ready.

        Raises:
            ConfigurationError: the model cannot be loaded; the text says what to install or set.
        """

    def close(self) -> None:
        """Stop the work in the background; harmless when called again."""


@runtime_checkable
class EmbedsQueries(Protocol):
    """An optional ability of an embedder: it embeds questions differently from facts."""

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        """One unit vector for each question, to compare with the vectors of ``embed``.

        Raises:
            EmbeddingError: the model failed; nothing is returned for any of the texts.
        """


@runtime_checkable
class KnowsUnread(Protocol):
    """An optional ability of an embedder: it names the part of a text that it could not read.

    A cosine ignores that part, so two texts that differ there are never merged by a cosine.
    """

    def unread(self, text: str) -> str:
        """Letters and digits of a text that the model could not read, in their order.

        Empty if it read all of them; never an error if ``embed`` raises none.

        Raises:
            EmbeddingError: the embedder is closed.
            ConfigurationError: first use, and the model cannot be loaded.
        """
