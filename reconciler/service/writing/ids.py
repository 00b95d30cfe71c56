"""Ids: those of decisions, and the check of those that are given.

An id of a decision is random, or made from a key that may be used once: then the engine's own
uniqueness of ids prevents a second write. Given ids and names of persons are stored as they are, so
they must hold no secret. Keeps nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import uuid
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from reconciler.domain.records.notes import Note, Scope
from reconciler.errors import InvalidRequestError
from reconciler.frozen import in_order
from reconciler.reading.sensitive_data import SensitiveKind, SensitiveSpan

if TYPE_CHECKING:
    from reconciler.ports.sensitive_data_finder import SensitiveDataFinder


class IdCheck:
    """Checks ids and names of persons.

    Args:
        secret_finder: finds secrets and account numbers.
    """

    def __init__(self, secret_finder: SensitiveDataFinder) -> None:
        # The same few ids come with every note.
        self._kind_in = lru_cache(maxsize=4096)(lambda value: _kind_in(value, secret_finder))

    def check(self, ids: Iterable[tuple[str, object]]) -> None:
        """Check ids, each with its name.

        Raises:
            InvalidRequestError: one of them holds a secret, or an account's number.
        """
        for name, value in ids:
            if isinstance(value, str) and (kind := self._kind_in(value)):
                held = (
                    "a secret" if kind is SensitiveKind.SECRET else f"the number of {_NAMES[kind]}"
                )
                raise InvalidRequestError(
                    f"{name} holds {held}. Ids and names are stored as they are given, so give one "
                    "without it"
                )


_NAMES = {SensitiveKind.IBAN: "a bank account", SensitiveKind.CREDIT_CARD: "a card"}


def _kind_in(value: str, finder: SensitiveDataFinder) -> SensitiveKind | None:
    """Kind of the first sensitive part of an id; None without one.

    An id of digits alone does not count as a card: one in ten ids of sixteen digits would look like
    one. An id of hexadecimal digits alone does not count as a key: many callers use a hash. A short
    word of letters, as most ids are, has room for neither, so no rule is loaded for it.
    """
    if _SHORT_WORD.fullmatch(value):
        return None
    spans = (span for span in finder.find(value) if not _is_usual(value, span))
    return next((span.kind for span in spans), None)


def _is_usual(value: str, span: SensitiveSpan) -> bool:
    secret = value[span.start : span.end]
    if span.kind is SensitiveKind.CREDIT_CARD:
        return secret.isdecimal()
    return span.kind is SensitiveKind.SECRET and _HEXADECIMAL.fullmatch(secret) is not None


_SHORT_WORD = re.compile(r"[^\W\d]{1,12}")
_HEXADECIMAL = re.compile("[0-9a-fA-F]{32,}")


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
        """Id of a note's decision: the same for the same key in a scope, else a random one."""
        if note.idempotency_key is None:
            return str(uuid.uuid4())
        return self.of_key(note.scope, note.idempotency_key)

    def of_key(self, scope: Scope, idempotency_key: str) -> str:
        """Id of the decision for an idempotency key, whether or not it was made."""
        said = f"{scope.contact_key}/{idempotency_key}".encode()
        digest = hmac.new(self.key, said, hashlib.sha256).digest()
        return str(uuid.UUID(bytes=digest[:16]))

    def __repr__(self) -> str:
        return "DecisionIds()"


def settlement_id_of(decision_id: str) -> str:
    """Id of the decision that settles a held or admitted one; there is at most one.

    It cannot be guessed without the first id.
    """
    return str(uuid.uuid5(_NAMESPACE, f"settles/{decision_id}"))
