"""Attributes: what can be known about a person, as an attributes file describes it. Pure.

``reconciler.domain.values`` finds them and reads their values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from reconciler.frozen import Strings, frozen


@frozen
class Attribute:
    """One thing that can be known about a person.

    Attributes:
        name: canonical, snake_case; what is stored.
        description: one line for choosing an attribute, for people and models.
        is_single_valued: whether a new value takes the place of the old one.
        normaliser: which reading its values take, a key of ``NORMALISERS``.
        aliases: other names of it, in any spelling.
        synonyms: a value, and the other words for it.
        says: words around a value, in which a sentence says it; see ``SlotReader``.
        shows: such words for a profile only; nothing is decided by them.
        value: the kind of the value that may stand beside a name of it; empty for none.
        known: texts that are values of it, whatever their kind.
        questions: how people ask for it; for recall.
        over: by value, or ``*`` for any value, the words that end it without naming it.
        confirm: whether a changed value is a dispute until an operator answers it.
        critical: whether every recall tells its facts.
        outranked_by: the builder's systems, which outrank the contact.
        keyed_by: the word for a numbered thing, such as "ticket", each of which has its own value.
    """

    name: str
    description: str
    is_single_valued: bool
    normaliser: str
    aliases: Strings = ()
    synonyms: Mapping[str, Strings] = field(default_factory=dict, hash=False)
    says: Strings = ()
    shows: Strings = ()
    value: str = ""
    known: Strings = ()
    questions: Strings = ()
    over: Mapping[str, Strings] = field(default_factory=dict, hash=False)
    confirm: bool = False
    critical: bool = False
    outranked_by: Strings = ()
    keyed_by: str = ""
