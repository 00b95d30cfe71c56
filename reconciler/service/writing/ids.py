"""Ids and names of persons, which are stored as they are given, and so must hold no secret."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from reconciler.errors import InvalidRequestError
from reconciler.sensitive_data import SensitiveKind, SensitiveSpan

if TYPE_CHECKING:
    from reconciler.ports.sensitive_data_finder import SensitiveDataFinder

__all__ = ["IdCheck"]


class IdCheck:
    """Lets ids and names of persons through.

    Args:
        secret_finder: finds secrets and account numbers.
    """

    def __init__(self, secret_finder: SensitiveDataFinder) -> None:
        # The same few ids come with every note.
        self._kind_in = lru_cache(maxsize=4096)(lambda value: _kind_in(value, secret_finder))

    def check(self, ids: Iterable[tuple[str, object]]) -> None:
        """Let ids through, each with what it is called.

        Raises:
            InvalidRequestError: one of them holds a secret, or an account's number.
        """
        for name, value in ids:
            if isinstance(value, str) and (kind := self._kind_in(value)):
                held = (
                    "a secret" if kind is SensitiveKind.SECRET else f"the number of {_NAMES[kind]}"
                )
                raise InvalidRequestError(
                    f"{name} holds {held}, and ids and names are stored as they are given; "
                    "give another one"
                )


_NAMES = {SensitiveKind.IBAN: "a bank account", SensitiveKind.CREDIT_CARD: "a card"}


def _kind_in(value: str, finder: SensitiveDataFinder) -> SensitiveKind | None:
    """The kind of the first character that an id may not have; None if there is none.

    Digits alone are no card: of the ids that are sixteen of them, one in ten would look like one.
    Nor are hexadecimal digits alone a key: a hash is what many callers make an id of. A short word
    of letters, as most ids are, has room for neither, and no rule is loaded for it.
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
