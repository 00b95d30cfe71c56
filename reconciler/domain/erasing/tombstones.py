"""Tombstones: by what something that is said again is known to be the same. Pure."""

from __future__ import annotations

from reconciler.domain.records.erasures import ERASED
from reconciler.domain.records.notes import Remembered
from reconciler.domain.records.scope import Scope
from reconciler.domain.values.look_alikes import as_seen
from reconciler.domain.values.text import text


def in_one_form(words: str) -> str:
    """Words as a reader sees them, in one case, width and punctuation: "New-York!", ``new york``.

    A Cyrillic or Greek letter that looks like a Latin one is that one. What tells two statements
    apart stays, as in a slot's value: C and C++, 15 and -15, 10 and 1.0. Words are not joined
    either: co-op is not coop. What is told without a subject is about the contact, whom a reader of
    conversations names: "The contact likes tea" is ``likes tea``.
    """
    return text(as_seen(words)).removeprefix("the contact ")


def sayings(scope: Scope, said: Remembered) -> list[str]:
    """The forms in which a note or a fact says something: its slot's value, its words.

    A slot without a value says nothing by itself. What was erased already says nothing at all.
    """
    if said.text == ERASED:
        return []
    keys = [f"{scope.contact_key}\0text\0{in_one_form(said.text)}"]
    if said.slot and said.slot.key:
        keys.append(f"{scope.contact_key}\0slot\0{as_seen(said.slot.key)}")
    return keys
