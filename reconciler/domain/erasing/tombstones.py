"""Tombstones: by what something that is said again is known to be the same. Pure."""

from __future__ import annotations

from reconciler.domain.records.erasures import ERASED
from reconciler.domain.records.notes import Remembered
from reconciler.domain.records.scope import Scope
from reconciler.domain.values.text import text

__all__ = ["in_one_form", "sayings"]


def in_one_form(words: str) -> str:
    """Words without case, width and punctuation: "New-York!" is ``new york``.

    What tells two statements apart stays, as in a slot's value: C and C++, 15 and -15, 10 and 1.0.
    Words are not joined either: co-op is not coop. What is told without a subject is about the
    contact, whom a reader of conversations names: "The contact likes tea" is ``likes tea``.
    """
    return text(words).removeprefix("the contact ")


def sayings(scope: Scope, said: Remembered) -> list[str]:
    """What a note or a fact says about a contact, in one form each: its slot's value, its words.

    A slot without a value says nothing by itself. What was erased already says nothing at all.
    """
    if said.text == ERASED:
        return []
    # With its subject, too: so tombstones that earlier versions made are recognised.
    words = sorted({in_one_form(said.text), text(said.text)})
    slot = said.slot.key if said.slot else None
    found = [f"{scope.contact_key}\0text\0{each}" for each in words]
    return [*found, f"{scope.contact_key}\0slot\0{slot}"] if slot else found
