"""Handles: short names of facts that a model can repeat. Computed, never kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from reconciler.errors import UnknownFactError

HANDLE_SIGN = "#"

HANDLE_LENGTH = 4
"""Characters after the "#": a million handles, for the few dozen facts of a conversation."""

_LENGTH_MAX = 16
_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
"""Digits and small letters without i, l, o and u, which are easily misread."""


def handle_of(fact_id: str, length: int = HANDLE_LENGTH) -> str:
    """Make the handle of a fact: "#" and the first characters of a digest of its id.

    A handle has at most 16 of these characters.
    """
    digest = hashlib.blake2b(fact_id.encode(), digest_size=_LENGTH_MAX).digest()
    return HANDLE_SIGN + "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:length])


def handles_of(fact_ids: Iterable[str]) -> dict[str, str]:
    """Handles by id, of facts that are shown together: a later one that collides gets longer."""
    handles: dict[str, str] = {}
    taken: set[str] = set()
    for fact_id in dict.fromkeys(fact_ids):
        lengths = range(HANDLE_LENGTH, _LENGTH_MAX + 1)
        tried = (handle_of(fact_id, length) for length in lengths)
        handles[fact_id] = next((handle for handle in tried if handle not in taken), fact_id)
        taken.add(handles[fact_id])
    return handles


def named_by(name: str, fact_ids: Iterable[str]) -> str:
    """Return the id of the fact that a builder names by its id or its handle.

    Args:
        name: the given name; anything but a handle counts as an id, known or not.
        fact_ids: those of the contact's facts that have not ended.

    Raises:
        UnknownFactError: no fact, or more than one, has that handle.
    """
    if not isinstance(name, str) or not name.startswith(HANDLE_SIGN):
        return name
    wanted = name.strip().casefold()
    length = len(wanted) - len(HANDLE_SIGN)
    ids = [
        fact_id
        for fact_id in fact_ids
        if length >= HANDLE_LENGTH and handle_of(fact_id, length) == wanted
    ]
    if len(ids) == 1:
        return ids[0]
    if ids:
        raise UnknownFactError(f"{len(ids)} facts have the handle {name}; give the fact's id")
    raise UnknownFactError(f"no live fact of this contact has the handle {name}")
