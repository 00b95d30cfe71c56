"""Embeddings from a server that speaks OpenAI's protocol, by its SDK.

Long texts are cut into pieces, because servers treat a text that is too long differently: some
reject it, others cut it off silently. Deadlines, retries and errors are those of
``structured_calls``. A reply has a bound, so that a server cannot fill
the memory of its client.
"""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from typing import Any

import httpx2
from pydantic import BaseModel

from reconciler.adapters.openai_calls import Dispensable, open_client, openai_vendor
from reconciler.adapters.structured_calls import ClientCalls, Connection, Failures
from reconciler.adapters.unit_vectors import joined, unit
from reconciler.errors import ConfigurationError, EmbedderClosedError, EmbeddingError
from reconciler.floats import Floats
from reconciler.reading.canonical import canonical_text


class TooLongReplyError(Exception):
    """A reply is longer than any expected reply, or is compressed and could become so."""


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: Any, bytes_max: int) -> None:
        self._stream = stream
        self._bytes_left = bytes_max

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            self._bytes_left -= len(piece)
            if self._bytes_left < 0:
                raise TooLongReplyError
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def bounded(bytes_max: int) -> Callable[[httpx2.Response], Coroutine[Any, Any, None]]:
    """Ends a reply after this many bytes, if it is called before the body is read.

    It raises ``TooLongReplyError`` for a reply that is compressed, which may unpack to any length.
    """

    async def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise TooLongReplyError
        response.stream = _Bounded(response.stream, bytes_max)

    return bound


_BYTES_PER_TEXT_MAX = 512 * 1024
"""Bytes of a reply for each text: a vector of 16,000 decimal numbers; the longest known has
4,096."""
_EMPTY = "."
"""Sent for a text without any character, which servers reject."""


