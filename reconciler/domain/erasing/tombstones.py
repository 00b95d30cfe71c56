"""Tombstones: by what something that is said again is known to be the same. Pure."""

from __future__ import annotations

from reconciler.domain.records.erasures import ERASED
from reconciler.domain.records.notes import Remembered, canonical_text
from reconciler.domain.records.scope import Scope

__all__ = ["sayings"]


def sayings(scope: Scope, said: Remembered) -> list[str]:
    """What a note or a fact says about a contact, in one form each: its slot's value, its words.

    A slot without a value says nothing by itself. What was erased already says nothing at all.
    """
    if said.text == ERASED:
        return []
    words = canonical_text(said.text).casefold()
    slot = said.slot.key if said.slot else None
    found = [f"{scope.contact_key}\0text\0{words}"]
    return [*found, f"{scope.contact_key}\0slot\0{slot}"] if slot else found
