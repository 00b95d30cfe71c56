"""The bindings of a store: its schema, its model and its keys, and the move to another model.

Only this module names these queries. It reads and makes no file.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Lock
from typing import Any

from reconciler.domain.records.kinds import Clock
from reconciler.domain.records.notes import Scope
from reconciler.domain.records.sessions import ModelMove, MoveState
from reconciler.errors import ConfigurationError, SchemaError
from reconciler.floats import Floats
from reconciler.frozen import in_order
from reconciler.ports.graph import Graph, Row
from reconciler.queries import newest_schema_version
from reconciler.reading.sensitive_data import key_check
from reconciler.service.stores.rows import FEW, ContactState, Queries, of_contacts, pages

_ID_KEY_BYTES = 32


@in_order
class BindingStore(Queries):
    """The bindings of the whole store: its schema, its model, its key of ids and its hash key.

    Invariant: it reads and writes no fact and no decision.
    """

    graph: Graph

    def open(self, embedding_model: str, embedding_dimension: int, at: datetime) -> bytes:
        """Make the store ready for a model; an empty one gets its schema and is bound to it.

        Returns:
            The store's own key, from which ids are made: random, made once, the same for every
            process that opens the store. It is a secret.

        Raises:
            SchemaError: the schema is older or newer than this code, or the store holds vectors
                of another model.
        """
        if self.graph.schema_version() == 0:
            self.graph.migrate(embedding_dimension)
        self.check_schema_version()
        [bound] = self.rows("find_store")
        if bound["id_key"] is None:
            drawn = secrets.token_hex(_ID_KEY_BYTES)  # of two processes, the first one's is kept
            [bound] = self.rows("claim_store", embedding_model=embedding_model, at=at, id_key=drawn)
        _check_model(bound, embedding_model, embedding_dimension)
        try:
            return bytes.fromhex(bound["id_key"])
        except ValueError:
            raise SchemaError(
                "the key from which the store makes its ids is damaged, so earlier sessions and "
                "notes would not be recognised. Restore an earlier backup"
            ) from None

    def tokens(self) -> str:
        """Return the document of the servers' tokens, hashes only; empty if there is none."""
        return next((row["tokens"] for row in self.rows("find_tokens")), None) or ""

    def replace_tokens(self, before: str, after: str) -> bool:
        """Replace that document; False if another process has changed it."""
        return bool(self.rows("put_tokens", before=before, after=after))

    def check_schema_version(self) -> None:
        """Check that this code works with the store's schema.

        Raises:
            SchemaError: the schema is older or newer; the text says which, and what to do.
        """
        version, wanted = self.graph.schema_version(), newest_schema_version(self.graph.engine)
        remedy = "install the newer version of this package that made it"
        if version < wanted:
            remedy = "run `reconciler init` once, with the same settings, to bring it up to date"
        if version != wanted:
            raise SchemaError(
                f"the store's schema is version {version}, but this code needs version {wanted}; "
                f"{remedy}"
            )

    def check_keys(self) -> None:
        """Check that records are found by their contact's key.

        Raises:
            SchemaError: a process of an earlier version wrote without keys; the text says what to
                do.
        """
        [counted] = self.rows("count_keyless")
        if counted["nodes"]:
            raise SchemaError(
                f"{counted['nodes']} facts and decisions have no contact key, so some pages leave "
                "them out: a process of an earlier version wrote them. Find and stop this "
                "process, then run `reconciler init`"
            )

    def check_model(self, embedding_model: str, embedding_dimension: int) -> None:
        """Check that the store is bound to this model.

        Raises:
            SchemaError: it holds vectors of another model, which cannot be compared.
        """
        [bound] = self.rows("find_store")
        _check_model(bound, embedding_model, embedding_dimension)

    def hash_key_check(self) -> str | None:
        """Return the check value of the store's hash key; None before the first hash."""
        [bound] = self.rows("find_store")
        check: str | None = bound["hash_key_check"]
        return check

    def claim_hash_key(self, check: str, at: datetime) -> str:
        """Bind the store to a hash key if it has none; return the bound key's check value."""
        [bound] = self.rows("claim_hash_key", check=check, at=at)
        return str(bound["hash_key_check"])

    def release_hash_key(self, at: datetime) -> None:
        """Release the store from its hash key, so that another can be bound."""
        self.rows("release_hash_key", at=at)


