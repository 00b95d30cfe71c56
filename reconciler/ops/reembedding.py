"""Reembedding: moves a store to another embedding model, while others recall and write.

First every fact gets a second vector, of the next model. Then one transaction binds the store to
that model. Before it every process uses the old model, after it the new one; a process that still
runs with the old one gets an error at its next write or comparison.
A run may be interrupted anywhere; the next one continues where it stopped.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator, Sequence

from reconciler.domain.records.kinds import ProgressOfAll
from reconciler.domain.records.notes import positive
from reconciler.domain.records.sessions import ModelMove, MoveState, ReembedReport
from reconciler.errors import (
    ConfigurationError,
    GraphConflictError,
    InvalidRequestError,
    QueryError,
)
from reconciler.ports.embedder import Embedder
from reconciler.service.embedding import embed
from reconciler.service.stores.binding_store import ModelStore
from reconciler.service.stores.rows import batches

BATCH_SIZE = 256
"""Facts that are embedded together, and written in one transaction."""

_PAGE = 10_000
"""Facts that one query returns; each query reads all facts of the store."""

_SWITCHES_MAX = 500
"""The number of tries to switch. A try fails if another writer has just added a fact; at 50 writes
a second one try in three succeeds."""

_PAUSE_SECONDS_MAX = 0.02


class Reembedding:
    """Moves one store to another model.

    Args:
        store: the store.
    """

    def __init__(self, store: ModelStore) -> None:
        self._store = store
        self._alone = threading.Lock()

    def status(self) -> ModelMove:
        """Return the store's progress to another model, with the number of moved facts."""
        return self._store.move()

    def check(self, embedder: Embedder) -> None:
        """Check that the store could move to this embedder's model; starts nothing.

        Raises:
            ConfigurationError: the embedder does not embed.
            InvalidRequestError: the store is bound to that model already.
        """
        model = embedder.model_id
        if not embedder.dimension:
            raise ConfigurationError(
                f"{model} makes no vectors, so no store can move to it; give another model"
            )
        move = self._store.move(counted=False)
        if move.state is MoveState.NONE and move.model == model:
            raise InvalidRequestError(
                f"the store is already bound to {model}; there is nothing to embed again"
            )

    def cancel(self) -> ModelMove:
        """Cancel the move, and remove the vectors that were made for it.

        Raises:
            InvalidRequestError: no move is under way.
        """
        if not self._store.cancel():
            move = self._store.move(counted=False)
            raise InvalidRequestError(
                f"the store is bound to {move.model}, and no move is in progress; there is nothing "
                "to cancel"
            )
        for ids in self._next_ids():
            self._store.clear(ids)
        return self._store.move()

    def run(
        self,
        embedder: Embedder,
        *,
        batch_size: int = BATCH_SIZE,
        on_progress: ProgressOfAll = lambda *_: None,
    ) -> ReembedReport:
        """Move the store to this embedder's model, from where an earlier run stopped.

        Args:
            embedder: makes the new vectors.
            batch_size: facts that are embedded together, 1 or more.
            on_progress: called with the number of facts with a new vector, and of all facts.

        Raises:
            ConfigurationError: the embedder does not embed.
            InvalidRequestError: the store is bound to that model already, moves to another one, or
                the move was cancelled in the meantime.
            EmbeddingError: the model failed; the vectors made until then stay.
            GraphConflictError: others wrote without a pause, or a contact is incomplete; all facts
                have their vector, and the next run only has to switch.
            GraphError: the engine is unavailable; run it again.
        """
        positive("batch_size", batch_size)
        if not self._alone.acquire(blocking=False):
            raise InvalidRequestError(
                "this process is already moving the store; wait until that ends"
            )
        try:
            before = self._begun(embedder)
            embedded = attempts = 0
            if before.state is MoveState.EMBEDDING:
                embedded, attempts = self._moved(before, embedder, batch_size, on_progress)
            self._settle()
        finally:
            self._alone.release()
        return ReembedReport(
            old_model=before.model,
            model=embedder.model_id,
            dimension=embedder.dimension,
            embedded=embedded,
            resumed=before.moved,
            switch_attempts=attempts,
        )

    def _begun(self, embedder: Embedder) -> ModelMove:
        """Start the move to this model, or continue it.

        Raises:
            InvalidRequestError: the store moves to another model, or does not move.
        """
        self.check(embedder)
        model = embedder.model_id
        move = self._store.move()
        if move.state is MoveState.SETTLING and move.model != model:
            self._settle()
            move = self._store.move()
        if move.state is MoveState.NONE and move.model != model:
            self._store.begin(model, embedder.dimension)
            move = self._store.move()
        if move.state is MoveState.NONE:
            raise InvalidRequestError(
                f"the store is bound to {move.model}, and its move to {model} did not begin, "
                "because another process moved it or cancelled the move; see `reconciler reembed "
                "--status`"
            )
        if move.next_model != model:
            raise InvalidRequestError(
                f"the store is already moving to {move.next_model} ({move.moved:,} of "
                f"{move.facts:,} facts); finish this move, or cancel it with `reconciler reembed "
                f"--cancel`, before it moves to {model}"
            )
        if move.next_dimension != embedder.dimension:
            raise InvalidRequestError(
                f"the store is moving to {model} with vectors of {move.next_dimension} numbers, "
                f"but this embedder makes vectors of {embedder.dimension}; cancel the move with "
                "`reconciler reembed --cancel`"
            )
        return move

    def _moved(
        self, move: ModelMove, embedder: Embedder, batch_size: int, on_progress: ProgressOfAll
    ) -> tuple[int, int]:
        """Embed the facts, and return the numbers of embedded facts and of tries to switch."""
        embedded, next_model = 0, embedder.model_id
        for attempt in range(1, _SWITCHES_MAX + 1):
            while page := self._store.list_unmoved(move.model, next_model, _PAGE):
                for batch in batches(page, batch_size):
                    embedded += self._put(move, embedder, batch)
                    done = move.moved + embedded
                    on_progress(done, max(move.facts, done))
            if self._store.switch(move.model, next_model):
                return embedded, attempt
            if self._store.move(counted=False).model == next_model:
                return embedded, attempt  # the answer was lost, or another process did it
            self._check_not_cancelled(move)
            if contacts := self._store.count_restoring():
                raise GraphConflictError(
                    f"{contacts} contacts are incomplete: a restore is running, or was "
                    "interrupted. Run the restore again, or forget those contacts, and then run "
                    "this again"
                )
            time.sleep(random.uniform(0, _PAUSE_SECONDS_MAX))  # noqa: S311  no secret
        raise GraphConflictError(
            f"all facts have a vector of {next_model}, but the store could not change to that "
            "model, because other processes wrote without a pause; run the move again when the "
            "memory is less busy"
        )

    def _put(self, move: ModelMove, embedder: Embedder, batch: Sequence[tuple[str, str]]) -> int:
        vectors = embed(embedder, [text for _, text in batch])
        try:
            kept = self._store.put(embedder.model_id, [fact_id for fact_id, _ in batch], vectors)
        except QueryError:  # a cancelled move has removed the column of next vectors
            self._check_not_cancelled(move)
            raise
        if kept < len(batch):
            self._check_not_cancelled(move)
        return kept

    def _check_not_cancelled(self, move: ModelMove) -> None:
        now = self._store.move(counted=False)
        if move.next_model not in (now.model, now.next_model):
            raise InvalidRequestError(f"the move to {move.next_model} was cancelled meanwhile")

    def _settle(self) -> None:
        """End a move after its switch: make next vectors the vectors, if the engine left any."""
        now = self._store.move(counted=False)
        if now.state is not MoveState.SETTLING:
            return
        for ids in self._next_ids():
            self._store.settle(ids, now.model)
        self._store.end()

    def _next_ids(self) -> Iterator[list[str]]:
        """Find the ids of facts with a next vector, until there are none."""
        while ids := self._store.list_next_ids(_PAGE):
            yield from batches(ids, BATCH_SIZE)
