"""Who rules: a system or an operator outranks the contact in some attributes. Pure."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from reconciler.domain.records.facts import Fact, Neighbour
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import Note
from reconciler.domain.records.policies import ReconcilePolicy


def rules(note: Note, policy: ReconcilePolicy) -> bool:
    """Whether a system of the builder's own says it in an attribute that is listed for it."""
    listed = policy.systems.get(note.artefact or "", frozenset())
    return note.trust is SourceKind.APPROVED_DOC and _attribute(note) in listed


def is_ruled(fact: Fact | Neighbour, policy: ReconcilePolicy) -> bool:
    """Whether the contact may not change a fact, such as a credit limit.

    It rests on a system's word in an attribute that is listed for one, or on an operator's in an
    attribute that the book does not list.
    """
    if fact.word is SourceKind.OPERATOR:
        return fact.slot is not None and not fact.slot.is_known
    listed = {*chain(*policy.systems.values())}
    return fact.word is SourceKind.APPROVED_DOC and _attribute(fact) in listed


def _attribute(said: Note | Fact | Neighbour) -> str:
    return (said.slot and said.slot.attribute) or ""


def as_ruled(note: Note, policy: ReconcilePolicy) -> Note:
    """The note; a system's value of an attribute that the book does not list is the only one."""
    slot = note.slot
    if slot is None or not slot.is_open or not rules(note, policy):
        return note
    if slot.thing and slot.thing.state:
        return note
    return replace(note, slot=replace(slot, is_single_valued=True, is_open=False))


def yields(
    note: Note, fact: Fact | Neighbour, policy: ReconcilePolicy, *, is_again: bool = False
) -> bool:
    """Whether the note may not end the fact.

    The contact's word yields to what ``is_ruled``, whichever is later: an operator decides.

    Args:
        note: what is said.
        fact: what is known.
        policy: it lists the attributes of systems.
        is_again: whether the note says the fact again.
    """
    is_ruling = rules(note, policy)
    if is_ruled(fact, policy) and not (is_ruling or is_again):
        return note.trust is not SourceKind.OPERATOR
    if is_ruling and fact.word is SourceKind.USER_EXPLICIT:
        return False
    return note.trust.is_trusted_less_than(fact.word)