@in_order
class Store(Queries):
    """The common part of stores.

    Attributes:
        graph: answers the queries.
        model: name and dimension of the model that the store must be bound to if no vector is
            found; None for any model.
    """

    graph: Graph
    model: tuple[str, int] | None = None

    def rows_about(
        self, scopes: Sequence[Scope], query: str, of_agent: str = "", /, **given: Any
    ) -> Iterator[Row]:
        """Return the rows of a query about contacts of one agent, a page of them at a time.

        Many contacts that are a third of the store, or more, are not read by their links: the query
        of all contacts of an agent reads the store once. Then there may be rows about others.
        """
        count = len(scopes)
        if of_agent and count > FEW and 3 * count >= self.rows("count_contacts")[0]["contacts"]:
            yield from self.rows(of_agent, agent_key=scopes[0].agent_key, **given)
            return
        for page in pages(scopes):
            yield from self.rows(query, **of_contacts(page), **given)

    def standing(self, scope: Scope) -> ContactState:
        """Return the contact's state, also of one that was merged; version 0 if it is unknown."""
        for row in self.rows_of(scope, "find_contact_version"):
            return ContactState(**row | {"absorbed": tuple(row["absorbed"] or ())})
        return ContactState()

    def family(self, scope: Scope) -> Iterator[Scope]:
        """Return the contact, and then all contacts that were merged into it."""
        yield scope
        for contact_id in self.standing(scope).absorbed:
            yield replace(scope, contact_id=contact_id)

    def keys_in(self, scope: Scope, name: str) -> Iterator[str]:
        """Return the possible keys of a session or task of the contact: its own, then merged."""
        return (one.session_key(name) for one in self.family(scope))

    def check_own_model(self) -> None:
        """Check that the store is still bound to the model that this process embeds with.

        Raises:
            SchemaError: the store has moved to another model.
        """
        if self.model is not None:
            BindingStore(self.graph).check_model(*self.model)


def _check_model(bound: Row, embedding_model: str, embedding_dimension: int) -> None:
    if (bound["embedding_model"], bound["embedding_dimension"]) != (
        embedding_model,
        embedding_dimension,
    ):
        raise SchemaError(
            f"this store holds vectors of {bound['embedding_model']} "
            f"({bound['embedding_dimension']} numbers each), but the embedder is {embedding_model} "
            f"({embedding_dimension}); set RECONCILER_EMBEDDER__MODEL to the store's model, open "
            "another store, or move this one with `reconciler reembed`"
        )


