"""The ids of decisions: random, or made of what may happen only once. Keeps and looks up nothing.

An id that follows from what it stands for lets the engine's own uniqueness of ids keep a second
write out.
"""

from __future__ import annotations

import hashlib
import hmac
import uuid

from reconciler.domain.records.notes import Note
from reconciler.domain.records.scope import Scope

__all__ = ["DecisionIds", "settlement_id_of"]

_NAMESPACE = uuid.UUID("3f6d2f0e-7d0b-5a39-9f5e-0a6d1f0c4b7a")


class DecisionIds:
    """Makes the ids under which the decisions of one store are kept.

    Args:
        key: the store's own. Without it the id that an idempotency key leads to cannot be guessed;
            all hosts that write to the store have the same.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of(self, note: Note) -> str:
        """The id of a note's decision: the same for the same key in a scope, else a random one."""
        if note.idempotency_key is None:
            return str(uuid.uuid4())
        return self.of_key(note.scope, note.idempotency_key)

    def of_key(self, scope: Scope, idempotency_key: str) -> str:
        """The id of the decision that an idempotency key leads to, made or not."""
        said = f"{scope.contact_key}/{idempotency_key}".encode()
        digest = hmac.new(self._key, said, hashlib.sha256).digest()
        return str(uuid.UUID(bytes=digest[:16]))

    def __repr__(self) -> str:
        return "DecisionIds()"


def settlement_id_of(decision_id: str) -> str:
    """The id of the decision that settles a held or admitted one; there is one at most.

    This one cannot be guessed without the first id.
    """
    return str(uuid.uuid5(_NAMESPACE, f"settles/{decision_id}"))
