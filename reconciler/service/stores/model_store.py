"""The model store: alone names the queries of a move to another model. Decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reconciler.domain.floats import Floats
from reconciler.domain.records.model_moves import ModelMove, MoveState
from reconciler.service.stores.contact_queries import Store


class ModelStore(Store):
    """Vectors of two models side by side, in one graph.

    Invariant: the store is bound to one model at each moment, and every fact has its vector.
    """

    def move(self, *, counted: bool = True) -> ModelMove:
        """The store's move to another model; moved facts are counted only on request."""
        [row] = self.rows("find_move")
        model, next_model = row["embedding_model"], row["next_embedding_model"]
        state = MoveState.SETTLING if next_model == model else MoveState.EMBEDDING
        move = ModelMove(
            state=state if next_model else MoveState.NONE,
            model=model,
            dimension=row["embedding_dimension"],
            next_model=next_model,
            next_dimension=row["next_embedding_dimension"],
        )
        return self._counted(move) if counted and move.state is MoveState.EMBEDDING else move

    def _counted(self, move: ModelMove) -> ModelMove:
        [row] = self.rows(
            "count_moved", embedding_model=move.model, next_model=move.next_model or ""
        )
        return replace(move, facts=int(row["facts"]), moved=int(row["moved"]))

    def begin(self, next_model: str, dimension: int) -> bool:
        """Start a move; False if one is under way, or the store is bound to that model already."""
        return bool(self.rows("begin_move", next_model=next_model, dimension=dimension))

    def cancel(self) -> bool:
        """Cancel the move; False if there is none."""
        return bool(self.rows("cancel_move"))

    def list_unmoved(self, model: str, next_model: str, limit: int) -> list[tuple[str, str]]:
        """The ids and texts of facts without a vector of the next model, up to the limit."""
        return [
            (row["fact_id"], row["text"])
            for row in self.rows(
                "list_unmoved", embedding_model=model, next_model=next_model, limit=limit
            )
        ]

    def put(self, next_model: str, fact_ids: Sequence[str], vectors: Floats) -> int:
        """Write vectors of the next model, and return how many were written.

        Facts that were erased meanwhile get none; if the move was cancelled, no fact gets one.

        Args:
            next_model: the model that makes them.
            fact_ids: the fact of each vector.
            vectors: float32, shape (len(fact_ids), dimension), unit length.
        """
        rows = [
            {"fact_id": fact_id, "embedding": vector.tolist(), "embedding_bytes": vector.tobytes()}
            for fact_id, vector in zip(fact_ids, vectors, strict=True)
        ]
        return len(self.rows("put_next_vectors", next_model=next_model, rows=rows))

    def switch(self, model: str, next_model: str) -> bool:
        """Bind the store to the next model; True if it was bound.

        It is not if a fact lacks its vector, no move is under way, or a contact is being restored.
        """
        return bool(self.rows("switch_model", embedding_model=model, next_model=next_model))

    def count_restoring(self) -> int:
        """The number of incomplete contacts: their restore was cut off, or is under way."""
        return sum(int(row["contacts"]) for row in self.rows("count_restoring"))

    def list_next_ids(self, limit: int) -> list[str]:
        """The ids of facts that still have a next vector, up to the limit."""
        rows = self.rows("list_next_ids", limit=limit)
        return [row["fact_id"] for row in rows]

    def settle(self, fact_ids: Sequence[str], model: str) -> None:
        """Make the next vectors of these facts their vectors, if the store's model made them."""
        self.rows("settle_vectors", fact_ids=list(fact_ids), embedding_model=model)

    def clear(self, fact_ids: Sequence[str]) -> None:
        """Remove the next vectors of these facts."""
        self.rows("clear_next_vectors", fact_ids=list(fact_ids))

    def end(self) -> None:
        """End the move: no fact has a next vector any more."""
        self.rows("end_move")
