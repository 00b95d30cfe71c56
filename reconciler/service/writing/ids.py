"""Ids and names of persons, which are stored as they are given, and so must hold no secret."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from reconciler.errors import InvalidRequestError

if TYPE_CHECKING:
    from reconciler.ports.sensitive_data_finder import SensitiveDataFinder

__all__ = ["IdCheck"]


class IdCheck:
    """Lets ids and names of persons through.

    Args:
        secret_finder: finds secrets.
    """

    def __init__(self, secret_finder: SensitiveDataFinder) -> None:
        # The same few ids come with every note.
        self._holds_secret = lru_cache(maxsize=4096)(lambda value: bool(secret_finder.find(value)))

    def check(self, ids: Iterable[tuple[str, object]]) -> None:
        """Let ids through, each with what it is called.

        Raises:
            InvalidRequestError: one of them holds a secret.
        """
        for name, value in ids:
            if isinstance(value, str) and self._holds_secret(value):
                raise InvalidRequestError(
                    f"{name} holds a secret, and ids and names are stored as they are given; "
                    "give another one"
                )
