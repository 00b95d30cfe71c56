"""The check of ids and names of persons: they are stored as given, so they must hold no secret."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from reconciler.errors import InvalidRequestError
from reconciler.sensitive_data import SensitiveKind, SensitiveSpan

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
                    f"{name} holds {held}, and ids and names are stored as they are given; "
                    "give another one"
                )


_NAMES = {SensitiveKind.IBAN: "a bank account", SensitiveKind.CREDIT_CARD: "a card"}


def _kind_in(value: str, finder: SensitiveDataFinder) -> SensitiveKind | None:
    """The kind of the first sensitive part of an id; None without one.

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