class OpenAIEmbedder:
    """The ``Embedder`` for OpenAI, Azure, Ollama, and other servers with ``POST /embeddings``.

    Args:
        connection: the server, the model, and the time-out of one request.
        dimension: length of a vector; a server that can shorten vectors is asked for this length.
            None for the model's own length, which the first use finds out.
        batch_size: texts in one request.
        window_characters: a longer text is cut into pieces; its vector is the mean of their
            vectors.

    Raises:
        ConfigurationError: the SDK is not installed, or a size is below 1.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        dimension: int | None = None,
        batch_size: int = 64,
        window_characters: int = 2000,
    ) -> None:
        if min(batch_size, window_characters) < 1:
            raise ConfigurationError("batch_size and window_characters must be 1 or more")
        self._model = connection.model
        self._batch_size = batch_size
        self._window_characters = window_characters
        self._dimension = dimension
        self._is_closed = False
        self._asking = threading.Lock()
        reply_bytes_max = (batch_size + 1) * _BYTES_PER_TEXT_MAX
        self._calls: ClientCalls[_Client] = ClientCalls(
            _EMBEDDINGS, connection, _failures(connection.model), dimension, reply_bytes_max
        )

    @property
    def model_id(self) -> str:
        """The model's name and its dimension, for example ``text-embedding-3-small@1536``.

        Raises:
            EmbeddingError: no dimension is set, and the server does not tell it.
        """
        return f"{self._model}@{self.dimension}"

    @property
    def dimension(self) -> int:
        """Length of a vector; if none is set, the server is asked once.

        Raises:
            EmbeddingError: the server does not tell it.
        """
        with self._asking:
            if self._dimension is None:
                self._dimension = self._vectors(["ready"]).shape[1]
            return self._dimension

    def embed(self, texts: Sequence[str]) -> Floats:
        """One unit vector for each text: float32, shape (n, dimension); n may be 0.

        Raises:
            EmbeddingError: the server failed, or the embedder is closed.
        """
        import numpy as np

        dimension = self.dimension
        if not texts:
            return np.empty((0, dimension), dtype=np.float32)
        pieces = [list(_pieces(canonical_text(text), self._window_characters)) for text in texts]
        sent = [piece for text in pieces for piece in text]
        vectors = np.concatenate(
            [
                self._vectors(sent[start : start + self._batch_size])
                for start in range(0, len(sent), self._batch_size)
            ]
        )
        if vectors.shape[1] != dimension:
            raise EmbeddingError(
                f"{self._model} gives vectors of {vectors.shape[1]} numbers, not {dimension}; set "
                "RECONCILER_EMBEDDER__DIMENSION to a length that the model has, or leave it unset"
            )
        return joined(vectors, pieces, list(map(len, sent)))

    def warm_up(self) -> float:
        """Embed one text; returns the seconds until its vector was there.

        Raises:
            EmbeddingError: the server failed, or the embedder is closed.
        """
        started = time.perf_counter()
        self.embed(["ready"])
        return time.perf_counter() - started

    def close(self) -> None:
        """End the running requests; callers that wait get an ``EmbeddingError``."""
        self._is_closed = True
        self._calls.close()

    def _vectors(self, texts: list[str]) -> Floats:
        import numpy as np

        if self._is_closed:
            raise EmbedderClosedError(
                "the embedder was closed, as it is when its memory is closed; open it again"
            )
        listed = self._calls.call(lambda client: client.vectors(texts))
        if len({len(vector) for vector in listed}) != 1:
            raise EmbeddingError(f"{self._model} gives vectors of different lengths")
        return unit(np.array(listed, dtype=np.float32))


class _Embedding(BaseModel):
    embedding: list[float]
    index: int | None = None


class _Embedded(BaseModel):
    """The part of a reply that this code relies on; the SDK itself does not check a reply."""

    data: list[_Embedding]


class _Client:
    def __init__(self, connection: Connection, dimension: int | None, reply_bytes_max: int) -> None:
        self._model = connection.model
        self._dispensable = Dispensable({} if dimension is None else {"dimensions": dimension})
        self._client = open_client(
            connection,
            on_response=[bounded(reply_bytes_max)],
            default_headers={"Accept-Encoding": "identity"},  # so that the bound holds
        )

    async def vectors(self, texts: list[str]) -> list[list[float]]:
        """Vectors of the texts, in their order."""
        listed = _Embedded.model_validate_json(await self._reply(texts)).data
        if len(listed) != len(texts):
            raise EmbeddingError(
                f"{self._model} gave {len(listed)} vectors for {len(texts)} texts; nothing was "
                "written"
            )
        places = [place if one.index is None else one.index for place, one in enumerate(listed)]
        if sorted(places) != list(range(len(texts))):
            raise EmbeddingError(
                f"{self._model} does not say which vector belongs to which text; nothing was "
                "written"
            )
        in_order = sorted(range(len(listed)), key=places.__getitem__)
        return [listed[at].embedding for at in in_order]

    async def close(self) -> None:
        await self._client.close()

    async def _reply(self, texts: list[str]) -> str:
        def send() -> Awaitable[Any]:
            # Floats, because not every server knows the SDK's usual base64.
            return self._client.embeddings.with_raw_response.create(
                model=self._model, input=texts, encoding_format="float", **self._dispensable.parts
            )

        try:
            return await self._dispensable.reply(send)
        except TooLongReplyError as error:
            raise EmbeddingError(
                f"{self._model} sent a reply that is compressed, or longer than the vectors can "
                "be; nothing was written"
            ) from error


_EMBEDDINGS = openai_vendor(
    speaks="a list of embeddings", open=_Client, otherwise="embedder.provider to another one"
)


def _failures(model: str) -> Failures:
    def failed(said: str, _wait_seconds: float | None = None) -> Exception:
        return EmbeddingError(f"the embedding model {model} gave no vectors: {said}")

    return Failures(unavailable=failed, refused=failed, answer=failed)


def _pieces(text: str, length_max: int) -> Iterator[str]:
    """Cut a text into pieces of at most so many characters, between words if possible."""
    while len(text) > length_max:
        end = text.rfind(" ", 0, length_max + 1)
        end = end if end > 0 else length_max
        yield text[:end]
        text = text[end:].lstrip()
    yield text or _EMPTY
