"""The binding store: alone names the queries of the store's schema, model and keys."""

from __future__ import annotations

import secrets
from datetime import datetime

from reconciler.errors import SchemaError
from reconciler.frozen import in_order
from reconciler.ports.graph import Graph, Row
from reconciler.queries import newest_schema_version
from reconciler.service.stores.contact_queries import Queries

_ID_KEY_BYTES = 32


@in_order
class BindingStore(Queries):
    """What the whole store is bound to: its schema, its model, its key of ids and its hash key.

    Invariant: no fact and no decision is read or written.
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
            given = {"embedding_model": embedding_model, "at": at}
            drawn = secrets.token_hex(_ID_KEY_BYTES)  # of two processes, the first one's is kept
            [bound] = self.rows("claim_store", **given, id_key=drawn)
        _check_model(bound, embedding_model, embedding_dimension)
        try:
            return bytes.fromhex(bound["id_key"])
        except ValueError:
            raise SchemaError(
                "the store's key of ids is damaged: what was handed over before would not be "
                "recognised. Restore an earlier backup"
            ) from None

    def check_schema_version(self) -> None:
        """Check that this code works with the store's schema.

        Raises:
            SchemaError: it is older or newer; the text says which, and what to do.
        """
        version, wanted = self.graph.schema_version(), newest_schema_version(self.graph.engine)
        if version < wanted:
            raise SchemaError(
                f"the store's schema is version {version}, this code works with {wanted}; "
                "run `reconciler init` once, with the same settings, to bring it up to date"
            )
        if version > wanted:
            raise SchemaError(
                f"the store's schema is version {version}, this code works with {wanted}; "
                "install the newer version of this package that made it"
            )

    def check_keys(self) -> None:
        """Check that what was written is found by its contact's key.

        Raises:
            SchemaError: a process of an earlier version wrote without keys; the text says what to
                do.
        """
        [counted] = self.rows("count_keyless")
        if counted["nodes"]:
            raise SchemaError(
                f"{counted['nodes']} facts and decisions lack their contact's key, so some pages "
                "leave them out: a process of an earlier version wrote them. Find it and stop it, "
                "then run `reconciler init`"
            )

    def check_model(self, embedding_model: str, embedding_dimension: int) -> None:
        """Check that the store is bound to this model.

        Raises:
            SchemaError: it holds vectors of another one, which cannot be compared.
        """
        [bound] = self.rows("find_store")
        _check_model(bound, embedding_model, embedding_dimension)

    def hash_key_check(self) -> str | None:
        """The check value of the store's hash key; None before the first hash."""
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


def check_own_model(graph: Graph, model: tuple[str, int] | None) -> None:
    """Check that the store is still bound to the model that this process embeds with.

    Raises:
        SchemaError: it has moved to another one.
    """
    if model is not None:
        BindingStore(graph).check_model(*model)


def _check_model(bound: Row, embedding_model: str, embedding_dimension: int) -> None:
    if (bound["embedding_model"], bound["embedding_dimension"]) != (
        embedding_model,
        embedding_dimension,
    ):
        raise SchemaError(
            f"this store holds vectors of {bound['embedding_model']} "
            f"({bound['embedding_dimension']} numbers each), and the embedder is "
            f"{embedding_model} ({embedding_dimension}); set RECONCILER_EMBEDDER__MODEL to the "
            "store's model, open another store, or move this one with `reconciler reembed`"
        )
