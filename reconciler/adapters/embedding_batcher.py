"""Batching: one thread that encodes concurrent callers' texts, together and fairly."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress

import numpy as np

from reconciler.domain.floats import Floats
from reconciler.errors import EmbedderClosedError

CLOSE_SECONDS_MAX = 30


class _Request:
    """One caller's request."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        by_length = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
        self.pending = deque(by_length)  # neighbours of one length waste no padding
        self.vectors: dict[int, Floats] = {}
        self.future: Future[Floats] = Future()

    def give(self, index: int, vector: Floats) -> None:
        self.vectors[index] = vector
        if len(self.vectors) == len(self.texts):
            self.future.set_result(np.stack([self.vectors[i] for i in range(len(self.texts))]))

    def fail(self, error: BaseException) -> None:
        with suppress(InvalidStateError):
            self.future.set_exception(
                error if isinstance(error, Exception) else RuntimeError(repr(error))
            )


class EmbeddingBatcher:
    """One thread that encodes all waiting texts as one batch, shared fairly among the callers."""

    def __init__(self, encode: Callable[[list[str]], Floats], size: int) -> None:
        self._encode = encode
        self._size = size
        self._waiting: deque[_Request] = deque()
        self._is_stopped = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="reconciler-embedder", daemon=True)
        self._thread.start()

    def encode(self, texts: list[str]) -> Floats:
        """The vectors of these texts, in their order; waits for the batches that they are part of.

        Raises:
            EmbedderClosedError: the batcher is stopped.
            Exception: the model's error on them.
        """
        request = _Request(texts)
        with self._changed:
            if self._is_stopped:
                raise EmbedderClosedError(
                    "the embedder was closed, as it is when its memory is closed; open it again"
                )
            self._waiting.append(request)
            self._changed.notify()
        return request.future.result()

    def stop(self) -> None:
        """End the thread after the current batch; callers that wait get an ``EmbeddingError``."""
        with self._changed:
            self._is_stopped = True
            while self._waiting:
                self._waiting.popleft().fail(
                    EmbedderClosedError("closed before these texts' turn; open it again")
                )
            self._changed.notify()
        if self._thread is not threading.current_thread():
            self._thread.join(CLOSE_SECONDS_MAX)

    def _run(self) -> None:
        while batch := self._next_batch():
            self._serve(batch)

    def _next_batch(self) -> list[tuple[_Request, int]]:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_stopped)
            return [] if self._is_stopped else self._deal()

    def _deal(self) -> list[tuple[_Request, int]]:
        """One text of each caller in turn, so that a long list cannot keep a short one waiting."""
        batch: list[tuple[_Request, int]] = []
        while self._waiting and len(batch) < self._size:
            request = self._waiting.popleft()
            batch.append((request, request.pending.popleft()))
            if request.pending:
                self._waiting.append(request)
        return batch

    def _serve(self, batch: list[tuple[_Request, int]]) -> None:
        try:
            vectors = self._encode([request.texts[index] for request, index in batch])
            given = list(zip(batch, vectors, strict=True))
        except BaseException as error:  # noqa: BLE001 - a panic in Rust is no Exception; callers wait
            self._blame(batch, error)
        else:
            for (request, index), vector in given:
                request.give(index, vector)

    def _blame(self, batch: list[tuple[_Request, int]], error: BaseException) -> None:
        """Fail only the request at fault: try each once more without the others."""
        requests = dict.fromkeys(request for request, _ in batch)
        if len(requests) > 1:
            for request in requests:
                self._serve([slot for slot in batch if slot[0] is request])
            return
        with self._changed, suppress(ValueError):
            self._waiting.remove(batch[0][0])
        batch[0][0].fail(error)
