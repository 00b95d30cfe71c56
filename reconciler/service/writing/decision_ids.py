"""The ids of decisions: random, or made from a key that may be used once. Keeps nothing.

With an id that is made from a key, the engine's own uniqueness of ids prevents a second write.
"""

from __future__ import annotations

import hashlib
import hmac
import uuid

from reconciler.domain.records.notes import Note
from reconciler.domain.records.scope import Scope
from reconciler.frozen import in_order

_NAMESPACE = uuid.UUID("3f6d2f0e-7d0b-5a39-9f5e-0a6d1f0c4b7a")


@in_order
class DecisionIds:
    """Makes the ids of the decisions of one store.

    Attributes:
        key: the store's secret key, the same on all hosts that write to it. Without it, the id for
            an idempotency key cannot be guessed.
    """

    key: bytes

    def of(self, note: Note) -> str:
        """The id of a note's decision: the same for the same key in a scope, else a random one."""
        if note.idempotency_key is None:
            return str(uuid.uuid4())
        return self.of_key(note.scope, note.idempotency_key)

    def of_key(self, scope: Scope, idempotency_key: str) -> str:
        """The id of the decision for an idempotency key, whether or not it was made."""
        said = f"{scope.contact_key}/{idempotency_key}".encode()
        digest = hmac.new(self.key, said, hashlib.sha256).digest()
        return str(uuid.UUID(bytes=digest[:16]))

    def __repr__(self) -> str:
        return "DecisionIds()"


def settlement_id_of(decision_id: str) -> str:
    """The id of the decision that settles a held or admitted one; there is at most one.

    It cannot be guessed without the first id.
    """
    return str(uuid.uuid5(_NAMESPACE, f"settles/{decision_id}"))