class ModelStore(Store):
    """Vectors of two models side by side, in one graph.

    Invariant: the store is bound to one model at each moment, and every fact has its vector.
    """

    def move(self, *, counted: bool = True) -> ModelMove:
        """Return the store's move to another model; moved facts are counted only on request."""
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
        if not counted or move.state is not MoveState.EMBEDDING:
            return move
        [row] = self.rows("count_moved", embedding_model=model, next_model=next_model)
        return replace(move, facts=int(row["facts"]), moved=int(row["moved"]))

    def begin(self, next_model: str, dimension: int) -> bool:
        """Start a move; False if one is under way, or the store is bound to that model already."""
        return bool(self.rows("begin_move", next_model=next_model, dimension=dimension))

    def cancel(self) -> bool:
        """Cancel the move; False if there is none."""
        return bool(self.rows("cancel_move"))

    def list_unmoved(self, model: str, next_model: str, limit: int) -> list[tuple[str, str]]:
        """List the ids and texts of facts without a vector of the next model, up to the limit."""
        return [
            (row["fact_id"], row["text"])
            for row in self.rows(
                "list_unmoved", embedding_model=model, next_model=next_model, limit=limit
            )
        ]

    def put(self, next_model: str, fact_ids: Sequence[str], vectors: Floats) -> int:
        """Write vectors of the next model, and return how many were written.

        Facts that have been erased get no vector; if the move was cancelled, no fact gets one.

        Args:
            next_model: the model that makes them.
            fact_ids: the id of each vector's fact.
            vectors: float32, shape (len(fact_ids), dimension), unit length.
        """
        rows = [
            {"fact_id": fact_id, "embedding": vector.tolist(), "embedding_bytes": vector.tobytes()}
            for fact_id, vector in zip(fact_ids, vectors, strict=True)
        ]
        return len(self.rows("put_next_vectors", next_model=next_model, rows=rows))

    def switch(self, model: str, next_model: str) -> bool:
        """Bind the store to the next model; True if it was bound.

        The store is not bound if a fact lacks its vector, no move is under way, or a contact is
        being restored.
        """
        return bool(self.rows("switch_model", embedding_model=model, next_model=next_model))

    def count_restoring(self) -> int:
        """Count the incomplete contacts: their restore was cut off, or is under way."""
        return sum(int(row["contacts"]) for row in self.rows("count_restoring"))

    def list_next_ids(self, limit: int) -> list[str]:
        """List the ids of facts that still have a next vector, up to the limit."""
        rows = self.rows("list_next_ids", limit=limit)
        return [row["fact_id"] for row in rows]

    def settle(self, fact_ids: Sequence[str], model: str) -> None:
        """Make the next vectors of these facts their vectors, if the store's model made them."""
        self.rows("settle_vectors", fact_ids=list(fact_ids), embedding_model=model)

    def clear(self, fact_ids: Sequence[str]) -> None:
        """Remove the next vectors of these facts."""
        self.rows("clear_next_vectors", fact_ids=list(fact_ids))

    def end(self) -> None:
        """End the move: no fact has a next vector after it."""
        self.rows("end_move")


@dataclass(eq=False)
class HashKey:
    """This host's hash key, after the store has confirmed it.

    Hashes of another key are not recognised: a candidate would be proposed twice, and an erased
    fact would return. So the first host that hashes a text fixes the store's key, by ``key_check``,
    and every other key is refused.

    Attributes:
        store: the store that is bound to the key.
        find: finds this host's key; None if it has none yet.
        make: makes this host's key; if another process was first, returns the key of that process.
        clock: the time now, UTC-aware.
    """

    store: BindingStore
    find: Callable[[], bytes | None]
    make: Callable[[], bytes]
    clock: Clock

    def __post_init__(self) -> None:
        self._lock = Lock()
        self._key: bytes | None = None

    def __call__(self) -> bytes:
        """Return the key; the store is bound to it from now on.

        Raises:
            ConfigurationError: the store is bound to another key, or the key cannot be read or
                made.
            GraphError: the store does not answer.
        """
        with self._lock:
            if self._key is None:
                is_bound = self._is_bound()  # before a key is made that would be refused
                key = self.find() or self.make()
                own = key_check(key)
                if not is_bound and self.store.claim_hash_key(own, self.clock()) != own:
                    raise _refusal(has_one=True)
                self._key = key
            return self._key

    def check(self) -> str:
        """Check that this host has a usable key, and say how the key and the store agree.

        Raises:
            ConfigurationError: the store is bound to a key that this host does not have.
            GraphError: the store does not answer.
        """
        if self._is_bound():
            return "the one that the store's hashes are made with"
        return "none needed so far"

    def _is_bound(self) -> bool:
        """True if the store is bound to this host's key; False if it is bound to no key.

        Raises:
            ConfigurationError: the store is bound to another key.
        """
        bound, own = self.store.hash_key_check(), self.find()
        if bound is not None and (own is None or key_check(own) != bound):
            raise _refusal(has_one=own is not None)
        return bound is not None


def _refusal(*, has_one: bool) -> ConfigurationError:
    return ConfigurationError(
        f"this host has {'another hash key' if has_one else 'no hash key'}, and not the one that "
        "the store's hashes were made with: what was erased or proposed before would not be "
        "recognised. Set RECONCILER_GATE__HASH_KEY as on the other hosts, or put the key's file "
        "back (RECONCILER_GATE__HASH_KEY_FILE; beside an embedded store, its name ends in .key). "
        "If that key is lost, `reconciler init --accept-other-hash-key` has the store take this "
        "host's"
    )
