"""Batching: one of several concurrent callers encodes the texts of all of them together.

If 16 threads have one text each, this takes a quarter less processor time than a plain lock.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from itertools import accumulate
from math import inf

import numpy as np

from reconciler.errors import EmbedderClosedError
from reconciler.floats import Floats
from reconciler.turns import Turns

CLOSE_SECONDS_MAX = 30


class _Request:
    """Texts of one caller, at most a batch of them."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        self.future: Future[Floats] = Future()


class EmbeddingBatcher:
    """Encodes one batch at a time; callers that wait share the next batch.

    Args:
        encode: the model.
        size: texts in one batch; a longer list waits for a turn for each batch.
    """

    def __init__(self, encode: Callable[[list[str]], Floats], size: int) -> None:
        self._encode = encode
        self._size = size
        self._turns = Turns()
        self._waiting: dict[_Request, None] = {}
        self._is_stopped = False

    def encode(self, texts: list[str]) -> Floats:
        """Return the vectors of these texts, in their order.

        Waits for the batches that hold the texts.

        Raises:
            EmbedderClosedError: the batcher is stopped.
            Exception: the model's error on these texts.
        """
        # Neighbours of one length waste no padding.
        order = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
        parts = [order[start : start + self._size] for start in range(0, len(order), self._size)]
        vectors = np.concatenate([self._batch([texts[index] for index in part]) for part in parts])
        in_order = np.empty_like(vectors)
        in_order[order] = vectors
        return in_order

    def stop(self) -> None:
        """Wait for the current batch; callers that wait get an ``EmbedderClosedError``."""
        self._is_stopped = True
        with self._turns.turn() as turn:
            turn.take(CLOSE_SECONDS_MAX)

    def _batch(self, texts: list[str]) -> Floats:
        request = _Request(texts)
        self._waiting[request] = None
        try:
            with self._turns.turn() as turn:
                turn.take(inf)
                if not request.future.done():
                    self._serve(self._together(request))
            return request.future.result()
        finally:
            del self._waiting[request]

    def _together(self, first: _Request) -> list[_Request]:
        """The first request, and as many waiting requests as fit in the batch.

        Raises:
            EmbedderClosedError: the batcher is stopped.
        """
        if self._is_stopped:
            raise EmbedderClosedError(
                "the embedder was closed, perhaps with its memory; open the memory again"
            )
        batch, room = [first], self._size - len(first.texts)
        for request in list(self._waiting):
            is_open = request is not first and not request.future.done()
            if is_open and len(request.texts) <= room:
                batch.append(request)
                room -= len(request.texts)
        return batch

    def _serve(self, batch: list[_Request]) -> None:
        try:
            vectors = self._encode([text for request in batch for text in request.texts])
        except (KeyboardInterrupt, SystemExit):
            raise  # it is this thread's; the others serve themselves
        except BaseException as error:  # noqa: BLE001 - a panic in Rust is no Exception; callers wait
            self._blame(batch, error)
        else:
            ends = list(accumulate(len(request.texts) for request in batch))
            for request, part in zip(batch, np.split(vectors, ends[:-1]), strict=True):
                request.future.set_result(part)

    def _blame(self, batch: list[_Request], error: BaseException) -> None:
        """Fail only the request that causes the error: try each request again alone."""
        if len(batch) > 1:
            for request in batch:
                self._serve([request])
        else:
            is_usual = isinstance(error, Exception)
            batch[0].future.set_exception(error if is_usual else RuntimeError(repr(error)))
